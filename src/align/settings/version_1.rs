//! Reading settings of program version 0.1, which did not say which method they belonged to.

use std::path::PathBuf;

use serde::Deserialize;

use crate::score::BarCount;

use super::{Aligner, Anchor, DEFAULT_HOP, FeatureKind, FixedNote, FrameMethod, Method, Settings, SlopeLimits};

#[derive(Deserialize)]
struct Now {
    method: Method,
    #[serde(default)]
    band_s: Option<f64>,
    #[serde(default)]
    anchors: Vec<Anchor>,
    #[serde(default)]
    fixed_notes: Vec<FixedNote>,
    #[serde(default)]
    parts: Vec<String>,
    #[serde(default)]
    bars: BarCount,
}

#[derive(Deserialize)]
struct Version1 {
    features: FeatureKind,
    extractor: Option<String>,
    aligner: Version1Aligner,
    refine: Option<Version1Refinement>,
    #[serde(default = "default_hop")]
    hop: usize,
    lambda: Option<f64>,
    slope: Option<SlopeLimits>,
    band_s: Option<f64>,
    #[serde(default)]
    anchors: Vec<Anchor>,
    soundfont: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Version1Aligner {
    Gdtw,
    Dtw,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Version1Refinement {
    Onsets,
    None,
}

fn default_hop() -> usize {
    DEFAULT_HOP
}

impl TryFrom<serde_json::Value> for Settings {
    type Error = serde_json::Error;

    fn try_from(stored: serde_json::Value) -> Result<Self, Self::Error> {
        if stored.get("method").is_none() {
            return serde_json::from_value::<Version1>(stored).map(Into::into);
        }
        let Now { method, band_s, anchors, fixed_notes, parts, bars } = serde_json::from_value(stored)?;
        Ok(Self { method, band_s, anchors, fixed_notes, parts, bars })
    }
}

impl From<Version1> for Settings {
    fn from(old: Version1) -> Self {
        let is_dtw = old.aligner == Version1Aligner::Dtw;
        let placed_onsets = old.refine.map_or(!is_dtw, |refine| refine == Version1Refinement::Onsets);
        let method = if placed_onsets {
            Method::Onsets(super::OnsetMethod { slope: old.slope, ..super::OnsetMethod::default() })
        } else {
            Method::Frames(FrameMethod {
                features: old.features,
                extractor: old.extractor,
                aligner: match old.aligner {
                    Version1Aligner::Gdtw => Aligner::Gdtw { lambda: old.lambda, slope: old.slope },
                    Version1Aligner::Dtw => Aligner::Dtw,
                },
                hop: old.hop,
                ends: super::Ends::Free,
                soundfont: old.soundfont,
            })
        };
        Self { method, band_s: old.band_s, anchors: old.anchors, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"features":"mel","extractor":"mel","aligner":"gdtw","refine":REFINE,"hop":1024,"lambda":0.7,
        "slope":null,"band_s":3.0,"subsequence":false,"anchors":[{"score_s":1.0,"performance_s":2.0}],"soundfont":null}"#;

    #[test]
    fn old_settings_become_those_of_the_method_that_ran() {
        let read = |refine: &str| serde_json::from_str::<Settings>(&OLD.replace("REFINE", refine)).unwrap();
        let onsets = read("null");
        assert_eq!((onsets.method, onsets.band_s, onsets.anchors.len()), (Method::default(), Some(3.0), 1));
        let unknown = serde_json::from_str::<Settings>(r#"{"method":{"magic":{}}}"#).unwrap_err().to_string();
        assert!(unknown.contains("magic") && unknown.contains("onsets"), "{unknown}");
        let Method::Frames(frames) = read("\"none\"").method else { panic!("frames were aligned") };
        assert_eq!((frames.features, frames.extractor.as_deref()), (FeatureKind::Mel, Some("mel")));
        assert_eq!(frames.aligner, Aligner::Gdtw { lambda: Some(0.7), slope: None });
    }
}
