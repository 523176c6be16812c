//! The list of formats: names, extensions, help.

use std::path::Path;

use super::{Exporter, agogic_csv, asap, audacity, jams, json, match_file, mei, midi, mir_eval, musicxml, parangonada};
use super::{piano_precision, picture};
use super::{sonic_visualiser, svl, textgrid, thickstun};
use crate::base::error::{Error, Result};

/// A format that alignments can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Agogic CSV, one row per change point of the score.
    Csv,
    /// Agogic CSV, one row per note.
    NotesCsv,
    /// Everything.
    Json,
    /// MIDI whose bars and beats follow the performance.
    Midi,
    /// MIDI with a flat tempo and absolute times.
    FlatMidi,
    /// Thickstun's two columns.
    Thickstun,
    /// Piano Precision's CSV.
    PianoPrecision,
    /// Sonic Visualiser CSV: onsets as time instants.
    InstantsCsv,
    /// Sonic Visualiser CSV: tempo as time values.
    TempoCsv,
    /// Sonic Visualiser CSV: notes.
    SonicVisualiserNotesCsv,
    /// Sonic Visualiser layer: onsets as time instants.
    Svl,
    /// Sonic Visualiser layer: tempo as time values.
    TempoSvl,
    /// Sonic Visualiser layer: notes.
    NotesSvl,
    /// Audacity labels.
    Audacity,
    /// ASAP beat annotation of the performance.
    Asap,
    /// ASAP beat annotation of the score, the other half of the pair.
    AsapScore,
    /// Match file 1.0.0.
    Match,
    /// JAMS 0.3.5.
    Jams,
    /// Praat TextGrid.
    TextGrid,
    /// Onset times for mir_eval.
    MirEval,
    /// MusicXML with the tempo of the performance.
    MusicXml,
    /// MEI with the times of the recording.
    Mei,
    /// The tables of Parangonada.
    Parangonada,
    /// Picture, bitmap.
    Png,
    /// Picture, vector.
    Svg,
}

struct Entry {
    format: Format,
    name: &'static str,
    /// Lower case; the first one is proposed for file names. Empty: by name only.
    extensions: &'static [&'static str],
    description: &'static str,
    exporter: &'static dyn Exporter,
}

macro_rules! entry {
    ($format:ident, $name:literal, $extensions:expr, $description:literal, $exporter:expr) => {
        Entry {
            format: Format::$format,
            name: $name,
            extensions: &$extensions,
            description: $description,
            exporter: &$exporter,
        }
    };
}

/// In the order of the help text and of the enum.
static ENTRIES: [Entry; 25] = [
    entry!(Csv, "csv", ["csv"], "score and performance time of every change point", agogic_csv::ChangePoints),
    entry!(NotesCsv, "notes-csv", [], "one row per note", agogic_csv::Notes),
    entry!(Json, "json", ["json"], "everything: warp, notes, tempo, settings, provenance", json::Json),
    entry!(Midi, "midi", ["mid", "midi"], "the score's notes, bars and beats at performance times", midi::Metrical),
    entry!(FlatMidi, "midi-flat", [], "the same at a flat tempo, in absolute times", midi::Flat),
    entry!(Thickstun, "thickstun", ["align"], "two columns, score and performance time", thickstun::Thickstun),
    entry!(PianoPrecision, "piano-precision", [], "Piano Precision CSV", piano_precision::PianoPrecision),
    entry!(InstantsCsv, "sv-instants", [], "Sonic Visualiser CSV: onsets", sonic_visualiser::Instants),
    entry!(TempoCsv, "sv-tempo", [], "Sonic Visualiser CSV: tempo values", sonic_visualiser::Tempo),
    entry!(SonicVisualiserNotesCsv, "sv-notes", [], "Sonic Visualiser CSV: notes", sonic_visualiser::Notes),
    entry!(Svl, "svl", ["svl"], "Sonic Visualiser layer: onsets", svl::Instants),
    entry!(TempoSvl, "svl-tempo", [], "Sonic Visualiser layer: tempo values", svl::Tempo),
    entry!(NotesSvl, "svl-notes", [], "Sonic Visualiser layer: notes", svl::Notes),
    entry!(Audacity, "audacity", ["txt"], "Audacity labels at the score's onsets", audacity::Audacity),
    entry!(Asap, "asap", [], "ASAP beat annotation of the performance", asap::Performance),
    entry!(AsapScore, "asap-score", [], "ASAP beat annotation of the score", asap::ScoreSide),
    entry!(Match, "match", ["match"], "match file 1.0.0, score notes and played notes", match_file::MatchFile),
    entry!(Jams, "jams", ["jams"], "JAMS 0.3.5", jams::Jams),
    entry!(TextGrid, "textgrid", ["textgrid"], "Praat TextGrid: bars and onsets", textgrid::TextGrid),
    entry!(MirEval, "mir-eval", [], "onset times for mir_eval", mir_eval::MirEval),
    entry!(
        MusicXml,
        "musicxml",
        ["musicxml"],
        "the score with the tempo of the performance at every beat; notes-csv has the times of its notes",
        musicxml::MusicXml
    ),
    entry!(Mei, "mei", ["mei"], "the score with the time of every note in the recording (when, tstamp.real)", mei::Mei),
    entry!(
        Parangonada,
        "parangonada",
        ["zip"],
        "zip of the five tables of Parangonada, which partitura reads too",
        parangonada::Parangonada
    ),
    entry!(Png, "png", ["png"], "picture of warp, tempo and aligned piano roll", picture::Png),
    entry!(Svg, "svg", ["svg"], "the same as a vector picture", picture::Svg),
];

