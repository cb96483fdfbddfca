"""Detection of forked processes. JAX's threads are lost in a fork, so JAX in the child would wait for ever."""

from __future__ import annotations

import os

_used = False
_lost = False


def using_jax() -> None:
    """Check that JAX can be used; called before JAX is used.

    Raises:
      RuntimeError: in a process forked from one that had used JAX.
    """
    global _used
    if _lost:
        raise RuntimeError(
            "this process was forked from one that had used JAX, whose threads do not come along: it would wait for "
            "ever. Start workers with multiprocessing.get_context('spawn') or 'forkserver' (torch: "
            "DataLoader(.., multiprocessing_context='spawn')), or before the first graph is made"
        )
    _used = True


def _after_fork() -> None:
    global _lost
    _lost = _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
