"""Pages: what they hold, that names are text, and, where there is a Chromium, how they behave in it."""

import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Hashable
from html import escape
from math import comb

import numpy as np
import pytest

from jaxmotif import Graph, count_matches, datasets, estimate_census, find_color_motif, node_orbits, subgraph_census
from jaxmotif.drawing._drawing import PALETTE
from jaxmotif.language import parse
from jaxmotif.matching._bind import bind
from jaxmotif.motifs import Rule
from jaxmotif.patterns import Pattern, canonical_string, class_columns, class_names
from jaxmotif.report import Matched, _parts, census_report, graphlets_report, match_report, motifs_report, search_report
from jaxmotif.report._charts import bar
from jaxmotif.report._motifs_report import mixing_in_words
from tests.report.browser import CHROMIUM, Browser
from tests.report.made_up import made_up

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def triads():
    return sorted(text for text in class_names(True) if len(text) == 9)


@pytest.fixture(scope="module")
def worm(triads):
    graph = datasets.load("celegans")
    return graph, made_up(triads)


def evil_graph():
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)]
    names = [EVIL, "</script><script>alert(2)</script>", '" onload="x', "&amp;", "\x00\ud800\u202e"]
    return Graph.from_edges(edges, node_names=names)


def test_a_page_of_motifs(worm):
    graph, found = worm
    page = motifs_report([("worm", graph, found)], {"argv": "jaxmotif motifs worm", "seed": 7})
    assert page.partition("Top nodes by role")[0].count("<tr>") == 14
    assert "<dt>seed</dt><dd>7</dd>" in page
    assert "jaxmotif motifs worm" in page
    assert "41 independent" in page
    assert "Milo" in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    both = motifs_report([("worm", graph, found), ("other", graph, dataclasses.replace(found, rule=Rule(min_fold=9)))])
    assert both.count("<h3>") >= 2
    assert "Correlation over all" in both
    profiles = [text.partition("Significance profile")[2].partition("<figure")[0] for text in (page, both)]
    assert [text.count('class="bar"') for text in profiles] == [0, 2]  # a legend says which line is which network's
    with pytest.raises(ValueError, match="one size"):
        motifs_report([("a", graph, found), ("b", graph, dataclasses.replace(found, size=4))])


def cells(page: str) -> list[list[str]]:
    """Return the texts of the cells of each row of a page's tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL)
    return [re.findall(r"<td[^>]*>(?:<svg.*?</svg>)?(.*?)</td>", row, flags=re.DOTALL) for row in rows]


def class_rows(page: str) -> list[list[str]]:
    """Return the cells of the rows of a page's table of classes."""
    return [row for row in cells(page.partition("Top nodes by role")[0]) if row]


def test_tables_of_a_page_are_the_results():
    graph = datasets.load("karate")
    counts, classes = node_orbits(graph).counts, subgraph_census(graph, 4)
    totals = {size: comb(34, size) for size in (2, 3, 4)}  # all sets of nodes
    rows = {row[1]: row[3:] for row in cells(graphlets_report("karate", graph, node_orbits(graph))) if len(row) == 6}
    for name, count in counts.items():
        size = int(rows[name][0])
        assert rows[name][1] == f"{count:,}"
        assert float(rows[name][2].removesuffix("%")) == pytest.approx(100 * count / totals[size], rel=6e-3)
    assert len(rows) == len(counts) == 17
    shown = [row for row in cells(census_report("karate", graph, classes)) if len(row) > 3]
    assert {cell for row in shown for cell in row} >= {f"{count:,}" for count in classes.as_dict().values()}


@pytest.mark.parametrize(("most", "left_out"), [(4, []), (3, ["2-star"]), (1, ["2-star", "triangle"])])
def test_classes_that_occur_too_often_to_be_ranked_are_named(most, left_out, monkeypatch):
    monkeypatch.setattr(_parts, "MOST_OCCURRENCES", most)
    graph = evil_graph()  # of four 2-stars and two triangles
    page = census_report("two triangles", graph, subgraph_census(graph, 3))
    note = f"Left out, with more than {most} subgraphs each: {', '.join(left_out)}."
    assert (note in page) == bool(left_out)
    assert ("Every role of a node" in page) == (len(left_out) < 2)
    cards = page.partition("Top nodes by role")[2].partition("Every role of a node")[0]
    assert [name for name in ("2-star", "triangle") if f"<h3>{name}" not in cards] == left_out


def test_classes_beyond_the_most_frequent_are_told(monkeypatch):
    monkeypatch.setattr(_parts, "MOST_CLASSES", 1)
    monkeypatch.setattr(_parts, "MOST_OCCURRENCES", 0)
    graph = evil_graph()
    page = census_report("two triangles", graph, subgraph_census(graph, 3))
    assert "1 of 2 classes are shown; --output FILE.csv has all." in page
    assert [row[2] for row in class_rows(page)] == ["2-star · G1"]


