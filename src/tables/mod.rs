//! Tables of typed columns, and their Parquet files. Knows nothing of music.

mod file;
mod pages;

use serde::{Deserialize, Serialize};

pub use file::{TableReader, TableWriter};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// Numbers.
    Float,
    /// True or false.
    Bool,
    /// UTF-8.
    Text,
}

/// The names and kinds of a table's columns.
pub type Schema = &'static [(&'static str, Kind)];

/// The values of a column; any may be missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Column {
    /// Of [`Kind::Int`].
    Int(Vec<Option<i64>>),
    /// Of [`Kind::Float`].
    Float(Vec<Option<f64>>),
    /// Of [`Kind::Bool`].
    Bool(Vec<Option<bool>>),
    /// Of [`Kind::Text`].
    Text(Vec<Option<String>>),
}

impl Column {
    /// An empty column.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Int => Self::Int(Vec::new()),
            Kind::Float => Self::Float(Vec::new()),
            Kind::Bool => Self::Bool(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    /// How many values it has, missing ones among them.
    pub fn len(&self) -> usize {
        match self {
            Self::Int(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// What it holds.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Bool(_) => Kind::Bool,
            Self::Text(_) => Kind::Text,
        }
    }

    /// Adds the values of another column, which must be of the same kind.
    pub fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Int(values), Self::Int(others)) => values.extend(others),
            (Self::Float(values), Self::Float(others)) => values.extend(others),
            (Self::Bool(values), Self::Bool(others)) => values.extend(others),
            (Self::Text(values), Self::Text(others)) => values.extend(others),
            (column, other) => debug_assert_eq!(column.kind(), other.kind()),
        }
    }

    /// The values of some rows.
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        match self {
            Self::Int(values) => Self::Int(values[rows].to_vec()),
            Self::Float(values) => Self::Float(values[rows].to_vec()),
            Self::Bool(values) => Self::Bool(values[rows].to_vec()),
            Self::Text(values) => Self::Text(values[rows].to_vec()),
        }
    }
}
