"""Occurrences of every class of a census, listed by matching: their number against the census, and CPU seconds.

Run: python experiments/occurrences.py [--data FOLDER] --size 4 [--most 3e7] [--part I/N]
(of all directed networks; one with more subgraphs than --most is named and left out; --part lists every
N-th class from class I on, so that a long listing goes in N pieces)
"""

import argparse
import time

import jax
from networks import data_folder, parse_with_data

from jaxmotif import occurrences, read_graph, subgraph_census


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--most", type=float, default=3e7)
    parser.add_argument("--part", default="0/1", metavar="I/N")
    args = parse_with_data(parser, bare=True)
    part, parts = map(int, args.part.split("/"))
    print(f"CPU seconds on {jax.devices()[0].device_kind}, jax {jax.__version__}\n")
    print("| network | size | classes | occurrences | differ | census | listing |\n|---|---|---|---|---|---|---|")
    for path in sorted(data_folder(args.data, "directed").glob("*.edges")):
        graph = read_graph(path, directed=True)
        started = time.process_time()
        census = subgraph_census(graph, args.size)
        counting = time.process_time() - started
        wanted = dict(list(census.as_dict().items())[part::parts])
        total = sum(wanted.values())
        row = f"| {path.stem} | {args.size} | {len(wanted)} | {total:,} "
        if total > args.most:
            print(f"{row}| left out | {counting:.1f} | |")
            continue
        started = time.process_time()
        differ = 0
        for name, count in wanted.items():
            differ += sum(len(block) for block in occurrences(graph, name)) != count
        listing = time.process_time() - started
        print(f"{row}| {differ} | {counting:.1f} | {listing:.1f} |", flush=True)


if __name__ == "__main__":
    main()
