//! Distances between feature vectors, and rows of them.

use super::LANES;
use crate::base::matrix::{MatrixRef, multiply};
use crate::base::number::Real;
#[cfg(target_arch = "x86_64")]
use crate::base::simd::has_avx2;
use crate::base::simd::vectorised;

vectorised! {
    /// `(‖x − y0‖², (x − y0)·(y1 − y0), ‖y1 − y0‖²)` in f64.
    pub(in crate::warping::gdtw) fn segment_products<T: Real>(x: &[T], y0: &[T], y1: &[T]) -> (f64, f64, f64) {
        let mut sums = [[0.0_f64; LANES]; 3];
        let mut add = |lane: usize, x: T, y0: T, y1: T| {
            let (r, e) = (x.to_f64() - y0.to_f64(), y1.to_f64() - y0.to_f64());
            sums[0][lane] += r * r;
            sums[1][lane] += r * e;
            sums[2][lane] += e * e;
        };
        let dim = x.len();
        let (y0, y1) = (&y0[..dim], &y1[..dim]);
        let whole = dim - dim % LANES;
        for ((x, y0), y1) in
            x[..whole].chunks_exact(LANES).zip(y0[..whole].chunks_exact(LANES)).zip(y1[..whole].chunks_exact(LANES))
        {
            for lane in 0..LANES {
                add(lane, x[lane], y0[lane], y1[lane]);
            }
        }
        for c in whole..dim {
            add(c - whole, x[c], y0[c], y1[c]);
        }
        let total = |s: [f64; LANES]| s.iter().sum();
        (total(sums[0]), total(sums[1]), total(sums[2]))
    }
}

vectorised! {
    /// `out[k] = max(0, x_norm + y_norms[k] − 2·out[k])`: dot products to squared distances.
    pub(in crate::warping::gdtw) fn dots_to_distances(x_norm: f32, y_norms: &[f32], out: &mut [f32]) {
        for (value, norm) in out.iter_mut().zip(y_norms) {
            let d = x_norm + norm - 2.0 * *value;
            *value = if d > 0.0 { d } else { 0.0 };
        }
    }
}

vectorised! {
    /// Subtracts the smallest value of a row, if finite, from all of them.
    pub(in crate::warping::gdtw) fn subtract_minimum(row: &mut [f32]) {
        let mut lanes = [f32::INFINITY; LANES];
        let chunks = row.chunks_exact(LANES);
        let rest = chunks.remainder().iter().copied().fold(f32::INFINITY, f32::min);
        for chunk in chunks {
            for lane in 0..LANES {
                lanes[lane] = if chunk[lane] < lanes[lane] { chunk[lane] } else { lanes[lane] };
            }
        }
        let least = lanes.iter().copied().fold(rest, f32::min);
        if least.is_finite() {
            row.iter_mut().for_each(|v| *v -= least);
        }
    }
}

vectorised! {
    /// `out[k] = shift + k·scale`.
    pub(in crate::warping::gdtw) fn ramp(shift: f32, scale: f32, out: &mut [f32]) {
        for (k, value) in out.iter_mut().enumerate() {
            *value = shift + k as i32 as f32 * scale;
        }
    }
}

vectorised! {
    /// `‖x‖²`.
    pub(in crate::warping::gdtw) fn squared_norm(x: &[f32]) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let chunks = x.chunks_exact(LANES);
        let rest: f32 = chunks.remainder().iter().map(|v| v * v).sum();
        for chunk in chunks {
            for lane in 0..LANES {
                sums[lane] += chunk[lane] * chunk[lane];
            }
        }
        sums.iter().sum::<f32>() + rest
    }
}

/// Squared distances between `x_i` and `y` along one knot's row of grid points.
#[derive(Debug, Clone, Copy)]
pub(in crate::warping::gdtw) struct RowSource<'a> {
    /// Squared distances at the frames.
    pub distance: &'a [f32],
    /// `‖Y_{k+1} − Y_k‖²` from each of the same frames.
    pub energy: &'a [f32],
    /// Position of the first grid point, in frames.
    pub start: f32,
    /// Distance of grid points, in frames.
    pub step: f32,
}

