"""The parser of the query language, which turns a text into a query by the grammar in ``grammar.lark``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from jaxmotif.arrays._extras import load_extra
from jaxmotif.language._query import Clause, Comparison, Edge, Element, Place, Query, QueryError, Value

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

MOST_STATEMENTS = 2**16
"""Most statements of a query once its macros are expanded: a few lines of nested macros could fill any memory."""

MOST_MACROS = 100
"""Most macros of a query, so few that macros that call each other do not exhaust Python's stack."""

_READABLE = {
    "NAME": "a name",
    "STRING": "text in quotes",
    "NUMBER": "a number",
    "RELATION": "-> or !>",
    "$END": "the end",
    "OPERATOR": "an operator such as = or <",
}
"""Words for kinds of tokens; others, such as brackets, are shown as they are written."""
_SAME = {"=": "==", "<>": "!="}
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


def parse(text: str) -> Query:
    """Parse a text in the query language.

    Raises:
      QueryError: (a ValueError) for a text that is no query, with the line and column of the mistake.
      ImportError: if lark, of the extra ``query``, is not installed.

    Example:
      >>> parse('A -> B; B -> C [type = "inhibitory", weight > 20]; A !> C; A.kind = "KC"')
      Query(3 nodes, 2 edges, 1 forbidden edge, 3 conditions)
      >>> parse("A -> B; B => C")
      Traceback (most recent call last):
      ...
      jaxmotif.language._query.QueryError: query, line 1, column 11 ('=> C'): expected (, -> or !>, ., ...
    """
    if not isinstance(text, str):
        raise TypeError(f"a query is text, got {type(text).__name__}")
    parser = _parser()
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        tree = parser.parse(text)
    except UnexpectedInput as error:
        expected = error.allowed if isinstance(error, UnexpectedCharacters) else getattr(error, "expected", ())
        words = sorted({_READABLE.get(name) or parser.get_terminal(name).pattern.value for name in expected or ()})
        shown = ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + "".join(words[-1:])
        lines, place = text.split("\n"), Place(error.line, error.column)
        if not isinstance(error, UnexpectedToken):
            actual = repr(lines[place.line - 1][place.column - 1 : place.column])
        elif error.token.type == "$END":
            actual, place = "the end", Place(len(lines), len(lines[-1]) + 1)
        else:
            actual = repr(str(error.token)[:30])
        like_this = "; a query is written like this: A -> B [weight > 2]; B !> A"
        hint = like_this if "RELATION" in (expected or ()) or actual in ("','", "'>'") else ""
        raise QueryError(f"expected {shown}, found {actual}{hint}", place, text) from None
    return _Reader(text).read(tree)


@cache
def _parser() -> Lark:
    lark = load_extra("lark", "the query language needs", "query")
    return lark.Lark.open("grammar.lark", __file__, parser="lalr", lexer="contextual", maybe_placeholders=True)


def _parts(tree: Tree) -> list[Any]:
    """Return the tokens and trees that the grammar puts into a tree."""
    return tree.children


class _Scope(NamedTuple):
    """The names that a statement may use.

    Attributes:
      nodes: the node that each parameter of the macro stands for; ``None`` outside of macros.
      edges: the ends of each named edge.
    """

    nodes: Mapping[str, str] | None
    edges: dict[str, tuple[int, int]]


