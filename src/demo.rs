//! The demo piece: the opening of Bach's Prelude in C major, BWV 846, with a performance and its exact ground truth.

/// The recording of the performance, Ogg Vorbis.
pub fn performance_bytes() -> &'static [u8] {
    include_bytes!("../assets/demo/performance.ogg")
}

/// The score, a Standard MIDI File.
pub fn score_bytes() -> &'static [u8] {
    include_bytes!("../assets/demo/score.mid")
}

/// Where each onset of the score is in the recording: CSV with score_beat, score_time_s, performance_time_s.
pub fn truth_bytes() -> &'static [u8] {
    include_bytes!("../assets/demo/truth.csv")
}

/// The three files with the names they are written under.
pub fn files() -> [(&'static str, &'static [u8]); 3] {
    [("performance.ogg", performance_bytes()), ("score.mid", score_bytes()), ("truth.csv", truth_bytes())]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::score::Score;

    /// Rows of the ground truth: beat, score time, performance time.
    fn truth() -> Vec<[f64; 3]> {
        let text = std::str::from_utf8(truth_bytes()).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("score_beat,score_time_s,performance_time_s"));
        let rows = lines.map(|line| line.split(',').map(|field| field.parse().unwrap()).collect::<Vec<f64>>());
        rows.map(|row| row.try_into().unwrap()).collect()
    }

    #[test]
    fn the_truth_has_a_row_for_every_onset_of_the_score() {
        let score = Score::from_bytes(Path::new("score.mid"), score_bytes()).unwrap();
        let onsets = score.onsets_s();
        let truth = truth();
        assert_eq!((score.notes.len(), truth.len()), (176, 176));
        for (row, onset) in truth.iter().zip(&onsets) {
            assert!((row[1] - onset).abs() < 1e-6, "{row:?} against {onset}");
            assert!((score.tempo.beat_to_seconds(row[0]) - onset).abs() < 1e-6);
        }
        assert!(truth.windows(2).all(|w| w[1][2] > w[0][2] + 0.1), "performed onsets must increase");
        assert_eq!(score.title.as_deref(), Some("Bach: Prelude in C major, BWV 846"));
        assert_eq!(score.position(&score.notes[175]).bar, 11);
    }

    #[test]
    fn the_performance_is_no_mere_scaling_of_the_score() {
        let truth = truth();
        let slopes: Vec<f64> = truth.windows(2).map(|w| (w[1][2] - w[0][2]) / (w[1][1] - w[0][1])).collect();
        let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
        assert!((1.2..1.8).contains(&mean), "slower than the mark: {mean}");
        assert!(slopes.iter().any(|s| *s > 1.5 * mean), "a pause and a ritardando");
        assert!(truth[0][2] > 1.0, "silence before the first note");
    }

    #[test]
    fn the_files_are_small() {
        assert!(performance_bytes().starts_with(b"OggS"));
        assert!(files().iter().map(|(_, bytes)| bytes.len()).sum::<usize>() < 350_000);
    }
}
