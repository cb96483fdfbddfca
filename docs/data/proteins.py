"""Make the protein network of the tutorial: ``python proteins.py`` writes ``proteins.tsv`` and ``families.tsv``.

Proteins are duplicated with their partners, of which the copy loses some (Vázquez, Flammini, Maritan and Vespignani
2003), and one complex is added. So the right answers are known: who is a copy of whom, and who is in the complex.
"""

import random
from itertools import combinations
from pathlib import Path

PROTEINS, KEPT, TO_PARENT = 200, 0.4, 0.1
FAMILIES = "kinase", "phosphatase", "ligase", "scaffold", "channel", "chaperone"
COMPLEX = range(40, 46)


def main() -> None:
    rng = random.Random(2004)
    partners = {node: {other for other in range(6) if other != node} for node in range(6)}
    families = list(FAMILIES)
    while len(partners) < PROTEINS:
        parent, copy = rng.randrange(len(partners)), len(partners)
        kept = {other for other in sorted(partners[parent]) if rng.random() < KEPT}
        if rng.random() < TO_PARENT:
            kept.add(parent)
        if not kept:
            continue
        partners[copy] = kept
        for other in kept:
            partners[other].add(copy)
        families.append(families[parent] if rng.random() < 0.8 else rng.choice(FAMILIES))
    for u, v in combinations(COMPLEX, 2):
        partners[u].add(v)
        partners[v].add(u)
    edges = sorted((u, v) for u, others in partners.items() for v in others if u < v)
    rows = [f"P{u:03}\tP{v:03}\n" for u, v in edges]
    Path("proteins.tsv").write_text("".join(rows))
    Path("families.tsv").write_text("".join(f"P{node:03}\t{family}\n" for node, family in enumerate(families)))


if __name__ == "__main__":
    main()
