//! From the written score to staff notation.

use std::collections::HashMap;

use super::accidentals::{self, BarAccidentals};
use super::clef::StaffClef;
use super::draft::{self, DraftHead};
use super::signs::{Standing, signs, words};
use super::stems::{self, GRACE_STEM_STEPS, STEM_STEPS};
use super::value::{flags, value_of};
use super::{ByBar, Chord, ChordMark, Column, EngravedBar, Engraving, Glyph, Head, Staff, Tie, midi, voices};
use crate::score::written::{Mark, Quarters, Stem, WrittenNote, WrittenScore};
use crate::score::{NoteOrigin, Score};

/// The least that is kept free above and below the middle line of a staff, in staff spaces.
const LEAST_ROOM: f32 = 3.5;
/// The most: what reaches farther may touch the next staff.
const MOST_ROOM: f32 = 8.5;

impl Engraving {
    /// Engraves a score as it is written; MIDI as its notes suggest.
    pub fn new(score: &Score) -> Self {
        match &score.notation.manuscript {
            Some(manuscript) => {
                let order: Vec<u32> = manuscript.bars.iter().map(|pass| pass.bar).collect();
                let origins: Vec<NoteOrigin> = score.notation.notes.iter().map(|name| name.origin).collect();
                Builder::new(score, &manuscript.written, &order).build(&origins)
            }
            None => {
                let (written, origins) = midi::notate(score);
                let order: Vec<u32> = (0..written.bars.len() as u32).collect();
                Builder::new(score, &written, &order).build(&origins)
            }
        }
    }
}

/// What engraving goes by.
pub(super) struct Builder<'a> {
    pub score: &'a Score,
    pub written: &'a WrittenScore,
    /// Written bars in playing order.
    pub order: &'a [u32],
    /// Where each begins in playing time.
    pub starts: Vec<Quarters>,
    /// Of each part, its first staff.
    pub first_staff: Vec<u16>,
    pub staves: Vec<Staff>,
    pub standing: Standing,
    /// Bars and distances from their lines at which something stands.
    moments: Vec<(u32, Quarters)>,
}

/// A chord with its staff and bar.
type BarChord = (usize, usize, Chord);

/// A head with what it is sorted by.
struct Placed {
    head: DraftHead,
    at: Quarters,
    /// Grace notes come before their main note: 0 for that, else how many steps before.
    steps: u8,
    voice: u16,
    position: i16,
}

impl<'a> Builder<'a> {
    fn new(score: &'a Score, written: &'a WrittenScore, order: &'a [u32]) -> Self {
        let mut counts: Vec<u8> = written.parts.iter().map(|part| part.staves.max(1)).collect();
        for note in &written.notes {
            if let Some(count) = counts.get_mut(usize::from(note.part)) {
                *count = (*count).max(note.staff);
            }
        }
        let (mut first_staff, mut staves) = (Vec::new(), Vec::new());
        for (part, &count) in counts.iter().enumerate() {
            first_staff.push(staves.len() as u16);
            staves.extend((0..count).map(|staff| Staff {
                part: part as u16,
                name: written.parts[part].name.clone(),
                is_first: staff == 0,
                is_last: staff + 1 == count,
                above: LEAST_ROOM,
                below: LEAST_ROOM,
                lyric_lines: 0,
            }));
        }
        let mut start = Quarters::ZERO;
        let starts = order.iter().map(|&bar| {
            let here = start;
            start += written.bars[bar as usize].length;
            here
        });
        let starts = starts.collect();
        let standing = Standing::new(written, &first_staff, staves.len());
        Self { score, written, order, starts, first_staff, staves, standing, moments: Vec::new() }
    }

    /// The staff of a part, from 1.
    pub fn staff(&self, part: u16, staff: u8) -> u16 {
        let first = self.first_staff.get(usize::from(part)).copied().unwrap_or(0);
        let count = self.staves[usize::from(first)..].iter().take_while(|staff| staff.part == part).count() as u16;
        first + u16::from(staff.max(1) - 1).min(count.max(1) - 1)
    }

