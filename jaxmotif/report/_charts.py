"""Charts of a report, drawn as SVG in the colours of its style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.devices._progress import short_number
from jaxmotif.drawing._drawing import Drawing, as_text

WIDTH = 960
_WITH_PICTURES = 16  # classes that have room for a drawing under the axis
_NAMED = 6  # points that are named where there is no room for drawings


Scale = Callable[[float], float]


class Profile(NamedTuple):
    """The significance profile of a network: float64 ``[classes]`` each, NaN where there is none.

    Attributes:
      name: of the network.
      values: z over the length of all z.
      low, high: where 95 % of the random graphs lie, on the same scale.
      unusual: bool, motifs and anti-motifs.
    """

    name: str
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unusual: np.ndarray


def profile_chart(labels: Sequence[str], drawings: Sequence[Drawing], profiles: Sequence[Profile]) -> str:
    """Profiles over classes; one network with the interval of its null model, several by kinds of lines.

    Args:
      labels: of the classes. drawings: of the classes.
    """
    count, left, right, top, height = len(labels), 44, 14, 14, 250
    pictured = count <= _WITH_PICTURES
    step = (WIDTH - left - right) / max(count, 1)
    values = [float(v) for p in profiles for v in (*p.values, *p.low, *p.high) if math.isfinite(v)]
    low, high = min(1.08 * min(values, default=0.0), -0.05), max(1.08 * max(values, default=0.0), 0.05)

    def x(i: float) -> float:
        return left + step * (i + 0.5)

    def y(value: float) -> float:
        return top + height * (high - value) / (high - low)

    parts = [*_axis(low, high, left, WIDTH - right, y)]
    for p in profiles if len(profiles) == 1 else ():
        for i, (least, most) in enumerate(zip(p.low, p.high, strict=True)):
            if math.isfinite(least) and math.isfinite(most):
                wide = max(min(step * 0.56, 40), 1.5)
                parts.append(
                    f'<rect class="band" x="{x(i) - wide / 2:.1f}" y="{y(most):.1f}" width="{wide:.1f}" '
                    f'height="{max(y(least) - y(most), 1.5):.1f}" rx="1.5"/>'
                )
    for n, p in enumerate(profiles):
        parts += _line(p, n, x, y, 4.4 if pictured else 2.4, joined=pictured or len(profiles) > 1)
    bottom = top + height
    if pictured:
        size = min(step * 0.74, 52)
        for i, (label, drawing) in enumerate(zip(labels, drawings, strict=True)):
            parts.append(drawing.svg(place=(x(i) - size / 2, bottom + 10, size)))
            parts.append(_label(x(i), bottom + size + 26, label[:12], "middle"))
        bottom += size + 32
    else:
        parts += _named(profiles[0], labels, x, y)
        bottom += 8
    return (
        f'<svg viewBox="0 0 {WIDTH} {bottom:.0f}" role="img" aria-label="Significance profile">{"".join(parts)}</svg>'
    )


def _axis(low: float, high: float, left: float, right: float, y: Scale) -> list[str]:
    parts = []
    unit = next(u for u in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01) if (high - low) / u >= 3.2 or u == 0.01)
    for k in range(-int(-low / unit), int(high / unit) + 1):
        kind = "zero" if k == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{left}" x2="{right}" y1="{y(k * unit):.1f}" y2="{y(k * unit):.1f}"/>')
        parts.append(_label(left - 8, y(k * unit) + 3.8, f"{k * unit:g}".replace("-", "−"), "end"))
    return parts


def _line(p: Profile, n: int, x: Scale, y: Scale, radius: float, joined: bool) -> list[str]:
    """One network: its points, joined, or each on a stem where there are many."""
    parts, other = [], " other" * (n > 0)
    dash = f' stroke-dasharray="{(("", "6 4", "2 3", "9 3 2 3")[n % 4])}"' if n % 4 else ""
    points = [(x(i), y(v)) if math.isfinite(v) else None for i, v in enumerate(p.values.tolist())]
    if joined:  # a gap where there is no value
        steps = "ML"
        path = "".join(
            f"{steps[i > 0 and points[i - 1] is not None]}{at[0]:.1f} {at[1]:.1f}" for i, at in enumerate(points) if at
        )
    else:
        path = "".join(f"M{at[0]:.1f} {y(0):.1f}V{at[1]:.1f}" for at in points if at)
    parts.append(f'<path class="line{other}"{dash} d="{path}"/>')
    for i, value in enumerate(p.values.tolist()):
        if math.isfinite(value) and (joined or p.unusual[i]):
            full = " full" * bool(p.unusual[i])
            parts.append(f'<circle class="dot{other}{full}" cx="{x(i):.1f}" cy="{y(value):.1f}" r="{radius}"/>')
    return parts


def _named(p: Profile, labels: Sequence[str], x: Scale, y: Scale) -> list[str]:
    """The names of the farthest points, where there is no room for all."""
    order = np.argsort(-np.nan_to_num(np.abs(p.values)), kind="stable")[:_NAMED]
    return [
        _label(x(i), y(float(p.values[i])) + (-9 if p.values[i] > 0 else 17), str(labels[i]), "middle")
        for i in order.tolist()
        if math.isfinite(p.values[i])
    ]


def legend(names: Sequence[str]) -> str:
    """Which network has which kind of line."""
    parts = []
    for n, name in enumerate(names):
        dash = f' stroke-dasharray="{(("", "6 4", "2 3", "9 3 2 3")[n % 4])}"' if n % 4 else ""
        other = " other" * (n > 0)
        line = f'<svg class="bar" viewBox="0 0 60 10"><path class="line{other}"{dash} d="M2 5H58"/></svg>'
        parts.append(f"{line} {as_text(name)}")
    return f'<p class="small">{" &emsp; ".join(parts)}</p>'


def bar(value: float, reach: float) -> str:
    """A bar to the right for more, to the left for less than expected."""
    if not math.isfinite(value) or not reach:
        return ""
    length = max(abs(value) / reach * 48, 0.8)
    kind, start = ("positive", 50.0) if value > 0 else ("negative", 50 - length)
    return (
        '<svg class="bar" viewBox="0 0 100 12" aria-hidden="true"><line class="zero" x1="50" x2="50" y1="0" y2="12"/>'
        f'<rect class="{kind}" x="{start:.1f}" y="3" width="{length:.1f}" height="6"/></svg>'
    )


def distributions(columns: Mapping[str, np.ndarray], drawings: Mapping[str, str]) -> str:
    """How many nodes touch an orbit how often, one small chart an orbit, both axes logarithmic.

    Args:
      columns: int64 ``[n]`` an orbit, by its name. drawings: SVG elements with the orbit marked.
    """
    cards = []
    for name, values in columns.items():
        degrees, nodes = np.unique(values[values > 0], return_counts=True)
        chart = _scatter(degrees, nodes) if degrees.size else '<p class="soft small">no node</p>'
        none = int(np.count_nonzero(values == 0))
        cards.append(
            f'<div class="card"><div class="role">{drawings[name]}<div><h3>{as_text(name)}</h3>'
            f'<p class="soft small">{none:,} nodes never</p></div></div>{chart}</div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _scatter(degrees: np.ndarray, nodes: np.ndarray) -> str:
    wide, high, left, base = 210, 110, 26, 92
    across, up = max(math.log10(degrees[-1]), 1.0), max(math.log10(nodes.max()), 1.0)

    def x(v: float) -> float:
        return left + (wide - left - 8) * v / across

    def y(v: float) -> float:
        return base - (base - 8) * v / up

    parts = [
        f'<line class="zero" x1="{left}" x2="{wide}" y1="{base}" y2="{base}"/>',
        _label(left, base + 13, "1", "middle"), _label(x(across), base + 13, short_number(10**across), "end"),
        _label(left - 6, base, "1", "end"), _label(left - 6, y(up) + 4, short_number(10**up), "end"),
    ]  # fmt: skip
    # Many nodes: points that would be drawn on one another are drawn once.
    seen = {(round(x(math.log10(d)), 1), round(y(math.log10(c)), 1)) for d, c in zip(degrees, nodes, strict=True)}
    parts += [f'<circle class="positive" cx="{a}" cy="{b}" r="1.9"/>' for a, b in sorted(seen)]
    return f'<svg viewBox="0 0 {wide} {high}" role="img" aria-label="distribution">{"".join(parts)}</svg>'


def _label(x: float, y: float, content: str, anchor: str) -> str:
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{as_text(content)}</text>'
