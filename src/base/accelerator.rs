//! A device beside the CPU, as the engine and the networks see it: a few operations on flat arrays, all of which may fail.
//!
//! Every operation has code for the CPU that gives the same result to single precision. Whoever has work for a device asks
//! [`Accelerated::run`]; where that returns `None` (no device, too little work to pay, a failure) the CPU does it.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Why a device did not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    cause: String,
    is_lost: bool,
}

impl Failure {
    /// The device cannot go on, for a cause in plain words.
    pub fn new(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_lost: true }
    }

    /// This work is not for it, because it is too large or not sound; other work may be.
    pub fn unsuited(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_lost: false }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

/// What an operation of a device returns.
pub type Outcome<T> = std::result::Result<T, Failure>;

/// What a forward pass leaves on a device for the backward pass.
pub type DeviceTrace = Box<dyn Any + Send>;

/// Output of a forward pass, and what it leaves if there will be a backward pass.
pub type DevicePassed = (Vec<f32>, Option<DeviceTrace>);

/// The operations of a device. The same input gives the same bits every time.
pub trait Accelerator: Send + Sync {
    /// The name of the device, as its driver tells it.
    fn name(&self) -> &str;

    /// Prepares grid searches: the node costs of all problems go to the device and stay there.
    fn grid_search<'a>(&'a self, problems: &[NodeCosts<'_>]) -> Outcome<Box<dyn GridSearch + 'a>>;

    /// The cheapest paths of classic DTW.
    fn dtw(&self, problems: &[DtwPair<'_>]) -> Outcome<Vec<Vec<(u32, u32)>>>;

    /// Soft-DTW of every pair of signals with pinned ends, and its gradient.
    fn soft_dtw(&self, pairs: &[SignalPair<'_>], gamma: f64) -> Outcome<Vec<PairGradient>>;

    /// DILATE of every pair: the blend of soft-DTW and of how far its expected path strays from the truth, and its gradient.
    fn dilate(&self, pairs: &[TruePair<'_>], alpha: f64, gamma: f64) -> Outcome<Vec<PairGradient>>;

    /// A bidirectional GRU.
    fn gru(&self, pass: &GruPass<'_>, learns: bool) -> Outcome<DevicePassed>;

    /// Gradients of [`gru`](Self::gru) with respect to its input, if that is wanted, and its parameters.
    fn gru_backward(
        &self,
        pass: &GruPass<'_>,
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<(Option<Vec<f32>>, Vec<f32>)>;

    /// A convolution over time.
    fn convolution(&self, pass: &ConvolutionPass<'_>, learns: bool) -> Outcome<DevicePassed>;

    /// Gradients of [`convolution`](Self::convolution) with respect to its input, if that is wanted, and its parameters.
    fn convolution_backward(
        &self,
        pass: &ConvolutionPass<'_>,
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<(Option<Vec<f32>>, Vec<f32>)>;
}

/// Where the node costs of a GDTW problem come from.
#[derive(Debug, Clone, Copy)]
pub enum NodeCosts<'a> {
    /// Squared distances of feature vectors: knot `i` has those to the frames from `first[i]` on, as many as
    /// `offsets[i + 1] − offsets[i]`.
    Distances {
        /// A vector per knot.
        x: &'a [f32],
        /// A vector per frame.
        y: &'a [f32],
        /// Values per vector.
        dim: usize,
        /// First frame of each knot.
        first: &'a [usize],
        /// Where the distances of each knot begin, and their total.
        offsets: &'a [usize],
    },
    /// Costs that are known, in rows.
    Table {
        /// All rows.
        costs: &'a [f32],
        /// Where each row begins, and their total.
        offsets: &'a [usize],
    },
}

/// One knot of a grid search, all positions in grid steps or frames so that single precision suffices.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "gpu", derive(bytemuck::Pod, bytemuck::Zeroable))]
pub struct GridKnot {
    /// Times that the knot may take.
    pub count: u32,
    /// First cost that is read, counted from the beginning of the knot's row.
    pub skip: u32,
    /// Position of the first time among the costs from `skip` on.
    pub start: f32,
    /// Costs per grid step.
    pub step: f32,
    /// Weight of the node cost.
    pub weight: f32,
    /// Quadratic edge: `(shift + j·to_scale − k·from_scale)²`. Tempo edge: the advance from the first time of the knot before, `shift`, and a grid step, `to_scale`, in seconds.
    pub shift: f32,
    /// See `shift`. Tempo edge: the weight of the edge.
    pub from_scale: f32,
    /// See `shift`.
    pub to_scale: f32,
    /// The first predecessor of time `j` is `⌈first + first_part + j·ratio⌉`, with the whole part in one number and the rest in the other.
    pub first: i32,
    /// See `first`.
    pub first_part: f32,
    /// The last predecessor is `⌊last + last_part + j·ratio⌋`.
    pub last: i32,
    /// See `last`.
    pub last_part: f32,
    /// Grid step in steps of the knot before.
    pub ratio: f32,
    /// Tempo edge: the logarithm of the reference interval, softened.
    pub reference: f32,
    /// Unused; keeps the size a multiple of 16 bytes.
    pub padding: [u32; 2],
}

/// What all knots of a problem have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GridEdges {
    /// Quadratic in the advance.
    Slope,
    /// Robust penalty on the logarithm of the tempo.
    LogTempo {
        /// Softens short intervals, in seconds.
        epsilon: f32,
        /// Typical size.
        sigma: f32,
        /// Where it turns linear.
        delta: f32,
    },
}

/// The grid of one problem in one pass.
#[derive(Debug, Clone)]
pub struct GridPass {
    /// One per knot; the edge of a knot is that from the knot before.
    pub knots: Vec<GridKnot>,
    /// The kind of edges.
    pub edges: GridEdges,
    /// Whether times without an admissible predecessor are forbidden, or take the nearest.
    pub forbids: bool,
}

/// Problems whose node costs are on the device.
pub trait GridSearch: Send {
    /// For each problem the index of the best time of every knot; `None` if some knot cannot be reached. An empty grid leaves its
    /// problem out.
    fn cheapest_paths(&mut self, passes: &[GridPass]) -> Outcome<Vec<Option<Vec<u32>>>>;
}

/// Two signals.
#[derive(Debug, Clone, Copy)]
pub struct SignalPair<'a> {
    /// Vectors of the score, one per row.
    pub x: &'a [f32],
    /// Vectors of the performance, one per column.
    pub y: &'a [f32],
    /// Values per vector.
    pub dim: usize,
}

/// Two signals between which a path is looked for.
#[derive(Debug, Clone, Copy)]
pub struct DtwPair<'a> {
    /// The signals, with the squared distance as local cost.
    pub signals: SignalPair<'a>,
    /// First column of each row, not decreasing.
    pub starts: &'a [usize],
    /// One past the last column of each row, not decreasing.
    pub ends: &'a [usize],
    /// Whether a path may begin and end at any column.
    pub free_ends: bool,
}

/// Two signals with the true time of some rows.
#[derive(Debug, Clone, Copy)]
pub struct TruePair<'a> {
    /// The signals.
    pub signals: SignalPair<'a>,
    /// True performance time of each row, if it is known.
    pub truth: &'a [Option<f32>],
    /// Time of each column.
    pub times: &'a [f32],
}

/// A loss of two signals and its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct PairGradient {
    /// The loss.
    pub value: f64,
    /// With respect to the vectors of the score.
    pub x: Vec<f32>,
    /// With respect to the vectors of the performance.
    pub y: Vec<f32>,
}

/// Sequences for a bidirectional GRU. Parameters are those of both directions in turn: input weights (3 hidden x input), recurrent
/// weights (3 hidden x hidden), input biases, recurrent biases, gates in the order r, z, n.
#[derive(Debug, Clone, Copy)]
pub struct GruPass<'a> {
    /// Values per input frame.
    pub input: usize,
    /// Units per direction.
    pub hidden: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// Frames of each.
    pub frames: usize,
    /// Whether the states of a frame are divided by their common length.
    pub normalised: bool,
    /// The values of a frame lie together, then the frames of a sequence.
    pub values: &'a [f32],
    /// See above.
    pub parameters: &'a [f32],
}

/// Sequences for a convolution over time: `outputs` values per frame from `taps` frames of `inputs` values, of which as many lie
/// before as after; beyond the ends of a sequence there are zeros. Parameters: weights (outputs x inputs x taps), then biases if there
/// are any.
#[derive(Debug, Clone, Copy)]
pub struct ConvolutionPass<'a> {
    /// Frames that one frame of the result is made of: an odd number.
    pub taps: usize,
    /// Values per frame.
    pub inputs: usize,
    /// Values per frame of the result.
    pub outputs: usize,
    /// Whether there are biases.
    pub has_bias: bool,
    /// Number of sequences.
    pub sequences: usize,
    /// Frames of each.
    pub frames: usize,
    /// Sequences x frames x values.
    pub values: &'a [f32],
    /// See above.
    pub parameters: &'a [f32],
}

/// What kind of work there is, by what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// Grid searches of GDTW.
    Search,
    /// Anti-diagonals: DTW, soft-DTW, DILATE.
    Wavefront,
    /// A recurrence over frames.
    Recurrence,
    /// Convolutions.
    Convolution,
}

impl WorkKind {
    /// How many kinds there are.
    pub const COUNT: usize = 4;
}

/// How much work there is: about as many multiplications.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Of which kind.
    pub kind: WorkKind,
    /// How much.
    pub amount: f64,
}

impl Work {
    /// Together with more of the same kind.
    pub fn plus(self, more: impl Iterator<Item = Self>) -> Self {
        Self { amount: more.fold(self.amount, |sum, work| sum + work.amount), ..self }
    }
}

/// The least amount of each kind of work that is worth sending to a device.
pub type Thresholds = [f64; WorkKind::COUNT];

/// An open device and from which amount of work on it pays.
pub struct Opened {
    /// The device.
    pub device: Box<dyn Accelerator>,
    /// When to use it.
    pub thresholds: Thresholds,
}

type Open = dyn Fn() -> Option<Opened> + Send + Sync;
type Notify = dyn Fn(&str) + Send + Sync;

/// A device that may be there, until it fails.
#[derive(Clone)]
pub struct Accelerated(Arc<State>);

struct State {
    open: Box<Open>,
    opened: OnceLock<Option<Opened>>,
    /// Less work than this does not even open the device.
    least: f64,
    lost: AtomicBool,
    used: AtomicBool,
    notify: Box<Notify>,
}

impl Accelerated {
    /// A device that is opened when the first work of `least` amount comes; `notify` is told, once, if it fails.
    #[cfg(any(feature = "gpu", test))]
    pub fn new(
        open: impl Fn() -> Option<Opened> + Send + Sync + 'static,
        least: f64,
        notify: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let (lost, used) = (AtomicBool::new(false), AtomicBool::new(false));
        let (open, notify) = (Box::new(open), Box::new(notify));
        Self(Arc::new(State { open, opened: OnceLock::new(), least, lost, used, notify }))
    }