def test_classes_of_labels_are_read_out():
    """They have no numbers: their cells are their names, and their readings, of which a long one is cut short."""
    shapes = [(0, 1), (1, 2), (0, 2)], [(i, i + 1) for i in range(29)]
    patterns = [Pattern.from_edges(edges, node_labels=np.arange(np.max(edges) + 1) % 2) for edges in shapes]
    columns = class_columns([canonical_string(pattern) for pattern in patterns], False)
    readings = columns["reading"]
    assert len(readings[0]) < 100 < len(readings[1])
    for i, short in enumerate((readings[0], readings[1][:99] + "…")):
        name, reading = _parts.class_cells(columns, i)
        assert name.html == ("triangle · G2", "")[i]
        assert reading == (f'<span class="soft small">{escape(short)}</span>', readings[i])


def test_the_first_queries_with_matches_are_ranked():
    """Of a query whose B and C an edge that must not be there tells apart; its occurrences are counted by hand."""
    graph = Graph.from_edges(evil_graph().edge_list(), directed=True, node_names=[f"n{v}" for v in range(5)])
    query = parse("A -> B; A -> C; B !> C")
    pattern = bind(query, graph)
    found = count_matches(query, graph)
    assert found.count == 2  # of 0 with 2 and 1, and of 2 with 4 and 3
    page = match_report("n", graph, {f"q{i}": Matched(pattern, found, query.names) for i in range(5)})
    cards = page.partition("Top nodes by role")[2]
    assert [f"<h3>q{i}</h3>" in cards for i in range(5)] == [True] * 4 + [False]
    takers = re.findall(r"<ol>(.*?)</ol>", cards.partition("<h3>q1</h3>")[0])
    names = [("n0", "n2"), ("n2", "n4"), ("n1", "n3")]
    shown = [[f"<span>{name}</span><span>1</span>" for name in pair] for pair in names]
    assert [re.findall(r"<li>(.*?)</li>", one) for one in takers] == shown
    none = parse("A -> B; B -> A")
    page = match_report("n", graph, {"none": Matched(bind(none, graph), count_matches(none, graph), none.names)})
    assert "Top nodes by role" not in page


def test_graphs_without_a_subgraph():
    graph = Graph.from_edges(np.zeros((0, 2), int), 3)
    assert "0 connected induced subgraphs" in census_report("none", graph, subgraph_census(graph, 3))
    assert "0 triangles" in graphlets_report("none", graph, node_orbits(graph))
    one = Graph.from_edges([(0, 1), (1, 2)])
    assert [row[-2:] for row in class_rows(census_report("one", one, subgraph_census(one, 3)))] == [["100 %", ""]]
    found = made_up(["000100110"], rule=Rule(min_fold=1e9))
    nothing = np.zeros(0)
    numbers = "graphs", "tests"
    s, mixing = (dataclasses.replace(x, **{f.name: nothing for f in dataclasses.fields(x) if f.name not in numbers})
                 for x in (found.significance, found.mixing))  # fmt: skip
    bare = dataclasses.replace(
        found,
        classes=(),
        counts=nothing,
        random_counts=np.zeros((1000, 0)),
        significance=s,
        mixing=mixing,
        tested=nothing == 1,
    )
    page = motifs_report([("none", graph, bare), ("ffl", graph, found)])
    assert "No count differs" in page


def test_names_are_text():
    graph = evil_graph()
    pages = [
        census_report(EVIL, graph, subgraph_census(graph, 3), {"graph": EVIL, "argv": EVIL}),
        graphlets_report(EVIL, graph, node_orbits(graph)),
    ]
    for page in pages:
        body = page.partition("</head>")[2]
        assert "&lt;img src=x onerror=alert(1)&gt;" in body
        assert "<img" not in page
        assert page.count("<script>") == 1
        assert 'onload="' not in page
        assert "script-src 'sha256-" in page
        assert "default-src 'none'" in page
        assert "\ufffd" not in page
        assert not re.search("[\\x00-\\x08\\x0b-\\x1f\ud800-\udfff]", page)
        page.encode()


def test_mixing_in_words(worm):
    _, found = worm
    assert "long enough" in mixing_in_words(found)[1]
    far = dataclasses.replace(found.mixing, longer_z=np.full(13, -6.0))
    assert "too short" in mixing_in_words(dataclasses.replace(found, mixing=far))[1]
    still = dataclasses.replace(found.significance, scale=np.zeros(13))
    assert "No count differs" in mixing_in_words(dataclasses.replace(found, significance=still, notes=("x",)))[1]


