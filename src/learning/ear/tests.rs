use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use candle_core::{Device, Tensor, Var};
use sha2::Sha256;

use super::levels::{FRAMES_PER_S, Levels};
use super::note_sounds::{NoteSound, PlayedNote, notes_of_performance, notes_of_score};
use super::sounds::AlignedSound;
use super::stretch::{Stretch, StretchBatch};
use super::*;
use crate::audio::AudioClip;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;
use crate::evaluation::GroundTruth;
use crate::learning::extractor::SliceScores;
use crate::learning::trainer::{CheckpointPlace, Epoch, Lesson, TrainEvent, Trained, train};
use crate::learning::{AdamParams, Control, EarMethod, TrainParams, TrainingMethod};
use crate::networks::ear::Scene;
use crate::networks::{Ear, EarSpec, Model, ModelCard, ProblemWeights};
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

/// The piece with a truth that is `late_s` late: what an ear that reports late should learn.
fn sound(late_s: f64) -> AlignedSound {
    let score = piece();
    let score_s: Vec<f64> = (0..70).map(|step| 0.2 * f64::from(step)).collect();
    let performance_s = score_s.iter().map(|&s| performed(s) + late_s).collect();
    let truth = GroundTruth { score_s, performance_s };
    AlignedSound::new(&JobContext::new(), &play(&score), &score, truth).unwrap()
}

const USUAL: ProblemWeights = ProblemWeights { rises: 1.0, ear: 1.0, tempo: 1.0 };
const SMALL: EarSpec = EarSpec { hop: 256, channels: 8, hidden: 5, summary: 3, head: 6, problem: USUAL };

fn untrained(seed: u64) -> Ear {
    Ear::untrained(ModelCard::new("ear", SMALL), seed, &Device::Cpu).unwrap()
}

fn params(epochs: usize, learning_rate: f64) -> TrainParams {
    let suitable = TrainParams::of(TrainingMethod::Ear(EarMethod::Alignment));
    TrainParams { epochs, patience: epochs, optimiser: AdamParams { learning_rate, ..suitable.optimiser }, ..suitable }
}

fn lesson(start: Ear, late_s: f64, params: TrainParams) -> EarLesson<Vec<AlignedSound>> {
    EarLesson::new(start, vec![sound(late_s)], vec![sound(late_s)], params).unwrap()
}

fn run(lesson: &dyn Lesson, params: &TrainParams) -> Trained {
    train(&JobContext::new(), lesson, params, None, &Control::default(), &|_| {}).unwrap()
}

fn weights(trained: &Trained) -> Vec<f32> {
    trained.model.parameters().unwrap()
}

#[test]
fn the_gradient_of_the_whole_chain_from_weights_to_time_error_is_that_of_finite_differences() {
    let (ctx, sounds) = (JobContext::new(), [sound(0.004)]);
    let stretches = [(3..27, 0.02), (40..64, -0.03)];
    let plan = stretches.map(|(chords, shift_s)| Stretch { sound: 0, chords, shift_s });
    let mut base: Vec<f64> = untrained(1).parameters().unwrap().into_iter().map(f64::from).collect();
    let network = base.len();
    // Behind the weights of the network come the logarithms of those of the problem.
    base.extend([0.1, -0.2, 0.15]);
    let loss = |parameters: &Tensor| {
        let (ear, problem) = (parameters.narrow(0, 0, network).unwrap(), parameters.narrow(0, network, 3).unwrap());
        StretchBatch::new(&sounds, &plan).loss(&ctx, &SMALL, &ear, &problem).unwrap()
    };
    let parameters = Var::from_slice(&base, base.len(), &Device::Cpu).unwrap();
    let value = loss(parameters.as_tensor());
    let gradient: Vec<f64> = value.backward().unwrap().get(&parameters).unwrap().to_vec1().unwrap();
    let value: f64 = value.to_scalar().unwrap();
    assert!((1e-4..0.05).contains(&value), "{value}");
    let largest = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
    assert!(largest > 1e-6, "nothing to check");
    let mut random = Random::at(5, &[]);
    let drawn: Vec<usize> = (0..40).map(|_| random.between(0.0, network as f64) as usize).collect();
    for index in drawn.into_iter().chain(network..network + 3) {
        let at = |change: f64| {
            let mut changed = base.clone();
            changed[index] += change;
            let value = loss(&Tensor::from_slice(&changed, changed.len(), &Device::Cpu).unwrap());
            value.to_scalar::<f64>().unwrap()
        };
        let h = 1e-5;
        let difference = (at(h) - at(-h)) / (2.0 * h);
        assert!((difference - gradient[index]).abs() < 2e-3 * largest, "{index}: {difference} {}", gradient[index]);
    }
}

