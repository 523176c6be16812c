#!/usr/bin/env python3
"""Reads what Agogic exports with the programs that it is meant for. Not part of the everyday suite.

    python3 -m venv /tmp/interop && /tmp/interop/bin/pip install partitura music21 verovio lxml
    /tmp/interop/bin/python tests/interop/check_exports.py target/release/agogic [SCORE...] [--schema mei-all.rng]

SCORE: MusicXML, MEI or kern; without any, those of tests/fixtures/notation. Each is played by `agogic synth`, aligned, exported as match, Parangonada,
MusicXML and MEI, and read back: match and Parangonada by partitura, whose names of notes must join the JSON result's; MusicXML by music21 and partitura;
MEI by verovio, and validated if a schema is given.
"""
import argparse, json, subprocess, sys, tempfile, warnings, zipfile
from pathlib import Path

warnings.filterwarnings("ignore")


def check(program, score, folder, schema):
    """Problems with one score, a sentence each."""
    import music21, partitura, verovio
    from lxml import etree

    run = lambda *arguments: subprocess.run([program, "-q", *map(str, arguments)], check=True, capture_output=True, text=True)
    take = folder / "take.wav"
    run("synth", score, "-o", take)
    outputs = {kind: folder / f"out.{kind}" for kind in ("json", "match", "zip", "musicxml", "mei")}
    run("align", take, score, "--ear", "none", *[part for path in outputs.values() for part in ("-o", path)])
    result = json.loads(outputs["json"].read_text())
    names = [note["id"] for note in result["notes"]]
    problems = []

    def expect(holds, sentence):
        if not holds:
            problems.append(sentence)

    performance, alignment, written = partitura.load_match(str(outputs["match"]), create_score=True)
    ids = [pair["score_id"] for pair in alignment if pair["label"] in ("match", "deletion")]
    expect(sorted(ids) == sorted(names), "match: the names of the notes are not those of the result")
    expect(len(written.note_array()) == len(names), f"match: {len(written.note_array())} notes for {len(names)}")

    tables = folder / "parangonada"
    zipfile.ZipFile(outputs["zip"]).extractall(tables)
    performance, alignment, _, _, notes = partitura.io.importparangonada.load_parangonada_csv(str(tables), create_score=True)
    played = {note["id"] for note in performance[0].notes}
    expect(sorted(notes["id"]) == sorted(names), "Parangonada: the names of the notes are not those of the result")
    expect({pair["performance_id"] for pair in alignment if pair["label"] != "deletion"} == played, "Parangonada: pairs and performance differ")

    read = music21.converter.parse(str(outputs["musicxml"]), format="musicxml", forceSource=True)
    marks = read.recurse().getElementsByClass(music21.tempo.MetronomeMark)
    expect(len(marks) > 1, "MusicXML: music21 finds no tempi")
    expect(len(list(read.recurse().notes)) > 0, "MusicXML: music21 finds no notes")
    expect(len(partitura.load_musicxml(str(outputs["musicxml"])).note_array()) > 0, "MusicXML: partitura finds no notes")

    text = outputs["mei"].read_text()
    toolkit = verovio.toolkit()
    expect(toolkit.loadData(text), "MEI: verovio does not load it")
    expect("<svg" in toolkit.renderToSVG(1), "MEI: verovio does not draw it")
    document = etree.fromstring(text.encode())
    space = {"mei": "http://www.music-encoding.org/ns/mei"}
    xml_id = "{http://www.w3.org/XML/1998/namespace}id"
    by_id = {node.get(xml_id): node for node in document.iter() if node.get(xml_id)}
    whens = document.findall(".//mei:when", space)
    expect(len(whens) == sum(note.get("verdict", "played") == "played" for note in result["notes"]), "MEI: not every note has its time")
    expect(all(when.get("data").lstrip("#") in by_id for when in whens), "MEI: times of notes that are not there")
    expect(len({note.get(xml_id) for note in document.iter("{*}note")}) == len(list(document.iter("{*}note"))) or score.suffix == ".mei", "MEI: two notes have one name")
    if schema:
        grammar = etree.RelaxNG(etree.parse(schema))
        if not grammar.validate(document):
            problems.append(f"MEI: {grammar.error_log.last_error}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("score", nargs="*", type=Path)
    parser.add_argument("--schema")
    arguments = parser.parse_args()
    fixtures = Path(__file__).resolve().parent.parent / "fixtures" / "notation"
    failed = 0
    for score in arguments.score or sorted(fixtures.glob("scale.*")):
        with tempfile.TemporaryDirectory() as folder:
            try:
                problems = check(arguments.program, score, Path(folder), arguments.schema)
            except subprocess.CalledProcessError as error:
                problems = [error.stderr.strip()]
            except Exception as error:  # what another program cannot read is what is looked for
                problems = [f"{type(error).__name__}: {error}"]
        print(f"{score.name}: {'; '.join(problems) or 'fine'}", flush=True)
        failed += bool(problems)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
