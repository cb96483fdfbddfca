"""Charts of a report, drawn as SVG in the colours of its style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.devices._progress import short_number
from jaxmotif.drawing._drawing import Drawing, as_text
from jaxmotif.motifs._compare import average_tree
from jaxmotif.report._page import cards

WIDTH = 960
"""Width of a chart across the page, in SVG units."""

_MOST_DRAWINGS = 16  # classes that have room for drawings below the axis
_LETTERS = 28  # of a label below the axis, or beside a tree
_LETTER_WIDTH = 7.5  # of a letter of such a label, in wide fonts
_MOST_LABELS = 80  # classes that have room for labels below the axis, sideways

Scale = Callable[[float], float]


class Profile(NamedTuple):
    """The significance profile of a network, an array ``[classes]`` in each field but the name.

    Attributes:
      name: The name of the network.
      values: Float64, each class's z divided by the length of the vector of all z; NaN where a class has no z.
      low: Float64, the lower end of a 95 % interval, on the scale of ``values``. On a page of one network the interval
        contains 95 % of the random graphs; on a page of several it is the confidence interval of ``values``.
      high: Float64, its upper end.
      unusual: Bool, whether the class is a motif or an anti-motif.
    """

    name: str
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unusual: np.ndarray


def profile_chart(labels: Sequence[str], drawings: Sequence[Drawing], profiles: Sequence[Profile]) -> str:
    """Return an SVG chart of significance profiles over classes.

    Args:
      labels: What stands below each class.
      drawings: A drawing for each class.
      profiles: The profile of one network, which is shown with the interval of its null model, or the profiles of
        several, which differ by their kind of line.
    """
    count, left, right, top, height = len(labels), 62, 14, 14, 250
    has_drawings = count <= _MOST_DRAWINGS
    step = (WIDTH - left - right) / max(count, 1)
    values = [float(v) for p in profiles for v in (*p.values, *p.low, *p.high) if math.isfinite(v)]
    low, high = min(1.08 * min(values, default=0.0), -0.05), max(1.08 * max(values, default=0.0), 0.05)

    def x(i: float) -> float:
        return left + step * (i + 0.5)

    def y(value: float) -> float:
        return top + height * (high - value) / (high - low)

    title = _label(0, 0, "significance profile", "middle")
    parts = [
        *_axis(low, high, left, WIDTH - right, y),
        f'<g transform="translate(12 {top + height / 2}) rotate(-90)">{title}</g>',
    ]
    if len(profiles) == 1:
        parts += _intervals(profiles[0], max(min(step * 0.56, 40), 1.5), x, y)
    else:
        parts += [_band(profile, number, x, y) for number, profile in enumerate(profiles)]
    radius, joined = 4.4 if has_drawings else 2.4, has_drawings or len(profiles) > 1
    for number, profile in enumerate(profiles):
        parts += _profile_line(profile, number, x, y, radius, joined)
    bottom = top + height
    if has_drawings:
        size = min(step * 0.74, 52)
        for i, drawing in enumerate(drawings):
            parts.append(drawing.svg(place=(x(i) - size / 2, bottom + 10, size)))
        bottom += size + 12
    upright = has_drawings and max(map(len, labels), default=0) * 6.5 <= step
    shown = labels if count <= _MOST_LABELS else ()
    for i, label in enumerate(shown):
        text = _label(0, 0, label[:_LETTERS], "middle" if upright else "end")
        turn = "" if upright else " rotate(-90)"
        parts.append(f'<g transform="translate({x(i) + 3.5 * bool(turn):.1f} {bottom + 14:.1f}){turn}">{text}</g>')
    bottom += 20 if upright else 14 + _LETTER_WIDTH * min(max(map(len, shown), default=0), _LETTERS)
    box = f'class="chart" viewBox="0 0 {WIDTH} {bottom:.0f}"'
    return f'<svg {box} role="img" aria-label="Significance profile">{"".join(parts)}</svg>'


def _axis(low: float, high: float, left: float, right: float, y: Scale) -> list[str]:
    parts = []
    unit = next(u for u in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01) if (high - low) / u >= 3.2 or u == 0.01)
    for k in range(-int(-low / unit), int(high / unit) + 1):
        kind = "zero" if k == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{left}" x2="{right}" y1="{y(k * unit):.1f}" y2="{y(k * unit):.1f}"/>')
        parts.append(_label(left - 8, y(k * unit) + 3.8, f"{k * unit:g}".replace("-", "−"), "end"))
    return parts


def _intervals(profile: Profile, width: float, x: Scale, y: Scale) -> list[str]:
    """Return a bar for each class, over the interval that holds 95 % of the random graphs."""
    parts = []
    for i, (low, high) in enumerate(zip(profile.low, profile.high, strict=True)):
        if math.isfinite(low) and math.isfinite(high):
            parts.append(
                f'<rect class="band" x="{x(i) - width / 2:.1f}" y="{y(high):.1f}" width="{width:.1f}" '
                f'height="{max(y(low) - y(high), 1.5):.1f}" rx="1.5"/>'
            )
    return parts


def _band(profile: Profile, number: int, x: Scale, y: Scale) -> str:
    """Return the area between the ends of the intervals of the classes."""
    ends = [(i, high) for i, high in enumerate(profile.high)] + [(i, low) for i, low in enumerate(profile.low)][::-1]
    corners = "L".join(f"{x(i):.1f} {y(float(value)):.1f}" for i, value in ends if math.isfinite(value))
    return f'<path class="band{"" if number else " first"}" d="M{corners}Z"/>' if corners else ""


def _line_style(number: int) -> tuple[str, str]:
    """Return the CSS class and the dashes of a network's line, by the network's number; the first has accent colour."""
    dashes = ("", "6 4", "2 3", "9 3 2 3")[number % 4]
    return " other" if number else "", f' stroke-dasharray="{dashes}"' if dashes else ""


def _profile_line(profile: Profile, number: int, x: Scale, y: Scale, radius: float, joined: bool) -> list[str]:
    """Return the SVG of the values of one network over the classes.

    With ``joined`` a line joins the values, and each has a dot. Otherwise each value is a vertical line from 0, and
    only the values of unusual classes have a dot.
    """
    other, dash = _line_style(number)
    values = profile.values.tolist()
    path, parts = [], []
    for i, value in enumerate(values):
        if not math.isfinite(value):
            continue  # The line has a gap here.
        if joined:
            follows = i > 0 and math.isfinite(values[i - 1])
            path.append(f"{'L' if follows else 'M'}{x(i):.1f} {y(value):.1f}")
        else:
            path.append(f"M{x(i):.1f} {y(0):.1f}V{y(value):.1f}")
        if joined or profile.unusual[i]:
            full = " full" if profile.unusual[i] else ""
            parts.append(f'<circle class="dot{other}{full}" cx="{x(i):.1f}" cy="{y(value):.1f}" r="{radius}"/>')
    return [f'<path class="line{other}"{dash} d="{"".join(path)}"/>', *parts]


def legend(names: Sequence[str]) -> str:
    """Return the HTML of a legend that says which network has which kind of line."""
    parts = []
    for number, name in enumerate(names):
        other, dash = _line_style(number)
        line = f'<svg class="bar" viewBox="0 0 60 10"><path class="line{other}"{dash} d="M2 5H58"/></svg>'
        parts.append(f"{line} {as_text(name)}")
    return f'<p class="small">{" &emsp; ".join(parts)}</p>'


def tree_chart(names: Sequence[str], distances: np.ndarray, words: str) -> str:
    """Return an SVG chart of the tree by average linkage of some networks.

    Args:
      names: The names of the networks.
      distances: Float64 ``[networks, networks]``.
      words: What the distances are called.
    """
    order, brackets = average_tree(distances)
    left, right, row, top = 20, 320, 26, 12
    shown = [names[network][:_LETTERS] for network in order]
    width = round(right + 16 + _LETTER_WIDTH * max(map(len, shown)))
    highest = max((float(heights.max()) for _, heights in brackets), default=0.0) or 1.0
    base = top + row * len(order)

    def x(height: float) -> float:
        return right - (right - left) * height / highest

    parts = []
    for places, heights in brackets:
        corners = (f"{x(h):.1f} {top + row * (place + 0.5):.1f}" for place, h in zip(places, heights, strict=True))
        parts.append(f'<path class="line other" d="M{"L".join(corners)}"/>')
    parts += [_label(right + 8, top + row * (i + 0.5) + 4, name, "start") for i, name in enumerate(shown)]
    parts.append(f'<line class="zero" x1="{left}" x2="{right}" y1="{base}" y2="{base}"/>')
    for height, anchor in ((highest, "start"), (0.0, "end")):
        parts.append(_label(x(height), base + 14, f"{height:.3g}", anchor))
    parts.append(_label((left + right) / 2, base + 14, words, "middle"))
    size = f'width="{width}" viewBox="0 0 {width} {base + 20}"'
    return f'<svg {size} role="img" aria-label="{as_text(words)}">{"".join(parts)}</svg>'


def bar(value: float, longest: float) -> str:
    """Return an SVG bar for a value, to the right of the middle where it is positive and else to the left.

    Args:
      value: The value; one that is not finite has no bar.
      longest: The value, of either sign, whose bar is the longest.
    """
    if not math.isfinite(value) or not longest:
        return ""
    length = max(abs(value) / longest * 48, 0.8)
    kind, start = ("positive", 50.0) if value > 0 else ("negative", 50 - length)
    return (
        '<svg class="bar" viewBox="0 0 100 12" aria-hidden="true"><line class="zero" x1="50" x2="50" y1="0" y2="12"/>'
        f'<rect class="{kind}" x="{start:.1f}" y="3" width="{length:.1f}" height="6"/></svg>'
    )


def distributions(columns: Mapping[str, np.ndarray], drawings: Mapping[str, str]) -> str:
    """Return a small chart for each orbit: how many nodes touch it how often, both axes logarithmic.

    Args:
      columns: How often each node touches an orbit, int64 ``[n]``, by the orbit's name.
      drawings: An SVG element that marks the orbit, by the orbit's name.
    """
    bodies = []
    for name, values in columns.items():
        degrees, nodes = np.unique(values[values > 0], return_counts=True)
        chart = _scatter(degrees, nodes) if degrees.size else '<p class="soft small">no node</p>'
        untouched = int(np.count_nonzero(values == 0))
        bodies.append(
            f'<div class="role">{drawings[name]}<div><h3>{as_text(name)}</h3>'
            f'<p class="soft small">{untouched:,} nodes never</p></div></div>{chart}'
        )
    return cards(bodies)


def _scatter(degrees: np.ndarray, nodes: np.ndarray) -> str:
    width, height, left, base = 210, 110, 26, 92
    x_range, y_range = max(math.log10(degrees[-1]), 1.0), max(math.log10(nodes.max()), 1.0)

    def x(exponent: float) -> float:
        return left + (width - left - 8) * exponent / x_range

    def y(exponent: float) -> float:
        return base - (base - 8) * exponent / y_range

    parts = [
        f'<line class="zero" x1="{left}" x2="{width}" y1="{base}" y2="{base}"/>',
        _label(left, base + 13, "1", "middle"),
        _label(x(x_range), base + 13, short_number(10**x_range), "end"),
        _label(left - 6, base, "1", "end"),
        _label(left - 6, y(y_range) + 4, short_number(10**y_range), "end"),
    ]
    # Points that would be drawn on top of each other are drawn once, for graphs of many nodes.
    points = {(round(x(math.log10(d)), 1), round(y(math.log10(c)), 1)) for d, c in zip(degrees, nodes, strict=True)}
    parts += [f'<circle class="positive" cx="{a}" cy="{b}" r="1.9"/>' for a, b in sorted(points)]
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="distribution">{"".join(parts)}</svg>'


def _label(x: float, y: float, content: str, anchor: str) -> str:
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{as_text(content)}</text>'