#[test]
fn learning_through_the_alignment_never_ends_worse_than_it_began() {
    let gentle = params(4, 3e-3);
    let trained = run(&lesson(untrained(1), 0.008, gentle), &gentle);
    let errors: Vec<f64> = trained.history.iter().map(|record| record.time_err_ms).collect();
    assert!(errors.len() == 5 && errors[trained.best_epoch] < errors[0], "{errors:?}");
    // Where what was learned is judged worse, the ear stays as it was.
    let short = params(1, 3e-3);
    let learned = Ear::new(untrained(1).card, weights(&trained), &Device::Cpu).unwrap();
    let worse =
        Judged { lesson: lesson(learned, 0.008, short), judged: AtomicU32::new(0), error_ms: |epoch| 5.0 + epoch };
    let kept = run(&worse, &short);
    assert!(kept.best_epoch == 0 && weights(&kept) == weights(&trained), "{:?}", kept.history);
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_so_does_a_resumed_training() {
    let params = params(2, 1e-3);
    let lesson = lesson(untrained(1), 0.004, params);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| weights(&run(&lesson, &params)))
    };
    let expected = on(1);
    assert_eq!(expected, on(3));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ear.checkpoint");
    let place = CheckpointPlace { path: &path, every: std::time::Duration::ZERO };
    let mut kills = 0;
    let resumed = loop {
        let (ctx, events) = (JobContext::new(), Cell::new(0));
        let observe = |_: TrainEvent| {
            events.set(events.get() + 1);
            if events.get() == 2 {
                ctx.cancel();
            }
        };
        match train(&ctx, &lesson, &params, Some(place), &Control::default(), &observe) {
            Ok(trained) => break weights(&trained),
            Err(Error::Cancelled) => kills += 1,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(kills > 0);
    assert_eq!(resumed, expected);
}

#[test]
fn pieces_too_short_to_learn_from_are_refused() {
    let mut short = sound(0.0);
    short.chords.truncate(10);
    let found = EarLesson::new(untrained(1), vec![short], vec![sound(0.0)], params(1, 1e-3));
    assert!(found.map(drop).unwrap_err().to_string().contains("longer pieces"));
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

fn note_sound() -> NoteSound {
    let (clip, notes) = tones();
    let levels = Levels::of(&JobContext::new(), &clip, 0.0).unwrap();
    let played = |&(pitch, onset_s): &(u8, f64)| {
        let (onset, end) = (onset_s * FRAMES_PER_S, Some((onset_s + 0.3) * FRAMES_PER_S));
        (pitch, PlayedNote { onset, end, is_exact: true })
    };
    let notes: Vec<_> = notes.iter().map(played).collect();
    let everything = 0.0..levels.frames() as f64;
    NoteSound::new(levels, &notes, everything)
}

/// A lesson with a verdict on each epoch that does not depend on what was learned.
struct Judged<L> {
    lesson: L,
    judged: AtomicU32,
    error_ms: fn(f64) -> f64,
}

impl<L: Lesson> Lesson for Judged<L> {
    fn parameters(&self) -> Result<Vec<f32>> {
        self.lesson.parameters()
    }

    fn parts(&self) -> Vec<usize> {
        self.lesson.parts()
    }

    fn device(&self) -> &Device {
        self.lesson.device()
    }

    fn identify(&self, hasher: &mut Sha256) {
        self.lesson.identify(hasher);
    }

    fn epoch(&self, number: usize) -> Result<Box<dyn Epoch + '_>> {
        self.lesson.epoch(number)
    }

    fn validate(&self, _: &JobContext, _: &[f32]) -> Result<SliceScores> {
        let time_err_ms = (self.error_ms)(f64::from(self.judged.fetch_add(1, Ordering::Relaxed)));
        Ok(SliceScores { time_err_ms, time_dev_ms: time_err_ms, slices: 1 })
    }

    fn model(&self, parameters: Vec<f32>) -> Result<Model> {
        self.lesson.model(parameters)
    }
}

#[test]
fn a_short_training_from_notes_hears_the_right_pitch_at_the_right_time() -> Result<()> {
    let sound = note_sound();
    let suitable = TrainParams::of(TrainingMethod::Ear(EarMethod::Notes));
    let optimiser = AdamParams { learning_rate: 1e-2, ..suitable.optimiser };
    let start = untrained(1);
    // The sound has four or five chunks: a step for each.
    let train = |epochs: usize| {
        let params = TrainParams { batch_size: 1, epochs, patience: epochs, augmented: false, optimiser, ..suitable };
        let lesson = EarLesson::new(start.clone(), vec![sound.clone()], vec![self::sound(0.0)], params)?;
        // The last one is kept.
        let judged = Judged { lesson, judged: AtomicU32::new(0), error_ms: |epoch| 1.0 / (1.0 + epoch) };
        Ok::<_, Error>(weights(&run(&judged, &params)))
    };
    assert!(train(2)? == train(2)?, "the same seed gives the same ear");
    let trained = train(100)?;
    let ear = Ear::new(start.card.clone(), trained, &Device::Cpu)?;
    let frames = sound.levels.frames();
    let scene = Scene { rows: sound.levels.rows(0..frames as isize), asked: vec![39, 46] };
    let answers = ear.answers(&JobContext::new(), &[scene])?;
    let (mut right, mut sounding, mut away) = (0, 0, Vec::new());
    for (key, answers) in [39, 46].into_iter().zip(answers.chunks_exact(frames * 5)) {
        let answers: &[[f32; 5]] = answers.as_chunks().0;
        for note in &sound.keys[key] {
            let frame = note.onset.round() as usize;
            let near = frame.saturating_sub(8)..(frame + 9).min(frames);
            let best = near.max_by(|&a, &b| answers[a][0].total_cmp(&answers[b][0])).unwrap();
            if best.abs_diff(frame) <= 1 && answers[best][0] > -2.0 {
                right += 1;
                away.push((best as f64 + f64::from(answers[best][3]) - note.onset).abs());
            }
            sounding += usize::from(answers[frame + 8][1] > answers[(frame + 30).min(frames - 1)][1] + 0.5);
        }
    }
    // A few hundred steps of learning from one sound are enough for most, not for all; ends are learned last.
    assert!(right >= 20, "{right} of 40 onsets");
    assert!(sounding >= 25, "{sounding} of 40 are heard to sound more than after their end");
    let mean = away.iter().sum::<f64>() / away.len() as f64;
    assert!(mean < 0.25, "onsets are {mean} frames off");
    Ok(())
}

#[test]
fn the_pedal_holds_notes_until_it_is_lifted_or_the_key_is_struck_again() {
    use crate::score::PedalChange;
    let mut performance = plain_score(&[(0.0, 0.5, 60), (1.0, 0.2, 64), (2.0, 0.5, 60), (4.0, 0.5, 67)]);
    let tick = |second: f64| performance.tempo.seconds_to_tick(second).round() as u64;
    let changes = [(0.3, 127), (3.0, 0)];
    let pedal = changes.map(|(second, value)| PedalChange { tick: tick(second), channel: 0, value });
    performance.pedal = pedal.to_vec();
    let ends: Vec<f64> =
        notes_of_performance(&performance).iter().map(|(_, note)| note.end.unwrap() / FRAMES_PER_S).collect();
    for (end, expected) in ends.iter().zip([2.0, 3.0, 3.0, 4.5]) {
        assert!((end - expected).abs() < 5e-3, "{ends:?}");
    }
}

#[test]
fn notes_of_a_score_are_known_as_far_as_its_truth_reaches_and_exact_where_it_has_a_row() {
    let score = plain_score(&[(0.0, 0.5, 60), (1.0, 0.5, 62), (1.5, 0.5, 64), (2.0, 0.5, 65), (3.0, 0.5, 67)]);
    let truth = GroundTruth { score_s: vec![1.0, 2.0], performance_s: vec![3.0, 5.0] };
    let (notes, known) = notes_of_score(&score, &truth).unwrap();
    let found: Vec<(u8, f64, bool)> =
        notes.iter().map(|(pitch, note)| (*pitch, note.onset / FRAMES_PER_S, note.is_exact)).collect();
    assert_eq!(found.iter().map(|note| (note.0, note.2)).collect::<Vec<_>>(), [(62, true), (64, false), (65, true)]);
    assert!((found[1].1 - 4.0).abs() < 1e-9 && notes.iter().all(|(_, note)| note.end.is_none()));
    assert!((known.start / FRAMES_PER_S - 3.0).abs() < 1e-9 && (known.end / FRAMES_PER_S - 5.0).abs() < 1e-9);
}

#[test]
#[cfg(feature = "gpu")]
fn an_ear_learns_the_same_on_the_gpu_from_notes_and_through_the_alignment() {
    let Some(gpu) = crate::devices::devices_for_tests::gpu_context() else { return };
    let through = params(5, 1e-3);
    let notes = TrainParams { epochs: 5, patience: 5, ..TrainParams::of(TrainingMethod::Ear(EarMethod::Notes)) };
    let from_notes = EarLesson::new(untrained(1), vec![note_sound()], vec![sound(0.004)], notes).unwrap();
    let through_alignment = lesson(untrained(1), 0.008, through);
    for (lesson, params) in [(&through_alignment as &dyn Lesson, &through), (&from_notes, &notes)] {
        let curve = |ctx: &JobContext| {
            let trained = train(ctx, lesson, params, None, &Control::default(), &|_| {}).unwrap();
            trained.history.iter().map(|record| record.time_err_ms).collect::<Vec<f64>>()
        };
        let (on_cpu, on_gpu) = (curve(&JobContext::new()), curve(&gpu));
        assert_eq!(on_cpu.len(), on_gpu.len());
        for (a, b) in on_cpu.iter().zip(&on_gpu) {
            assert!((a - b).abs() <= 0.01 * a, "{on_cpu:?} {on_gpu:?}");
        }
    }
}
