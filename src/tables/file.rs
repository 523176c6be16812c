//! Parquet files: one row group after the other, so that neither writer nor reader needs the whole.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{Column, Kind, Schema, pages};
use crate::base::atomic_file::Sink;
use crate::base::containment::contained;
use crate::base::error::{Error, Result};

/// Every value may be missing: at this level it is there.
const PRESENT: i16 = 1;

/// No row takes fewer bytes of a file, on average: columns that hold nothing would be as long as they claim to be.
const SMALLEST_ROW: u64 = 8;

/// Writes a table.
pub struct TableWriter<'a> {
    path: PathBuf,
    schema: Schema,
    writer: SerializedFileWriter<&'a mut dyn Sink>,
}

impl<'a> TableWriter<'a> {
    /// Begins a table of these columns. Errors name `path`.
    pub fn new(path: &Path, schema: Schema, sink: &'a mut dyn Sink) -> Result<Self> {
        let failed = |error| failed("write", path, error);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("agogic ", env!("CARGO_PKG_VERSION")).to_owned());
        let fields = schema.iter().map(field).collect::<Result<_, _>>().map_err(failed)?;
        let root = Type::group_type_builder("schema").with_fields(fields).build().map_err(failed)?;
        let writer = SerializedFileWriter::new(sink, Arc::new(root), Arc::new(properties.build())).map_err(failed)?;
        Ok(Self { path: path.to_owned(), schema, writer })
    }

    /// Writes some rows: a column for each of the schema, of its kind, all of the same length.
    pub fn write(&mut self, columns: &[Column]) -> Result<()> {
        debug_assert!(
            columns.len() == self.schema.len() && columns.iter().all(|column| column.len() == columns[0].len())
        );
        self.try_write(columns).map_err(|error| failed("write", &self.path, error))
    }

    fn try_write(&mut self, columns: &[Column]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            let Some(mut writer) = group.next_column()? else { break };
            match column {
                Column::Int(values) => put::<Int64Type>(writer.typed(), values.iter().copied())?,
                Column::Float(values) => put::<DoubleType>(writer.typed(), values.iter().copied())?,
                Column::Bool(values) => put::<BoolType>(writer.typed(), values.iter().copied())?,
                Column::Text(values) => {
                    let bytes = values.iter().map(|text| text.as_deref().map(ByteArray::from));
                    put::<ByteArrayType>(writer.typed(), bytes)?;
                }
            }
            writer.close()?;
        }
        group.close().map(drop)
    }

    /// Writes what Parquet has at the end of a file.
    pub fn finish(self) -> Result<()> {
        self.writer.close().map(drop).map_err(|error| failed("write", &self.path, error))
    }
}

fn field(&(name, kind): &(&str, Kind)) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Int => (Physical::INT64, None),
        Kind::Float => (Physical::DOUBLE, None),
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    field.with_logical_type(logical).build().map(Arc::new)
}

fn put<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.clone().map(|value| if value.is_some() { PRESENT } else { 0 }).collect();
    let present: Vec<T::T> = values.flatten().collect();
    writer.write_batch(&present, Some(&levels), None).map(drop)
}

/// Reads a table of known columns.
pub struct TableReader {
    path: PathBuf,
    schema: Schema,
    file: File,
    reader: SerializedFileReader<File>,
}

impl TableReader {
    /// Opens a table, which must have these columns.
    pub fn open(path: &Path, schema: Schema) -> Result<Self> {
        let unreadable = |source| Error::io("read", path, source);
        let file = File::open(path).map_err(unreadable)?;
        let whole = file.try_clone().map_err(unreadable)?;
        let reader = contained(|| SerializedFileReader::new(whole)).ok_or_else(|| damaged(path))?;
        let reader = reader.map_err(|error| failed("read", path, error))?;
        let found = reader.metadata().file_metadata().schema_descr_ptr();
        let fits = found.num_columns() == schema.len()
            && schema
                .iter()
                .zip(found.columns())
                .all(|(wanted, found)| field(wanted).is_ok_and(|wanted| wanted.as_ref() == found.self_type()));
        if !fits {
            return Err(Error::malformed(path, "its columns are not those of a batch", "run the batch again"));
        }
        Ok(Self { path: path.to_owned(), schema, file, reader })
    }

