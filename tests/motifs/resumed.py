"""Discovery that is interrupted, and made again."""

import pytest

from jaxmotif.devices import _record as record
from jaxmotif.motifs import _discovery as discovery


def in_small_batches(monkeypatch):
    """Batches of four items by one worker, each kept at once."""
    monkeypatch.setattr(discovery, "_batch", lambda *_: 4)
    monkeypatch.setattr(discovery, "CPU_WORKERS", 1)
    monkeypatch.setattr(record, "SAVE_SECONDS", 0.0)


def interrupted(call, monkeypatch):
    """What a call gives that is made again after a KeyboardInterrupt; and the items counted before it, and after."""
    before, after = [], []
    original = discovery._Task._counted

    def failing(self, items):
        if len(before) > 6:
            raise KeyboardInterrupt
        before.extend(items)
        return original(self, items)

    monkeypatch.setattr(discovery._Task, "_counted", failing)
    with pytest.raises(KeyboardInterrupt):
        call()
    monkeypatch.setattr(discovery._Task, "_counted", lambda self, items: after.extend(items) or original(self, items))
    return call(), before, after
