//! Chords of one voice together: beams and tuplets.

use super::beams::{self, BeamNote};
use super::build::Builder;
use super::draft::DraftHead;
use super::tuplets::{self, TupletNote};
use super::value::flags;
use super::{Beam, Chord, Head, Tuplet, stems};
use crate::score::written::{Quarters, WrittenScore};

/// What chords are sorted by: part, bar, voice, whether they are grace notes, place, steps before the main note; then the chord and its
/// written note.
type Sorted = (u16, u32, u16, bool, Quarters, u8, u32, u32);

impl Builder<'_> {
    /// Chords of each voice and bar in order of time, grace notes for themselves; with the written note of each.
    pub(super) fn voices(
        &self,
        chords: &[(usize, usize, Chord)],
        heads: &[Head],
        head_of_draft: &[u32],
        drafts: &[DraftHead],
    ) -> Vec<Vec<(u32, u32)>> {
        let mut written_of_head = vec![u32::MAX; heads.len()];
        for (draft, &head) in head_of_draft.iter().enumerate() {
            written_of_head[head as usize] = drafts[draft].written;
        }
        let mut order: Vec<Sorted> = chords
            .iter()
            .zip(0..)
            .map(|((staff, bar, chord), index)| {
                let note = &self.written.notes[written_of_head[chord.first_head as usize] as usize];
                let steps = u8::MAX - chord.grace.map_or(0, |grace| grace.steps_before);
                let written = written_of_head[chord.first_head as usize];
                let part = self.staves[*staff].part;
                (part, *bar as u32, chord.voice, chord.grace.is_some(), note.place.at, steps, index, written)
            })
            .collect();
        order.sort_unstable();
        let same = |a: &Sorted, b: &Sorted| (a.0, a.1, a.2, a.3) == (b.0, b.1, b.2, b.3) && (!a.3 || a.4 == b.4);
        order.chunk_by(same).map(|group| group.iter().map(|one| (one.6, one.7)).collect()).collect()
    }

    /// Finds the beams and gives the chords under them one direction.
    pub(super) fn beams(
        &self,
        groups: &[Vec<(u32, u32)>],
        chords: &mut [(usize, usize, Chord)],
        heads: &[Head],
    ) -> Vec<(usize, usize, Beam)> {
        let mut written_beams = vec![false; self.written.parts.len()];
        for note in self.written.notes.iter().filter(|note| note.look.beam.is_some()) {
            written_beams[usize::from(note.part)] = true;
        }
        let mut beams = Vec::new();
        for group in groups {
            let notes: Vec<BeamNote> = group
                .iter()
                .map(|&(chord, written)| {
                    let note = &self.written.notes[written as usize];
                    let value = chords[chord as usize].2.value;
                    BeamNote {
                        chord,
                        at: note.place.at,
                        length: note.duration,
                        flags: if chords[chord as usize].2.stem.is_some() { flags(value) } else { 0 },
                        place: note.look.beam,
                    }
                })
                .collect();
            let Some(first) = group.first().map(|&(chord, _)| chord as usize) else { continue };
            let (staff, bar, is_grace) = (chords[first].0, chords[first].1, chords[first].2.grace.is_some());
            let written_bar = &self.written.bars[self.order[bar] as usize];
            let found = if written_beams[usize::from(self.staves[staff].part)] {
                beams::as_written(&notes)
            } else if is_grace {
                vec![notes.iter().filter(|note| note.flags > 0).map(|note| note.chord).collect()]
            } else {
                beams::by_meter(&notes, written_bar.meter, written_bar.length)
            };
            for beam in found.into_iter().filter(|beam| beam.len() > 1) {
                join(&beam, chords, heads, group, self.written);
                beams.push((chords[beam[0] as usize].0, bar, Beam { chords: beam }));
            }
        }
        beams
    }

    /// Tuplets that show their number.
    pub(super) fn tuplets(
        &self,
        groups: &[Vec<(u32, u32)>],
        chords: &[(usize, usize, Chord)],
    ) -> Vec<(usize, usize, Tuplet)> {
        let mut written_edges = vec![false; self.written.parts.len()];
        for note in self.written.notes.iter().filter(|note| note.look.tuplet.is_some()) {
            written_edges[usize::from(note.part)] = true;
        }
        let mut found = Vec::new();
        for group in groups {
            let notes: Vec<TupletNote> = group
                .iter()
                .filter(|&&(chord, _)| chords[chord as usize].2.grace.is_none())
                .map(|&(chord, written)| {
                    let note = &self.written.notes[written as usize];
                    let value = chords[chord as usize].2.value;
                    TupletNote { chord, at: note.place.at, value, edge: note.look.tuplet }
                })
                .collect();
            let Some(first) = notes.first().map(|note| &chords[note.chord as usize]) else { continue };
            let written = written_edges[usize::from(self.staves[first.0].part)];
            let tuplets = if written { tuplets::as_written(&notes) } else { tuplets::by_values(&notes) };
            for (first, last, number) in tuplets {
                let between = notes.iter().filter(|note| (first..=last).contains(&note.chord));
                let beamed = between.into_iter().all(|note| chords[note.chord as usize].2.beamed);
                let (staff, bar, _) = chords[first as usize];
                found.push((staff, bar, Tuplet { first, last, number, bracket: !beamed }));
            }
        }
        found
    }
}

/// Gives the chords of a beam one direction, unless the file has directions for them.
fn join(
    beam: &[u32],
    chords: &mut [(usize, usize, Chord)],
    heads: &[Head],
    group: &[(u32, u32)],
    written: &WrittenScore,
) {
    let of_file = beam.iter().any(|chord| {
        let note = group.iter().find(|(other, _)| other == chord).map(|(_, note)| &written.notes[*note as usize]);
        note.is_some_and(|note| note.look.stem.is_some())
    });
    let first = &chords[beam[0] as usize].2;
    let by_heads = first.rank.is_none() && first.grace.is_none();
    let positions = beam.iter().flat_map(|&chord| {
        let chord = &chords[chord as usize].2;
        let first = chord.first_head as usize;
        heads[first..first + usize::from(chord.head_count)].iter().map(|head| head.position)
    });
    let common =
        if by_heads { Some(stems::by_middle_line(positions.collect::<Vec<_>>().into_iter())) } else { first.stem };
    for &chord in beam {
        let chord = &mut chords[chord as usize].2;
        chord.beamed = true;
        if !of_file {
            chord.stem = common;
        }
    }
}