    /// How many row groups it has.
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// The columns of a row group.
    pub fn read(&self, group: usize) -> Result<Vec<Column>> {
        let columns =
            contained(|| self.is_plausible(self.reader.metadata().row_group(group)).then(|| self.try_read(group)));
        columns.flatten().ok_or_else(|| damaged(&self.path))?.map_err(|error| failed("read", &self.path, error))
    }

    /// Whether all that a row group claims fits into the file.
    fn is_plausible(&self, group: &RowGroupMetaData) -> bool {
        let end = self.file.len();
        let of_column = |column: &ColumnChunkMetaData| {
            // Panics at negative numbers, which is contained.
            let (start, length) = column.byte_range();
            let bytes = start.checked_add(length).filter(|&after| after <= end);
            bytes
                .and_then(|_| self.file.get_bytes(start, length as usize).ok())
                .is_some_and(|chunk| pages::are_plausible(&chunk))
        };
        let rows = u64::try_from(group.num_rows()).unwrap_or(u64::MAX);
        rows.saturating_mul(SMALLEST_ROW) <= end && group.columns().iter().all(of_column)
    }

    fn try_read(&self, group: usize) -> Result<Vec<Column>, ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let column = |index: usize| {
            Ok(match group.get_column_reader(index)? {
                ColumnReader::Int64ColumnReader(reader) => Column::Int(get(reader, rows)?),
                ColumnReader::DoubleColumnReader(reader) => Column::Float(get(reader, rows)?),
                ColumnReader::BoolColumnReader(reader) => Column::Bool(get(reader, rows)?),
                ColumnReader::ByteArrayColumnReader(reader) => {
                    let text = |bytes: ByteArray| bytes.as_utf8().map(str::to_owned);
                    let texts = get(reader, rows)?.into_iter().map(|bytes| bytes.map(text).transpose());
                    Column::Text(texts.collect::<Result<_, _>>()?)
                }
                _ => return Err(ParquetError::General("a column of another type".to_owned())),
            })
        };
        (0..self.schema.len()).map(column).collect()
    }
}

fn get<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    while levels.len() < rows {
        let (read, _, _) = reader.read_records(rows - levels.len(), Some(&mut levels), None, &mut present)?;
        if read == 0 {
            return Err(ParquetError::EOF(format!("{} rows of {rows}", levels.len())));
        }
    }
    let mut present = present.into_iter();
    Ok(levels.into_iter().map(|level| if level == PRESENT { present.next() } else { None }).collect())
}

fn damaged(path: &Path) -> Error {
    Error::malformed(path, "the table is damaged", "run the batch again")
}

fn failed(action: &'static str, path: &Path, error: ParquetError) -> Error {
    Error::io(action, path, std::io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::atomic_file::write_atomically;
    use crate::base::job::JobContext;

    const SCHEMA: Schema = &[("n", Kind::Int), ("x", Kind::Float), ("is", Kind::Bool), ("text", Kind::Text)];

    fn group(first: i64) -> Vec<Column> {
        vec![
            Column::Int(vec![Some(first), None, Some(i64::MIN)]),
            Column::Float(vec![None, Some(0.1 + 0.2), Some(-0.0)]),
            Column::Bool(vec![Some(true), Some(false), None]),
            Column::Text(vec![Some("é|\n".to_owned()), None, Some(String::new())]),
        ]
    }

    #[test]
    fn what_was_written_is_read_to_the_last_bit_and_another_table_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_atomically(&JobContext::new(), &path, |sink| {
            let mut writer = TableWriter::new(&path, SCHEMA, sink)?;
            writer.write(&group(1))?;
            writer.write(&group(2))?;
            writer.finish()
        })
        .unwrap();
        let reader = TableReader::open(&path, SCHEMA).unwrap();
        assert_eq!(reader.groups(), 2);
        assert_eq!(reader.read(0).unwrap(), group(1));
        assert_eq!(reader.read(1).unwrap(), group(2));
        let Err(error) = TableReader::open(&path, &SCHEMA[..2]) else { panic!("it has other columns") };
        assert!(error.to_string().contains("t.parquet") && error.to_string().contains("columns"), "{error}");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(TableReader::open(&path, SCHEMA).is_err(), "a file that was cut off");
    }
}