    /// Seconds of the score at a place of a bar as played.
    pub fn second(&self, bar: usize, at: Quarters) -> f64 {
        self.score.tempo.beat_to_seconds((self.starts[bar] + at).as_f64())
    }

    /// The last column at or before a place.
    pub fn column(&self, bar: u32, at: Quarters) -> u32 {
        (self.moments.partition_point(|moment| *moment <= (bar, at)).max(1) - 1) as u32
    }

    fn build(mut self, origins: &[NoteOrigin]) -> Engraving {
        let drafts = draft::heads(self.written, self.order, origins, &|note| self.staff(note.part, note.staff));
        let placed = self.placed(&drafts);
        let rests = self.rest_places();
        self.moments = (0..self.order.len() as u32).map(|bar| (bar, Quarters::ZERO)).collect();
        self.moments.extend(placed.iter().map(|(_, one)| (one.head.bar, one.at)));
        self.moments.extend(rests.iter().map(|&(_, bar, index)| (bar, self.written.rests[index].place.at)));
        self.moments.sort_unstable();
        self.moments.dedup();
        let (staves, bars) = (self.staves.len(), self.order.len());
        let ranks = self.ranks(&placed, &rests);
        let (mut chords, mut heads, head_of_draft) = self.chords(&placed, drafts.len(), &ranks);
        let chord_of_head = chords
            .iter()
            .enumerate()
            .flat_map(|(index, (_, _, chord))| (0..chord.head_count).map(move |_| index as u32))
            .collect::<Vec<_>>();
        let groups = self.voices(&chords, &heads, &head_of_draft, &drafts);
        let beams = self.beams(&groups, &mut chords, &heads);
        self.finish_stems(&mut chords, &mut heads);
        voices::keep_apart(&mut chords, &heads);
        let tuplets = self.tuplets(&groups, &chords);
        let ties = ties(&drafts, &head_of_draft, &chord_of_head, &chords, &heads);
        self.show_accidentals(&chords, &mut heads, &head_of_draft, &drafts);
        let rests = self.rests(&rests, &ranks, &chords);
        let mut head_of_note = vec![u32::MAX; self.score.notes.len()];
        for (index, head) in heads.iter().enumerate().filter(|(_, head)| head.begins) {
            head_of_note[head.note as usize] = index as u32;
        }
        // The other strokes of a tremolo are drawn with the first.
        let first_strokes: HashMap<(u32, u16), usize> = origins
            .iter()
            .enumerate()
            .filter(|(_, origin)| origin.stroke == 1)
            .map(|(note, origin)| ((origin.note, origin.time), note))
            .collect();
        for (note, origin) in origins.iter().enumerate().filter(|(_, origin)| origin.stroke > 1) {
            if let Some(&first) = first_strokes.get(&(origin.note, origin.time)) {
                head_of_note[note] = head_of_note[first];
            }
        }
        self.make_room(&chords, &heads);
        let signs = signs(&self);
        let words = words(&self);
        let crowds = voices::crowds(&chords, staves, bars);
        let mut engraving = Engraving {
            crowds,
            bars: self.bars(),
            columns: self.columns(),
            standing: self.standing.at_bars(self.order, staves),
            heads,
            chords: ByBar::new(staves, bars, chords),
            rests: ByBar::new(staves, bars, rests),
            beams: ByBar::new(staves, bars, beams),
            ties: ByBar::new(staves, bars, ties),
            tuplets: ByBar::new(staves, bars, tuplets),
            signs: ByBar::new(staves, bars, signs),
            words: ByBar::new(staves, bars, words),
            staves: self.staves,
            head_of_note,
            chord_of_head,
        };
        engraving.measure_columns();
        engraving
    }

    /// Heads in the order in which chords are made of them, with their draft index.
    fn placed(&self, drafts: &[DraftHead]) -> Vec<(u32, Placed)> {
        let mut placed: Vec<(u32, Placed)> = drafts
            .iter()
            .zip(0..)
            .map(|(&head, index)| {
                let note = &self.written.notes[head.written as usize];
                let clef = self.standing.clef(head.staff, note.place);
                let one = Placed {
                    head,
                    at: note.place.at,
                    steps: note.grace.map_or(0, |grace| grace.steps_before.max(1)),
                    voice: note.voice,
                    position: clef.position(note.written),
                };
                (index, one)
            })
            .collect();
        placed.sort_by_key(|(_, one)| {
            (one.head.staff, one.head.bar, one.at, u8::MAX - one.steps, one.voice, one.position)
        });
        placed
    }

