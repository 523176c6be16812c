"""Stubs match the module, types hold, and every example runs."""

from __future__ import annotations

import doctest
import importlib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import agogic

HERE = Path(__file__).parent.parent
MODULES = ["agogic._alignment", "agogic._audio", "agogic._engine", "agogic.torch"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_documentation(name, tmp_path):
    if name == "agogic.torch":
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"folder": tmp_path, "demo": agogic.demo})
    assert found.attempted > 0 and found.failed == 0


def test_examples_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("torch")
    found = doctest.testfile(str(HERE / "README.md"), module_relative=False)
    assert found.attempted > 0 and found.failed == 0


def test_the_example_script_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HERE / "examples" / "align_correct_export.py"), run_name="__main__")
    assert {"aligned.png", "corrected.mid", "corrected.json"} <= {path.name for path in tmp_path.iterdir()}


def test_everything_public_is_documented():
    for name in agogic.__all__:
        assert getattr(agogic, name).__doc__, name


def test_stubs_match_the_module(tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "agogic._agogic"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_types_hold(tmp_path):
    pytest.importorskip("mypy")
    assert (Path(agogic.__file__).parent / "py.typed").is_file()
    command = [sys.executable, "-m", "mypy", "--config-file", str(HERE / "pyproject.toml"), "-p", "agogic"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": ""})
    assert ran.returncode == 0, ran.stdout + ran.stderr