class _Reader:
    """A reader that writes out macros and collects statements."""

    def __init__(self, text: str):
        self.text = text
        self.numbers: dict[str, int] = {}
        self.macros: dict[str, Tree] = {}
        self.wanted: dict[tuple[int, int], Edge] = {}
        self.forbidden: dict[tuple[int, int], list[Edge]] = {}
        self.late: list[tuple[Tree, _Scope]] = []
        self.clauses: list[tuple[int, Clause]] = []
        self.comparisons: list[Comparison] = []
        self.twins: list[tuple[int, int, Place]] = []
        self.statements = 0

    def read(self, tree: Tree) -> Query:
        """Return the query of a parsed text."""
        self.run(tree, _Scope(None, {}))
        # Constraints may name nodes and edges of later statements.
        for statement, scope in self.late:
            (self.constrain if statement.data == "constraint" else self.declare_twins)(statement, scope)
        edges = (*self.wanted.values(), *(edge for edges in self.forbidden.values() for edge in edges))
        if not self.numbers:
            raise QueryError("a query needs an edge, such as A -> B", Place(1, 1), self.text)
        conditions = tuple(self.clauses), tuple(self.comparisons), tuple(self.twins)
        return Query(tuple(self.numbers), edges, *conditions, self.text)

    def run(self, body: Tree, scope: _Scope) -> None:
        """Read the statements of a text or a macro."""
        for statement in _parts(body):
            self.statements += 1
            if statement.data == "macro":
                self.define(statement)
            elif statement.data == "call":
                self.call(statement, scope)
            elif statement.data == "edge":
                self.edge(statement, scope)
            else:
                self.late.append((statement, scope))

    def define(self, statement: Tree) -> None:
        """Add a macro, which may call only macros above it, so that every call ends."""
        name = _parts(statement)[0]
        for call in statement.find_data("call"):
            self.macro(_parts(call)[0])
        if str(name) in self.macros:
            self.refuse(f"there are two macros {name}", name)
        if len(self.macros) == MOST_MACROS:
            self.refuse(f"a query has at most {MOST_MACROS} macros", name)
        self.macros[str(name)] = statement

    def macro(self, name: Token) -> Tree:
        """Return the statement of the macro of a name, or refuse the name."""
        if str(name) not in self.macros:
            self.refuse(f"there is no macro {name} above", name)
        return self.macros[str(name)]

    def call(self, statement: Tree, scope: _Scope) -> None:
        """Write out a call of a macro."""
        name, arguments = _parts(statement)
        _, names, body = _parts(self.macro(name))
        parameters = list(map(str, _parts(names)))
        if len(_parts(arguments)) != len(parameters):
            self.refuse(f"macro {name} takes {len(parameters)} names, here are {len(_parts(arguments))}", name)
        if self.statements > MOST_STATEMENTS:
            self.refuse(f"macros written out are over the limit of {MOST_STATEMENTS} statements", name)
        actual = [self.node_name(token, scope) for token in _parts(arguments)]
        self.run(body, _Scope(dict(zip(parameters, actual, strict=True)), {}))

    def edge(self, statement: Tree, scope: _Scope) -> None:
        """Add an edge."""
        source, relation, target, clauses, alias = _parts(statement)
        ends = self.number(source, scope), self.number(target, scope)
        if relation[1] != ">":
            self.refuse(
                f'{relation} says what kind of edge, which graphs keep as an attribute: write -> and [type = "..."]',
                relation,
            )
        if ends[0] == ends[1]:
            self.refuse(f"{source} and {target} are one node; graphs here have no self loops", source)
        present = relation[0] == "-"
        conditions = tuple(_clause(clause) for clause in _parts(clauses)) if clauses is not None else ()
        edge = Edge(*ends, present, conditions, _place(source))
        if (ends in self.forbidden) if present else (ends in self.wanted):
            self.refuse("this edge is both wanted and forbidden", source)
        if not present:
            if alias is not None:
                self.refuse("an edge that must not be there has no attributes to name", alias)
            self.forbidden.setdefault(ends, []).append(edge)
            return
        before = self.wanted.get(ends)
        self.wanted[ends] = edge if before is None else before._replace(clauses=before.clauses + conditions)
        if alias is not None:
            if str(alias) in scope.edges:
                self.refuse(f"there are two edges named {alias}", alias)
            scope.edges[str(alias)] = ends

    def constrain(self, statement: Tree, scope: _Scope) -> None:
        """Add a clause or a comparison."""
        from lark import Tree

        member, operator, other = _parts(statement)
        (left, key), sign, place = self.member(member, scope), _operator(operator), _place(_parts(member)[0])
        if isinstance(other, Tree) and other.data == "member":
            self.comparisons.append(Comparison(left, key, sign, *self.member(other, scope), place))
            return
        clause = Clause(key, sign, _value(other), place)
        if isinstance(left, int):
            self.clauses.append((left, clause))
        else:
            edge = self.wanted[left]
            self.wanted[left] = edge._replace(clauses=(*edge.clauses, clause))

    def declare_twins(self, statement: Tree, scope: _Scope) -> None:
        """Add a pair of interchangeable nodes."""
        first, second = (self.node(token, scope) for token in _parts(statement))
        if first == second:
            self.refuse("a node is interchangeable with itself in any case", _parts(statement)[0])
        self.twins.append((first, second, _place(_parts(statement)[0])))

    def member(self, member: Tree, scope: _Scope) -> tuple[Element, str]:
        """Return the node or edge and the attribute of ``name.key``."""
        name, key = _parts(member)
        if str(name) not in scope.edges:
            return self.node(name, scope), _string(key)
        if str(name) in (self.numbers if scope.nodes is None else scope.nodes):
            self.refuse(f"{name} is the name of a node and of an edge; call the edge something else", name)
        return scope.edges[str(name)], _string(key)

    def node(self, token: Token, scope: _Scope) -> int:
        """Return the number of a node that an edge names, or refuse the name."""
        name = self.node_name(token, scope)
        if name not in self.numbers:
            self.refuse(f"{token} is neither a node of an edge nor a named edge", token)
        return self.numbers[name]

    def node_name(self, token: Token, scope: _Scope) -> str:
        """Return the name of a node, which in a macro is the argument for a parameter."""
        if scope.nodes is not None and str(token) not in scope.nodes:
            self.refuse(f"{token} is no parameter of the macro, and no edge named in it", token)
        return str(token) if scope.nodes is None else scope.nodes[str(token)]

    def number(self, token: Token, scope: _Scope) -> int:
        """Return the number of a node; a new node gets the next number."""
        return self.numbers.setdefault(self.node_name(token, scope), len(self.numbers))

    def refuse(self, problem: str, token: Token) -> NoReturn:
        """Raise an error with the place of a token."""
        raise QueryError(problem, _place(token), self.text)


def _clause(clause: Tree) -> Clause:
    """Read a clause."""
    key, operator, value = _parts(clause)
    return Clause(_string(key), _operator(operator), _value(value), _place(key))


def _value(value: Token | Tree) -> Value:
    """Read a value."""
    from lark import Tree

    if isinstance(value, Tree):
        return tuple(_value(item) for item in _parts(value) if item is not None)
    if value.type != "NUMBER":
        return _string(value) if value.type == "STRING" else _BOOLEANS.get(str(value), str(value))
    try:
        return int(value)
    except ValueError:
        return float(value)  # the numbers of the grammar are Python's


def _string(token: Token) -> str:
    """Return the text of a token, without quotes."""
    return str(token)[1:-1] if token.type == "STRING" else str(token)


def _operator(token: Token) -> str:
    """Return the operator of a token; some operators have two spellings, of which one is returned."""
    return _SAME.get(str(token), str(token))


def _place(token: Token) -> Place:
    """Return the place of a token in the text."""
    return Place(token.line or 0, token.column or 0)
