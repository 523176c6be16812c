//! Squared distances of the frames of two signals, and the gradient that goes back from them to the frames.

use super::card::{Array, Card, Commands, Kernel};
use super::pairs::{Plan, Settings, Uploaded, groups};

const DISTANCES: Kernel =
    Kernel { source: concat!(include_str!("pairs.wgsl"), include_str!("pair_costs.wgsl")), entry: "distances" };
const FEATURES: Kernel =
    Kernel { source: concat!(include_str!("pairs.wgsl"), include_str!("feature_gradient.wgsl")), entry: "features" };
/// Rows and columns that a workgroup computes.
const TILE: usize = 64;

/// The parts of the cost matrices that are computed, each by a workgroup.
#[derive(Debug, Default)]
pub(super) struct CostTiles(Vec<[u32; 4]>);

impl CostTiles {
    /// Adds all tiles of a pair in which its band has a cell.
    pub fn add(&mut self, pair: usize, starts: &[usize], ends: &[usize]) {
        for first_row in (0..starts.len()).step_by(TILE) {
            let rows = first_row..(first_row + TILE).min(starts.len());
            let columns = starts[rows.start]..ends[rows.end - 1];
            for first_column in columns.step_by(TILE) {
                let inside = |row: usize| starts[row] < first_column + TILE && ends[row] > first_column;
                if rows.clone().any(inside) {
                    self.0.push([pair as u32, first_row as u32, first_column as u32, 0]);
                }
            }
        }
    }

    /// Adds the kernel that fills the cells with squared distances.
    pub fn run(&self, card: &Card, commands: &mut Commands<'_>, arrays: &Uploaded) {
        let tiles = card.upload(&self.0);
        let settings = Settings::of(self.0.len());
        let bound = [&arrays.pairs, &arrays.diagonals, &tiles, &arrays.values, &arrays.cells];
        commands.run(DISTANCES, groups(self.0.len()), &settings, &bound);
    }
}

/// Adds the kernel that turns the gradient on the costs, which the cells hold, into one on the values. The pairs have
/// no bands.
pub(super) fn feature_gradient(card: &Card, commands: &mut Commands<'_>, plan: &Plan, arrays: &Uploaded) -> Array {
    let gradient = card.array(plan.values.len());
    let mut tiles = Vec::new();
    for (i, pair) in plan.pairs.iter().enumerate() {
        for (side, frames) in [pair.rows, pair.columns].into_iter().enumerate() {
            for frame in (0..frames).step_by(TILE) {
                let values = (0..pair.dim).step_by(TILE);
                tiles.extend(values.map(|value| [i as u32, side as u32, frame, value]));
            }
        }
    }
    let settings = Settings::of(tiles.len());
    let uploaded = card.upload(&tiles);
    let bound = [&arrays.pairs, &arrays.diagonals, &uploaded, &arrays.values, &arrays.cells, &gradient];
    commands.run(FEATURES, groups(tiles.len()), &settings, &bound);
    gradient
}
