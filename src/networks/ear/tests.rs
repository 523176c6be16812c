use super::disguise::Disguise;
use super::network::{Convolution, LAYERS};
use super::trainer::untrained;
use super::*;
use crate::audio::AudioClip;
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;

fn network64(seed: u64) -> OnsetNetwork<f64> {
    let mut random = Random::at(seed, &[]);
    let parameters = (0..OnsetNetwork::<f64>::parameter_count()).map(|_| random.between(-0.2, 0.2)).collect();
    OnsetNetwork { parameters }
}

fn inputs64(frames: usize) -> Vec<f64> {
    let mut random = Random::at(9, &[]);
    (0..frames * CHANNELS).map(|_| random.between(0.0, 1.5)).collect()
}

/// The convolutions written out.
fn naive(network: &OnsetNetwork<f64>, inputs: &[f64]) -> Vec<f64> {
    let mut values = inputs.to_vec();
    for (index, layer) in LAYERS.into_iter().enumerate() {
        let parameters = &network.parameters[Convolution::range(index)];
        let frames = values.len() / layer.inputs + 1 - layer.taps;
        let mut next = Vec::new();
        for frame in 0..frames {
            for output in 0..layer.outputs {
                let mut sum = parameters[layer.width() * layer.outputs + output];
                for tap in 0..layer.taps {
                    for input in 0..layer.inputs {
                        let weight = parameters[(tap * layer.inputs + input) * layer.outputs + output];
                        sum += weight * values[(frame + tap) * layer.inputs + input];
                    }
                }
                next.push(if index + 1 < LAYERS.len() { sum.max(0.0) } else { sum });
            }
        }
        values = next;
    }
    values
}

