"""Flooding and hypersearch, the two phases of GRASS, as configurations of the level search, beside its default.

- fill: the default. A step works on the first table whose successor has room, so that tables fill before they are
  worked on, and nearly all lanes of a step have something to do.
- deepest: flooding (a level after the other, as long as a whole level fits a step) and then hypersearch (depth first,
  by steps that are breadth first): a step works on the last table that is not empty.
- blocks: the same, and as in the paper a thread block takes one partial match at a time: a step of C lanes in blocks
  of B takes at most C / B partial matches, however few candidates they have.

Every match is reached by the search (no leaves in closed form, no symmetry, no looking ahead) unless --count.

Run: python experiments/matching_flooding.py [--data FOLDER] [--block C] [--threads B] [--seconds S]
         [--total T] [--count]
Figures go to results/figures/grass_schedules_*.json and grass_lanes_*.json.
"""

import argparse
import json
import time

import jax
import numpy as np
from figure_data import backend, machine, write_figure
from networks import data_folder, instance, parse_with_data

from jaxmotif.matching import Search
from jaxmotif.matching._options import Options
from jaxmotif.matching._seconds import PhaseClock
from jaxmotif.matching._target import index_target
from jaxmotif.matching.planner._plan import make_plan
from jaxmotif.patterns import Pattern
from jaxmotif.search import DeviceReport, advance
from jaxmotif.search._layout import SearchWords

SCHEDULES = ("fill", "deepest", "blocks")

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
    (stage,), (device,) = plan.ready.stages, plan.ready.operands.offsets.devices()
    code, most_rows = np.array(stage.code), SearchWords._fields.index("most_rows")
    if schedule == "blocks":
        code[most_rows] = min(code[most_rows], max(1, stage.sizes.block // threads))
    operands = plan.ready.operands._replace(program=jax.device_put(code, device))

    def run(last, limit):
        state = stage.new_state(operands)
        started, steps = time.perf_counter(), 64
        while True:
            stop = np.int32(min(last, steps))
            state, report = advance(operands, state, stop, sizes=stage.sizes, ordered=schedule != "fill")
            now = DeviceReport.read(np.asarray(report), stage.sizes)
            taken = time.perf_counter() - started
            if now.drained or steps >= last or taken > limit:
                return now, taken
            steps *= 2

    run(1, seconds)  # compiles
    return run(2**30, seconds)


def write_figures(rows, args):
    """Candidates a second and lanes used, of each instance by each schedule."""
    names = list(dict.fromkeys(name for name, *_ in rows))
    shown = {
        "schedules": ("Flooding and hypersearch beside filled tables", "candidates tested a second", True, 0),
        "lanes": ("Lanes with a candidate, of all that steps have", "% of the lanes of a step", False, 1),
    }
    for figure, (title, ylabel, logy, column) in shown.items():
        series = [
            {"label": schedule, "x": names, "y": [row[2 + column] for row in rows if row[1] == schedule]}
            for schedule in SCHEDULES
        ]
        told = {
            "title": title, "machine": machine(), "xlabel": "instance", "ylabel": ylabel, "logx": False, "logy": logy,
            "command": f"python experiments/matching_flooding.py FOLDER --seconds {args.seconds:g}", "kind": "bar",
            "series": series, "paper": "Figs. 3 and 4 show the two phases as drawings; they are not timed apart",
            "note": "fill: the default. deepest: flooding, then depth first. blocks: a partial match a thread block. "
            f"Searches are stopped after {args.seconds:g} s; counts of those that end are the known ones",
        }  # fmt: skip
        write_figure(f"grass_{figure}_{backend()}", told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--block", type=int, help="lanes of a step (default: 2^14 on a CPU, 2^20 on a GPU)")
    parser.add_argument("--threads", type=int, default=256, help="lanes of a thread block")
    parser.add_argument("--seconds", type=float, default=2.0, help="limit of each search")
    parser.add_argument("--total", type=float, default=1e9, help="begin no further instance after so many seconds")
    parser.add_argument("--count", action="store_true", help="leaves in closed form, symmetry broken")
    args = parse_with_data(parser, bare=True)
    known = json.loads((data_folder(args.data, "labelled") / "matches.json").read_text())["targets"]
    on_cpu = jax.default_backend() == "cpu"
    block = args.block or (2**14 if on_cpu else 2**20)
    begun, rows = time.perf_counter(), []
    print(f"{machine()}, jax {jax.__version__}, steps of {block}, thread blocks of {args.threads}\n")
    print("| instance | semantics | schedule | matches | right | s | steps | candidates | lanes used |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, kind in INSTANCES:
        if time.perf_counter() - begun > args.total:
            print(f"left out after {args.total:g} s: {name} {kind}")
            continue
        folder, file = name.split("/")
        query, graph = instance(args.data, name)
        query, target = Pattern.from_graph(query), index_target(graph)
        how = Search(leaves=args.count, symmetry=args.count, block=block, lookahead=False)
        options = Options(induced=kind == "induced", search=how)
        plan = make_plan(query, target, None, options, jax.devices()[0], PhaseClock())
        for schedule in SCHEDULES:
            end, seconds = search(plan, schedule, args.threads, args.seconds)
            count, steps, tested, done = end.matches * plan.multiplier, end.steps, end.positions, end.drained
            right = "" if not done else "yes" if count == known[folder][file][kind]["matches"] else "NO"
            used = tested / max(1, steps) / plan.ready.stages[0].sizes.block
            rows.append((f"{name.removeprefix('graemlin_')} {kind}", schedule, tested / seconds, 100 * used))
            if right == "NO":
                raise SystemExit(f"{name} {kind}, {schedule}: {count} is not the known count")
            print(
                f"| {name} | {kind} | {schedule} | {count:,}{'' if done else ' so far'} | {right} | {seconds:.2f} "
                f"| {steps} | {tested:,} | {100 * used:.1f} % |", flush=True,
            )  # fmt: skip
    write_figures(rows, args)
    print(f"\n{time.perf_counter() - begun:.0f} s in all")


if __name__ == "__main__":
    main()