    /// The device, if it is there and so much work pays on it.
    fn device_for(&self, work: Work) -> Option<&Opened> {
        let state = &*self.0;
        if state.lost.load(Ordering::Relaxed) || work.amount < state.least {
            return None;
        }
        let opened = state.opened.get_or_init(&state.open).as_ref()?;
        (work.amount >= opened.thresholds[work.kind as usize]).then_some(opened)
    }

    /// The name of the device, if there is one and it has not failed.
    pub fn name(&self) -> Option<&str> {
        let state = &*self.0;
        let opened = state.opened.get_or_init(&state.open).as_ref();
        opened.filter(|_| !state.lost.load(Ordering::Relaxed)).map(|opened| opened.device.name())
    }

    /// Whether the device has done anything.
    pub fn was_used(&self) -> bool {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Whether the device would do so much work.
    pub fn takes(&self, work: Work) -> bool {
        self.device_for(work).is_some()
    }

    /// Lets the device do some work. `None`: the CPU has to.
    pub fn run<R>(&self, work: Work, operation: impl FnOnce(&dyn Accelerator) -> Outcome<R>) -> Option<R> {
        let (state, opened) = (&*self.0, self.device_for(work)?);
        match operation(&*opened.device) {
            Ok(result) => {
                state.used.store(true, Ordering::Relaxed);
                Some(result)
            }
            Err(failure) => {
                if failure.is_lost && !state.lost.swap(true, Ordering::Relaxed) {
                    (state.notify)(&format!(
                        "{} failed ({failure}); the CPU goes on in its place",
                        opened.device.name()
                    ));
                }
                None
            }
        }
    }
}

impl fmt::Debug for Accelerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.opened.get().and_then(|opened| opened.as_ref()).map(|opened| opened.device.name());
        f.debug_struct("Accelerated").field("device", &name).finish_non_exhaustive()
    }
}
