"""Participation counts beside counting: CPU seconds of the whole call, warm, and every column's sum checked.

Run: python experiments/matching_participation.py [--data FOLDER] TARGET/QUERY[/induced] .. [--seconds S]
(counting by visiting is given up after S seconds)
"""

import argparse
import time

import jax
from networks import instance, parse_with_data

from jaxmotif.matching import Search, count_matches, participation_counts


def timed(function, *args, **options):
    """Of the second call: the result, and CPU seconds."""
    function(*args, **options)
    started = time.process_time()
    return function(*args, **options), time.process_time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instances", nargs="+")
    parser.add_argument("--seconds", type=float, default=60.0)
    args = parse_with_data(parser, bare=True)
    print(f"CPU seconds on {jax.devices()[0].device_kind}, jax {jax.__version__}\n")
    print("| instance | matches | count | count by visiting | participation, nodes | edges | nodes / visiting |")
    print("|---|---|---|---|---|---|---|")
    for name in args.instances:
        query, target = instance(args.data, name)
        induced = name.endswith("/induced")
        found, counting = timed(count_matches, query, target, induced)
        visited, visiting = timed(
            count_matches, query, target, induced, time_limit=args.seconds, search=Search(leaves=False)
        )
        nodes, by_node = timed(participation_counts, query, target, induced)
        edges, by_edge = timed(participation_counts, query, target, induced, of="edge")
        assert (nodes.sum(axis=0) == found.count).all()
        assert (edges.sum(axis=0) == found.count).all()
        over = "" if visited.exact else "over "
        ratio = f"{by_node / visiting:.2f}" if visited.exact else ""
        print(
            f"| {name} | {found.count} | {counting:.2f} | {over}{visiting:.2f} | {by_node:.2f} | {by_edge:.2f} "
            f"| {ratio} |", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