@pytest.mark.parametrize(("value", "begin", "end"), [(6.0, 50, 98), (3.0, 50, 74), (-3.0, 26, 50)])
def test_bars_begin_in_the_middle(value, begin, end):
    """Those of positive numbers lead to the right, and of negative ones to the left."""
    [line, rectangle] = ET.fromstring(bar(value, 6.0))
    assert line.get("x1") == line.get("x2") == "50"
    assert float(rectangle.get("x")) == begin
    assert float(rectangle.get("x")) + float(rectangle.get("width")) == end


def test_notebooks_show_drawings():
    graph = evil_graph()
    shown = subgraph_census(graph, 3)._repr_html_()
    assert shown.count("<svg") == 2
    found = made_up(["000000110", "000100110"])
    assert found._repr_html_().count("<svg") == 2
    assert found.draw("ffl")._repr_svg_().count("<circle") == 3


def test_matches_are_drawn_in_their_colors():
    """A vertex of several colors gets one of its own, so that all together are the motif."""
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    colors = [["red", "blue"], ["red"], ["blue", "green"], ["red", "blue", "green"]]
    wanted: dict[Hashable, int] = {"red": 2, "blue": 1, "green": 1}
    page = search_report("path", graph, wanted, find_color_motif(graph, colors, wanted, 1, limit=1), colors)
    drawn = page.partition("<figure")[2].partition("</figure>")[0]
    assert [drawn.count(f'fill="{colour}"') for colour in PALETTE[:4]] == [2, 1, 1, 0]
    fills = dict(zip(re.findall(r">(\d)</text>", drawn), re.findall('<circle[^>]*fill="([^"]*)"', drawn), strict=True))
    assert fills["1"] == PALETTE[0]
    assert fills["2"] in PALETTE[1:3]


@pytest.mark.parametrize(
    "colors", [["dark red", "red", "blue"], np.array([1, 3, 2]), {0: {"dark red"}, 1: "red", 2: ["blue"]}]
)
def test_colors_of_a_search_may_be_given_in_all_ways(colors):
    graph = Graph.from_edges([(0, 1), (1, 2)])
    wanted: dict[Hashable, int] = (
        {3: 1, 2: 1, 9: 0} if isinstance(colors, np.ndarray) else {"red": 1, "blue": 1, "x": 0}
    )
    page = search_report("path", graph, wanted, find_color_motif(graph, colors, wanted, 1, limit=1), colors)
    drawn = page.partition("<figure")[2].partition("</figure>")[0]
    assert re.findall(r">(\d)</text>", drawn) == ["1", "2"]
    assert re.findall('<circle[^>]*fill="([^"]*)"', drawn) == list(PALETTE[:2])
    assert "0 ×" not in page


def test_a_search_without_a_match_names_the_colors_that_it_looked_for():
    graph, colors = Graph.from_edges([(0, 1), (1, 2)]), [["red"], ["blue"], ["red"]]
    wanted: dict[Hashable, int] = {"red": 3}
    page = search_report("path", graph, wanted, find_color_motif(graph, colors, wanted, 1), colors)
    assert "No connected subgraph is colored 3 × red." in page


# ---- in a browser

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")


@in_browser
def test_a_browser_shows_sorts_and_prints(worm, tmp_path):
    graph, found = worm
    path = tmp_path / "worm.html"
    path.write_text(motifs_report([("worm", graph, found)], {"argv": "jaxmotif motifs worm"}), "utf-8")
    with Browser() as browser:
        browser.open(path)
        seen = (
            "[...document.querySelectorAll('tbody svg.drawing')].filter(x => x.checkVisibility() && x.getBBox().width)"
        )
        assert browser.run(f"{seen}.length") == 13
        column = "[...document.querySelector('tbody').rows].map(r => r.cells[7].dataset.v)"
        head = "[...document.querySelectorAll('th button')].find(b => b.textContent === 'z')"
        for click, sign in ((1, -1), (2, 1)):
            browser.run(f"{head}.click()")
            values = [float(v) if v else None for v in browser.run(column)]
            assert values[-1] is None, click  # without a z: last
            assert values[:-1] == sorted(values[:-1], key=lambda v: sign * v), click
        browser.run("[...document.querySelectorAll('th button')].find(b => b.textContent === 'class').click()")
        assert len(re.findall(rb"/Type\s*/Page[^s]", browser.pdf())) <= 4
        ink = "getComputedStyle(document.body).color"
        light = browser.run(ink)
        browser.dark()
        assert browser.run(ink) != light
        assert browser.requests == browser.problems == []


@in_browser
def test_a_browser_runs_no_name(tmp_path):
    path = tmp_path / "evil.html"
    graph = evil_graph()
    path.write_text(census_report(EVIL, graph, subgraph_census(graph, 3)), "utf-8")
    with Browser() as browser:
        browser.open(path)
        assert browser.run("document.querySelector('h1').textContent") == EVIL
        assert browser.run("document.images.length") == 0
        assert browser.run("document.body.textContent").count(EVIL) >= 2
        assert browser.requests == browser.problems == []
        # Even what gets into the page some other way is not run.
        browser.run(f"document.body.insertAdjacentHTML('beforeend', {EVIL!r})")
        assert any("Content Security Policy" in problem for problem in browser.problems)


