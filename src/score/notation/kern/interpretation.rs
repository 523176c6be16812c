//! Tandem interpretations: key, meter, tempo, clef, instrument, sections.

use super::super::written::{Clef, Key, Meter, TempoMark};
use super::Reader;
use super::spines::Kind;

impl Reader {
    /// Reads a row of interpretations that do not change the columns.
    pub(super) fn interpretations(&mut self, fields: &[&str]) {
        for (column, field) in fields.iter().enumerate() {
            let spine = self.spines[column];
            let Some(text) = field.strip_prefix('*').filter(|text| !text.is_empty()) else { continue };
            if let Some(section) = text.strip_prefix('>') {
                self.section(section);
            } else if spine.kind == Kind::Kern {
                self.of_staff(spine.staff, text);
            }
        }
    }

    fn section(&mut self, text: &str) {
        if let Some(list) = text.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
            let names = || list.split(',').map(|name| name.trim().to_owned()).collect();
            self.expansion.get_or_insert_with(names);
        } else if !text.contains('[') && !self.sections.iter().any(|(_, name)| name == text) {
            // A section may begin within a bar: what is left of it is a bar of its own.
            if self.now.is_positive() {
                let label = format!("{}+", self.bar().label.trim_end_matches('+'));
                self.next_bar(label);
            }
            self.sections.push((self.place().bar, text.to_owned()));
        }
    }

    fn of_staff(&mut self, staff: usize, text: &str) {
        let place = self.place();
        let part = staff as u16;
        if let Some(number) = text.strip_prefix("part") {
            self.staves[staff].part = number.parse().ok();
        } else if let Some(number) = text.strip_prefix("staff") {
            self.staves[staff].staff = number.parse().ok();
        } else if let Some(name) = text.strip_prefix("I\"") {
            name.clone_into(&mut self.staves[staff].name);
        } else if let Some(code) =
            text.strip_prefix('I').filter(|code| code.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            code.clone_into(&mut self.staves[staff].abbreviation);
        } else if let Some(tempo) = text.strip_prefix("MM").and_then(|tempo| tempo.parse::<f64>().ok()) {
            let known = self.score.tempi.last().is_some_and(|last| last.place == place);
            if (5.0..=1000.0).contains(&tempo) && !known {
                self.score.tempi.push(TempoMark {
                    place,
                    quarters_per_minute: tempo,
                    text: std::mem::take(&mut self.movement),
                });
            }
        } else if let Some(meter) = text.strip_prefix('M').and_then(meter_of) {
            self.bar().meter = Some(meter);
        } else if let Some(signature) = text.strip_prefix("k[").and_then(|list| list.strip_suffix(']')) {
            let count = |sign: char| signature.matches(sign).count().min(7) as i8;
            let accidentals = count('#') - count('-');
            self.score.keys.push(Key { part, place, accidentals, minor: false, transposition: 0 });
        } else if let Some(key) = text.strip_suffix(':') {
            let minor = key.starts_with(|c: char| c.is_ascii_lowercase());
            if let Some(last) = self.score.keys.iter_mut().rev().find(|last| last.part == part && last.place == place) {
                last.minor = minor;
            }
        } else if let Some(clef) = text.strip_prefix("clef") {
            let line = clef.chars().last().and_then(|line| line.to_digit(10)).unwrap_or(2) as i8;
            let octaves = clef.matches('^').count().min(4) as i8 - clef.matches('v').count().min(4) as i8;
            let sign = clef.chars().next().map(String::from).unwrap_or_default();
            self.score.clefs.push(Clef { part, staff: 1, place, sign, line, octaves });
        }
    }
}

fn meter_of(text: &str) -> Option<Meter> {
    let (beats, unit) = text.split_once('/')?;
    let beats = beats.split('+').filter_map(|part| part.parse::<u32>().ok()).fold(0, u32::saturating_add);
    Meter::new(beats, unit.parse().ok()?)
}