    /// The voices of each staff and bar in order; of those that are alone nothing.
    fn ranks(&self, placed: &[(u32, Placed)], rests: &[(u16, u32, usize)]) -> HashMap<(u16, u32), Vec<u16>> {
        let mut voices: HashMap<(u16, u32), Vec<u16>> = HashMap::new();
        let of_notes = placed.iter().filter(|(_, one)| one.steps == 0);
        let of_notes = of_notes.map(|(_, one)| (one.head.staff, one.head.bar, one.voice));
        let of_rests = rests.iter().filter(|(_, _, index)| !self.is_whole_bar(*index));
        let of_rests = of_rests.map(|&(staff, bar, index)| (staff, bar, self.written.rests[index].voice));
        for (staff, bar, voice) in of_notes.chain(of_rests) {
            let here = voices.entry((staff, bar)).or_default();
            if let Err(place) = here.binary_search(&voice) {
                here.insert(place, voice);
            }
        }
        voices.retain(|_, voices| voices.len() > 1);
        voices
    }

    /// Chords, their heads, and the head of each draft.
    fn chords(
        &self,
        placed: &[(u32, Placed)],
        drafts: usize,
        ranks: &HashMap<(u16, u32), Vec<u16>>,
    ) -> (Vec<BarChord>, Vec<Head>, Vec<u32>) {
        let mut chords: Vec<(usize, usize, Chord)> = Vec::new();
        let mut heads: Vec<Head> = Vec::with_capacity(placed.len());
        let mut head_of_draft = vec![u32::MAX; drafts];
        let same = |a: &Placed, b: &Placed| {
            (a.head.staff, a.head.bar, a.at, a.steps, a.voice) == (b.head.staff, b.head.bar, b.at, b.steps, b.voice)
        };
        for group in placed.chunk_by(|a, b| same(&a.1, &b.1)).flat_map(|group| group.chunks(200)) {
            let first = &group[0].1;
            let (staff, bar) = (first.head.staff, first.head.bar);
            let first_head = heads.len() as u32;
            for (draft, one) in group {
                head_of_draft[*draft as usize] = heads.len() as u32;
                heads.push(Head {
                    position: one.position,
                    pitch: self.written.notes[one.head.written as usize].written,
                    accidental: None,
                    displaced: false,
                    note: one.head.note,
                    begins: one.head.begins,
                });
            }
            let notes = || group.iter().map(|(_, one)| &self.written.notes[one.head.written as usize]);
            let main = &self.written.notes[first.head.written as usize];
            let is_grace = main.grace.is_some();
            let usual = if is_grace { Quarters::ratio(1, 2) } else { main.duration };
            let value = notes().find_map(|note| note.look.value).unwrap_or_else(|| value_of(usual));
            let rank = ranks.get(&(staff, bar)).and_then(|voices| voices.binary_search(&first.voice).ok());
            let rank = rank.map(|rank| rank.min(3) as u8);
            let stem = notes().find_map(|note| note.look.stem).or_else(|| match (rank, is_grace) {
                (Some(rank), _) => Some(stems::by_voice(rank.into())),
                (None, true) => Some(Stem::Up),
                (None, false) => Some(stems::by_middle_line(group.iter().map(|(_, one)| one.position))),
            });
            let note_s = self.score.notes[first.head.note as usize].onset_s;
            let second = if is_grace { note_s } else { self.second(bar as usize, first.at) };
            let chord = Chord {
                staff,
                bar,
                column: self.column(bar, first.at),
                second,
                voice: first.voice,
                rank,
                value,
                grace: main.grace,
                stem: stem.filter(|_| value.power > 0),
                stem_end: 0.0,
                beamed: false,
                shift: 0.0,
                first_head,
                head_count: group.len() as u8,
                tremolo: notes().find_map(strokes).unwrap_or(0),
                arpeggio: notes().any(|note| note.marks.iter().any(|mark| matches!(mark, Mark::Arpeggio { .. }))),
                marks: marks(notes()),
            };
            chords.push((staff.into(), bar as usize, chord));
        }
        (chords, heads, head_of_draft)
    }

