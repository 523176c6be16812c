//! Alignments of the open piece that were kept, to compare with one another.

use std::sync::Arc;

use crate::config::{AlignerKind, FeatureKind, Refinement, Settings};
use crate::evaluation::{Metrics, TimeMap, evaluate};
use crate::result::Alignment;
use crate::score::Score;

use super::view_model::Reference;

/// An alignment that was kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// What it is called.
    pub name: String,
    /// The alignment.
    pub alignment: Arc<Alignment>,
    /// Whether its curves are drawn.
    pub shown: bool,
    /// Figures against the reference, if there is one.
    pub metrics: Option<Metrics>,
    /// How far it is from the alignment that is shown, on average over the score.
    pub apart_ms: f64,
}

impl Kept {
    /// Keeps an alignment.
    pub fn new(name: String, alignment: Arc<Alignment>) -> Self {
        Self { name, alignment, shown: true, metrics: None, apart_ms: 0.0 }
    }

    /// Measures it anew against the reference and the alignment that is shown.
    pub fn measure(&mut self, score: &Score, reference: Option<&Reference>, shown: Option<&Alignment>) {
        let times = TimeMap::of_alignment(score, &self.alignment);
        self.metrics = reference.map(|reference| evaluate(&times, &reference.times));
        let apart = shown.map(|shown| evaluate(&times, &TimeMap::of_alignment(score, shown)).time_err_ms);
        self.apart_ms = apart.unwrap_or(0.0);
    }

    /// The alignment as something to compare with.
    pub fn as_reference(&self, score: &Score) -> Reference {
        Reference { name: self.name.clone(), times: TimeMap::of_alignment(score, &self.alignment) }
    }
}

/// A name that tells settings apart.
pub fn describe(settings: &Settings) -> String {
    let features = match settings.features {
        FeatureKind::Cqt => "constant-Q",
        FeatureKind::Chroma => "chroma",
        FeatureKind::Mel => "mel",
    };
    let aligner = match settings.aligner {
        AlignerKind::Gdtw => "GDTW",
        AlignerKind::Dtw => "DTW",
    };
    let mut name = match settings.refinement() {
        Refinement::Onsets if settings.aligner == AlignerKind::Gdtw => "Onsets".to_owned(),
        Refinement::Onsets => format!("{aligner}, {features}, onsets"),
        Refinement::None => format!("{aligner}, {features}"),
    };
    if let Some(model) = &settings.extractor {
        name = format!("{aligner}, {}", super::source::file_name(model.as_ref()).trim_end_matches(".safetensors"));
    }
    match settings.anchors.len() {
        0 => name,
        1 => format!("{name}, 1 fixed"),
        count => format!("{name}, {count} fixed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_settings_apart() {
        let plain = Settings::default();
        assert_eq!(describe(&plain), "Onsets");
        let classic = Settings { aligner: AlignerKind::Dtw, features: FeatureKind::Chroma, ..plain.clone() };
        assert_eq!(describe(&classic), "DTW, chroma");
        let learned =
            Settings { extractor: Some("models/mine.safetensors".to_owned()), refine: Some(Refinement::None), ..plain };
        assert_eq!(describe(&learned), "GDTW, mine");
    }
}
