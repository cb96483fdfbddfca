"""Means and deviations in random graphs against independent programs, and how long chains must be.

    python experiments/motifs_null.py [R] [--data FOLDER]

FOLDER holds the directed networks as NAME.edges and null_models.json.
"""

import argparse
import json
import time

import jax
import numpy as np
from networks import data_folder, directed, parse_with_data

from jaxmotif.kernels._switching import Step
from jaxmotif.motifs import find_motifs

SAME = {f"plain C++ switching, {keep}, 100 attempts/edge": keep for keep in ("bidegree", "degree")}
LENGTHS: dict[Step, tuple[int, ...]] = {"reject": (1, 2, 5, 10, 20, 40), "global": (1, 2, 5, 10)}
TRACKED = ("030T feed-forward loop", "bi-fan", "201", "120C", "111U")


def agreement(data, num):
    stored = json.loads((data / "null_models.json").read_text())["graphs"]
    print("| network | k | keeps | classes | largest |z| of a mean | of an sd | s |\n|---|---|---|---|---|---|---|")
    for name, sizes in stored.items():
        path = data / f"{name}.edges"
        if not path.exists():
            continue
        graph = directed(data, name)
        for size, runs in sizes.items():
            for program, keep in SAME.items():
                run = runs.get("r1000", {}).get(program)
                if run is None or int(size[1:]) > 4:
                    continue
                started = time.perf_counter()
                found = find_motifs(graph, int(size[1:]), num, jax.random.key(1), keep)
                seconds = time.perf_counter() - started
                means, sds = [], []
                for i, label in enumerate(found.classes):
                    want = run["classes"].get(label, {"mean": 0.0, "sd": 0.0})
                    mean, sd = found.significance.mean[i], found.significance.sd[i]
                    spread = max(sd, want["sd"])
                    if spread * np.sqrt(num) < 5 or not want["sd"]:  # seen in a handful of graphs: no normal error
                        continue
                    means.append((mean - want["mean"]) / (spread * np.sqrt(1 / num + 1 / 1000)))
                    x = found.random_counts[:, i] - mean
                    kurtosis = (x**4).mean() / (x**2).mean() ** 2
                    sds.append(np.log(sd / want["sd"]) / np.sqrt((kurtosis - 1) / 4 * (1 / num + 1 / 1000)))
                worst = [max(np.abs(v), default=0) for v in (means, sds)]
                row = (name, size[1:], keep, len(means), f"{worst[0]:.2f}", f"{worst[1]:.2f}", f"{seconds:.1f}")
                print("|", " | ".join(map(str, row)), "|", flush=True)


def mixing(data, num):
    print(
        "\n| network | step | attempts | accepted | statistic | mean +- error | lag correlation | z at four times the length |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in ("yeast", "ecoli_alon423", "celegans_cect_varshney"):
        graph = directed(data, name)
        for step, lengths in LENGTHS.items():
            for attempts in lengths:
                found = [find_motifs(graph, k, num, jax.random.key(2), attempts=attempts, step=step) for k in (3, 4)]
                for f in found:
                    s, mix = f.significance, f.mixing
                    for label in TRACKED:
                        if label in f.names and s.sd[i := f.names.index(label)] > 0.5:
                            row = (
                                name, step, attempts, f"{f.accepted:.2f}", label,
                                f"{s.mean[i]:.2f} +- {s.sd[i] / num**0.5:.2f}",
                                f"{mix.lag_correlation[i]:.2f}", f"{mix.longer_z[i]:.1f}",
                            )  # fmt: skip
                            print("|", " | ".join(map(str, row)), "|", flush=True)


def nulls(data, num):
    graph = directed(data, "celegans_cect_varshney")
    print("\n| triad | count | z, bidegree | z, degree |\n|---|---|---|---|")
    both = [find_motifs(graph, 3, num, jax.random.key(3), keep) for keep in ("bidegree", "degree")]
    for i, name in enumerate(both[0].names):
        z = [f.significance.z[f.names.index(name)] for f in both]
        print(f"| {name} | {both[0].counts[i]} | {z[0]:.1f} | {z[1]:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="?", type=int, default=1000)
    args = parse_with_data(parser, bare=True)
    folder, graphs = data_folder(args.data, "directed"), args.graphs
    print(f"jax {jax.__version__}, {jax.devices()[0].platform}, {graphs} random graphs\n")
    agreement(folder, graphs)
    nulls(folder, graphs)
    mixing(folder, graphs)
