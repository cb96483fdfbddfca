"""How the results of motif discovery show themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._present import Column, counted
from jaxmotif.patterns import class_columns

if TYPE_CHECKING:
    from jaxmotif.motifs._discovery import Motifs


def motifs_line(found: Motifs) -> str:
    """What was found, in a line."""
    unusual = f"{counted(int(found.is_motif.sum()), 'motif')}, {counted(int(found.is_anti_motif.sum()), 'anti-motif')}"
    classes = f"{counted(len(found.classes), 'class')} of {found.size} nodes"
    drawn = "" if found.estimate is None else f", {counted(found.estimate, 'draw')} from each graph"
    return f"{unusual} among {classes}, {counted(len(found.random_counts), 'random graph')}{drawn}"


def motifs_table(found: Motifs) -> dict[str, Column]:
    """All columns, one row a class, the most unusual first."""
    s, mixing = found.significance, found.mixing
    motif, anti = found.is_motif, found.is_anti_motif
    error, random_error = (
        {} if found.estimate is None else {name: getattr(found, name)} for name in ("error", "random_error")
    )
    columns = {
        **{name: np.array(column, object) for name, column in class_columns(found.classes, found.directed).items()},
        "count": found.counts, **error, "mean": s.mean, "sd": s.sd, "z": s.z, "q": s.q,
        "verdict": np.where(motif, "motif", np.where(anti, "anti-motif", "")), "motif": motif, "anti_motif": anti,
        "p_high": s.p_high, "p_low": s.p_low, "profile": s.profile, "mean_low": s.mean_low, "mean_high": s.mean_high,
        "lag_correlation": mixing.lag_correlation, "effective_size": mixing.effective_size,
        **random_error, **({} if found.decided is None else {"decided": found.decided}),
    }  # fmt: skip
    order = np.argsort(-np.nan_to_num(np.abs(s.z), nan=-1.0), kind="stable")
    return {name: column[order] for name, column in columns.items()}
