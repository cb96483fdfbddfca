"""The built site in a headless browser, on a screen and on a phone.

``$JAXMOTIF_SITE`` is the folder that ``mkdocs build`` has made; `.ci/run` gives it.
"""

import os
from pathlib import Path

import pytest

from tests.report.browser import CHROMIUM, Browser

SITE = Path(os.environ.get("JAXMOTIF_SITE", "site"))
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium"),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built (set JAXMOTIF_SITE)"),
]
PRINTED = "console", "text"
WHOLE = ", ".join([f".language-{kind} code" for kind in PRINTED] + ["pre > code:not([class])", ".page span"])
"""Results, whose lines stay whole and may be moved, and frames, which show a part of a page."""
CUT = """(() => {
  const wide = document.documentElement.clientWidth, may = %r;
  const beyond = [...document.querySelectorAll(".md-content *")].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && box.right > wide + 1 && e.textContent.trim(); });
  const boxes = "pre > code, .md-typeset__scrollwrap, figure";
  const scrolled = [...document.querySelectorAll(boxes)].filter(e => e.scrollWidth > e.clientWidth + 1);
  const cut = [...beyond, ...scrolled].filter(e => !e.closest(may));
  return cut.map(e => `${e.tagName} ${e.textContent.slice(0, 60)}`); })()"""
"""What a reader does not see without moving it to the left."""


@pytest.fixture(scope="module")
def browser():
    with Browser(1280) as one:
        yield one


def pages():
    found = sorted(SITE.glob("**/index.html"))
    assert len(found) > 30
    return found


def test_nothing_is_cut_at_the_right(browser):
    """On a phone, tables and the heads of tabs may be moved within their boxes."""
    cut = {}
    for page in pages():
        browser.resize(1280)
        browser.open(page)
        for width, may in ((1280, WHOLE), (400, f"{WHOLE}, .md-typeset__scrollwrap, .tabbed-labels")):
            browser.resize(width)
            assert browser.run("document.documentElement.scrollWidth") <= width, (page, width)
            if found := browser.run(CUT % may):
                cut[str(page.relative_to(SITE)), width] = found[:3]
    assert cut == {}


def test_the_gallery_shows_pages(browser):
    browser.resize(1280)
    browser.open(SITE / "gallery" / "index.html")
    frames = "[...document.querySelectorAll('.page iframe')]"
    sources = browser.run(f"{frames}.map(frame => frame.src)")
    assert len(sources) >= 8
    browser.run(f"{frames}.forEach(frame => {{ frame.loading = 'eager'; }})")
    loaded = f"Promise.all({frames}.map(f => new Promise(done => {{ f.onload = done; f.src = f.src; }})))"
    browser.run(f"{loaded}.then(() => 0)")
    boxes = browser.run(f"{frames}.map(f => [f, f.parentNode].map(e => e.getBoundingClientRect().width))")
    assert all(abs(frame - window) < 3 for frame, window in boxes), boxes
    for source in sources:
        assert (SITE / "gallery" / source.rpartition("/")[2]).stat().st_size > 10_000


@pytest.mark.parametrize(("page", "typed"), [
    ("tutorials/genes", "jaxmotif match ffl cell-cycle.tsv --directed --induced --limit all --quiet"),
    ("matching", '>>> jaxmotif.find_matches("triangle", diamond, per="occurrence").nodes.tolist()'),
])  # fmt: skip
def test_the_button_copies_what_is_typed(browser, page, typed):
    browser.resize(1280)
    browser.open(SITE / page / "index.html")
    block = f"[...document.querySelectorAll('.highlight')].find(e => e.textContent.includes({typed!r}))"
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
    browser.run("document.addEventListener('copy', e => { window.copied = e.target.value; })")
    browser.call("Runtime.evaluate", expression=f"({block}).querySelector('button').click()", userGesture=True)
    copied = browser.run("window.copied")
    assert typed.removeprefix(">>> ") in copied
    assert not {"$", ">>>", "..."} & set(copied.split())
    assert "regulator" not in copied
    assert "[[0, 1, 2]" not in copied
