"""Time against motif size and host size, on one device and on several: Tables 1, 5 and 6, Figures 1 and 2.

Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs (SEA 2018), seconds on V100s.
Usage: python experiments/sieve_scaling.py [--sizes K,...] [--hosts LOG2N,...] [--devices 1,2,4 --split K,...]
"""

from __future__ import annotations

import argparse

import jax
from sieve_common import heading, multiplications, regular, row, seconds

PAPER_SIZE = {  # motif size: CPU (24 cores), one V100, eight V100s
    10: (0.0352, 0.0432, 0.0957), 11: (0.0828, 0.0416, 0.1180), 12: (0.1553, 0.0696, 0.0938),
    13: (0.3808, 0.0585, 0.1046), 14: (0.7768, 0.1062, 0.1025), 15: (1.7244, 0.1847, 0.1111),
    16: (3.9035, 0.3968, 0.1474), 17: (8.7340, 0.8377, 0.1906), 18: (19.3674, 1.8950, 0.3564),
    19: (42.9873, 4.1417, 0.6480), 20: (94.2593, 9.1468, 1.2425), 21: (None, 20.1962, 2.6556),
    22: (None, 44.4414, 5.6852), 23: (None, 97.2945, 12.3074), 24: (None, 212.3904, 26.6797),
    25: (None, 461.7525, 57.8421), 26: (None, 1000.1718, 125.0891), 27: (None, 2160.4430, 270.0623),
    28: (None, None, 581.5915), 29: (None, None, 1249.4652), 30: (None, None, 2676.9140),
}  # fmt: skip
PAPER_HOST = {  # log2 of the host's vertices, motif size 10: CPU, one V100, eight V100s
    10: (0.0456, 0.0353, 0.1009), 11: (0.0923, 0.0344, 0.0924), 12: (0.1042, 0.0363, 0.1081),
    13: (0.2199, 0.0586, 0.1204), 14: (0.3339, 0.0685, 0.1242), 15: (0.6859, 0.1014, 0.1109),
    16: (1.5949, 0.1752, 0.1842), 17: (4.7021, 0.3292, 0.2171), 18: (10.6986, 0.6302, 0.4022),
    19: (20.7284, 1.2187, 0.6465), 20: (38.8648, 2.6742, 1.1552),
}  # fmt: skip
NONE = (None, None, None)


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=numbers, default=[10, 11, 12])
    parser.add_argument("--hosts", type=numbers, default=[10, 11, 12])
    parser.add_argument("--devices", type=numbers, default=[1])
    parser.add_argument("--split", type=numbers, default=[])
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}, {jax.device_count()} devices\n")

    print("Tables 1 and 6, Figure 2 (bottom): n = 2^10, d = 20\n")
    heading("k", "s", "first call s", "10^9 mult/s, paper's count", "paper: CPU", "V100", "8 V100")
    for size in options.sizes:
        host = regular(1 << 10, size)
        best, first = seconds(host, size, repeats=3 if size < 22 else 1)
        row(
            size,
            f"{best:.4f}",
            f"{first:.1f}",
            f"{multiplications(host, size) / best / 1e9:.0f}",
            *PAPER_SIZE.get(size, NONE),
        )

    print("\nTable 5, Figure 2 (top): k = 10, d = 20\n")
    heading("log2 n", "s", "first call s", "10^9 mult/s, paper's count", "paper: CPU", "V100", "8 V100")
    for log in options.hosts:
        host = regular(1 << log, 10)
        best, first = seconds(host, 10)
        row(
            log,
            f"{best:.4f}",
            f"{first:.1f}",
            f"{multiplications(host, 10) / best / 1e9:.0f}",
            *PAPER_HOST.get(log, NONE),
        )

    counts = options.devices
    if options.split:
        print("\nTable 6: several devices, n = 2^10, d = 20\n")
        heading("k", *(f"{count} devices s (speed-up)" for count in counts), "paper: 8 V100 over 1")
        for size in options.split:
            host = regular(1 << 10, size)
            times = [seconds(host, size, jax.devices()[:count], repeats=2)[0] for count in counts]
            cells = [f"{time:.4f} ({times[0] / time:.2f})" for time in times]
            _, one, eight = PAPER_SIZE.get(size, NONE)
            row(size, *cells, f"{one / eight:.2f}" if one and eight else "-")


if __name__ == "__main__":
    main()