#[test]
fn the_forward_pass_is_three_convolutions() {
    let (network, inputs) = (network64(3), inputs64(2 * CONTEXT + 5));
    let mut activations = Activations::default();
    let logits = network.logits(&inputs, &mut activations);
    let expected = naive(&network, &inputs);
    assert_eq!((logits.len(), expected.len()), (5, 5));
    assert!(logits.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(network.logits(&inputs[..3 * CHANNELS], &mut activations).is_empty(), "too short for a single moment");
}

#[test]
fn the_backward_pass_agrees_with_finite_differences() {
    let (network, inputs) = (network64(4), inputs64(2 * CONTEXT + 4));
    let weights = [0.3, -1.0, 0.7, 0.2];
    let loss = |network: &OnsetNetwork<f64>| -> f64 {
        network.logits(&inputs, &mut Activations::default()).iter().zip(weights).map(|(l, w)| l * w).sum()
    };
    let mut activations = Activations::default();
    network.logits(&inputs, &mut activations);
    let mut gradient = vec![0.0; network.parameters.len()];
    network.backward(&inputs, &activations, &weights, &mut gradient);
    for index in (0..network.parameters.len()).step_by(97) {
        let moved = |step: f64| {
            let mut other = network.clone();
            other.parameters[index] += step;
            loss(&other)
        };
        let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((gradient[index] - expected).abs() < 1e-6 * (1.0 + expected.abs()), "parameter {index}");
    }
}

/// Two pitches in turn, each with four partials, a note every 0.2 s.
fn tones() -> (AudioClip, Vec<(u8, f64)>) {
    let notes: Vec<(u8, f64)> = (0..40).map(|i| ([60u8, 67][i % 2], 0.1 + 0.2 * i as f64)).collect();
    let rate = f64::from(ANALYSIS_RATE);
    let sample = |n: usize| {
        let sum: f64 = notes
            .iter()
            .map(|&(pitch, onset)| (pitch, n as f64 / rate - onset))
            .filter(|&(_, t)| (0.0..0.3).contains(&t))
            .map(|(pitch, t)| {
                let hz = 440.0 * ((f64::from(pitch) - 69.0) / 12.0).exp2();
                let partials: f64 =
                    (1..=4).map(|h| 0.6f64.powi(h) * (std::f64::consts::TAU * f64::from(h) * hz * t).sin()).sum();
                (t / 0.003).min(1.0) * (-8.0 * t).exp() * partials
            })
            .sum();
        (0.2 * sum) as f32
    };
    let samples = (0..(8.3 * rate) as usize).map(sample).collect();
    (AudioClip { samples, sample_rate: ANALYSIS_RATE }, notes)
}

fn labelled() -> LabelledSound {
    let (clip, notes) = tones();
    let levels = levels_of(&JobContext::new(), &clip, 0.0).unwrap();
    let mut onsets = vec![Vec::new(); crate::features::SEMITONE_BANDS];
    for (pitch, second) in notes {
        onsets[usize::from(pitch) - 21].push(second * f64::from(ANALYSIS_RATE) / NETWORK_HOP as f64);
    }
    LabelledSound { levels, onsets }
}

#[test]
fn a_short_training_hears_the_right_pitch_at_the_right_time() {
    let sound = labelled();
    let ctx = JobContext::new();
    let params = OnsetTraining { epochs: 40, learning_rate: 5e-3, disguised: false, ..OnsetTraining::default() };
    let train = || train_onsets(&ctx, std::slice::from_ref(&sound), &[], &params, &|_, _, _| ()).unwrap();
    let network = train();
    assert_eq!(network, train(), "the same seed gives the same network");
    let mut inputs = vec![0.0; sound.levels.frames() * CHANNELS];
    let mut right = 0;
    for (band, onsets) in [(39, &sound.onsets[39]), (46, &sound.onsets[46])] {
        sound.levels.inputs(band, 0, &mut inputs);
        let mut activations = Activations::default();
        let logits = network.logits(&inputs, &mut activations);
        for onset in onsets {
            let frame = onset.round() as usize - CONTEXT.min(onset.round() as usize);
            let near = logits[frame.saturating_sub(8)..(frame + 9).min(logits.len())].iter().copied();
            let best = near.clone().fold(f32::MIN, f32::max);
            right += usize::from(logits[frame.saturating_sub(1)..frame + 2].contains(&best) && best > 0.0);
        }
    }
    assert!(right >= 36, "{right} of 40 onsets");
}

#[test]
fn inputs_are_the_levels_of_partials_and_neighbours() {
    let sound = labelled();
    let mut inputs = vec![0.0; 3 * CHANNELS];
    sound.levels.inputs(39, -1, &mut inputs);
    assert!(inputs[..18].iter().all(|&value| value == 0.0), "before the recording there is silence");
    let row = &inputs[2 * CHANNELS..];
    for (channel, band) in [(0, 39), (1, 51), (2, 58), (6, 27), (7, 38), (8, 40)] {
        assert_eq!(row[channel], 0.3 * sound.levels.level(1, 0, band));
        assert_eq!(row[9 + channel], 0.3 * sound.levels.level(1, 1, band));
    }
    assert_eq!(sound.levels.level(1, 0, 96), 0.0);
}

#[test]
fn no_disguise_changes_nothing_and_any_other_keeps_levels_possible() {
    let mut random = Random::at(2, &[]);
    let level = |_: isize| 2.5f32;
    assert!((Disguise::none().level(&level, 40, &mut random) - 2.5).abs() < 1e-5);
    assert_eq!(Disguise::none().attack(0.4, &mut random), 0.4);
    for _ in 0..200 {
        let disguise = Disguise::draw(&mut random);
        for band in -12..110 {
            let value = disguise.level(&level, band, &mut random);
            assert!((0.0..8.0).contains(&value), "{value}");
        }
    }
}

#[test]
fn a_saved_network_loads_the_same_and_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ear.safetensors");
    let network = untrained(5);
    save(&network, &OnsetCard::new("ear", "CC0"), &path).unwrap();
    let (loaded, card) = load(&path).unwrap();
    assert_eq!((loaded, card.name.as_str(), card.sha256.len()), (network, "ear", 64));
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(load(&path).unwrap_err().to_string().contains("damaged"));
    assert!(load(&folder.path().join("none.safetensors")).is_err());
}

#[test]
fn the_shipped_network_is_small_and_tells_its_licence() {
    let (network, card) = shipped().unwrap();
    assert_eq!(network.parameters.len(), card.parameters);
    assert!(4 * card.parameters < 200_000 && card.licence.contains("CC BY-NC-SA"));
}
