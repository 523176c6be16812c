//! Devices for tests: a real card or a software one, and one that is lost after some operations.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use crate::base::accelerator::{
    Accelerated, Accelerator, ConvolutionPass, DevicePassed, DeviceTrace, DtwPair, Failure, GridPass, GridSearch,
    GruPass, NodeCosts, Opened, Outcome, PairGradient, SignalPair, TruePair, WorkKind,
};
use crate::base::job::JobContext;
use crate::gpu::{Adapter, GpuDevice};

/// A context on the first card; `None`, said aloud, where there is none. A failure of the card is one of the test.
pub(crate) fn gpu_context() -> Option<JobContext> {
    // One for all tests: opening a card takes longer than most of them.
    static GPU: LazyLock<Option<JobContext>> = LazyLock::new(|| Some(on(gpu_device()?, |notice| panic!("{notice}"))));
    GPU.clone()
}

/// A context on a card that is lost at the operation of this number, and what the user is told.
pub(crate) fn failing_context(operations: usize) -> Option<(JobContext, Arc<Mutex<Vec<String>>>)> {
    let device = Failing { inner: gpu_device()?, left: AtomicUsize::new(operations) };
    let notices = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&notices);
    Some((on(Box::new(device), move |notice| told.lock().unwrap().push(notice.to_owned())), notices))
}

fn gpu_device() -> Option<Box<dyn Accelerator>> {
    let adapter = Adapter::all().into_iter().next();
    if adapter.is_none() {
        eprintln!("no graphics card and no software one: install mesa-vulkan-drivers to run this test");
    }
    adapter.map(|adapter| Box::new(GpuDevice::open(&adapter).unwrap()) as _)
}

fn on(device: Box<dyn Accelerator>, notify: impl Fn(&str) + Send + Sync + 'static) -> JobContext {
    let device = Mutex::new(Some(device));
    let open =
        move || Some(Opened { device: device.lock().unwrap().take().unwrap(), thresholds: [0.0; WorkKind::COUNT] });
    JobContext::new().on(Some(Accelerated::new(open, 0.0, notify)))
}

/// A device that is lost.
struct Failing {
    inner: Box<dyn Accelerator>,
    left: AtomicUsize,
}

impl Failing {
    fn pass(&self) -> Outcome<&dyn Accelerator> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(|_| &*self.inner).map_err(|_| Failure::new("the device was lost"))
    }
}

struct FailingSearch<'a> {
    device: &'a Failing,
    inner: Box<dyn GridSearch + 'a>,
}

impl GridSearch for FailingSearch<'_> {
    fn cheapest_paths(&mut self, passes: &[GridPass]) -> Outcome<Vec<Option<Vec<u32>>>> {
        self.device.pass()?;
        self.inner.cheapest_paths(passes)
    }
}

impl Accelerator for Failing {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn grid_search<'a>(&'a self, problems: &[NodeCosts<'_>]) -> Outcome<Box<dyn GridSearch + 'a>> {
        Ok(Box::new(FailingSearch { device: self, inner: self.pass()?.grid_search(problems)? }))
    }

    fn dtw(&self, problems: &[DtwPair<'_>]) -> Outcome<Vec<Vec<(u32, u32)>>> {
        self.pass()?.dtw(problems)
    }

    fn soft_dtw(&self, pairs: &[SignalPair<'_>], gamma: f64) -> Outcome<Vec<PairGradient>> {
        self.pass()?.soft_dtw(pairs, gamma)
    }

    fn dilate(&self, pairs: &[TruePair<'_>], alpha: f64, gamma: f64) -> Outcome<Vec<PairGradient>> {
        self.pass()?.dilate(pairs, alpha, gamma)
    }

    fn gru(&self, pass: &GruPass<'_>, learns: bool) -> Outcome<DevicePassed> {
        self.pass()?.gru(pass, learns)
    }

    fn gru_backward(
        &self,
        pass: &GruPass<'_>,
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
        self.pass()?.gru_backward(pass, trace, gradient, for_input)
    }

    fn convolution(&self, pass: &ConvolutionPass<'_>, learns: bool) -> Outcome<DevicePassed> {
        self.pass()?.convolution(pass, learns)
    }

    fn convolution_backward(
        &self,
        pass: &ConvolutionPass<'_>,
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
        self.pass()?.convolution_backward(pass, trace, gradient, for_input)
    }
}
