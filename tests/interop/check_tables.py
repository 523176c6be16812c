#!/usr/bin/env python3
"""Reads the tables of a batch with pandas, polars and DuckDB. Not part of the everyday suite.

    python3 -m venv /tmp/interop && /tmp/interop/bin/pip install pandas pyarrow polars duckdb
    /tmp/interop/bin/python tests/interop/check_tables.py target/release/agogic

The demo is aligned, with its truth and without, beside a recording that is missing, in two shards; every reader must see the columns of docs/src/reference/tables.md
and the numbers of the JSON result.
"""
import json, re, subprocess, sys, tempfile
from pathlib import Path

import duckdb, pandas, polars

LIST = "id,audio,score,truth\nlabelled,performance.ogg,score.mid,truth.csv\nmissing,none.ogg,score.mid,\nplain,performance.ogg,score.mid,\n"


def documented():
    """The columns of the two tables, in order, as docs/src/reference/tables.md lists them."""
    text = (Path(__file__).parents[2] / "docs/src/reference/tables.md").read_text()
    sections = re.split(r"^## ", text, flags=re.M)
    return {section.split()[0].lower(): re.findall(r"^\| `(\w+)`", section, flags=re.M) for section in sections[1:]}


def main(program):
    folder = Path(tempfile.mkdtemp())
    run = lambda *arguments: subprocess.run([program, "-q", *map(str, arguments)], capture_output=True, text=True)
    assert run("demo", folder).returncode == 0
    (folder / "list.csv").write_text(LIST)
    out = folder / "out"
    for shard in ("1/2", "2/2"):
        run("batch", folder / "list.csv", "--out-dir", out, "--format", "parquet", "--shard", shard)
    assert run("align", folder / "performance.ogg", folder / "score.mid", "-o", folder / "result.json").returncode == 0
    result = json.loads((folder / "result.json").read_text())
    onsets = [note["performance_onset_s"] for note in result["notes"]]
    columns = documented()

    frames = {
        "pandas": lambda kind: pandas.concat(pandas.read_parquet(path) for path in sorted(out.glob(f"{kind}-*.parquet"))),
        "polars": lambda kind: polars.read_parquet(out / f"{kind}-*.parquet").to_pandas(),
        "DuckDB": lambda kind: duckdb.sql(f"select * from read_parquet('{out}/{kind}-*.parquet')").df(),
    }
    for reader, read in frames.items():
        pieces, notes = read("pieces").sort_values("row").reset_index(), read("notes")
        assert list(pieces.columns[1:]) == columns["pieces"], (reader, list(pieces.columns))
        assert list(notes.columns) == columns["notes"], (reader, list(notes.columns))
        assert list(pieces["piece"]) == ["labelled", "missing", "plain"], reader
        assert list(pieces["error"].isna()) == [True, False, True] and "none.ogg" in pieces["error"][1], reader
        assert list(pieces["time_err_ms"].isna()) == [False, True, True], reader
        assert pieces["confidence"][0] == result["confidence"], reader
        for piece in ("labelled", "plain"):
            written = notes[(notes["piece"] == piece) & (notes["verdict"] != "extra")].sort_values("note")
            assert list(written["performance_onset_s"]) == onsets, reader
        print(f"{reader}: {len(pieces)} pieces, {len(notes)} notes, as they should be")
    mean = duckdb.sql(f"select piece, avg(confidence) from read_parquet('{out}/notes-*.parquet') group by piece order by piece").fetchall()
    assert len(mean) == 2 and abs(mean[0][1] - result["confidence"]) < 1e-9, mean


if __name__ == "__main__":
    main(sys.argv[1])
