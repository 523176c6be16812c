//! Clefs, keys and meters as they change, and what is written above and below the staves.

use super::build::Builder;
use super::clef::StaffClef;
use super::{Glyph, Sign, SignKind, Words, WordsKind};
use crate::score::written::{Place, Quarters, Sign as JumpSign, WrittenScore};

/// Clefs and keys of the written score, by staff.
pub(super) struct Standing {
    clefs: Vec<Vec<(Place, StaffClef)>>,
    keys: Vec<Vec<(Place, i8)>>,
}

impl Standing {
    pub fn new(written: &WrittenScore, first_staff: &[u16], staves: usize) -> Self {
        let mut clefs: Vec<Vec<(Place, StaffClef)>> = vec![Vec::new(); staves];
        let mut keys: Vec<Vec<(Place, i8)>> = vec![Vec::new(); staves];
        let staves_of = |part: usize| {
            let first = first_staff.get(part).map_or(0, |&first| usize::from(first));
            first..first_staff.get(part + 1).map_or(staves, |&next| usize::from(next))
        };
        for clef in &written.clefs {
            let staff = staves_of(clef.part.into()).nth(usize::from(clef.staff.max(1)) - 1);
            if let Some(of_staff) = staff.and_then(|staff| clefs.get_mut(staff)) {
                of_staff.push((clef.place, StaffClef::of(clef)));
            }
        }
        for key in &written.keys {
            for staff in staves_of(key.part.into()) {
                keys[staff].push((key.place, key.accidentals));
            }
        }
        // Of a part without keys those of the first part that does not transpose hold.
        let common = written.keys.iter().find(|key| key.transposition == 0).map(|key| key.part);
        let common: Vec<(Place, i8)> = written
            .keys
            .iter()
            .filter(|key| Some(key.part) == common)
            .map(|key| (key.place, key.accidentals))
            .collect();
        for keys in keys.iter_mut().filter(|keys| keys.is_empty()) {
            keys.clone_from(&common);
        }
        for part in 0..first_staff.len() {
            for (number, staff) in staves_of(part).enumerate() {
                let first = clefs[staff].first().map(|(place, _)| *place);
                if first.is_none_or(|first| first > Place::default()) {
                    let usual = match first {
                        Some(_) => clefs[staff][0].1,
                        None => Builder::usual_clef(written, part as u16, number as u8 + 1),
                    };
                    clefs[staff].insert(0, (Place::default(), usual));
                }
            }
        }
        Self { clefs, keys }
    }

    /// The clef that holds at a place.
    pub fn clef(&self, staff: u16, place: Place) -> StaffClef {
        holding(&self.clefs[usize::from(staff)], place).unwrap_or(StaffClef::TREBLE)
    }

    /// The key that holds in a written bar.
    pub fn key_of_bar(&self, staff: u16, bar: u32) -> i8 {
        holding(&self.keys[usize::from(staff)], bar_line(bar)).unwrap_or(0)
    }

    /// Clef and key at the beginning of each bar of the order, by staff.
    pub fn at_bars(&self, order: &[u32], staves: usize) -> Vec<(StaffClef, i8)> {
        (0..staves as u16)
            .flat_map(|staff| {
                order.iter().map(move |&bar| (self.clef(staff, bar_line(bar)), self.key_of_bar(staff, bar)))
            })
            .collect()
    }
}

fn bar_line(bar: u32) -> Place {
    Place { bar, at: Quarters::ZERO }
}

fn holding<T: Copy>(marks: &[(Place, T)], place: Place) -> Option<T> {
    marks[..marks.partition_point(|(from, _)| *from <= place)].last().map(|(_, mark)| *mark)
}

