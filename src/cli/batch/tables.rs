//! Results as two tables per shard. While the work goes on every piece is a file of its own, named by its key, in a folder beside them: so a
//! killed worker loses no more than the pieces that it was at, and two workers on one shard do not disturb each other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::attempt::Attempt;
use super::manifest::Row;
use super::record::{Figures, Record};
use super::shard::Shard;
use super::{Results, note_columns, piece_columns};
use crate::base::atomic_file::{write_atomically, write_output};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::export::ExportInput;
use crate::tables::{Column, TableReader, TableWriter};

/// Notes are written in groups of about so many: of this many the columns are held in memory at once.
const NOTES_AT_ONCE: usize = 1 << 16;

/// The tables of a shard.
pub(super) struct Tables {
    notes: PathBuf,
    pieces: PathBuf,
    work: PathBuf,
    /// Whether pieces in the folder of work count.
    resumes: bool,
    /// What the table of pieces held when it was looked at.
    earlier: Vec<Record>,
    by_key: HashMap<String, usize>,
}

/// A finished piece that is not in the tables yet.
#[derive(Serialize, Deserialize)]
struct Piece {
    figures: Figures,
    notes: Vec<Column>,
}

impl Tables {
    pub(super) fn new(folder: &Path, shard: Shard) -> Self {
        Self {
            notes: folder.join(format!("notes-{shard}.parquet")),
            pieces: folder.join(format!("pieces-{shard}.parquet")),
            work: folder.join(format!("work-{shard}")),
            resumes: false,
            earlier: Vec::new(),
            by_key: HashMap::new(),
        }
    }

    /// Makes files of the pieces that are wanted and are only in the tables. False if the notes of any cannot be read.
    fn unpack(&self, ctx: &JobContext, records: &[Record]) -> Result<bool> {
        let keys = records.iter().filter_map(|record| record.key.as_ref());
        let wanted: HashMap<&str, &str> = keys
            .filter(|key| !self.piece_path(key).is_file())
            .filter_map(|key| Some((self.earlier[*self.by_key.get(key)?].piece.as_str(), key.as_str())))
            .collect();
        if wanted.is_empty() {
            return Ok(true);
        }
        let Ok(reader) = TableReader::open(&self.notes, note_columns::SCHEMA) else { return Ok(false) };
        let mut unpacked = 0;
        for group in 0..reader.groups() {
            ctx.check()?;
            let Ok(columns) = reader.read(group) else { return Ok(false) };
            let Column::Text(names) = &columns[0] else { continue };
            let mut first = 0;
            for run in names.chunk_by(|a, b| a == b) {
                let rows = first..first + run.len();
                first = rows.end;
                let Some(key) = run[0].as_deref().and_then(|name| wanted.get(name)) else { continue };
                let figures = self.by_key.get(*key).and_then(|&index| self.earlier[index].figures.clone());
                let Some(figures) = figures else { continue };
                let notes = columns[1..].iter().map(|column| column.slice(rows.clone())).collect();
                self.write_piece(ctx, key, &Piece { figures, notes })?;
                unpacked += 1;
            }
        }
        Ok(unpacked == wanted.len())
    }

    /// Pieces last, after those of an earlier run are gone: where there are pieces, there are their notes.
    fn write_tables(&self, ctx: &JobContext, records: &[Record]) -> Result<bool> {
        let mut is_whole = true;
        let written = write_atomically(ctx, &self.notes, |sink| {
            let mut writer = TableWriter::new(&self.notes, note_columns::SCHEMA, sink)?;
            let mut group = empty_group();
            for (record, key) in records.iter().filter_map(|record| Some((record, record.key.as_ref()?))) {
                ctx.check()?;
                let Some(piece) = self.read_piece(key) else {
                    is_whole = false;
                    return Err(Error::Cancelled);
                };
                add(&mut group, &record.piece, piece.notes);
                if group[0].len() >= NOTES_AT_ONCE {
                    writer.write(&std::mem::replace(&mut group, empty_group()))?;
                }
            }
            if group[0].len() > 0 {
                writer.write(&group)?;
            }
            writer.finish()?;
            // From here on a killed worker leaves notes without pieces, which the next one makes anew.
            match std::fs::remove_file(&self.pieces) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::io("replace", &self.pieces, error))
                }
                _ => Ok(()),
            }
        });
        if !is_whole {
            return Ok(false);
        }
        written?;
        piece_columns::write(ctx, &self.pieces, records)?;
        Ok(true)
    }

    fn piece_path(&self, key: &str) -> PathBuf {
        self.work.join(format!("{key}.json"))
    }

    /// None if it is not there, or not as this version writes it.
    fn read_piece(&self, key: &str) -> Option<Piece> {
        let piece: Piece = serde_json::from_slice(&std::fs::read(self.piece_path(key)).ok()?).ok()?;
        let count = piece.notes.first()?.len();
        let kinds = note_columns::SCHEMA.iter().skip(1).map(|&(_, kind)| kind);
        let fits = kinds.eq(piece.notes.iter().map(Column::kind)) && piece.notes.iter().all(|c| c.len() == count);
        fits.then_some(piece)
    }

    /// The folder is made for every piece: another worker on the same shard may have finished and removed it.
    fn write_piece(&self, ctx: &JobContext, key: &str, piece: &Piece) -> Result<()> {
        let path = self.piece_path(key);
        let bytes = serde_json::to_vec(piece).map_err(|error| Error::io("write", &path, error.into()))?;
        let write = || self.make_work().and_then(|()| write_output(ctx, &path, &bytes));
        write().or_else(|_| write())
    }

    fn make_work(&self) -> Result<()> {
        std::fs::create_dir_all(&self.work).map_err(|source| Error::io("create", &self.work, source))
    }
}

