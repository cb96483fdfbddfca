"""What the tests of readers share."""

import pytest


@pytest.fixture
def write(tmp_path):
    def write(content, name="graph.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
