//! Praat TextGrid: point tiers with the bars and the onsets of the score.

use super::events::{beats, onsets};
use super::text::{fixed, single_line};
use super::{ExportInput, Exporter};
use crate::base::error::Result;

/// Bars and onsets. Praat allows one point per moment in a tier, so points that fall together share one.
pub struct TextGrid;

impl Exporter for TextGrid {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let bars = beats(input)?.into_iter().filter(|beat| beat.number == 1);
        let bars = bars.map(|beat| (beat.performance_s, beat.bar.to_string()));
        let onsets = onsets(input).into_iter().map(|onset| (onset.performance_s, onset.label(input.score)));
        let tiers = [("bars", merged(bars)), ("onsets", merged(onsets))];
        let times = || tiers.iter().flat_map(|(_, points)| points.iter().map(|point| point.0));
        let start = times().fold(0.0, f64::min);
        let end = times().fold(input.alignment.provenance.recording.duration_s, f64::max).max(start + 1e-6);
        let range = |indent: &str| format!("{indent}xmin = {}\n{indent}xmax = {}\n", fixed(start, 6), fixed(end, 6));
        let mut text = format!("File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\n{}", range(""));
        text += &format!("tiers? <exists>\nsize = {}\nitem []:\n", tiers.len());
        for (index, (name, points)) in tiers.iter().enumerate() {
            text += &format!("    item [{}]:\n        class = \"TextTier\"\n        name = \"{name}\"\n", index + 1);
            text += &range("        ");
            text += &format!("        points: size = {}\n", points.len());
            for (number, (time, mark)) in points.iter().enumerate() {
                text += &format!("        points [{}]:\n            number = {}\n", number + 1, fixed(*time, 6));
                text += &format!("            mark = \"{}\"\n", single_line(mark).replace('"', "\"\""));
            }
        }
        Ok(text.into_bytes())
    }
}

/// Points whose times are the same when written.
fn merged(points: impl Iterator<Item = (f64, String)>) -> Vec<(f64, String)> {
    let mut merged: Vec<(f64, String)> = Vec::new();
    for (time, mark) in points {
        match merged.last_mut() {
            Some(last) if fixed(last.0, 6) == fixed(time, 6) => last.1 += &format!(", {mark}"),
            _ => merged.push((time, mark)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::{alignment_of, piece};

    #[test]
    fn tiers_list_bars_and_onsets() {
        let text = piece().render_text(Format::TextGrid);
        assert!(
            text.starts_with("File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0.000000\nxmax = 9.2"),
            "{text}"
        );
        assert!(
            text.contains(
                "name = \"bars\"\n        xmin = 0.000000\n        xmax = 9.200000\n        points: size = 3\n"
            ),
            "{text}"
        );
        assert!(text.contains("number = 1.696875\n            mark = \"1:2.5 Bb4\"\n"), "{text}");
    }

    #[test]
    fn moments_that_coincide_share_a_point() {
        let mut piece = piece();
        piece.alignment = alignment_of(&piece.score, vec![0.0, 1.0, 4.5], vec![1.0, 1.0, 8.0]);
        let text = piece.render_text(Format::TextGrid);
        assert!(text.contains("number = 1.000000\n            mark = \"1:1 C4 E4, 1:2.5 Bb4\"\n"), "{text}");
    }
}
