//! Kernels for graphics cards of any vendor, in WGSL through wgpu (Vulkan, Metal, Direct3D 12).
//!
//! Each file has one job: a few kernels, and the host code that lays out their data and queues them. [`GpuDevice`] joins them to the
//! [`Accelerator`] that the engine and the networks know. Everything is single precision, without atomic sums: the same card gives the same
//! bits every time. Docs: `docs/src/gpu.md`.

mod adapters;
mod card;
mod convolution;
mod dilate;
mod dtw;
mod grid_search;
mod gru;
mod matmul;
mod pair_costs;
mod pairs;
mod parts;

mod soft_dtw;

#[cfg(test)]
mod card_tests;
#[cfg(test)]
mod convolution_tests;
#[cfg(test)]
mod dilate_tests;
#[cfg(test)]
mod dtw_tests;
#[cfg(test)]
mod grid_search_tests;
#[cfg(test)]
mod gru_tests;
#[cfg(test)]
mod matmul_tests;
#[cfg(test)]
mod soft_dtw_tests;

#[cfg(test)]
use card_tests::test_card;

pub use adapters::Adapter;

use self::card::Card;
use crate::base::accelerator::{
    Accelerator, ConvolutionPass, DevicePassed, DeviceTrace, DtwPair, GridSearch, GruPass, NodeCosts, Outcome,
    PairGradient, SignalPair, TruePair,
};

/// Values that are on the card at a time, but for single problems that are larger: 256 MB, which every card has.
const MOST_VALUES: usize = 1 << 26;

/// An open graphics card.
pub struct GpuDevice {
    card: Card,
    name: String,
}

impl GpuDevice {
    /// Opens a card.
    pub fn open(adapter: &Adapter) -> Outcome<Self> {
        Ok(Self { card: adapter.open()?, name: adapter.name().to_owned() })
    }
}

impl Accelerator for GpuDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn grid_search<'a>(&'a self, problems: &[NodeCosts<'_>]) -> Outcome<Box<dyn GridSearch + 'a>> {
        Ok(Box::new(grid_search::grid_search(&self.card, problems, MOST_VALUES)?))
    }

    fn dtw(&self, problems: &[DtwPair<'_>]) -> Outcome<Vec<Vec<(u32, u32)>>> {
        dtw::dtw(&self.card, problems)
    }

    fn soft_dtw(&self, pairs: &[SignalPair<'_>], gamma: f64) -> Outcome<Vec<PairGradient>> {
        soft_dtw::soft_dtw(&self.card, pairs, gamma)
    }

    fn dilate(&self, pairs: &[TruePair<'_>], alpha: f64, gamma: f64) -> Outcome<Vec<PairGradient>> {
        dilate::dilate(&self.card, pairs, alpha, gamma)
    }

    fn gru(&self, pass: &GruPass<'_>, learns: bool) -> Outcome<DevicePassed> {
        gru::gru(&self.card, pass, learns)
    }

    fn gru_backward(
        &self,
        pass: &GruPass<'_>,
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
        gru::gru_backward(&self.card, pass, trace, gradient, for_input)
    }

    fn convolution(&self, pass: &ConvolutionPass<'_>, learns: bool) -> Outcome<DevicePassed> {
        convolution::convolution(&self.card, pass, learns)
    }

    fn convolution_backward(
        &self,
        pass: &ConvolutionPass<'_>,
        trace: DeviceTrace,
        gradient: &[f32],
        for_input: bool,
    ) -> Outcome<(Option<Vec<f32>>, Vec<f32>)> {
        convolution::convolution_backward(&self.card, pass, trace, gradient, for_input)
    }
}
