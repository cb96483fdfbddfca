"""Wrong commands, and what their last line has to say: what is wrong, where, the limit, and what to do."""

import json

import pytest

from jaxmotif import count_matches, datasets, subgraph_census
from jaxmotif.cli import main
from jaxmotif.cli._parser import as_options, parser_of
from jaxmotif.cli._verify import _read_answer

FILES = {
    "karate.txt": "1 2\n2 3\n",
    "signed.tsv": "source\ttarget\teffect\tweight\na\tb\tactivates\t3\nb\tc\tinhibits\t2\na\tc\tactivates\t1\n",
    "labels.txt": "1 red\n2 blue\n3 red\n",
    "short.txt": "1 red\n2 blue\n",
    "colors.txt": "a red\nb blue\nc red\n",
    "ragged.txt": "1 2\n3\n",
    "minus.txt": "1 2\n-3 4\n",
    "empty.txt": "",
    "latin.txt": "caf\xe9 b\n",
    "latin.dm": "caf\xe9 -> b\n",
    "blocks.txt": "1 a\n2 b\n1 c\n",
    "bytes.bin": "\0\1\2",
}

WRONG = {
    # Commands, options and choices that are misspelt, or are not there.
    "motif karate": "did you mean motifs?",
    "sensus karate": "did you mean census?",
    "karate": "a command comes first, for example jaxmotif motifs karate",
    "motifs karate --rndom 10": "motifs: error: unrecognized arguments: --rndom 10; did you mean --random?",
    "census karate --sise 4": "did you mean --size?",
    "match triangle karate --induce": "did you mean --induced?",
    "graphlets karate --per egde": "invalid choice: 'egde' (choose from 'graph', 'edge', 'node'); did you mean edge?",
    "motifs karate --keep degre": "did you mean degree?",
    "census karate --disjoint nodes": "did you mean node?",
    "census karate.txt --input-format graphmll": "did you mean graphml?",
    "bench cenus": "did you mean census?",
    "help column": "did you mean columns?",
    "graphlets karate --size 6": "argument -k/--size: invalid choice: 6 (choose from 4, 5)",
    "info karate": "unrecognized arguments: karate; the command is jaxmotif info [options]",
    "census karate celegans": "unrecognized arguments: celegans; the command is jaxmotif census FILE|DATASET [options]",
    "match triangle": "the following arguments are required: FILE|DATASET",
    "search karate --motif red:2": "the following arguments are required: --colors",
    # Numbers and sizes.
    "motifs karate --random -5": "argument --random: at least 2, since a standard deviation needs two; got -5",
    "motifs karate --random many": "'many' is not a whole number",
    "motifs karate --size 3.5": "argument -k/--size: '3.5' is not a whole number",
    "motifs karate --alpha small": "argument --alpha: 'small' is not a number; write for example 0.05",
    "motifs karate --alpha 2": "--alpha must be between 0 and 1, got 2.0",
    "motifs karate --min-fold -1": "--min-fold must be a ratio, at least 1, got -1.0",
    "motifs karate --switches 1e400": "argument --switches: '1e400' is not a number; write for example 0.05",
    "motifs karate --switches -3": "--switches must be a number of moves for each edge, at least 0, got -3.0",
    "census karate --size 9": "--size must be between 2 and 8, got 9; larger ones are estimated (--estimate)",
    "sample karate --num -5": "--num must be at least 0, got -5",
    "census karate --estimate --level 95": "--level must be between 0 and 1, got 95.0",
    "match triangle karate --limit -3": "'-3' is neither 'all' nor a whole number of at least 0",
    "match triangle karate --seconds 0": "'0' is not a number of seconds above 0",
    "verify blocks.txt karate --seconds -1": "'-1' is not a number of seconds above 0; write for example 60, or leave",
    "census karate --memory 900GiB": "allow less, or leave it out: the default is half of what is free",
    "graphlets karate --memory -1GB": "'-1GB' is not a size; write bytes or a unit, for example 256MiB",
    "graphlets karate --memory 10": "--memory 10 bytes is too little for 34 nodes and 78 edges",
    "graphlets karate --device 64": "--device 64, but this machine has 4 (cpu)",
    "graphlets karate --device tpu": "'tpu' is not cpu, gpu, hybrid or a number of devices",
    "search signed.tsv --colors colors.txt --motif red:0": "'red:0' is not a color and a number such as red:2",
    "search signed.tsv --colors colors.txt --motif red:20,blue:20": "a motif has 1 to 30 vertices, got 40",
    # Options that do not go together.
    "motifs karate --samples 100": "--samples is for estimates; add --estimate",
    "motifs karate --keep blocks": "--keep blocks takes a file: add --blocks FILE",
    "motifs karate --bins 3": "--bins is for --keep distances, not for --keep bidegree",
    "motifs karate --together": "--together is for several networks; name more",
    "motifs karate florentine --together --random auto": "--together takes a number, --random N",
    "motifs karate florentine --together --correction max": "--together takes --correction bh or by",
    "match triangle karate --limit 2 --figures figs": "--figures is for counts, and --limit lists",
    "motifs karate --memory 100MiB": "random graphs of 78 edges and what counts in them: allow at least 134217728",
    "motifs karate karate": "karate is named 2 times; networks are compared, so name it once",
    "census karate --per node --roles roles.csv": "--roles is for the whole graph; leave it out with --per node",
    "census signed.tsv --min-weight 2": "--min-weight is for weights: name their column with --weight",
    "census karate.txt --directed --undirected": "argument --undirected: not allowed with argument --directed",
    # Arguments that are swapped, or stand where something else belongs.
    "match karate.txt ffl": "jaxmotif match ffl karate.txt",
    "match celegans ffl": "'ffl' is a pattern, and here is the place of a graph: jaxmotif match ffl celegans",
    "motifs ffl": "jaxmotif match ffl GRAPH looks for it in a graph",
    "convert nowhere.txt new.sif": "there is no file 'nowhere.txt', nor a bundled network of that name",
    "convert worm.graphml celegans": "the graph to read comes first: convert celegans worm.graphml",
    "verify karate.txt karate": "one is what --certificate wrote, and comes before the graph",
    # Queries, patterns and labels.
    "match id:3:512 karate": "512 is the number of no class of 3 nodes",
    "match A<-B karate": "column 2 ('<-B'): expected",
    "match A=>B karate": "written like this: A -> B [weight > 2]; B !> A",
    "match A-->B karate": "written like this: A -> B [weight > 2]; B !> A",
    "match A|B karate": "column 2 ('|B'): expected",
    "match A->B,# karate": "found ','; a query is written like this",
    "match A->B[wieght>2] signed.tsv": "edge attributes are 'effect', 'weight'; did you mean 'weight'?",
    "match triangel karate": "(near: triangle",
    "match ffl karate": "the pattern 'ffl' is directed, and here it must be undirected; take one of that kind, or read",
    "match triangle karate.txt --node-labels labels.txt --wildcard rde": "this label; did you mean 'red'?",
    "match .,activtes,.,. signed.tsv --edge-label effect --directed": "did you mean 'activates'?",
    "search signed.tsv --colors colors.txt --motif rde:2": "are 'blue', 'red'; did you mean 'red'?",
    "search signed.tsv --colors colors.txt --motif red:2 --edge-label effect --only inhibit": "mean 'inhibits'?",
    "match latin.dm karate.txt": "latin.dm: this is no text: 'utf-8' codec can't decode byte 0xe9",
    "search signed.tsv --colors colors.txt --motif red --only activates,": "'activates,' is not a list of labels",
    "census celegans --subnetwork fffl:loops.graphml": "the class of --subnetwork: 'fffl' is no pattern (near: ffl",
    # Files and their columns.
    "census karat": "there is no file 'karat', nor a bundled network of that name; did you mean 'karate'?",
    "census nowhere/size=30.txt": "there is no file 'nowhere/size=30.txt', nor a bundled network",
    "census nowhere.txt": "there is no file 'nowhere.txt', nor a bundled network of that name; bundled networks are",
    "motifs karate --keep blocks --blocks nowhere.txt": "--blocks nowhere.txt: No such file or directory",
    "motifs karate.txt --keep blocks --blocks blocks.txt": "blocks.txt, line 3: expected a node, once, and what it has",
    "graphlets signed.tsv --columns source": "'source' is not two or three columns such as source,target or 0,1",
    "graphlets signed.tsv --columns source,,effect": "'source,,effect' is not two or three columns",
    "census karate.txt --node-labels short.txt": "short.txt: 1 node without a label here, first '3'",
    "graphlets signed.tsv --columns sorce,target": "line 1: expected a column 'sorce', found 4 columns",
    "census signed.tsv --weight weight --min-weight nan": "argument --min-weight: 'nan' is not a number; write",
    "census signed.tsv --weight weight --min-weight=-inf": "argument --min-weight: '-inf' is not a number; write",
    "census signed.tsv --edge-label efect": "did you mean 'effect'?",
    "census signed.tsv --weight wieght": "no column 'wieght' of weights; there are 'effect', 'weight'; did you mean",
    "graphlets ragged.txt": "ragged.txt, line 2: expected 2 columns, found 1: '3'",
    "graphlets minus.txt": "line 2: expected a non-negative integer id (--text-ids takes any text), found '-3'",
    "graphlets empty.txt": "empty.txt: holds no edges: the file is empty",
    "graphlets bytes.bin": "bytes.bin, line 1: expected a text file (plain or gzip), this is a binary file",
    "graphlets latin.txt --encoding utf-9": "read as utf-9: unknown encoding: utf-9; --encoding names another",
    # Files that are written.
    "census karate --report page.pdf": "--report page.pdf: the page is HTML; name a file that ends in .html",
    "census karate --output table.xlsx": "--output table.xlsx: no such format; a name ending in .csv opens in a",
    "census karate --roles roles.txt": "'roles.txt' must end in .parquet, .csv, .tsv or .json",
    "census celegans --subnetwork loops.graphml": "of which class? Name it before the file: ffl:loops.graphml",
    "match ffl celegans --subnetwork ffl:loops.csv": "--subnetwork is for the query; name the file alone, loops.csv",
    "census celegans --subnetwork ffl:": "'ffl:' is not a file such as loops.graphml, perhaps after a class: ffl:FILE",
    "match ffl celegans --subnetwork loops.docx": "loops.docx: graphs are written as csv, tsv, sif, graphml",
    "convert signed.tsv signed.tsv": "signed.tsv: this file is read, and would be replaced; name another",
    "verify blocks.txt karate -o blocks.txt": "blocks.txt: this file is read, and would be replaced; name another",
    "match triangle karate --seconds 1 --occurrences o.csv": "--occurrences is for all occurrences, however long",
    "compile --memory 1GB": "--memory is not for this command, which compiles for the devices of this machine",
    "bench --memory 1GB": "--memory is not for this command, which times the jobs on this machine",
    "graphlets karate --output nowhere/table.csv": "cannot write nowhere/table.csv: No such file or directory",
    "graphlets karate --checkpoint=": "argument --checkpoint: the path is empty; name a file or a folder",
    "graphlets karate --checkpoint karate.txt": "--checkpoint karate.txt: is a file; name a folder",
}


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_told_what_to_do(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
    try:
        status = main(command.split())
    except SystemExit as stop:
        status = stop.code
    shown = capsys.readouterr()
    assert status in (1, 2)
    assert shown.out == ""
    assert WRONG[command] in shown.err.splitlines()[-1]
    assert "Traceback" not in shown.err
    assert {file.name for file in tmp_path.iterdir()} == FILES.keys()


@pytest.mark.parametrize(
    "text",
    [
        "jaxmotif: size=30.txt: read as edges",
        "seed=1,size=30.csv, line 2: expected 2 columns",
        "report written to runs/size=3/page",
        """lab.graphml, line 1: expected a node, found "<?xml version='1.0' encoding='utf-8'?>\"""",
        """lab.gexf, line 1: expected a node, found '<?xml encoding="utf-8"?>'""",
        r"""a.txt, line 1: expected 2 columns, found 'it\'s "red" size=3'""",
    ],
)
def test_what_the_user_wrote_is_no_argument(text):
    assert as_options(text, parser_of("census")) == text
    assert as_options(f"{text}; encoding=utf-16 names another", parser_of("census")) == (
        f"{text}; --encoding utf-16 names another"
    )


@pytest.mark.parametrize(
    "text", ["", "\0\xff", "node\tedge\nc\t2\n", '{"rows": [\n["c", 2]\n]}\n', "node,a,b\n0,1,2\n1,2\n"]
)
def test_an_answer_that_is_no_table_is_named(text, tmp_path):
    path = tmp_path / "answer"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"answer: expected a table of counts .* in CSV, as graphlets --per node"):
        _read_answer(path, None)


def test_marks_in_labels_are_no_query(capsys, tmp_path):
    """A class whose words hold marks of the query language is a class."""
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n")
    (tmp_path / "labels.txt").write_text("1 a|b\n2 c<d\n3 a|b\n")
    shared = [str(tmp_path / "edges.txt"), "--node-labels", str(tmp_path / "labels.txt"), "--format", "json"]
    assert main(["census", *shared]) == 0
    (text,) = {row["class"] for row in json.loads(capsys.readouterr().out)["classes"]}
    assert "a|b" in text
    assert main(["match", text, *shared, "--per", "occurrence"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == 1


def test_python_speaks_of_arguments():
    """The same mistakes in calls are told without a word of the command's options."""
    with pytest.raises(ValueError, match=r"target: 'ffl' is the name of a pattern; give the query first"):
        count_matches(datasets.load("celegans"), "ffl")
    with pytest.raises(ValueError, match=r"size must be between 2 and 8, got 9; .*\(estimate_census\)$"):
        subgraph_census(datasets.load("karate"), 9)
    with pytest.raises(ValueError, match=r"read the graph as directed \(directed=True\)"):
        count_matches("ffl", datasets.load("karate"))