impl Format {
    /// Every format, in the order of the help text.
    pub fn all() -> impl Iterator<Item = Self> {
        ENTRIES.iter().map(|entry| entry.format)
    }

    /// The format that a file's extension stands for.
    pub fn from_extension(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_lowercase();
        let found = ENTRIES.iter().find(|entry| entry.extensions.contains(&extension.as_str()));
        found.map(|entry| entry.format).ok_or_else(|| {
            let known: Vec<&str> = ENTRIES.iter().flat_map(|entry| entry.extensions).copied().collect();
            let allowed = format!("one of .{}; other formats are chosen with --format", known.join(", ."));
            Error::invalid(format!("the extension of {}", path.display()), format!("\".{extension}\""), allowed)
        })
    }

    /// The format of a name, as given to `--format`.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
        found.map(|entry| entry.format).ok_or_else(|| {
            let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
            Error::invalid("format", format!("\"{name}\""), format!("one of {}", names.join(", ")))
        })
    }

    /// The name for `--format`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What the file holds, in a few words for the help text.
    pub fn description(self) -> &'static str {
        self.entry().description
    }

    /// The extension to propose for a new file, without the dot.
    pub fn extension(self) -> &'static str {
        match (self, self.entry().extensions.first()) {
            (_, Some(extension)) => extension,
            (Self::FlatMidi, None) => "mid",
            (Self::TempoSvl | Self::NotesSvl, None) => "svl",
            (Self::Asap | Self::AsapScore | Self::MirEval, None) => "txt",
            (_, None) => "csv",
        }
    }

    /// How the name of a new file ends, without the dot: formats that share an extension differ before it.
    pub fn ending(self) -> String {
        let extension = self.extension();
        let kind = match self {
            Self::NotesCsv => "notes",
            Self::FlatMidi => "flat",
            Self::TempoSvl => "tempo",
            Self::NotesSvl => "notes",
            // What an extension alone stands for needs no more.
            _ if !self.entry().extensions.is_empty() => return extension.to_owned(),
            _ => self.name(),
        };
        format!("{kind}.{extension}")
    }

    /// What writes the format.
    pub fn exporter(self) -> &'static dyn Exporter {
        self.entry().exporter
    }

    /// One line per format: name, extensions, description.
    pub fn help() -> String {
        let line = |entry: &Entry| {
            let extensions: Vec<String> = entry.extensions.iter().map(|extension| format!(".{extension}")).collect();
            format!("{:<16} {:<12} {}", entry.name, extensions.join(" "), entry.description)
        };
        ENTRIES.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn entry(self) -> &'static Entry {
        &ENTRIES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum_and_names_are_unique() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            assert_eq!(entry.format as usize, index, "{}", entry.name);
            assert_eq!(Format::by_name(entry.name).unwrap(), entry.format);
            assert!(Format::help().contains(entry.description));
        }
    }

    #[test]
    fn no_two_formats_propose_the_same_name() {
        let endings: std::collections::BTreeSet<String> = Format::all().map(Format::ending).collect();
        assert_eq!(endings.len(), ENTRIES.len(), "{endings:?}");
        assert_eq!((Format::Csv.ending(), Format::NotesCsv.ending()), ("csv".to_owned(), "notes.csv".to_owned()));
    }

    #[test]
    fn extensions_name_formats_whatever_their_case() {
        assert_eq!(Format::from_extension(Path::new("a.b/out.CSV")).unwrap(), Format::Csv);
        assert_eq!(Format::from_extension(Path::new("x.TextGrid")).unwrap(), Format::TextGrid);
        assert_eq!(Format::from_extension(Path::new("x.txt")).unwrap(), Format::Audacity);
        let unknown = Format::from_extension(Path::new("x.doc")).unwrap_err().to_string();
        assert!(unknown.contains("x.doc") && unknown.contains(".csv") && unknown.contains("--format"), "{unknown}");
        assert!(Format::from_extension(Path::new("noextension")).is_err());
        assert!(Format::by_name("word").unwrap_err().to_string().contains("notes-csv"));
    }
}