    /// Ends of stems, and sides of heads, once directions are known.
    fn finish_stems(&self, chords: &mut [(usize, usize, Chord)], heads: &mut [Head]) {
        for (_, _, chord) in chords {
            let first = chord.first_head as usize;
            let heads = &mut heads[first..first + usize::from(chord.head_count)];
            let positions: Vec<i16> = heads.iter().map(|head| head.position).collect();
            let stem = chord.stem.unwrap_or(stems::by_middle_line(positions.iter().copied()));
            for (head, displaced) in heads.iter_mut().zip(stems::displaced(&positions, stem)) {
                head.displaced = displaced;
            }
            let (low, high) = (positions[0], positions[positions.len() - 1]);
            let flags = flags(chord.value);
            let usual = if chord.grace.is_some() { GRACE_STEM_STEPS } else { STEM_STEPS };
            let longer = 1.5 * f32::from(flags.saturating_sub(2)) + f32::from(chord.tremolo.saturating_sub(1));
            chord.stem_end = stems::stem_end(low, high, stem, usual + longer);
        }
    }

    /// Decides which heads carry accidentals, and where those stand.
    fn show_accidentals(
        &self,
        chords: &[(usize, usize, Chord)],
        heads: &mut [Head],
        head_of_draft: &[u32],
        drafts: &[DraftHead],
    ) {
        let (mut printed, mut held) = (vec![false; heads.len()], vec![false; heads.len()]);
        for (draft, &head) in head_of_draft.iter().enumerate() {
            let one = &drafts[draft];
            printed[head as usize] = self.written.notes[one.written as usize].look.accidental;
            held[head as usize] = one.tied_from.is_some_and(|from| drafts[from as usize].bar != one.bar);
        }
        for bar in chords.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (staff, index, _) = bar[0];
            let mut holding = BarAccidentals::new(self.standing.key_of_bar(staff as u16, self.order[index]));
            for (_, _, chord) in bar {
                let first = chord.first_head as usize;
                let range = first..first + usize::from(chord.head_count);
                let mut shown: Vec<usize> = Vec::new();
                for head in range.rev() {
                    // What is tied over the bar line keeps its accidental without showing it.
                    if (!held[head] && holding.must_show(heads[head].pitch)) || printed[head] {
                        shown.push(head);
                    }
                }
                let positions: Vec<i16> = shown.iter().map(|&head| heads[head].position).collect();
                for (&head, column) in shown.iter().zip(accidentals::columns(&positions)) {
                    heads[head].accidental = Some(column);
                }
            }
        }
    }

    /// Finds how far each staff reaches.
    fn make_room(&mut self, chords: &[(usize, usize, Chord)], heads: &[Head]) {
        for (staff, _, chord) in chords {
            let first = chord.first_head as usize;
            let heads = &heads[first..first + usize::from(chord.head_count)];
            let (low, high) = (heads[0].position, heads[heads.len() - 1].position);
            let stem = chord.stem.map(|_| chord.stem_end);
            let top = stem.map_or(f32::from(high), |end| end.max(high.into()));
            let bottom = stem.map_or(f32::from(low), |end| end.min(low.into()));
            let mut above = 0.0;
            let staff = &mut self.staves[*staff];
            for mark in &chord.marks {
                match mark {
                    ChordMark::Lyric(verse, _) => staff.lyric_lines = staff.lyric_lines.max(verse + 1),
                    ChordMark::Above(_) => above = 2.0,
                    ChordMark::Articulation(..) => {}
                }
            }
            staff.above = staff.above.max((0.5 * top + 0.7 + above).min(MOST_ROOM));
            staff.below = staff.below.max((-0.5 * bottom + 0.7).min(MOST_ROOM));
        }
        let mut with_dynamics = vec![false; self.staves.len()];
        for dynamic in &self.written.dynamics {
            with_dynamics[usize::from(self.staff(dynamic.part, dynamic.staff.unwrap_or(1)))] = true;
        }
        for (staff, _) in self.staves.iter_mut().zip(with_dynamics).filter(|(_, with)| *with) {
            staff.below = staff.below.max(5.5);
        }
        for staff in &mut self.staves {
            staff.below += 2.0 * f32::from(staff.lyric_lines);
        }
    }

    fn columns(&self) -> Vec<Column> {
        let column = |&(bar, at): &(u32, Quarters)| Column {
            bar,
            second: self.second(bar as usize, at),
            at: at.as_f64(),
            before: 0.0,
            after: 0.0,
        };
        self.moments.iter().map(column).collect()
    }

    fn bars(&self) -> Vec<EngravedBar> {
        let last = self.order.len().saturating_sub(1);
        let bar = |(index, &written): (usize, &u32)| {
            let bar = &self.written.bars[written as usize];
            EngravedBar {
                label: bar.label.clone(),
                start_s: self.second(index, Quarters::ZERO),
                end_s: self.second(index, bar.length),
                length: bar.length.as_f64(),
                repeat_start: bar.repeat_start,
                repeat_end: bar.repeat_end.is_some(),
                is_last: index == last,
                signs_width: 0.0,
                first_column: self.column(index as u32, Quarters::ZERO),
            }
        };
        self.order.iter().enumerate().map(bar).collect()
    }
}

