"""The picture of the README: the z of every triad of *C. elegans*. ``python docs/picture.py`` makes it."""

from pathlib import Path

import jaxmotif

COLUMN, SIDE, MIDDLE, SCALE = 62, 44, 118, 3.2
TALL = 284


def main() -> None:
    found = jaxmotif.find_motifs(jaxmotif.datasets.load("celegans"), 3, num_random=1000, key=0)
    z = found.significance.z
    width = COLUMN * len(found.classes) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TALL}" width="{width}" height="{TALL}" '
        'color="#1f2937" font-family="sans-serif" font-size="11">',
        "<title>z of the 13 triads of C. elegans against random networks with the same degrees</title>",
        f'<rect width="{width}" height="{TALL}" rx="8" fill="#fff"/>',
        f'<path d="M8 {MIDDLE}H{width - 8}" stroke="#9ca3af"/>',
    ]
    for place, row in enumerate(sorted(range(len(z)), key=lambda row: -z[row])):
        left, high = 8 + COLUMN * place, SCALE * float(z[row])
        parts += [
            f'<rect x="{left + 17}" y="{MIDDLE - max(high, 0):.1f}" width="28" height="{abs(high):.1f}" '
            f'fill="{"#c2410c" if high > 0 else "#1d4ed8"}"/>',
            f'<text x="{left + 31}" y="{MIDDLE - high + (-5 if high > 0 else 14):.1f}" text-anchor="middle">'
            f"{float(z[row]):.1f}</text>",
            found.draw(found.classes[row]).svg(place=(left + (COLUMN - SIDE) / 2, TALL - SIDE - 8, SIDE)),
        ]
    Path(__file__).with_name("triads.svg").write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