@in_browser
def test_many_classes_are_shown_at_once(tmp_path):
    numbers = [n for n in range(1 << 16) if not n & 0x8421][:199]
    found = made_up([format(n, "016b") for n in numbers], rule=Rule(min_fold=1e9))
    page = motifs_report([("many", datasets.load("celegans"), found)])
    assert len(page.encode()) <= 1_000_000
    path = tmp_path / "many.html"
    path.write_text(page, "utf-8")
    with Browser() as browser:
        assert browser.open(path) <= 2.0
        assert browser.run("document.querySelectorAll('tbody tr').length") == 199


def pages(graph, found, triads):
    """Yield a page of each kind, with labels and with names that are long."""
    kinds = ["DAN", "MBON", "Kenyon cell", "M"]
    labels = np.arange(graph.n) % 4
    names = [f"neuron {v} of the left side" for v in range(graph.n)]
    edges = graph.edge_list()[:300]
    cells = Graph.from_edges(edges, graph.n, True, labels, np.arange(len(edges)) % 2, node_names=names)
    cells = cells._with_host_fields(cells.report, cells.node_names, dict(enumerate(kinds)), {0: "+", 1: "-"})
    census = subgraph_census(cells, 3)
    yield census_report("cells", cells, census)
    some = made_up(census.classes[:40])
    yield motifs_report([("cells", cells, dataclasses.replace(some, label_words=census.label_words))])
    yield motifs_report([(f"a network with a long name {seed}", graph, made_up(triads, seed)) for seed in range(4)])
    yield census_report("karate", datasets.load("karate"), estimate_census(datasets.load("karate"), 6, samples=2000))
    colors = [[kinds[label]] for label in labels]
    plain = Graph.from_edges(edges, graph.n, node_names=names)
    wanted = {"DAN": 2, "MBON": 1, "Kenyon cell": 1}
    yield search_report("cells", plain, wanted, find_color_motif(plain, colors, wanted, 1, limit=3), colors)


@in_browser
def test_nothing_leaves_its_box(worm, triads, tmp_path):
    """Texts stay within their pictures and circles, and columns within the page, on a screen and on a phone."""
    outside = """[...document.querySelectorAll("svg")].flatMap(svg => {
      const box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter(text => {
        const own = text.getBoundingClientRect();
        return Math.min(own.left - box.left, box.right - own.right, own.top - box.top, box.bottom - own.bottom) < -1;
      }).map(text => text.textContent); })"""
    in_circles = """[...document.querySelectorAll("svg.worded")].flatMap(svg => {
      const texts = [...svg.querySelectorAll("text")];
      return [...svg.querySelectorAll("circle")].map((circle, i) => {
        const [ring, word] = [circle.getBBox(), texts[i].getBBox()];
        return [texts[i].textContent, word.x - ring.x, ring.x + ring.width - word.x - word.width]; }); })"""
    with Browser() as browser:
        words = 0
        for number, page in enumerate(pages(*worm, triads)):
            path = tmp_path / f"{number}.html"
            path.write_text(page, "utf-8")
            for width in (1150, 400):
                browser.resize(width)
                browser.open(path)
                assert browser.run(outside) == [], (number, width)
                assert browser.run("document.documentElement.scrollWidth") <= width, number
                for word, left, right in browser.run(in_circles):
                    assert min(left, right) >= 0, (word, number)
                    words += 1
        assert words > 100
        assert browser.requests == browser.problems == []


@in_browser
def test_a_figure_is_saved(worm, tmp_path):
    """The button gives a file of its own, in the colours of paper whatever those of the page are."""
    graph, found = worm
    path, saved = tmp_path / "worm.html", tmp_path / "profile.svg"
    path.write_text(motifs_report([("worm", graph, found)]), "utf-8")
    with Browser() as browser:
        browser.open(path)
        browser.dark()
        browser.run("URL.createObjectURL = blob => { window.saved = blob; return '#'; }")
        assert browser.run("document.querySelectorAll('figure').length === document.querySelectorAll('.save').length")
        browser.run("document.querySelector('.save').click()")
        saved.write_text(browser.run("window.saved.text()"), "utf-8")
        assert ET.parse(saved).getroot().get("width") == "960"
        browser.open(saved)
        assert browser.run("getComputedStyle(document.querySelector('.dot.full')).fill") == "rgb(184, 56, 12)"
        assert browser.run("getComputedStyle(document.querySelector('text')).fontSize") == "11px"
        assert browser.problems == []
