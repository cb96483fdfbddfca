"""Figures of the papers, redrawn from ours: every JSON in ``results/figures`` becomes an SVG beside it.

    python experiments/figures.py [NAME ...]

Each experiment writes ``results/figures/NAME.json``: ``title``, ``command`` (which makes it again), ``commit``,
``date``, ``machine``, ``xlabel``, ``ylabel``, ``logx``, ``logy``, ``kind`` ("line", "bar" or "scatter"), ``series`` (a
list of ``label``, ``x`` and ``y``; names as ``x`` are spaced evenly), ``paper`` (what the paper shows there) and, if
need be, ``note``.
"""

from __future__ import annotations

import argparse
import json
import textwrap

import matplotlib as mpl
from harness import FIGURES
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_REQUIRED = {"title", "command", "commit", "date", "machine", "xlabel", "ylabel", "kind", "series", "paper"}
# The same bytes for the same data: text as text, no date, element numbers from a fixed seed.
mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "jaxmotif", "font.size": 9}
mpl.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("names", nargs="*", metavar="NAME", help="of figures (default: all)")


def main() -> None:
    """Draw the figures that are named, or all."""
    names = parser.parse_args().names or sorted(path.stem for path in FIGURES.glob("*.json"))
    for name in names:
        told = json.loads((FIGURES / f"{name}.json").read_text())
        if missing := _REQUIRED - told.keys():
            raise SystemExit(f"{name}.json lacks {', '.join(sorted(missing))}")
        draw(told).savefig(FIGURES / f"{name}.svg", metadata={"Date": None, "Title": told["title"]})
        print(f"{name}.svg")


def draw(told: dict) -> Figure:
    """Draw a figure: the plot, and below it the machine, commit and command, and what the paper shows."""
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    if told["kind"] == "bar":
        _bars(axes, told["series"])
    else:
        _points(axes, told["series"], told["kind"])
    axes.set(title=told["title"], xlabel=told["xlabel"], ylabel=told["ylabel"])
    if told.get("logx"):
        axes.set_xscale("log")
    if told.get("logy"):
        axes.set_yscale("log")
    if len(told["series"]) > 1:
        axes.legend(frameon=False, fontsize=8)
    where = f"{told['machine']}, commit {told['commit']}, {told['date']}"
    below = [f"{where}: {told['command']}", f"The paper: {told['paper']}", told.get("note", "")]
    lines = [line for text in below if text for line in textwrap.wrap(text, 110)]
    figure.supxlabel("\n".join(lines), fontsize=7, x=0.01, ha="left")
    return figure


def _bars(axes: Axes, series: list[dict]) -> None:
    """Draw the bars of all series side by side, at every name that any of them has."""
    names = list(dict.fromkeys(x for one in series for x in one["x"]))
    width = 0.8 / len(series)
    for number, one in enumerate(series):
        places = [names.index(x) + (number - (len(series) - 1) / 2) * width for x in one["x"]]
        axes.bar(places, one["y"], width, label=one["label"])
    long = sum(len(str(name)) for name in names) > 60
    axes.set_xticks(
        range(len(names)), [str(name) for name in names], rotation=30 * long, ha="right" if long else "center"
    )


def _points(axes: Axes, series: list[dict], kind: str) -> None:
    """Draw the points of all series, joined by lines unless they are a scatter plot."""
    names = list(dict.fromkeys(x for one in series for x in one["x"] if isinstance(x, str)))
    for one in series:
        x = [names.index(value) for value in one["x"]] if names else one["x"]
        if kind == "scatter":
            # Thousands of points are an image within the SVG, which stays small.
            axes.scatter(x, one["y"], s=8, alpha=0.6, linewidths=0, label=one["label"], rasterized=len(x) > 500)
        else:
            axes.plot(x, one["y"], marker="o", markersize=3, linewidth=1.2, label=one["label"])
    if names:
        axes.set_xticks(range(len(names)), names)


if __name__ == "__main__":
    main()
