use super::stretch::{Stretch, stretch_loss};
use super::*;
use crate::audio::AudioClip;
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::evaluation::GroundTruth;
use crate::networks::ear::{OnsetNetwork, shipped};
use crate::score::{Score, SynthParams, plain_score, synthesise_mapped};

/// 70 chords of one or two notes.
fn piece() -> Score {
    let mut notes = Vec::new();
    for step in 0..70 {
        let onset = 0.2 * f64::from(step);
        notes.push((onset, 0.18, [60, 64, 67, 72, 71, 67, 65, 62][(step * 3 % 8) as usize]));
        if step % 5 == 0 {
            notes.push((onset, 0.8, [43, 48, 45, 41][step as usize / 5 % 4]));
        }
    }
    plain_score(&notes)
}

fn performed(score_s: f64) -> f64 {
    0.6 + 1.1 * score_s + 0.2 * (0.9 * score_s).sin()
}

fn play(score: &Score) -> AudioClip {
    synthesise_mapped(&JobContext::new(), score, &SynthParams::default(), &performed).unwrap()
}

/// The piece with a truth that is `late_s` late: what a network that reports late should learn.
fn sound(late_s: f64) -> AlignedSound {
    let score = piece();
    let score_s: Vec<f64> = (0..70).map(|step| 0.2 * f64::from(step)).collect();
    let performance_s = score_s.iter().map(|&s| performed(s) + late_s).collect();
    let truth = GroundTruth { score_s, performance_s };
    AlignedSound::new(&JobContext::new(), &play(&score), &score, truth).unwrap()
}

fn network64() -> OnsetNetwork<f64> {
    let trained = shipped().unwrap().0;
    OnsetNetwork { parameters: trained.parameters.iter().map(|&weight| f64::from(weight)).collect() }
}

#[test]
fn the_gradient_of_the_whole_chain_from_weights_to_time_error_is_that_of_finite_differences() {
    let (ctx, sound, network) = (JobContext::new(), sound(0.004), network64());
    let stretch = Stretch { sound: 0, chords: 3..27, shift_s: 0.02 };
    let mut gradient = vec![0.0; network.parameters.len()];
    let value = stretch_loss(&ctx, &sound, &network, &stretch, Some(&mut gradient)).unwrap().unwrap();
    assert!((1e-4..0.05).contains(&value), "{value}");
    let largest = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
    assert!(largest > 1e-6, "nothing to check");
    let mut random = Random::at(5, &[]);
    for _ in 0..40 {
        let index = random.between(0.0, network.parameters.len() as f64) as usize;
        let at = |change: f64| {
            let mut changed = network.clone();
            changed.parameters[index] += change;
            stretch_loss(&ctx, &sound, &changed, &stretch, None).unwrap().unwrap()
        };
        let h = 1e-5;
        let difference = (at(h) - at(-h)) / (2.0 * h);
        assert!((difference - gradient[index]).abs() < 2e-3 * largest, "{index}: {difference} {}", gradient[index]);
    }
}

#[test]
fn learning_lowers_the_error_and_keeps_the_best() {
    let sounds = [sound(0.008)];
    let start = shipped().unwrap().0;
    let told = std::cell::RefCell::new(Vec::new());
    let params = AlignmentTraining { passes: 25, learning_rate: 3e-3, seed: 1 };
    let tell = |_: usize, _: Option<f64>, error_ms: f64| told.borrow_mut().push(error_ms);
    let ctx = JobContext::new();
    let found = train_through_alignment(&ctx, &start, &sounds, &sounds, &params, &tell).unwrap();
    let told = told.into_inner();
    let best = told.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(told.len() == 26 && best < 0.8 * told[0], "{told:?}");
    assert_ne!(found.parameters, start.parameters);
    // Steps far too long make it worse: then the network stays as it was.
    let wild = AlignmentTraining { passes: 1, learning_rate: 5.0, seed: 1 };
    let kept = train_through_alignment(&ctx, &found, &sounds, &sounds, &wild, &|_, _, _| {}).unwrap();
    assert_eq!(kept.parameters, found.parameters);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (sounds, start) = ([sound(0.004)], shipped().unwrap().0);
    let params = AlignmentTraining { passes: 1, learning_rate: 1e-3, seed: 1 };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let train = || train_through_alignment(&JobContext::new(), &start, &sounds, &sounds, &params, &|_, _, _| {});
        pool.install(train).unwrap()
    };
    assert_eq!(on(1).parameters, on(3).parameters);
}

#[test]
fn pieces_too_short_to_learn_from_are_refused() {
    let mut short = sound(0.0);
    short.chords.truncate(10);
    let params = AlignmentTraining::default();
    let found =
        train_through_alignment(&JobContext::new(), &shipped().unwrap().0, &[short], &[], &params, &|_, _, _| {});
    assert!(found.unwrap_err().to_string().contains("longer pieces"));
}
