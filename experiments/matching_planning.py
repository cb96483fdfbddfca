"""What a warm call of an easy instance costs: milliseconds of the whole public call, the least of several, beside the
least CPU time that another program is known to take, reading its files too.

Run: python experiments/matching_planning.py [--data FOLDER] [TARGET/QUERY[/induced] ..] [--calls N] [--every N]
         [--profile]

Without instances, of those in matches.json that some program solves in half a second every N-th (6: 26 of 155).
"""

import argparse
import cProfile
import json
import pstats
import time
from math import exp, log

import jax
from networks import data_folder, instance, parse_with_data

from jaxmotif.matching import count_matches

EASY = 0.5
"""CPU seconds."""


def known_instances(folder):
    """The verified count of every instance that some program solved, and the least CPU seconds one took."""
    targets = json.loads((folder / "matches.json").read_text())["targets"]
    found = {}
    for target, queries in targets.items():
        for query, kinds in queries.items():
            for kind, known in kinds.items():
                if known["cpu_s"] and known["matches"] is not None:
                    name = f"{target}/{query}" + ("/induced" if kind == "induced" else "")
                    found[name] = known["matches"], min(known["cpu_s"].values())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instances", nargs="*")
    parser.add_argument("--calls", type=int, default=8)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    args = parse_with_data(parser, bare=True)
    known = known_instances(data_folder(args.data, "labelled"))
    easy = [name for name, (_, least) in known.items() if least < EASY]
    profile, ratios, milliseconds = cProfile.Profile(), [], []
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}\n")
    print("| instance | nodes | matches | wall ms | CPU ms | best other, CPU ms | CPU / best |")
    print("|---|---|---|---|---|---|---|")
    for name in args.instances or easy[:: args.every]:
        query, target = instance(args.data, name)
        induced = name.endswith("/induced")
        times = []
        for call in range(args.calls):
            if args.profile and call:
                profile.enable()
            started, used = time.perf_counter(), time.process_time()
            found = count_matches(query, target, induced)
            times.append((time.perf_counter() - started, time.process_time() - used))
            profile.disable()
        wall, cpu = (1e3 * min(column) for column in zip(*times, strict=True))
        matches, best = known[name]
        assert found.count == matches, name
        ratios.append(cpu / (1e3 * best))
        milliseconds.append((wall, cpu))
        print(
            f"| {name} | {query.n} | {found.count} | {wall:.2f} | {cpu:.2f} | {1e3 * best:.0f} | {ratios[-1]:.2f} |",
            flush=True,
        )
    wall, cpu = (_mean(column) for column in zip(*milliseconds, strict=True))
    print(
        f"\n{len(ratios)} instances, geometric means {wall:.2f} ms wall, {cpu:.2f} ms CPU, {_mean(ratios):.2f} times",
        end="",
    )
    print(f" the best other's; more than 3 times: {sum(ratio > 3 for ratio in ratios)}")
    if args.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


def _mean(values):
    return exp(sum(map(log, values)) / len(values))


if __name__ == "__main__":
    main()
