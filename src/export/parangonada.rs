//! Parangonada: the tables that this tool for checking alignments reads, in one archive.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::events::ticks_per_quarter;
use super::spelling::note_id;
use super::text::fixed;
use super::{ExportInput, Exporter};
use crate::base::error::{Error, Result};

/// A note that the score does not have is as loud as any.
const EXTRA_VELOCITY: u8 = 64;

/// `part.csv` and `ppart.csv` hold the notes of score and performance, `align.csv` and `zalign.csv` which is which (0 a pair, 1 only in the score,
/// 2 only in the performance), `feature.csv` nothing yet: it must be there.
pub struct Parangonada;

impl Exporter for Parangonada {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let tables = Tables::of(input);
        let packed = || -> zip::result::ZipResult<Vec<u8>> {
            let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, text) in [
                ("part.csv", &tables.part),
                ("ppart.csv", &tables.performance),
                ("align.csv", &tables.pairs),
                ("zalign.csv", &tables.pairs),
                ("feature.csv", &tables.features),
            ] {
                // The same alignment always gives the same bytes: no time of writing.
                archive.start_file(name, SimpleFileOptions::default().last_modified_time(zip::DateTime::default()))?;
                archive.write_all(text.as_bytes())?;
            }
            Ok(archive.finish()?.into_inner())
        };
        packed().map_err(|e| Error::unsuitable("the alignment", e.to_string(), "choose another format"))
    }
}

struct Tables {
    part: String,
    performance: String,
    pairs: String,
    features: String,
}

impl Tables {
    fn of(input: &ExportInput) -> Self {
        let (score, alignment) = (input.score, input.alignment);
        let mut tables = Self {
            part: "onset_beat,duration_beat,onset_quarter,duration_quarter,onset_div,duration_div,pitch,voice,id\n"
                .to_owned(),
            performance: "onset_sec,duration_sec,pitch,velocity,track,channel,id\n".to_owned(),
            pairs: "idx,matchtype,partid,ppartid\n".to_owned(),
            features: "velocity,timing,articulation,id\n".to_owned(),
        };
        let manuscript = score.notation.manuscript.as_deref();
        let quarter = ticks_per_quarter(score);
        for (index, (note, aligned)) in score.notes.iter().zip(&alignment.notes).enumerate() {
            let id = note_id(score, index).replace(',', "_");
            let written = manuscript.zip(score.notation.notes.get(index));
            let written = written.and_then(|(page, name)| page.written.notes.get(name.origin.note as usize));
            let voice = written.map_or(1, |note| note.voice);
            let (onset, length) = (note.onset_tick, note.offset_tick - note.onset_tick);
            let beat = f64::from(score.meter.signature(onset).denominator) / 4.0;
            let quarters = [onset, length].map(|ticks| ticks as f64 / quarter);
            tables.part += &format!(
                "{},{},{},{},{onset},{length},{},{voice},{id}\n",
                fixed(quarters[0] * beat, 4),
                fixed(quarters[1] * beat, 4),
                fixed(quarters[0], 4),
                fixed(quarters[1], 4),
                note.pitch
            );
            tables.features += &format!("0,0,0,{id}\n");
            if aligned.is_missing() {
                tables.pairs += &format!("{index},1,{id},undefined\n");
                continue;
            }
            tables.pairs += &format!("{index},0,{id},p{index}\n");
            tables.played(
                aligned.onset_s,
                aligned.offset_s,
                note.pitch,
                note.velocity,
                note.track,
                note.channel,
                index,
            );
        }
        for (more, extra) in alignment.extra_notes.iter().enumerate() {
            let index = score.notes.len() + more;
            tables.pairs += &format!("{index},2,undefined,p{index}\n");
            tables.played(extra.onset_s, extra.offset_s, extra.pitch, EXTRA_VELOCITY, 0, 0, index);
        }
        tables
    }

    #[expect(clippy::too_many_arguments, reason = "the columns of the table")]
    fn played(&mut self, onset: f64, offset: f64, pitch: u8, velocity: u8, track: u16, channel: u8, index: usize) {
        let (onset, length) = (fixed(onset.max(0.0), 4), fixed((offset - onset).max(0.001), 4));
        self.performance += &format!("{onset},{length},{pitch},{velocity},{track},{channel},p{index}\n");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::Format;
    use super::super::test_piece::judged_piece;
    use super::*;

    #[test]
    fn every_note_is_paired_left_out_or_added_and_the_names_join() {
        let bytes = judged_piece().render(Format::Parangonada);
        assert_eq!(bytes, judged_piece().render(Format::Parangonada));
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut table = |name: &str| {
            let mut text = String::new();
            archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect::<Vec<Vec<String>>>()
        };
        let (part, performance, pairs) = (table("part.csv"), table("ppart.csv"), table("align.csv"));
        assert_eq!((pairs.clone(), part.len()), (table("zalign.csv"), table("feature.csv").len()));
        let ids = |rows: &[Vec<String>]| rows[1..].iter().map(|row| row.last().unwrap().clone()).collect::<Vec<_>>();
        let (part, performance) = (ids(&part), ids(&performance));
        let mut kinds = [0; 3];
        for row in &pairs[1..] {
            let kind: usize = row[1].parse().unwrap();
            kinds[kind] += 1;
            assert_eq!((part.contains(&row[2]), performance.contains(&row[3])), (kind != 2, kind != 1), "{row:?}");
        }
        assert_eq!(kinds, [6, 2, 2]);
    }
}
