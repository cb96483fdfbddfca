"""jaxlib ships no types for its compiled module; these make ``jax.Device`` a class to type checkers."""

from typing import Any

class Device:
    id: int
    process_index: int
    platform: str
    device_kind: str
    client: Any
    def memory_stats(self) -> dict[str, int] | None: ...

def __getattr__(name: str) -> Any: ...
