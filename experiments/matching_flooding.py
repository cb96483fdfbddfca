"""Flooding and hypersearch, the two phases of GRASS, as configurations of the level search, beside its default.

- fill: the default. A step works on the first table whose successor has room, so that tables fill before they are
  worked on, and nearly all lanes of a step have something to do.
- deepest: flooding (a level after the other, as long as a whole level fits a step) and then hypersearch (depth first,
  by steps that are breadth first): a step works on the last table that is not empty.
- blocks: the same, and as in the paper a thread block takes one partial match at a time: a step of C lanes in blocks
  of B takes at most C / B partial matches, however few candidates they have.

Every match is reached by the search (no leaves in closed form, no symmetry, no looking ahead) unless --count.

Run: python experiments/matching_flooding.py FOLDER [--block C] [--threads B] [--seconds S] [--count]
(FOLDER holds matches.json and the labelled graphs)
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np

from jaxmotif.graph import read_graph
from jaxmotif.kernels import lanes
from jaxmotif.kernels.choice import kernel_backend, power_of_four
from jaxmotif.kernels.extend import LANES
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.matching.lockstep import lockstep
from jaxmotif.matching.plan import Options, make_plan
from jaxmotif.matching.run import table_entries
from jaxmotif.matching.target import index_target
from jaxmotif.patterns import Pattern
from jaxmotif.search import Progress, advance, start_state

INSTANCES = (
    ("cmap_1a0g_a/sparse_e64_0", "non-induced"),
    ("graemlin_campylobacter_L4derived/semi_e8_1", "induced"),
    ("graemlin_escherichia_L64/sparse_e8_0", "non-induced"),
    ("graemlin_helicobacter_L2derived/sparse_e4_0", "induced"),
    ("graemlin_helicobacter_L8derived/semi_e16_0", "non-induced"),
    ("lad_LV_g20/g5", "induced"),
    ("snu_yeast/dense_32_1", "non-induced"),
    ("string_yeast_u32/dense_e32_0", "induced"),
)


def search(plan, schedule, threads, seconds):
    """Where it ends, done or out of time, and the seconds of a second run."""
    (stage,), (device,) = plan.stages, plan.operands.offsets.devices()
    code = np.array(stage.program.code)
    if schedule == "blocks":
        code[lanes.MOST_ROWS] = min(code[lanes.MOST_ROWS], max(1, stage.sizes.block // threads))
    padded = np.zeros(stage.code.shape, np.int32)
    padded[: len(code)] = code
    operands = plan.operands._replace(program=jax.device_put(padded, device))
    whole = stage.sizes.block % LANES == stage.sizes.window % LANES == 0
    backend = kernel_backend(device) if whole else "xla"

    def run(last, limit):
        state = jax.device_put(
            start_state(
                entries=table_entries(stage.program.entries), tables=power_of_four(stage.program.tables, 16),
                backend=backend,
            ), device,
        )  # fmt: skip
        started, steps = time.perf_counter(), 64
        while True:
            stop = np.int32(min(last, steps))
            state, report = advance(
                operands, state, stop, sizes=stage.sizes, backend=backend, ordered=schedule != "fill"
            )  # fmt: skip
            now = Progress.read(np.asarray(report))
            taken = time.perf_counter() - started
            if now.drained or steps >= last or taken > limit:
                return now, taken
            steps *= 2

    with wide_ints():
        run(1, seconds)  # compiles
        return run(2**30, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--block", type=int, help="lanes of a step (default: 2^14 on a CPU, 2^20 on a GPU)")
    parser.add_argument("--threads", type=int, default=256, help="lanes of a thread block")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of each search")
    parser.add_argument("--count", action="store_true", help="leaves in closed form, symmetry broken")
    args = parser.parse_args()
    known = json.loads((args.folder / "matches.json").read_text())["targets"]
    on_cpu = jax.default_backend() == "cpu"
    block = args.block or (2**14 if on_cpu else 2**20)
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, steps of {block}, thread blocks of {args.threads}\n")
    print("| instance | semantics | schedule | matches | right | s | steps | candidates | lanes used |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, kind in INSTANCES:
        folder, file = name.split("/")
        target = index_target(read_graph(args.folder / folder / "target.txt.gz", pad="bucket"))
        query = Pattern.from_graph(read_graph(args.folder / folder / "queries" / f"{file}.txt"))
        options = Options(
            kind == "induced", leaves=args.count, symmetry=args.count, block=block, lookahead=False,
        )  # fmt: skip
        with wide_ints():
            [(plan, _)] = lockstep([make_plan(query, target, None, options)])
        for schedule in ("fill", "deepest", "blocks"):
            end, seconds = search(plan, schedule, args.threads, args.seconds)
            count, steps, tested, done = end.matches * plan.multiplier, end.steps, end.positions, end.drained
            right = "" if not done else "yes" if count == known[folder][file][kind]["matches"] else "NO"
            used = tested / max(1, steps) / plan.stages[0].sizes.block
            print(
                f"| {name} | {kind} | {schedule} | {count:,}{'' if done else ' so far'} | {right} | {seconds:.2f} "
                f"| {steps} | {tested:,} | {100 * used:.1f} % |", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