/// `out[j] = weight · ‖x_i − y‖²` at positions `start + j·step`: between frames, the line minus `a(1 − a)·energy`.
pub(in crate::warping::gdtw) fn interpolate_row(source: RowSource<'_>, weight: f32, out: &mut [f32]) {
    if source.distance.len() < 2 {
        let only = source.distance.first().copied().unwrap_or(0.0);
        out.fill(weight * only);
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        unsafe { interpolate_row_avx2(source, weight, out) };
        return;
    }
    interpolate_row_portable(source, weight, out, 0);
}

fn interpolate_row_portable(source: RowSource<'_>, weight: f32, out: &mut [f32], from: usize) {
    let top = source.distance.len() - 2;
    for (j, value) in out.iter_mut().enumerate().skip(from) {
        let position = (source.start + j as f32 * source.step).max(0.0);
        let k = (position as usize).min(top);
        let a = position - k as f32;
        let (d0, d1) = (source.distance[k], source.distance[k + 1]);
        *value = weight * (d0 + a * (d1 - d0) - a * (1.0 - a) * source.energy[k]);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn interpolate_row_avx2(source: RowSource<'_>, weight: f32, out: &mut [f32]) {
    use std::arch::x86_64::*;
    let top = source.distance.len() - 2;
    assert!(source.energy.len() > top && top < i32::MAX as usize);
    let whole = out.len() - out.len() % LANES;
    let (start, step) = (_mm256_set1_ps(source.start), _mm256_set1_ps(source.step));
    let (weight_v, one, zero) = (_mm256_set1_ps(weight), _mm256_set1_ps(1.0), _mm256_setzero_ps());
    let top_v = _mm256_set1_epi32(top as i32);
    let mut index = _mm256_setr_ps(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
    let next = _mm256_set1_epi32(1);
    for chunk in out[..whole].chunks_exact_mut(LANES) {
        let position = _mm256_max_ps(_mm256_add_ps(start, _mm256_mul_ps(index, step)), zero);
        let k = _mm256_min_epi32(_mm256_cvttps_epi32(position), top_v);
        let a = _mm256_sub_ps(position, _mm256_cvtepi32_ps(k));
        let base = _mm256_extract_epi32::<0>(k) as usize;
        let span = _mm256_extract_epi32::<7>(k) as usize - base;
        let (d0, d1, energy) = if span + 1 < LANES && base + LANES <= source.distance.len().min(source.energy.len()) {
            // The eight points lie on eight neighbouring frames: three shuffles instead of three slow gathers.
            let relative = _mm256_sub_epi32(k, _mm256_set1_epi32(base as i32));
            // SAFETY: base + 8 values exist in both arrays.
            let (d, e) = unsafe {
                (_mm256_loadu_ps(source.distance.as_ptr().add(base)), _mm256_loadu_ps(source.energy.as_ptr().add(base)))
            };
            (
                _mm256_permutevar8x32_ps(d, relative),
                _mm256_permutevar8x32_ps(d, _mm256_add_epi32(relative, next)),
                _mm256_permutevar8x32_ps(e, relative),
            )
        } else {
            // SAFETY: 0 <= k <= top, and both arrays hold more than `top` values, `distance` one more.
            unsafe {
                (
                    _mm256_i32gather_ps::<4>(source.distance.as_ptr(), k),
                    _mm256_i32gather_ps::<4>(source.distance.as_ptr().add(1), k),
                    _mm256_i32gather_ps::<4>(source.energy.as_ptr(), k),
                )
            }
        };
        let line = _mm256_add_ps(d0, _mm256_mul_ps(a, _mm256_sub_ps(d1, d0)));
        let sag = _mm256_mul_ps(_mm256_mul_ps(a, _mm256_sub_ps(one, a)), energy);
        let value = _mm256_mul_ps(weight_v, _mm256_sub_ps(line, sag));
        // SAFETY: the chunk holds eight values.
        unsafe { _mm256_storeu_ps(chunk.as_mut_ptr(), value) };
        index = _mm256_add_ps(index, _mm256_set1_ps(LANES as f32));
    }
    interpolate_row_portable(source, weight, out, whole);
}

/// `out[i·stride + k] = x_i · y_k` for rows of `dim` values.
pub(in crate::warping::gdtw) fn dot_products(x: &[f32], y: &[f32], dim: usize, out: &mut [f32], stride: usize) {
    let rows = |values| MatrixRef::new(values, values.len() / dim, dim, dim);
    multiply(1.0, rows(x), rows(y).transposed(), 0.0, out, stride);
}

#[cfg(test)]
#[path = "features_tests.rs"]
mod tests;
