"""Figures as data: the JSON that an experiment writes and ``figures.py`` draws (see there for what is in it)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jax

FIGURES = Path(__file__).resolve().parent / "results" / "figures"


def backend() -> str:
    """What names of figures end in: the kind of device."""
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


def machine() -> str:
    """What a figure and its table call this machine."""
    return "CPU, 2 cores" if backend() == "cpu" else jax.devices()[0].device_kind


def write_figure(name: str, told: Mapping[str, object], folder: Path = FIGURES) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
