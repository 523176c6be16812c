//! Which kind of score a file is, told by its content.

use crate::score::take::is_midi;

/// The kinds of scores that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScoreKind {
    /// A Standard MIDI File.
    Midi,
    /// A zip archive, as compressed MusicXML is.
    Archive,
    /// MusicXML, by parts or by bars.
    MusicXml,
    /// MEI.
    Mei,
    /// Humdrum with at least one **kern spine.
    Kern,
}

/// How far into a file its kind is looked for: some begin with pages of comments.
pub(crate) const HEAD_BYTES: usize = 1 << 16;

/// The kind of a file that begins like this, if it is a score.
pub(crate) fn score_kind(head: &[u8]) -> Option<ScoreKind> {
    if is_midi(head) {
        return Some(ScoreKind::Midi);
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some(ScoreKind::Archive);
    }
    let text = readable(&head[..head.len().min(HEAD_BYTES)]);
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if text.starts_with('<') {
        return match root_element(text)? {
            "score-partwise" | "score-timewise" => Some(ScoreKind::MusicXml),
            "mei" | "meiCorpus" | "music" | "mdiv" => Some(ScoreKind::Mei),
            _ => None,
        };
    }
    let spines = text.lines().find(|line| line.starts_with("**"))?;
    spines.split('\t').any(|spine| spine.trim_end() == "**kern").then_some(ScoreKind::Kern)
}

/// The name of an XML document's root, without its prefix, if it stands in this text.
pub(super) fn root_element(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('<')? + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = &comment[comment.find("-->")?..];
        } else if rest.starts_with('!') {
            // The subset of a document type may hold declarations of its own.
            let (end, subset) = (rest.find('>')?, rest.find('['));
            let end = if subset.is_some_and(|subset| subset < end) { rest.find(']')? } else { end };
            rest = &rest[end..];
        } else if let Some(instruction) = rest.strip_prefix('?') {
            rest = &instruction[instruction.find("?>")?..];
        } else {
            let name = rest.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next()?;
            return name.rsplit(':').next();
        }
    }
}

/// The text of bytes in any encoding in which XML names are plain letters, with other letters lost.
fn readable(bytes: &[u8]) -> String {
    match bytes {
        [0xff, 0xfe, ..] => bytes.iter().skip(2).step_by(2).map(|&byte| char::from(byte)).collect(),
        [0xfe, 0xff, ..] => bytes.iter().skip(3).step_by(2).map(|&byte| char::from(byte)).collect(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_told_by_the_content() {
        let kind = |text: &str| score_kind(text.as_bytes());
        assert_eq!(kind("MThd\0\0\0\x06"), Some(ScoreKind::Midi));
        assert_eq!(kind("PK\x03\x04"), Some(ScoreKind::Archive));
        assert_eq!(kind("<?xml version='1.0'?>\n<!-- <mei> -->\n<score-timewise>"), Some(ScoreKind::MusicXml));
        assert_eq!(
            kind("\u{feff}<!DOCTYPE x [<!ENTITY a 'b'>]><score-partwise version='3.1'>"),
            Some(ScoreKind::MusicXml)
        );
        assert_eq!(kind("<?xml version='1.0'?><mei:mei xmlns:mei='x'/>"), Some(ScoreKind::Mei));
        assert_eq!(kind("!!!COM: Mozart\n**text\t**kern\n"), Some(ScoreKind::Kern));
        assert_eq!(kind("**dynam\n"), None);
        assert_eq!(kind("<html>"), None);
        assert_eq!(kind("<!"), None);
        assert_eq!(kind(""), None);
    }

    #[test]
    fn two_byte_text_is_known_too() {
        let text = "<score-partwise>";
        let little: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.bytes().flat_map(|b| [b, 0])).collect();
        let big: Vec<u8> = [0xfe, 0xff].into_iter().chain(text.bytes().flat_map(|b| [0, b])).collect();
        assert_eq!(score_kind(&little), Some(ScoreKind::MusicXml));
        assert_eq!(score_kind(&big), Some(ScoreKind::MusicXml));
    }
}
