"""What is written for Cytoscape opens in Cytoscape.js, in a headless browser.

``$JAXMOTIF_CYTOSCAPE`` names its file ``cytoscape.min.js``, which ``npm pack cytoscape`` brings; `.ci/run` does so.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import jaxmotif
from jaxmotif.io import write_graph
from tests.report.browser import CHROMIUM, Browser

CYTOSCAPE = Path(os.environ.get("JAXMOTIF_CYTOSCAPE", "cytoscape.min.js"))
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium"),
    pytest.mark.skipif(not CYTOSCAPE.exists(), reason="no Cytoscape.js (set JAXMOTIF_CYTOSCAPE)"),
]
PAGE = """<!doctype html><meta charset="utf-8"><div id="cy" style="width: 600px; height: 400px"></div>
<script src="{library}"></script>
<script>
const cy = cytoscape({{container: document.getElementById("cy"), elements: ({network}).elements,
  layout: {{name: "circle"}}, style: [{{selector: "node[regulator > 0]", style: {{"background-color": "#c2410c"}}}}]}});
</script>"""


def opened(browser, path, tmp_path):
    """Nodes and edges as the page has them, and how many nodes are drawn within it."""
    network = path.read_text("utf-8").replace("<", "\\u003c")  # so that no name ends the script
    (tmp_path / "page.html").write_text(PAGE.format(library=CYTOSCAPE.resolve().as_uri(), network=network), "utf-8")
    browser.open(tmp_path / "page.html")
    drawn = "cy.nodes().filter(n => { const at = n.renderedPosition(); return at.x > 0 && at.x < 600; }).length"
    data = ("cy.nodes().map(n => n.data())", "cy.edges().map(e => e.data())", drawn)
    nodes, edges, drawn = (browser.run(script) for script in data)
    assert browser.problems == []
    return nodes, edges, drawn


def test_a_subnetwork_opens_with_roles_and_weights(tmp_path):
    rng = np.random.default_rng(5)
    arcs = np.array(sorted({(u, v) for u, v in rng.integers(0, 9, (40, 2)).tolist() if u != v}))
    names = ["TP53", "Cdc20 & Cdc14", "</script>", "Größe", "a'b\"c", "5", "β-catenin", "\\", "x y"]
    graph = jaxmotif.Graph.from_edges(arcs, directed=True, node_names=names)
    graph = graph.with_attributes(edges={"weight": arcs.sum(axis=1) / 2})
    part = jaxmotif.subnetwork(graph, "ffl")
    write_graph(part, tmp_path / "part.cyjs")
    with Browser() as browser:
        nodes, edges, drawn = opened(browser, tmp_path / "part.cyjs", tmp_path)
        roles = {name: part.attributes.nodes[name].tolist() for name in ("regulator", "intermediate", "target")}
        for role, times in roles.items():
            wanted = dict(zip(part.node_names.tolist(), times, strict=True))
            assert {node["name"]: node[role] for node in nodes} == wanted
        weights = {(names[u], names[v]): (u + v) / 2 for u, v in arcs.tolist()}
        by_id = {node["id"]: node["name"] for node in nodes}
        held = {(by_id[edge["source"]], by_id[edge["target"]]): edge["weight"] for edge in edges}
        assert len(held) == len(edges) == part.m > 15
        assert held.items() <= weights.items()
        assert drawn == part.n
        regulators = "cy.nodes().filter(n => n.style('background-color') === 'rgb(194,65,12)').map(n => n.data('name'))"
        wanted = {node["name"] for node in nodes if node["regulator"]}
        assert set(browser.run(regulators)) == wanted != set()


def test_networks_of_numbers_and_without_directions_open(tmp_path):
    club = jaxmotif.datasets.load("karate")
    write_graph(club, tmp_path / "club.cyjs")
    with Browser() as browser:
        nodes, edges, drawn = opened(browser, tmp_path / "club.cyjs", tmp_path)
    assert {node["name"] for node in nodes} == {str(name) for name in club.node_names.tolist()}
    assert drawn == club.n
    wanted = {frozenset(map(str, club.node_names[edge].tolist())) for edge in club.edge_list()}
    assert {frozenset((edge["source"], edge["target"])) for edge in edges} == wanted
    assert not json.loads((tmp_path / "club.cyjs").read_text())["directed"]
