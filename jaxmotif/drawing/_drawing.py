"""Pictures of small graphs as SVG: the places of the nodes, and the lines and arrow heads between them."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxmotif.arrays._present import visible
from jaxmotif.graph import Graph
from jaxmotif.graph._plot import ACCENT, INK, new_axes, spring_layout
from jaxmotif.graph._saved import named_errors
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._readings import sign_of
from jaxmotif.patterns._ruled import RuledPattern

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDE = 64.0
"""Side of the square that a picture fills."""

MOST_NODES = 40
"""Most nodes of a picture; with more, its lines could not be told apart."""

_ARRANGED = 12  # most nodes that are arranged so that few lines cross; more nodes stand in a circle in their order
_EVERY_ORDER = 5  # most nodes of which every order is tried
_HEAD, _HALF = 9.0, 3.9  # length and half width of an arrow's head
_FONT = 8.5  # height of words; words in circles are smaller where they would not fit
_MOST_LETTERS = 16  # of a name beside a node

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a8379")
"""Colours of groups of nodes, which the colour-blind tell apart (Okabe and Ito); a ninth group has the first again."""

Words = Mapping[int, str] | None
Point = tuple[float, float]
Line = tuple[Point, Point]


class Drawing(NamedTuple):
    """A picture in a square, with y downwards.

    Attributes:
      nodes: the centres of the nodes.
      radius: the radius of a node.
      marked: the nodes that stand out.
      lines: pairs of ends.
      dashes: pairs of ends of edges that must not be there.
      heads: the triangles of arrow heads.
      words: the label of each node, which stands inside it, or none.
      texts: edge labels and names beside nodes, with their places.
      title: a description for those who cannot see the picture.
      groups: the group of each node, as a number from 0, or none; groups have colours.
      side: the side of the square.
      pen: the width of lines.
    """

    nodes: tuple[Point, ...]
    radius: float
    marked: frozenset[int]
    lines: tuple[Line, ...]
    dashes: tuple[Line, ...]
    heads: tuple[tuple[Point, Point, Point], ...]
    words: tuple[str, ...]
    texts: tuple[tuple[Point, str], ...]
    title: str
    groups: tuple[int, ...] = ()
    side: float = SIDE
    pen: float = 1.7

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self, width: int | None = None, place: tuple[float, float, float] | None = None) -> str:
        """Return an SVG element in the colour of the surrounding text; marked nodes have the CSS colour ``--accent``.

        Args:
          width: the width in pixels, for a file of its own; in a page the style sheet decides.
          place: left, top and width inside another SVG element.
        """
        attributes = f'class="drawing{" worded" * bool(self.words)}"'
        if width is not None:
            attributes = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{width}"'
        elif place is not None:
            x, y, size = place
            attributes = f'x="{x:.1f}" y="{y:.1f}" width="{size:.1f}" height="{size:.1f}"'
        solid, dashed = ("".join(f"M{_xy(a)}L{_xy(b)}" for a, b in lines) for lines in (self.lines, self.dashes))
        pen = f'fill="none" stroke="currentColor" stroke-width="{self.pen}" stroke-linecap="round"'
        heads = "".join("M" + "L".join(map(_xy, head)) + "Z" for head in self.heads)
        parts = [
            f'<svg {attributes} viewBox="0 0 {self.side:.0f} {self.side:.0f}" role="img">',
            f"<title>{as_text(self.title)}</title>",
            f'<path d="{solid}" {pen}/>' * bool(solid),
            f'<path d="{dashed}" {pen} stroke-dasharray="1.5 4"/>' * bool(dashed),
            f'<path d="{heads}" fill="currentColor"/>' * bool(heads),
            *self._circles(),
        ]
        style = 'fill="currentColor" text-anchor="middle" font-family="Liberation Sans, Arial, sans-serif"'
        style += ' paint-order="stroke" stroke="var(--paper, white)" stroke-width="2.5"' * (not self.words)
        for x, y, word, size in self._written():
            parts.append(
                f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" font-size="{size:.1f}" {style}>{as_text(word)}</text>'
            )
        return "".join(parts) + "</svg>"

    def _written(self) -> Iterator[tuple[float, float, str, float]]:
        """Yield the centre of each word, the word, and its height, by which words fit into their circles."""
        for (x, y), word in zip(self.nodes, map(visible, self.words), strict=False):
            yield x, y, word, min(_FONT, 1.8 * self.radius / max(_width(word), 0.1))
        for (x, y), word in self.texts:
            yield x, y, visible(word), _FONT

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an SVG file.

        Raises:
          OSError: for a file that cannot be written, with its name.
        """
        with named_errors(path):
            Path(path).write_text(self.svg(width=256) + "\n", encoding="utf-8")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the picture in matplotlib (extra ``plot``), on the axes ``ax`` or new ones."""
        ax = new_axes(ax, (2, 2))
        unit = ax.bbox.width / ax.figure.dpi * 72 / self.side  # points
        pen: dict[str, Any] = {"color": INK, "linewidth": self.pen * unit}
        for style, lines in (("-", self.lines), (":", self.dashes)):
            for (x1, y1), (x2, y2) in lines:
                ax.plot([x1, x2], [y1, y2], style, solid_capstyle="round", zorder=1, **pen)
        for head in self.heads:
            ax.fill(*zip(*head, strict=True), color=INK, linewidth=0, zorder=2)
        from matplotlib.patches import Circle
        from matplotlib.patheffects import withStroke

        for place, colour in zip(self.nodes, self._colours(ACCENT, INK), strict=True):
            ax.add_patch(Circle(place, self.radius, **pen | {"color": colour, "fill": not self.words, "zorder": 3}))
        for x, y, word, size in self._written():
            style = {"ha": "center", "va": "center", "fontsize": size * unit, "color": INK, "zorder": 4}
            if not self.words:  # A line behind a name leaves it legible. With an effect, files hold a text's outlines.
                halo = [withStroke(linewidth=2.5 * unit, foreground="white")]
                ax.text(x, y, word, parse_math=False, path_effects=halo, **style)
            ax.text(x, y, word, parse_math=False, **style)
        ax.set(xlim=(0, self.side), ylim=(self.side, 0), aspect="equal")
        ax.axis("off")
        return ax

    def _colours(self, accent: str, ink: str) -> list[str]:
        """Return the colour of each node: that of its group, or one for marked nodes and one for others."""
        if self.groups:
            return [PALETTE[group % len(PALETTE)] for group in self.groups]
        return [accent if i in self.marked else ink for i in range(len(self.nodes))]

    def _circles(self) -> Iterator[str]:
        """Yield an SVG element for each node."""
        colours = self._colours("var(--accent, #c2410c)", "currentColor")
        for i, (x, y) in enumerate(self.nodes):
            radius = self.radius + 1 * (i in self.marked and not self.words)
            fill = 'fill="none" stroke-width="1.7" stroke' if self.words else "fill"
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {fill}="{colours[i]}"/>'


def draw_pattern(
    pattern: Pattern,
    node_words: Words = None,
    edge_words: Words = None,
    marked: Collection[int] = (),
    title: str = "",
    names: Sequence[str] = (),
) -> Drawing:
    """Draw a pattern: arcs are arrows, negative arcs end in a bar, and edges that must not be there are dashes.

    Args:
      pattern: a pattern of at most :data:`MOST_NODES` nodes.
      node_words: the words that node labels stand for.
      edge_words: likewise for edge labels. For an arc a word such as ``-`` or ``inhibitory`` becomes a bar, ``+`` or
        ``excitatory`` an arrow; any other word is a text beside the line.
      marked: nodes that stand out.
      title: a description for those who cannot see the picture.
      names: the names of the nodes, which are shown where nodes have no labels.

    Raises:
      ValueError: for too many nodes.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> picture = draw_pattern(named_pattern("ffl"))
      >>> len(picture.nodes), len(picture.lines), len(picture.heads)
      (3, 3, 3)
    """
    if pattern.num_nodes > MOST_NODES:
        raise ValueError(f"a pattern of {pattern.num_nodes} nodes is too large to draw; at most {MOST_NODES}")
    words = tuple(_shorten(name, 4) for name in names)
    if pattern.node_labels is not None:
        words = tuple(_shorten((node_words or {}).get(label, str(label)), 4) for label in pattern.node_labels.tolist())
    places = arrange(pattern)
    radius = (10.0 if pattern.num_nodes <= 4 else 8.5) if words else 4.6 if pattern.num_nodes <= 8 else 3.0
    at = _in_plane(SIDE / 2 + (SIDE / 2 - radius - 2) * places)
    strokes = _Strokes(pattern.directed, radius, 0.75 if words else 1.0)
    forbidden = pattern.forbidden if isinstance(pattern, RuledPattern) else np.zeros_like(pattern.adjacency)
    for u, v in combinations(range(pattern.num_nodes), 2):
        ways = [(a, b) for a, b in ((u, v), (v, u)) if pattern.adjacency[a, b] or forbidden[a, b]]
        kinds = [None if forbidden[a, b] else _kind(pattern, a, b, edge_words) for a, b in ways]
        if not pattern.directed or len(set(kinds)) == 1:
            for a, b in ways[:1]:
                strokes.add(at[a], at[b], kinds[0], both=len(ways) == 2)
        else:  # two arcs with different labels are drawn side by side
            for (a, b), kind in zip(ways, kinds, strict=True):
                strokes.add(at[a], at[b], kind, aside=3.2)
    texts = tuple((_pair(place), word) for place, word in strokes.texts)
    return Drawing(_pairs(at), radius, frozenset(marked), *strokes.shapes(), words, texts, title or str(pattern))


def _kind(pattern: Pattern, a: int, b: int, words: Words) -> str:
    """Return the kind of an edge from its label: ``+`` or ``-`` for arcs, or a word, or nothing."""
    if pattern.edge_labels is None:
        return ""
    label = int(pattern.edge_labels[a, b])
    word = (words or {}).get(label, str(label))
    return (sign_of(word) if pattern.directed else "") or word


class _Strokes:
    """The lines, heads and texts of a drawing, to which edges are added one by one.

    Points are complex numbers, x + iy, so that a direction times i is the direction to its right (y leads downwards).
    """

    def __init__(self, directed: bool, radius: float, scale: float = 1.0):
        self._directed, self._radius = directed, radius
        self._head, self._half = scale * _HEAD, scale * _HALF
        self.lines: list[tuple[complex, complex]] = []
        self.dashes: list[tuple[complex, complex]] = []
        self.heads: list[tuple[complex, complex, complex]] = []
        self.texts: list[tuple[complex, str]] = []

    def shapes(self) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        """Return the lines, the dashes and the heads, with coordinates for points."""
        return tuple(map(_pairs, self.lines)), tuple(map(_pairs, self.dashes)), tuple(map(_pairs, self.heads))

    def add(self, a: complex, b: complex, kind: str | None, both: bool = False, aside: float = 0.0) -> None:
        """Add an edge or arc from centre ``a`` to centre ``b``.

        Args:
          a: the centre where it begins.
          b: the centre where it ends.
          kind: ``+``, ``-``, a word or nothing (see :func:`_kind`); ``None`` for an edge that must not be there.
          both: whether it has an arrow head at either end.
          aside: how far it is moved to its right, so that two arcs can be drawn side by side.
        """
        gap, shift = self._radius * _direction(a, b), 1j * aside * _direction(a, b)
        start, end = a + gap + shift, b - gap + shift
        if kind not in (None, "", "+", "-"):
            # The text stands next to the middle, on the side away from the middle of the picture.
            middle, ahead = (start + end) / 2, _direction(start, end)
            from_centre = middle - complex(SIDE, SIDE) / 2
            out = 6.0 if (from_centre * ahead.conjugate()).imag <= 0 else -6.0
            self.texts.append((middle - out * 1j * ahead, _shorten(kind, 4)))
        line = start, end
        if self._directed:
            line = self._add_tip(end, start, kind) if both else start, self._add_tip(start, end, kind)
        (self.dashes if kind is None else self.lines).append(line)

    def _add_tip(self, start: complex, end: complex, kind: str | None) -> complex:
        """Add an arrow head, or the bar of a negative arc, at an end, and return the point where the line stops."""
        ahead = _direction(start, end)
        end -= (2.6 if kind == "-" else 1.2) * ahead
        if kind == "-":
            self.lines.append((end + 4.2j * ahead, end - 4.2j * ahead))
            return end
        base, half = end - self._head * ahead, 1j * self._half * ahead
        self.heads.append((end, base + half, base - half))
        return end - 0.8 * self._head * ahead


def _direction(a: complex, b: complex) -> complex:
    """Return the unit vector from a to b."""
    return (b - a) / (abs(b - a) or 1.0)


def _in_plane(places: np.ndarray) -> list[complex]:
    """Return places ``[k, 2]`` as complex numbers."""
    return [complex(x, y) for x, y in places.tolist()]


def _pair(point: complex) -> Point:
    """Return the coordinates of a point."""
    return point.real, point.imag


def _pairs(points: Iterable[complex]) -> tuple[Any, ...]:
    """Return the coordinates of each point."""
    return tuple(map(_pair, points))


def _xy(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def as_text(value: object) -> str:
    """Escape a value from a file or a user for a page or a drawing; control characters become visible escapes.

    Example:
      >>> as_text("<b>\\x00")
      '&lt;b&gt;\\\\x00'
    """
    return html.escape(visible(str(value)))


def _shorten(word: str, letters: int) -> str:
    return word if len(word) <= letters else word[: letters - 1] + "…"


def _width(word: str) -> float:
    """Return an upper bound of the width of a word without serifs, in heights of its font."""
    return sum(0.95 if letter in "MWmw@%…" else 0.75 if letter.isupper() else 0.6 for letter in word)


def draw_network(graph: Graph, groups: Sequence[int] = (), title: str = "") -> Drawing:
    """Draw a graph with names beside its nodes, which are placed by a spring layout.

    Args:
      graph: a graph of at most :data:`MOST_NODES` nodes.
      groups: the group of each node, as a number from 0; groups have colours.
      title: a description for those who cannot see the picture.

    Raises:
      ValueError: for too many nodes.

    Example:
      >>> from jaxmotif import Graph
      >>> picture = draw_network(Graph.from_edges([(0, 1), (1, 2)], node_names=["ADA", "BOB", "CAY"]))
      >>> [name for _, name in picture.texts]
      ['ADA', 'BOB', 'CAY']
    """
    if graph.n > MOST_NODES:
        raise ValueError(f"a network of {graph.n} nodes is too large to draw; at most {MOST_NODES}")
    words = [_shorten(str(name), _MOST_LETTERS) for name in graph._names]
    longest, radius = _FONT * max(map(_width, words), default=0.0), 5.0
    side = min(120.0 + 12 * graph.n, 320.0) + longest
    room = side / 2 - np.array([0.75 * longest + radius + 2, 20])
    places = side / 2 + _fill_square(spring_layout(graph)) * room
    at = _in_plane(places)
    strokes, arcs = _Strokes(graph.directed, radius, 0.75), {(u, v) for u, v in graph.edge_list().tolist()}
    for u, v in sorted(arcs):
        if u < v or (v, u) not in arcs:
            strokes.add(at[u], at[v], "", both=graph.directed and (v, u) in arcs)
    edges = np.array([*arcs, *((v, u) for u, v in arcs)], np.int64).reshape(-1, 2)
    texts = []
    for node, word in enumerate(words):
        # A name stands on the side away from the neighbours.
        beside = places[edges[edges[:, 0] == node, 1]]
        middle = beside.mean(axis=0) if len(beside) else places[node] - [0, 1]
        away, half = _direction(complex(*middle), at[node]), _FONT / 2 * _width(word)
        x, y = at[node].real + away.real * (radius + 2 + half), at[node].imag + away.imag * (radius + 7)
        # Near the border a name gives way, so that all of it is in the picture.
        texts.append(((min(max(x, half), side - half), min(max(y, 0.7 * _FONT), side - 0.7 * _FONT)), word))
    shapes = strokes.shapes()
    return Drawing(_pairs(at), radius, frozenset(), *shapes, (), tuple(texts), title, tuple(groups), side, 1.0)


# ---- the places of the nodes


def arrange(pattern: Pattern) -> np.ndarray:
    """Place the nodes in the square from -1 to 1, with y downwards, float64 ``[k, 2]``.

    As far as possible, arcs lead downwards and lines do not cross.

    Example:
      >>> star = Pattern.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> bool(abs(arrange(star)[0]).max() < 0.3)  # the center of a star is in the middle, or nearly
      True
    """
    k = pattern.num_nodes
    hub = k >= 4 and int(pattern.neighbors.sum(axis=0).max(initial=0)) == k - 1
    star = pattern.num_nodes - 1 == int(np.triu(pattern.neighbors).sum())
    sites = [] if hub and star else [_circle(k), _circle(k) * [1, -1]] if k % 2 else [_circle(k)]
    if hub and (star or k >= 5):
        sites.append(np.concatenate([np.zeros((1, 2)), _circle(k - 1)]))
    if k == 1 or k > _ARRANGED:
        return _fill_square(_circle(k))
    _, best = min((_best_places(pattern, places) for places in sites), key=lambda found: found[0])
    return _fill_square(best)


@cache
def _changes(k: int) -> np.ndarray:
    """Return the orders that a search tries from one order of k nodes, as places in it.

    These are all orders of a few nodes; of more nodes the order itself, and those in which two nodes are exchanged.
    """
    if k <= _EVERY_ORDER:
        return np.array(list(permutations(range(k))))
    changes = np.tile(np.arange(k), (1 + math.comb(k, 2), 1))
    for change, (i, j) in zip(changes[1:], combinations(range(k), 2), strict=True):
        change[[i, j]] = j, i
    return changes


def _circle(k: int) -> np.ndarray:
    """Return the corners of a regular polygon that stands on a side; one is in the middle, two are side by side."""
    turn = math.pi / 2 + math.pi / k if k > 2 else math.pi
    angle = turn + 2 * math.pi * np.arange(k) / k
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _fill_square(places: np.ndarray) -> np.ndarray:
    """Move and stretch places, equally in both directions, until they fill the square."""
    if len(places) < 2:
        return 0 * places
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - (low + high) / 2) / max(float((high - low).max()) / 2, 1e-9)


def _best_places(pattern: Pattern, sites: np.ndarray) -> tuple[float, np.ndarray]:
    """Place the nodes on some sites in an order that no change improves, and return its cost and the places."""
    order, least = np.arange(pattern.num_nodes), math.inf
    while True:
        orders = order[_changes(pattern.num_nodes)]
        costs = _costs(pattern, sites, orders)
        best = int(np.argmin(costs.round(6)))
        if pattern.num_nodes <= _EVERY_ORDER:
            return float(costs[best]), sites[orders[best]]
        if costs[best].round(6) >= least:
            return least, sites[order]
        order, least = orders[best], float(costs[best].round(6))


def _costs(pattern: Pattern, sites: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return the cost of each order of the nodes on some sites; the picture with the least cost is drawn.

    It grows with crossings of lines, lines through nodes, arcs that lead up, and long lines, and if the lines lie more
    to one side of the picture than to the other.
    """
    x, y = sites.T
    length = 0.1 * np.linalg.norm(sites[:, None] - sites[None], axis=2)
    middle = 0.03 * (x[:, None] + x[None])
    down = 0.5 * np.sign((y[None] - y[:, None]).round(6)) + 0.01 * np.sign((x[None] - x[:, None]).round(6))  # or right
    through, cross = _obstacles(tuple(map(tuple, sites.tolist())))
    lines, arcs = np.argwhere(np.triu(pattern.neighbors)), np.argwhere(pattern.adjacency & ~pattern.adjacency.T)
    a, b = orders[:, lines[:, 0]], orders[:, lines[:, 1]]
    cost = length[a, b].sum(axis=1) + np.abs(middle[a, b].sum(axis=1)) + through[a, b].sum(axis=1)
    cost -= down[orders[:, arcs[:, 0]], orders[:, arcs[:, 1]]].sum(axis=1)
    i, j = np.triu_indices(len(lines), 1)
    return cost + cross[a[:, i], b[:, i], a[:, j], b[:, j]].sum(axis=1)


@cache
def _obstacles(sites: tuple[tuple[float, float], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return what lines between sites lead through.

    Returns:
      A high cost for each line that leads through a third site, ``[a, b]``; and, as ``[a, b, c, d]``, 1 if the
      lines a-b and c-d cross or touch, else 0. Two lines that only have an end in common do not count.
    """
    step = np.array(sites)[None] - np.array(sites)[:, None]
    x, y = step[..., 0], step[..., 1]
    along = x[:, :, None] * x[:, None] + y[:, :, None] * y[:, None]
    turn = np.sign((x[:, :, None] * y[:, None] - y[:, :, None] * x[:, None]).round(6))  # the side of a-b that c is on
    between = (turn == 0) & (along > 1e-6) & (along < (step**2).sum(axis=-1)[:, :, None] - 1e-6)
    parted = turn[..., None] * turn[:, :, None] <= 0  # where the line through a and b has c and d not on one side
    one = np.eye(len(sites), dtype=bool)
    joined = (one[:, None, :, None] | one[:, None, None]) | (one[None, :, :, None] | one[None, :, None])
    return 10.0 * between.sum(axis=-1), 1.0 * (parted & parted.transpose(2, 3, 0, 1) & ~joined)
