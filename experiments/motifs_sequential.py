"""Random graphs against long sequential chains, written here without the library, one move at a time.

    python experiments/motifs_sequential.py [R [NETWORK ...]] [--data FOLDER]

FOLDER holds the directed networks as NAME.edges. Each of four chains starts at the network; after 100 attempted moves
an edge it is read every 20 an edge. A move switches two one-way arcs, or two reciprocated pairs, or turns the heads of
three one-way arcs, and is made when all new dyads are free. R random graphs of the library are compared with them.
"""

import argparse

import jax
import numpy as np
from networks import directed, parse_with_data
from scipy import sparse

from jaxmotif.kernels._switching import Step
from jaxmotif.motifs import random_graphs

CHAINS, READINGS, BURN_IN, SPACING = 4, 200, 100, 20
SETTINGS: tuple[tuple[Step, int], ...] = (("reject", 20), ("reject", 40), ("reject", 80), ("global", 10))
NETWORKS = ("yeast", "ecoli_alon423", "celegans_cect_varshney")


def statistics(arcs, n):
    """Induced counts by products of sparse matrices; classes named as in the triad census."""
    a = sparse.csr_array((np.ones(len(arcs), np.int64), (arcs[:, 0], arcs[:, 1])), (n, n))
    both = a * a.T
    one, near = a - both, a + a.T - both
    table = near.toarray()

    def open_paths(paths):
        """Of paths over one node, those whose ends are apart."""
        return paths.sum() - (paths * near).sum() - paths.trace()

    def two_between(first, second, alike):
        """Two nodes apart, and two nodes apart on paths between them; the ends alike: unordered."""
        paths = sparse.coo_array(first @ second)
        some = (paths.data > 1) & (paths.row < paths.col if alike else paths.row != paths.col)
        u, v, ways = paths.row[some], paths.col[some], paths.data[some]
        apart = table[u, v] == 0
        u, v, ways = u[apart], v[apart], ways[apart]
        common = first[u] * second.T.tocsr()[v]
        return (ways * (ways - 1) // 2).sum() - (common @ near * common).sum() // 2

    return {
        "030T feed-forward loop": (one @ one * one).sum(),
        "bi-fan": two_between(one, one.T, True),
        "bi-parallel": two_between(one, one, False),
        "111U": open_paths(both @ one),
        "120C": (one @ one * both).sum(),
        "201": open_paths(both @ both) // 2,
    }


def chain(arcs, n, seed):
    """Readings of one chain."""
    rng = np.random.default_rng(seed)
    present = {(u, v) for u, v in arcs.tolist()}
    single = [arc for arc in present if arc[::-1] not in present]
    pairs = [arc for arc in present if arc[::-1] in present and arc[0] < arc[1]]
    taken = {frozenset(arc) for arc in present}
    labels = len(single) + len(pairs)

    def replace(items, chosen, new):
        """Put new dyads in the place of the chosen ones if they are free."""
        dyads = [frozenset(arc) for arc in new]
        old = {frozenset(items[i]) for i in chosen}
        if len(set(dyads)) < len(new) or any(len(d) < 2 or (d in taken and d not in old) for d in dyads):
            return
        if len(new) == 2 and any(d in old for d in dyads):
            return
        taken.difference_update(old)
        taken.update(dyads)
        for i, arc in zip(chosen, new, strict=True):
            items[i] = arc

    def attempts(number):
        which = (rng.random(number) * (labels + len(single) / 8)).tolist()
        places, coins = rng.random((number, 3)).tolist(), (rng.random(number) < 0.5).tolist()
        for kind, (x, y, z), coin in zip(which, places, coins, strict=True):
            if kind < len(single):
                i, j = int(x * len(single)), int(y * len(single))
                (a, b), (c, d) = single[i], single[j]
                replace(single, (i, j), ((a, d), (c, b)))
            elif kind < labels:
                i, j = int(x * len(pairs)), int(y * len(pairs))
                (a, b), (c, d) = pairs[i], pairs[j] if coin else pairs[j][::-1]
                replace(pairs, (i, j), ((a, d), (c, b)))
            else:
                i, j, k = int(x * len(single)), int(y * len(single)), int(z * len(single))
                if i != j and j != k and i != k:
                    (a, b), (c, d), (e, f) = single[i], single[j], single[k]
                    replace(single, (i, j, k), ((a, d), (c, f), (e, b)))

    attempts(BURN_IN * labels)
    for _ in range(READINGS):
        attempts(SPACING * labels)
        yield statistics(np.array([*single, *pairs, *(p[::-1] for p in pairs)]), n)


def main(data, num, networks):
    print(f"jax {jax.__version__}, {jax.devices()[0].platform}, {num} random graphs\n")
    print("| network | statistic | count | sequential, sd | step, attempts per edge | random graphs, sd | z |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in networks:
        graph = directed(data, name)
        arcs = graph.edge_list()
        readings = [list(chain(arcs, graph.n, seed)) for seed in range(CHAINS)]
        counts = statistics(arcs, graph.n)
        for step, attempts in SETTINGS:
            sample = random_graphs(graph, num, jax.random.key(4), step=step, attempts=attempts)
            drawn = [statistics(one.edge_list(), graph.n) for one in sample]
            for statistic, count in counts.items():
                x = np.array([s[statistic] for s in drawn])
                y = np.array([[s[statistic] for s in chain] for chain in readings])
                if not x.any() and not y.any():
                    continue
                # Successive readings may hang together: the error of their mean is from blocks of ten.
                blocks = y.reshape(-1, 10).mean(axis=1)
                error = np.hypot(x.std(ddof=1) / num**0.5, blocks.std(ddof=1) / blocks.size**0.5)
                z = (x.mean() - y.mean()) / error if error else 0.0
                found, wanted = (f"{values.mean():.2f}, {values.std(ddof=1):.2f}" for values in (x, y))
                row = (name, statistic, count, wanted, f"{step}, {attempts}", found, f"{z:.1f}")
                print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="?", type=int, default=1000)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    args = parse_with_data(parser, bare=True)
    main(args.data, args.graphs, args.networks)
