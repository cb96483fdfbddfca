"""``jaxmotif match`` with a query in words, on files whose attributes it asks for."""

import json

import networkx as nx
import pytest

from jaxmotif.cli import main

QUERY = 'A -> B [weight > 5]; B -> C [sign = "inhibitory"]; A !> C; A.kind = "KC"'


@pytest.fixture(scope="module")
def network():
    graph = nx.DiGraph()
    for name, kind in (("a", "KC"), ("b", "PN"), ("c", "MBON"), ("d", "KC")):
        graph.add_node(name, kind=kind)
    for u, v, weight, kind in (
        ("a", "b", 9, "excitatory"), ("b", "c", 2, "inhibitory"), ("d", "b", 5, "excitatory"),
        ("b", "d", 7, "inhibitory"), ("b", "a", 30, "excitatory"),
    ):  # fmt: skip
        graph.add_edge(u, v, weight=weight, sign=kind)
    return graph


def written(network, form, path):
    if form == "graphml":
        nx.write_graphml(network, path)
    elif form == "gml":
        nx.write_gml(network, path)
    elif form == "gexf":
        nx.write_gexf(network, path)
    elif form == "cyjs":
        path.write_text(json.dumps(nx.cytoscape_data(network) | {"directed": True}))
    elif form == "node-link":
        path.write_text(json.dumps(nx.node_link_data(network, edges="links")))
    elif form == "parquet":
        nx.to_pandas_edgelist(network).to_parquet(path)
    else:
        rows = [f"{u},{v},{data['weight']},{data['sign']}" for u, v, data in network.edges(data=True)]
        path.write_text("\n".join(["source,target,weight,sign", *rows]) + "\n")


@pytest.mark.parametrize("form", ["graphml", "gml", "gexf", "cyjs", "node-link", "csv", "parquet"])
def test_attributes_of_every_format(capsys, tmp_path, network, form):
    path = tmp_path / f"network.{form}"
    written(network, form, path)
    table = form in ("csv", "parquet")
    query = QUERY.replace("A.kind", "A.id").replace('"KC"', '"a"') if table else QUERY
    options = ["--format", "json", "--limit", "all", "--device", "cpu"] + (["--directed"] if table else [])
    assert main(["match", query, str(path), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["columns"], sorted(found["rows"])) == (["A", "B", "C"], [["a", "b", "c"], ["a", "b", "d"]])


@pytest.mark.parametrize(("effects", "negative"), [("+--", 2), (".--", 0)], ids=["signs", "nothing known"])
def test_a_minus_is_a_sign_where_there_are_plusses(capsys, tmp_path, effects, negative):
    path = tmp_path / "signed.tsv"
    rows = "".join(f"{u}\t{v}\t{effect}\n" for (u, v), effect in zip(("ab", "bc", "ca"), effects, strict=True))
    path.write_text("source\ttarget\teffect\n" + rows)
    assert main(["match", 'A -> B [effect = "-"]', str(path), "--directed", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == negative


def test_files_counts_and_mistakes(capsys, tmp_path, network):
    path, query = tmp_path / "network.graphml", tmp_path / "loop.motif"
    written(network, "graphml", path)
    query.write_text("# both ways\nA -> B; B -> A\nA === B\n")
    assert main(["match", str(query), str(path), "--format", "json", "--per", "occurrence"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == 2
    assert main(["match", QUERY, str(path), "--format", "csv", "--occurrences", str(tmp_path / "out.csv")]) == 0
    rows = [line for line in (tmp_path / "out.csv").read_text().splitlines() if not line.startswith("#")]
    assert len(rows) == 3
    capsys.readouterr()
    for text, problem in (
        (
            "A -> B; A.knd = KC",
            "column 9 ('A.knd = KC'): the target has no node attribute 'knd': node attributes",
        ),
        ("A -> B; B => C", "column 11 ('=> C'): expected"),
    ):
        assert main(["match", text, str(path)]) == 1
        assert problem in capsys.readouterr().err
    query.write_text("A -> B [")
    assert main(["match", str(query), str(path)]) == 1
    assert "loop.motif: query, line 1, column 9: expected" in capsys.readouterr().err


def test_the_language_is_explained(capsys):
    assert main(["help", "query"]) == 0
    shown = capsys.readouterr().out
    assert "| A !> B or A ~> B | no such edge |" in shown
    assert "Args:" not in shown
