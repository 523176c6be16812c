#!/usr/bin/env python3
"""Renders whole performances with other pianos and rooms, as further training data.

    render_performances.py PERFORMANCES OUT FLUIDR3.sf2 MUSESCORE_GENERAL.sf3

PERFORMANCES holds one folder per performance with performance.mid, score.mid and alignment.csv; OUT gets the same folders with
audio.flac, score.mid and alignment.csv. Needs fluidsynth, ffmpeg and the Python package mido. What is drawn depends on the order of
the folders alone, so the same input gives the same sound.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile

import mido


def render(midi, program, font, room, wav):
    """Plays a MIDI file with one program of a SoundFont; room is None or (size, level)."""
    active = "no" if room is None else "yes"
    size, level = room or (0.0, 0.0)
    options = [
        f"synth.reverb.active={active}",
        f"synth.reverb.room-size={size}",
        f"synth.reverb.level={level}",
        "synth.reverb.width=0.5",
        "synth.chorus.active=no",
    ]
    song = mido.MidiFile(midi)
    for track in song.tracks:
        track[:] = [message for message in track if message.type != "program_change"]
        track.insert(0, mido.Message("program_change", program=program, channel=0, time=0))
    with tempfile.TemporaryDirectory() as folder:
        changed = os.path.join(folder, "song.mid")
        song.save(changed)
        command = ["fluidsynth", "-ni", "-q", "-F", wav, "-r", "22050", "-g", "0.5"]
        for option in options:
            command += ["-o", option]
        subprocess.run(command + [font, changed], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(performances, out, fluid, musescore):
    pianos = [(musescore, 0), (fluid, 0), (musescore, 1), (fluid, 2), (musescore, 2), (fluid, 1)]
    random.seed(7)
    for index, name in enumerate(sorted(os.listdir(performances))):
        font, program = pianos[(index * 5 + index // 6) % len(pianos)]
        wet = random.choice([0.0, 0.1, 0.3, 0.6, 0.9])
        size, level = random.uniform(0.2, 0.9), random.uniform(0.2, 0.9)
        source, target = os.path.join(performances, name), os.path.join(out, name)
        os.makedirs(target, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            wav = os.path.join(folder, "audio.wav")
            render(os.path.join(source, "performance.mid"), program, font, (size, level) if wet else None, wav)
            flac = os.path.join(target, "audio.flac")
            subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-i", wav, "-ac", "1", flac], check=True)
        for file in ("score.mid", "alignment.csv"):
            shutil.copy(os.path.join(source, file), target)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
