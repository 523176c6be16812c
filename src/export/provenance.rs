//! Where a result comes from, as lines of text for formats with room for comments.

use super::ExportInput;
use super::text::{fixed, single_line};
use crate::align::result::{MediaInfo, ModelId};

/// Program, files, settings (with the user's anchors), models and SoundFont: one fact a line.
pub fn lines(input: &ExportInput) -> Vec<String> {
    let made = &input.alignment.provenance;
    let media = |role: &str, media: &MediaInfo| format!("{role}: {} ({} s)", media.name, fixed(media.duration_s, 3));
    let mut lines = vec![made.program.clone(), media("recording", &made.recording), media("score", &made.score)];
    // Settings are plain data, so that writing them as JSON cannot fail.
    lines.push(format!("settings: {}", serde_json::to_string(&input.alignment.settings).unwrap_or_default()));
    let model = |role: &str, model: &ModelId| format!("{role}: {} (sha256 {})", model.name, model.sha256);
    lines.extend(made.ear.iter().map(|ear| model("ear", ear)));
    lines.extend(made.extractor.iter().map(|extractor| model("extractor", extractor)));
    lines.extend(made.soundfont.iter().map(|soundfont| format!("soundfont: {soundfont}")));
    lines.push(format!("confidence: {}", fixed(input.alignment.confidence, 3)));
    lines.extend(input.alignment.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines.iter().map(|line| single_line(line)).collect()
}

/// The lines as `#` comments.
pub fn hash_comments(input: &ExportInput) -> String {
    lines(input).iter().map(|line| format!("# {line}\n")).collect()
}
