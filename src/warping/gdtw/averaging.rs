//! Features at fewer times.

use crate::base::number::Real;
use crate::warping::Signal;

/// Means over triangles that peak at the equidistant times `at` and end at their neighbours, which keeps events where they are.
pub(super) fn averaged<T: Real>(signal: &Signal<'_, T>, at: &[f64]) -> Vec<f32> {
    let (times, dim) = (signal.times(), signal.dim());
    let mut sums = vec![0.0_f32; at.len() * dim];
    let mut shares = vec![0.0_f64; at.len()];
    let mut k = 0;
    for (i, &time) in times.iter().enumerate() {
        while k + 2 < at.len() && at[k + 1] <= time {
            k += 1;
        }
        let later = ((time - at[k]) / (at[k + 1] - at[k])).clamp(0.0, 1.0);
        for (to, share) in [(k, 1.0 - later), (k + 1, later)] {
            if share > 0.0 {
                shares[to] += share;
                let sum = &mut sums[to * dim..(to + 1) * dim];
                sum.iter_mut().zip(signal.frame(i)).for_each(|(s, &v)| *s += (share * v.to_f64()) as f32);
            }
        }
    }
    for (k, sum) in sums.chunks_exact_mut(dim).enumerate() {
        if shares[k] > 1e-6 {
            sum.iter_mut().for_each(|s| *s /= shares[k] as f32);
        } else {
            // Frames far apart may leave a triangle empty: the nearest frame stands for it.
            let nearest = times.partition_point(|&t| t < at[k]).min(times.len() - 1);
            let frame = signal.frame(nearest);
            sum.iter_mut().zip(frame).for_each(|(s, &v)| *s = v.to_f64() as f32);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_stay_and_empty_triangles_take_the_nearest_frame() {
        let times: Vec<f64> = (0..23).map(|i| f64::from(i) * 0.1).collect();
        let values: Vec<f32> = times.iter().flat_map(|&t| [t as f32, 1.0]).collect();
        let signal = Signal::new(&times, &values, 2).unwrap();
        let coarse = averaged(&signal, &[0.0, 0.4, 0.8, 1.2, 1.6, 2.0]);
        assert!((coarse[2] - 0.4).abs() < 1e-6 && (coarse[8] - 1.6).abs() < 1e-6, "{coarse:?}");
        assert!(coarse.iter().skip(1).step_by(2).all(|v| (v - 1.0).abs() < 1e-6));
        let sparse = Signal::new(&[0.0, 3.0], &[1.0_f32, 5.0], 1).unwrap();
        assert_eq!(averaged(&sparse, &[0.0, 1.0, 2.0, 3.0])[1], 5.0);
    }
}