fn ties(
    drafts: &[DraftHead],
    head_of_draft: &[u32],
    chord_of_head: &[u32],
    chords: &[(usize, usize, Chord)],
    heads: &[Head],
) -> Vec<(usize, usize, Tie)> {
    let tie = |(draft, one): (usize, &DraftHead)| {
        let (from, to) = (head_of_draft[one.tied_from? as usize], head_of_draft[draft]);
        let (staff, bar, chord) = &chords[chord_of_head[from as usize] as usize];
        let inner = from - chord.first_head;
        let above = match (chord.rank, chord.head_count, chord.stem) {
            (Some(rank), 1, _) => rank % 2 == 0,
            // Of a chord the upper heads are tied above, the lower below.
            (_, count @ 2.., _) => 2 * inner >= u32::from(count),
            (_, _, Some(stem)) => stem == Stem::Down,
            _ => heads[from as usize].position >= 0,
        };
        Some((*staff, *bar, Tie { from, to, above }))
    };
    drafts.iter().enumerate().filter_map(tie).collect()
}

fn strokes(note: &WrittenNote) -> Option<u8> {
    note.marks.iter().find_map(|mark| match mark {
        Mark::Tremolo { strokes, .. } => Some((*strokes).min(5)),
        _ => None,
    })
}

fn marks<'a>(notes: impl Iterator<Item = &'a WrittenNote>) -> Vec<ChordMark> {
    let mut marks: Vec<ChordMark> = Vec::new();
    for mark in notes.flat_map(|note| &note.marks) {
        let mark = match mark {
            Mark::Ornament(name) => Glyph::ornament(name).map(ChordMark::Above),
            Mark::Fermata => Some(ChordMark::Above(Glyph::FERMATA)),
            Mark::Articulation(name) => Glyph::articulation(name, true)
                .zip(Glyph::articulation(name, false))
                .map(|(above, below)| ChordMark::Articulation(above, below)),
            Mark::Lyric { verse, text } => {
                let line = verse.parse::<u8>().unwrap_or(1).clamp(1, 8) - 1;
                Some(ChordMark::Lyric(line, text.clone()))
            }
            Mark::Tremolo { .. } | Mark::Arpeggio { .. } => None,
        };
        marks.extend(mark.filter(|mark| !marks.contains(mark)));
    }
    marks
}

impl Builder<'_> {
    /// The clef that suits the notes of a staff.
    pub fn usual_clef(written: &WrittenScore, part: u16, staff: u8) -> StaffClef {
        let pitches = written.notes.iter().filter(|note| note.part == part && note.staff == staff);
        let (sum, count) = pitches.fold((0.0, 0usize), |(sum, count), note| (sum + f64::from(note.pitch), count + 1));
        StaffClef::around(if count == 0 { 60.0 } else { sum / count as f64 })
    }
}
