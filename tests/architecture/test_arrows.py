"""The arrows: who may import whom (the contracts in pyproject.toml), as a test, so that `make test` says it too."""

import os
import subprocess
import sys

from tests.architecture.code import ROOT


def test_the_contracts_are_kept():
    program = os.path.join(os.path.dirname(sys.executable), "lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout
