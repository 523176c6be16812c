//! Alignments of the open piece that were kept, to compare with one another.

use std::sync::Arc;

use crate::align::result::Alignment;
use crate::align::settings::{Aligner, FeatureKind, FrameMethod, Method, Settings};
use crate::audio::AudioClip;
use crate::evaluation::{Metrics, TimeMap, evaluate};
use crate::score::Score;
use crate::warping::Warp;

use super::source::Source;
use super::view_model::{Piece, Reference};

/// An alignment that was kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// What it is called.
    pub name: String,
    /// The alignment.
    pub alignment: Arc<Alignment>,
    /// Where its recording is.
    pub recording: Option<Source>,
    /// Its recording, once it was read to be heard beside the open one.
    pub clip: Option<Arc<AudioClip>>,
    /// Whether its curves are drawn.
    pub shown: bool,
    /// Figures against the reference, if there is one.
    pub metrics: Option<Metrics>,
    /// How far it is from the alignment that is shown, on average over the score; none for another recording of the score.
    pub apart_ms: Option<f64>,
}

impl Kept {
    /// Keeps an alignment of a recording.
    pub fn new(name: String, alignment: Arc<Alignment>, recording: Option<Source>) -> Self {
        Self { name, alignment, recording, clip: None, shown: true, metrics: None, apart_ms: None }
    }

    /// Whether it is of the recording called `name`: only then do its times mean the same.
    pub fn is_of(&self, name: &str) -> bool {
        self.alignment.provenance.recording.name == name
    }

    /// Its name beside alignments of the recording called `recording`: with its own recording, if that is another one.
    pub fn label(&self, recording: &str) -> String {
        let own = &self.alignment.provenance.recording.name;
        if own == recording || self.name.contains(own) { self.name.clone() } else { format!("{own}, {}", self.name) }
    }

    /// Measures it anew against the reference and the alignment that is shown, if it is of the same recording.
    pub fn measure(&mut self, piece: &Piece, reference: Option<&Reference>, shown: Option<&Alignment>) {
        (self.metrics, self.apart_ms) = (None, None);
        if !self.is_of(&piece.recording_name) {
            return;
        }
        let score = &piece.score;
        let times = TimeMap::of_alignment(score, &self.alignment);
        self.metrics = reference.map(|reference| evaluate(&times, &reference.times));
        self.apart_ms = shown.map(|shown| evaluate(&times, &TimeMap::of_alignment(score, shown)).time_err_ms);
    }

    /// Its tempo at beats of the score: beat and quarter notes per minute, for curves of other recordings to be laid over.
    pub fn tempo_of_beats(&self) -> impl Iterator<Item = (f64, f64)> {
        self.alignment.tempo.iter().map(|point| (point.score_beat, point.beats_per_minute))
    }

    /// Its curve on the time axis of another recording, stretched so that both begin and end together: where it runs ahead, the
    /// other one lags behind.
    pub fn stretched_to(&self, other: &Warp) -> Option<Warp> {
        let own = &self.alignment.warp;
        let (first, last) = (own.score_s()[0], own.score_s()[own.score_s().len() - 1]);
        let (begin, end) = (own.at(first), own.at(last));
        let (other_begin, other_end) = (other.at(first), other.at(last));
        let stretch = (other_end - other_begin) / (end - begin);
        if !stretch.is_finite() || stretch <= 0.0 {
            return None;
        }
        let times = own.performance_s().iter().map(|time| other_begin + stretch * (time - begin)).collect();
        Warp::new(own.score_s().to_vec(), times).ok()
    }

    /// The middle of its tempi.
    pub fn median_tempo(&self) -> f64 {
        let mut tempi: Vec<f64> = self.tempo_of_beats().map(|(_, tempo)| tempo).collect();
        tempi.sort_by(f64::total_cmp);
        tempi.get(tempi.len() / 2).copied().unwrap_or(0.0)
    }

    /// The alignment as something to compare with.
    pub fn as_reference(&self, score: &Score) -> Reference {
        Reference { name: self.name.clone(), times: TimeMap::of_alignment(score, &self.alignment), fingerprint: None }
    }
}

/// A name that tells settings apart.
pub fn describe(settings: &Settings) -> String {
    let name = match &settings.method {
        Method::Onsets(onsets) if onsets.ear.is_some() => "Onsets".to_owned(),
        Method::Onsets(_) => "Onsets without ear".to_owned(),
        Method::Frames(frames) => describe_frames(frames),
    };
    let name = match &settings.method {
        Method::Onsets(onsets) if !onsets.path.is_auto() => format!("{name}, path {}", onsets.path),
        _ => name,
    };
    match settings.corrections() {
        0 => name,
        1 => format!("{name}, 1 fixed"),
        count => format!("{name}, {count} fixed"),
    }
}

fn describe_frames(frames: &FrameMethod) -> String {
    let aligner = if frames.aligner == Aligner::Dtw { "DTW" } else { "GDTW" };
    let features = match (&frames.extractor, frames.features) {
        (Some(model), _) => super::source::file_name(model.as_ref()).trim_end_matches(".safetensors").to_owned(),
        (None, FeatureKind::Cqt) => "constant-Q".to_owned(),
        (None, FeatureKind::Chroma) => "chroma".to_owned(),
        (None, FeatureKind::Mel) => "mel".to_owned(),
    };
    format!("{aligner}, {features}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::PerformanceKind;
    use crate::align::result::{MediaInfo, Provenance};
    use crate::align::settings::{OnsetMethod, Path};

    #[test]
    fn another_recording_begins_and_ends_with_this_one_and_differs_between() {
        let warp = |times: [f64; 3]| Warp::new(vec![0.0, 10.0, 20.0], times.to_vec()).unwrap();
        let media = MediaInfo { name: "other".to_owned(), duration_s: 50.0 };
        let alignment = Alignment {
            warp: warp([5.0, 30.0, 45.0]),
            notes: Vec::new(),
            extra_notes: Vec::new(),
            sections: Vec::new(),
            tempo: Vec::new(),
            places: Vec::new(),
            confidence: 1.0,
            match_confidence: 1.0,
            warnings: Vec::new(),
            settings: Settings::default(),
            provenance: Provenance {
                program: String::new(),
                recording: media.clone(),
                performance: PerformanceKind::Audio,
                score: media,
                ear: None,
                transcription: None,
                extractor: None,
                soundfont: None,
                device: None,
            },
            search: None,
        };
        let kept = Kept::new("Onsets".to_owned(), Arc::new(alignment), None);
        let laid_over = kept.stretched_to(&warp([1.0, 11.0, 21.0])).unwrap();
        assert_eq!(laid_over.performance_s(), [1.0, 13.5, 21.0]);
        assert_eq!((kept.label("this").as_str(), kept.label("other").as_str()), ("other, Onsets", "Onsets"));
    }

    #[test]
    fn names_tell_settings_apart() {
        let plain = Settings::default();
        assert_eq!(describe(&plain), "Onsets");
        let path = Path::Sections(vec!["A".to_owned(), "B".to_owned()]);
        let method = Method::Onsets(OnsetMethod { path, ..OnsetMethod::default() });
        assert_eq!(describe(&Settings { method, ..plain.clone() }), "Onsets, path A,B");
        let frames = |frames| Settings { method: Method::Frames(frames), ..plain.clone() };
        let chroma = FrameMethod { aligner: Aligner::Dtw, features: FeatureKind::Chroma, ..FrameMethod::default() };
        assert_eq!(describe(&frames(chroma)), "DTW, chroma");
        let learned = FrameMethod { extractor: Some("models/mine.safetensors".to_owned()), ..FrameMethod::default() };
        assert_eq!(describe(&frames(learned)), "GDTW, mine");
    }
}
