use super::devices_for_tests::{failing_context, gpu_context};
use super::measurement::measure_apart;
use crate::align::settings::Settings;
use crate::align::{Named, Stopwatch};
use crate::base::accelerator::{Accelerated, Opened, Work, WorkKind};
use crate::base::job::JobContext;
use crate::networks::Device;
use crate::warping::Signal;
use crate::warping::gdtw::{Problem, SolveOptions, solve_many};

fn wave(frames: usize, pace: f64) -> (Vec<f64>, Vec<f32>) {
    let times: Vec<f64> = (0..frames).map(|i| 0.05 * i as f64).collect();
    let values = times.iter().flat_map(|t| [(pace * t).sin() as f32, (1.7 * pace * t).cos() as f32]).collect();
    (times, values)
}

#[test]
fn a_device_that_is_lost_at_any_moment_changes_no_result_and_is_told_once() {
    let ((score_s, score), (performance_s, performance)) = (wave(40, 2.0), wave(50, 1.7));
    let signal = |times, values| Signal::new(times, values, 2).unwrap();
    let problem = Problem::from_signals(signal(&score_s, &score), signal(&performance_s, &performance), 0.1);
    let (problems, options) = (vec![problem; 3], SolveOptions::default());
    let expected = solve_many(&JobContext::new(), &problems, &options).unwrap();
    for operations in 0..=6 {
        let Some((ctx, notices)) = failing_context(operations) else { return };
        for _ in 0..2 {
            let found = solve_many(&ctx, &problems, &options).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found.objective - expected.objective).abs() <= 1e-5 * expected.objective, "{operations}");
                assert_eq!(found.passes.len(), expected.passes.len(), "what the device had begun is forgotten");
            }
        }
        let notices = notices.lock().unwrap();
        assert_eq!(notices.len(), 1, "{operations}: {notices:?}");
        assert!(notices[0].contains("the device was lost") && notices[0].contains("CPU"), "{notices:?}");
    }
}

#[test]
fn a_device_is_opened_when_enough_work_comes_and_used_where_it_pays() {
    let opened = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&opened);
    let open = move || {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        None::<Opened>
    };
    let device = Accelerated::new(open, 100.0, |_| {});
    let times = || opened.load(std::sync::atomic::Ordering::Relaxed);
    assert!(!device.takes(Work { kind: WorkKind::Search, amount: 99.0 }) && times() == 0, "too little to open it");
    assert!(!device.takes(Work { kind: WorkKind::Search, amount: 101.0 }) && times() == 1, "there is none");
    assert!(!device.takes(Work { kind: WorkKind::Search, amount: 1e9 }) && times() == 1, "not asked for twice");
}

#[test]
fn a_measurement_says_for_every_kind_of_work_when_the_card_pays() {
    let Some(adapter) = crate::gpu::Adapter::all().into_iter().next() else { return };
    let device = crate::gpu::GpuDevice::open(&adapter).unwrap();
    let thresholds = measure_apart(Box::new(device)).unwrap();
    assert!(thresholds.iter().all(|least| *least >= 0.0), "{thresholds:?}");
    if adapter.is_software() {
        assert!(thresholds.iter().all(|least| *least > 1e6), "a software card pays nowhere: {thresholds:?}");
    }
    assert!(gpu_context().is_some());
}

#[test]
fn an_alignment_whose_device_is_lost_is_that_of_the_cpu() {
    let recording =
        crate::audio::decode_bytes(&JobContext::new(), "demo.ogg", crate::demo::performance_bytes()).unwrap();
    let recording = recording.clip.into();
    let score = crate::score::Score::from_bytes("demo.mid".as_ref(), crate::demo::score_bytes()).unwrap();
    let align = |ctx: &JobContext| {
        let recording = Named { name: "demo.ogg", content: &recording };
        let score = Named { name: "demo.mid", content: &score };
        let (settings, watch) = (Settings::default(), &mut Stopwatch::default());
        crate::align::align(ctx, recording, score, &settings, &Device::Cpu, watch).unwrap().0
    };
    let expected = align(&JobContext::new());
    // While the ear listens on many threads at once.
    for operations in [0, 2] {
        let Some((ctx, notices)) = failing_context(operations) else { return };
        let found = align(&ctx);
        assert_eq!(found.notes.len(), expected.notes.len());
        for (found, expected) in found.notes.iter().zip(&expected.notes) {
            assert!((found.onset_s - expected.onset_s).abs() < 1e-4);
        }
        assert_eq!(notices.lock().unwrap().len(), 1);
    }
}
