"""How to count the classes of a graph in its random graphs: both engines, and each optimisation alone (NemoGPU 7.3).

    python experiments/motifs_engines.py [--data FOLDER] [--size K] [--random R] [--most N] [--sweep NAME]

Directed networks with more than N subgraphs are passed over. Class by class and graph by graph is slow, so
that is done for two random graphs and scaled to R. Times are of the second run (compiled): process time on a CPU, which
other programs disturb less, wall-clock time on a GPU.
"""

import argparse
import time
from functools import partial

import jax
import numpy as np
from networks import data_folder, parse_with_data

from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.census._sizes import plan
from jaxmotif.graph import read_graph
from jaxmotif.motifs import random_graphs, subgraph_census
from jaxmotif.motifs._graph_samples import sample_graphs
from jaxmotif.motifs.matching_tree import count_by_matching, plan_matching

DEVICE = jax.devices()[0]
ON_CPU = DEVICE.platform == "cpu"
SIZES, MATRIX_BYTES = plan(DEVICE, None)
SINGLES = 2  # random graphs counted one by one
ROW_BYTES = 4 * (2 + 8)  # of a partial match: graph, tree node, up to 8 nodes


def clock():
    return time.process_time() if ON_CPU else time.perf_counter()


def timed(run):
    run()
    started = clock()
    result = run()
    return result, clock() - started


def row(*cells):
    print("|", " | ".join(f"{c:.3g}" if isinstance(c, float) else str(c) for c in cells), "|", flush=True)


def head(*cells):
    print()
    row(*cells)
    print("|" + "---|" * len(cells), flush=True)


def match(plans, samples, block=SIZES.block, tables=None):
    """Counts ``[graphs, classes]``: the plans one after the other, the samples one after the other."""
    tables = tables or [SIZES.table] * plans[0].size
    parts = []
    for sample in samples:
        graphs = sample_graphs(sample, len(sample), MATRIX_BYTES, DEVICE)
        counts = [count_by_matching(graphs, p, block=block, tables=tables) for p in plans]
        parts.append(np.concatenate(counts, axis=1))
    return np.concatenate(parts)


def batches(sample, together):
    return [sample[low : low + together] for low in range(0, len(sample), together)]


def census_counts(sample, size, classifier, classes):
    graphs = sample_graphs(sample, len(sample), MATRIX_BYTES, DEVICE)
    counts = count_classes(graphs, size, classifier, SIZES)
    known = {name: i for i, name in enumerate(classifier.classes)}
    held = [counts[:, known[c]] if c in known else np.zeros(len(sample), np.int64) for c in classes]
    return np.stack(held, axis=1)


def engines(networks, size, num):
    """Both engines on the same random graphs, their counts compared class by class and graph by graph."""
    print(f"\n## Engines, k = {size}, {num} random graphs")
    head("network", "subgraphs in them", "classes", "tree nodes", "plan s", "matching s", "census s", "equal")
    for name, (_, classes, whole, sample) in networks.items():
        classifier = Classifier(Alphabet.of(sample.source), size)
        started = clock()
        plan_matching(sample.source, size, classes)
        planned = clock() - started
        found, matching = timed(partial(match, [whole], [sample]))
        wanted, census = timed(partial(census_counts, sample, size, classifier, classes))
        nodes = int(whole.tree.begin[-1])
        row(name, found.sum(), len(classes), nodes, planned, matching, census, np.array_equal(found, wanted))


def optimisations(networks, size, num):
    """Fig. 8: relative overhead against all optimisations, by network."""
    overheads = {}
    print("\n## Each optimisation alone (Fig. 8): time over that of all together, per random graph")
    print(
        "The paper: DC-GM about 2, DC about 4, NA a little below DC on its two smallest networks and impossible beyond."
    )
    head("network", "full s a graph", "DC-GM", "DC", "NA", "rows of NA's tables")
    for name, (_, classes, whole, sample) in networks.items():
        alone = [plan_matching(sample.source, size, [c]) for c in classes]
        few = sample[:SINGLES]
        _, full = timed(partial(match, [whole], [sample]))
        merged, dc_gm = timed(partial(match, alone, [sample]))
        _, dc = timed(partial(match, alone, batches(few, 1)))
        # Without divide and conquer a table holds all that a level can have.
        levels = [max(subgraph_census(g, i).total for g in few) for i in range(2, size)]
        tables = [SIZES.block + (1 << int(rows).bit_length()) for rows in levels]
        na = None
        if sum(tables) * ROW_BYTES < (2**30 if ON_CPU else 2**34):
            single, na = timed(partial(match, alone, batches(few, 1), tables=[*tables, SIZES.block]))
            if not np.array_equal(single, merged[:SINGLES]):
                raise RuntimeError(f"{name}: counts differ")
        full, dc_gm, dc = full / num, dc_gm / num, dc / SINGLES
        na = None if na is None else na / SINGLES / full
        row(name, full, dc_gm / full, dc / full, "-" if na is None else na, sum(tables))
        overheads[name] = {"DC-GM": dc_gm / full, "DC": dc / full, "NA": na}
    return overheads


