//! The inner product at the bottom of the filters.

/// Lanes that are summed apart, so that the compiler may use vector registers.
const LANES: usize = 16;

/// Inner product of two slices of equal length.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len());
    let mut sums = [0.0_f32; LANES];
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_and_remainder_are_both_counted() {
        for len in [0, 1, 15, 16, 17, 50] {
            let a: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let b: Vec<f32> = (0..len).map(|i| 1.0 - i as f32).collect();
            let naive: f32 = (0..len).map(|i| i as f32 * (1.0 - i as f32)).sum();
            assert_eq!(dot(&a, &b), naive, "length {len}");
        }
    }
}