/// The changes of clef, key and meter in playing order, with staff and bar.
pub(super) fn signs(builder: &Builder<'_>) -> Vec<(usize, usize, Sign)> {
    let mut signs = Vec::new();
    for staff in 0..builder.staves.len() {
        let mut clef = builder.standing.clef(staff as u16, bar_line(builder.order.first().copied().unwrap_or(0)));
        let mut key = builder.standing.key_of_bar(staff as u16, builder.order.first().copied().unwrap_or(0));
        let mut meter = None;
        let clefs = &builder.standing.clefs[staff];
        for (index, &bar) in builder.order.iter().enumerate() {
            let sign = |at: Quarters, kind: SignKind| Sign {
                second: builder.second(index, at),
                column: builder.column(index as u32, at),
                at_bar_line: at == Quarters::ZERO,
                kind,
            };
            let here = builder.standing.clef(staff as u16, bar_line(bar));
            if here != clef {
                signs.push((staff, index, sign(Quarters::ZERO, SignKind::Clef(here))));
                clef = here;
            }
            let now = builder.standing.key_of_bar(staff as u16, bar);
            if now != key {
                signs.push((staff, index, sign(Quarters::ZERO, SignKind::Key { clef, before: key, now })));
                key = now;
            }
            let written = builder.written.bars[bar as usize].meter;
            if meter != Some(written) {
                signs.push((staff, index, sign(Quarters::ZERO, SignKind::Meter(written))));
                meter = Some(written);
            }
            let from = clefs.partition_point(|(place, _)| *place <= bar_line(bar));
            for &(place, changed) in clefs[from..].iter().take_while(|(place, _)| place.bar == bar) {
                if changed != clef {
                    signs.push((staff, index, sign(place.at, SignKind::Clef(changed))));
                    clef = changed;
                }
            }
        }
    }
    signs
}

/// Dynamics, tempi, jumps and pedal in playing order, with staff and bar.
pub(super) fn words(builder: &Builder<'_>) -> Vec<(usize, usize, Words)> {
    let written = builder.written;
    let mut words = Vec::new();
    let mut last_tempo = None;
    for (index, &bar) in builder.order.iter().enumerate() {
        let mut push = |staff: u16, at: Quarters, kind: WordsKind| {
            let (second, column) = (builder.second(index, at), builder.column(index as u32, at));
            words.push((usize::from(staff), index, Words { bar: index as u32, column, second, kind }));
        };
        for dynamic in of_bar(&written.dynamics, bar, |dynamic| dynamic.place) {
            let staff = builder.staff(dynamic.part, dynamic.staff.unwrap_or(1));
            push(staff, dynamic.place.at, WordsKind::Dynamic(dynamic.mark.clone()));
        }
        for tempo in of_bar(&written.tempi, bar, |tempo| tempo.place) {
            let rate = tempo.quarters_per_minute.round() as u32;
            let is_new = last_tempo.replace((rate, tempo.text.clone())) != Some((rate, tempo.text.clone()));
            if is_new && (!tempo.text.is_empty() || written.tempi.len() <= 1 + written.bars.len() / 8) {
                let rate = Some(rate).filter(|_| tempo.text.is_empty());
                push(0, tempo.place.at, WordsKind::Tempo(tempo.text.clone(), rate));
            }
        }
        for pedal in of_bar(&written.pedal, bar, |pedal| pedal.place) {
            push(builder.staff(pedal.part, u8::MAX), pedal.place.at, WordsKind::Pedal(pedal.down));
        }
        let bar = &written.bars[bar as usize];
        if bar.ending_start {
            let numbers: Vec<String> = bar.ending.iter().map(|number| format!("{number}.")).collect();
            push(0, Quarters::ZERO, WordsKind::Jump(numbers.join(" ")));
        }
        for sign in &bar.signs {
            let kind = match sign {
                JumpSign::Segno => WordsKind::Sign(Glyph::SEGNO),
                JumpSign::Coda => WordsKind::Sign(Glyph::CODA),
                JumpSign::Fine => WordsKind::Jump("Fine".to_owned()),
                JumpSign::ToCoda => WordsKind::Jump("To Coda".to_owned()),
                JumpSign::DaCapo => WordsKind::Jump("D.C.".to_owned()),
                JumpSign::DalSegno => WordsKind::Jump("D.S.".to_owned()),
            };
            push(0, Quarters::ZERO, kind);
        }
    }
    words
}

/// Of marks in order, those of a bar.
fn of_bar<T>(marks: &[T], bar: u32, place: impl Fn(&T) -> Place) -> &[T] {
    let from = marks.partition_point(|mark| place(mark).bar < bar);
    let until = marks.partition_point(|mark| place(mark).bar <= bar);
    &marks[from..until.max(from)]
}
