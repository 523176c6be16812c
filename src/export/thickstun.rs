//! Thickstun's text: score time and performance time in two columns.

use super::events::change_points;
use super::provenance::hash_comments;
use super::text::fixed;
use super::{ExportInput, Exporter};
use crate::base::error::Result;

/// Two columns, one row per change point.
pub struct Thickstun;

impl Exporter for Thickstun {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let mut text = hash_comments(input) + "# score performance\n";
        for point in change_points(input) {
            text += &format!("{} {}\n", fixed(point.score_s, 6), fixed(point.performance_s, 6));
        }
        Ok(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;
    use crate::evaluation::{TimeMap, evaluate, read_prediction};

    #[test]
    fn columns_are_read_back() {
        let piece = piece();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.align");
        let text = piece.render_text(Format::Thickstun);
        assert!(text.contains("\n# score performance\n0.000000 0.800000\n"), "{text}");
        std::fs::write(&path, text).unwrap();
        let exact = TimeMap::of_alignment(&piece.score, &piece.alignment);
        assert!(evaluate(&read_prediction(&path).unwrap().times, &exact).onset_max_ms < 1e-3);
    }
}