impl Results for Tables {
    fn outputs(&self, _: &[Row]) -> Vec<PathBuf> {
        vec![self.notes.clone(), self.pieces.clone()]
    }

    /// Takes note of what the tables hold now. Tables that cannot be read hold nothing.
    fn look_for_earlier(&mut self) {
        self.resumes = true;
        let readable = self.notes.is_file() && self.pieces.is_file();
        self.earlier = if readable { piece_columns::read(&self.pieces).unwrap_or_default() } else { Vec::new() };
        let keys = self.earlier.iter().enumerate().filter_map(|(index, record)| Some((record.key.clone()?, index)));
        self.by_key = keys.collect();
    }

    fn earlier(&self, _: &Row, key: &str) -> Option<Figures> {
        if !self.resumes {
            return None;
        }
        let in_table = self.by_key.get(key).and_then(|&index| self.earlier[index].figures.clone());
        in_table.or_else(|| self.read_piece(key).map(|piece| piece.figures))
    }

    fn begin(&self, row: &Row, key: &str) -> Result<Attempt> {
        let begin = || {
            self.make_work()?;
            Attempt::begin(&row.name, self.work.join(format!("{key}.begun")))
        };
        match begin() {
            // The folder went away in between.
            Err(Error::Io { .. }) => begin(),
            other => other,
        }
    }

    fn keep(&self, ctx: &JobContext, _: &Row, record: &Record, result: &ExportInput<'_>) -> Result<()> {
        let (Some(key), Some(figures)) = (&record.key, &record.figures) else { return Ok(()) };
        self.write_piece(ctx, key, &Piece { figures: figures.clone(), notes: note_columns::of_piece(result) })
    }

    /// It is a row of the table at the end.
    fn keep_record(&self, _: &JobContext, _: &Row, _: &Record) -> Result<()> {
        Ok(())
    }

    /// Writes the tables, unless they are as they should be. False: a piece was taken away by another worker, who has put it into tables.
    fn finish(&self, ctx: &JobContext, records: &[Record]) -> Result<bool> {
        let is_same = |(record, earlier): (&Record, &Record)| Record { resumed: false, ..record.clone() } == *earlier;
        let is_there = self.pieces.is_file() && self.earlier.len() == records.len();
        if !(is_there && records.iter().zip(&self.earlier).all(is_same)) {
            if !self.unpack(ctx, records)? {
                // What the notes of an earlier run cannot give any more is made again.
                let _ = std::fs::remove_file(&self.pieces);
                return Ok(false);
            }
            if !self.write_tables(ctx, records)? {
                return Ok(false);
            }
        }
        // Another worker may be doing the same, or putting something into it, which that one will then miss and find in the tables.
        let _ = std::fs::remove_dir_all(&self.work);
        Ok(true)
    }
}

fn empty_group() -> Vec<Column> {
    note_columns::SCHEMA.iter().map(|&(_, kind)| Column::new(kind)).collect()
}

/// Adds the notes of a piece, under its name.
fn add(group: &mut [Column], piece: &str, notes: Vec<Column>) {
    let names = Column::Text(vec![Some(piece.to_owned()); notes.first().map_or(0, Column::len)]);
    for (column, more) in group.iter_mut().zip(std::iter::once(names).chain(notes)) {
        column.append(more);
    }
}
