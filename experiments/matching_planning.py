"""What a warm call of an easy instance costs: CPU milliseconds of the whole public call, the least of several.

Run: python experiments/matching_planning.py FOLDER TARGET/QUERY[/induced] .. [--calls N] [--profile]
"""

import argparse
import cProfile
import pstats
import time
from math import exp, log
from pathlib import Path

import jax

from jaxmotif.graph import read_graph
from jaxmotif.matching import count_matches


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("instances", nargs="+")
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    profile, least = cProfile.Profile(), []
    print(f"CPU ms on {jax.devices()[0].device_kind}, jax {jax.__version__}\n\n| instance | nodes | matches | CPU ms |")
    print("|---|---|---|---|")
    for name in args.instances:
        folder, file, *induced = name.split("/")
        target = read_graph(args.folder / folder / "target.txt.gz", pad="bucket")
        query = read_graph(args.folder / folder / "queries" / f"{file}.txt")
        times = []
        for call in range(args.calls):
            if args.profile and call:
                profile.enable()
            started = time.process_time()
            found = count_matches(query, target, bool(induced))
            times.append(1e3 * (time.process_time() - started))
            profile.disable()
        least.append(min(times))
        print(f"| {name} | {query.n} | {found.count} | {min(times):.2f} |", flush=True)
    print(f"\ngeometric mean {exp(sum(map(log, least)) / len(least)):.2f} ms")
    if args.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