def memory_shares(name, network, size):
    """Fig. 9: seconds by the share of memory each level takes."""
    _, _, whole, sample = network
    seconds = {}
    total = SIZES.table * size
    print(f"\n## Memory (Fig. 9, lambda), {name}: {total} rows in all, each table a part lambda of what is left")
    print("The paper: best at 0.4 (its choice: 1 / (k - 2)), worse from 0.3 down and above 0.5.")
    head("lambda", "s")
    for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        left, tables = total, []
        for _ in range(2, size - 1):
            tables.append(max(SIZES.block, int(left * share)))
            left -= tables[-1]
        tables.append(max(SIZES.block, left))
        seconds[share] = timed(partial(match, [whole], [sample], tables=[*tables, SIZES.block]))[1]
        row(share, seconds[share])
    row("equal parts", timed(partial(match, [whole], [sample]))[1])
    return seconds


def merging(name, network, num):
    """Fig. 9: seconds by how many random graphs are merged."""
    _, _, whole, sample = network
    found = {}
    print(f"\n## Graph merging (Fig. 9, mu), {name}, {num} random graphs")
    print("The paper: best at 400 of 1000 on a 5 GB GPU, at 100 on a 1 GB GPU.")
    head("mu", "matrix of dyads", "s")
    for together in sorted(
        {mu for mu in (1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 750, 1000) if mu < num} | {num}
    ):
        parts = batches(sample[: num - num % together], together)
        matrix = sample_graphs(parts[0], together, MATRIX_BYTES, DEVICE).dyads.matrix is not None
        seconds = timed(partial(match, [whole], parts))[1]
        found[together] = seconds * num / (together * len(parts))
        row(together, matrix, found[together])
    return found


def first_phase(networks, size, num):
    """Fig. 10: what the first phase on this device gains over the same on a CPU, by network and number of graphs."""
    gains = {}
    print("\n## First phase on the device (Fig. 10): time with the first phase on a CPU, over time with both here")
    print("The paper: about 2 at r = 100 on its larger GPU, falling with r, near 1 on the smaller.")
    if ON_CPU:
        print("Needs a GPU.")
        return gains
    counts = [r for r in (100, 200, 300, 400, 500, 750, 1000) if r <= num] or [num]
    head("network", "first phase s", "on a CPU s", "second phase s", *(f"r={r}" for r in counts))
    for name, (graph, _, whole, sample) in networks.items():
        _, here = timed(partial(subgraph_census, graph, size))
        _, there = timed(partial(subgraph_census, graph, size, devices=[jax.devices("cpu")[0]]))
        _, second = timed(partial(match, [whole], [sample]))
        gains[name] = {r: (there + second * r / num) / (here + second * r / num) for r in counts}
        row(name, here, there, second, *gains[name].values())
    return gains


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=4 if ON_CPU else 5)
    parser.add_argument("--random", type=int, default=20 if ON_CPU else 100)
    parser.add_argument("--most", type=float, default=2.5e5 if ON_CPU else 1e8)
    parser.add_argument("--sweep", default="yeast" if ON_CPU else "yeastppi_listed")
    args = parse_with_data(parser, bare=True)
    timer = "process" if ON_CPU else "wall-clock"
    print(f"jax {jax.__version__}, {DEVICE.device_kind}, k = {args.size}, {args.random} random graphs, {timer} seconds")
    networks = {}
    for path in sorted(data_folder(args.data, "directed").glob("*.edges")):
        graph = read_graph(path, directed=True)
        for size in range(3, args.size + 1):  # small ones first: a network that is too large is soon known
            census = subgraph_census(graph, size)
            if census.total > args.most and path.stem != args.sweep:
                break
        else:
            sample = random_graphs(graph, args.random, jax.random.key(0))
            whole = plan_matching(graph, args.size, census.classes)
            networks[path.stem] = graph, census.classes, whole, sample
    engines(networks, args.size, args.random)
    optimisations(networks, args.size, args.random)
    memory_shares(args.sweep, networks[args.sweep], args.size)
    merging(args.sweep, networks[args.sweep], args.random)
    first_phase(networks, args.size, args.random)


if __name__ == "__main__":
    main()
