//! The inner loops, each written once and compiled twice: for any processor, and for AVX2 where the processor has it.
//!
//! No loop uses fused multiply-add or reorders sums, so both builds give the same bits.
#![allow(
    unsafe_code,
    reason = "calling functions compiled for AVX2 after checking for it, gathers, and matrix products"
)]

use super::real::Real;

/// Rows of the DP that share one search range for their best predecessors.
const BLOCK: usize = 16;
const LANES: usize = 8;

/// Reused index arrays of [`min_plus`].
#[derive(Debug, Default)]
pub(super) struct MinPlusScratch {
    best: Vec<u32>,
}

/// One DP step with quadratic edges: from cost `from[k]` at scaled position `b[k]` to scaled position `a[j]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub from: &'a [f32],
    pub b: &'a [f32],
    pub a: &'a [f32],
    /// First and last admissible `k` of each `j`, both non-decreasing in `j`, never empty.
    pub first: &'a [i32],
    pub last: &'a [i32],
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// Defines `name` to run `body` compiled for AVX2 where possible, else as compiled for the build target.
macro_rules! dispatch {
    ($(#[$doc:meta])* fn $name:ident $(<$t:ident: $bound:ident>)? ($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $body:ident) => {
        $(#[$doc])*
        pub(super) fn $name $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                if has_avx2() {
                    // SAFETY: the processor has AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

dispatch! {
    /// `out[j] = min_k from[k] + (a[j] − b[k])²` over the admissible `k`, in O(len) since the best `k` never falls as `j` grows.
    fn min_plus(step: Step<'_>, scratch: &mut MinPlusScratch, out: &mut [f32]) = min_plus_body
}

dispatch! {
    /// The best predecessor of `j`: the least `k` of those with the smallest `from[k] + (a[j] − b[k])²`.
    fn best_predecessor(step: Step<'_>, j: usize) -> usize = best_predecessor_body
}

dispatch! {
    /// `(‖x − y0‖², (x − y0)·(y1 − y0), ‖y1 − y0‖²)` in f64.
    fn segment_products<T: Real>(x: &[T], y0: &[T], y1: &[T]) -> (f64, f64, f64) = segment_products_body
}

dispatch! {
    /// `out[k] = max(0, x_norm + y_norms[k] − 2·out[k])`: dot products to squared distances.
    fn dots_to_distances(x_norm: f32, y_norms: &[f32], out: &mut [f32]) = dots_to_distances_body
}

dispatch! {
    /// `out[j] = min_k from[k] + cost[j − k − low]` over `first[j] ..= last[j]`, for costs that fall to one least difference and
    /// rise after it.
    fn min_plus_differences(from: &[f32], first: &[i32], last: &[i32], cost: &[f32], low: i32, out: &mut [f32])
        = min_plus_differences_body
}

dispatch! {
    /// `‖x‖²`.
    fn squared_norm(x: &[f32]) -> f32 = squared_norm_body
}

dispatch! {
    /// `Σ |x − (1 − a)·y0 − a·y1|` over the coordinates.
    fn absolute_distance<T: Real>(x: &[T], y0: &[T], y1: &[T], a: f32) -> f32 = absolute_distance_body
}

#[inline(always)]
fn min_plus_body(step: Step<'_>, scratch: &mut MinPlusScratch, out: &mut [f32]) {
    let rows = step.a.len();
    let Step { from, b, first, last, .. } = step;
    // Best predecessors of the last row of each block, coarse to fine: each search is confined by its neighbours'.
    let blocks = rows.div_ceil(BLOCK);
    let end_row = |p: usize| ((p + 1) * BLOCK).min(rows) - 1;
    scratch.best.clear();
    scratch.best.resize(blocks, 0);
    let best = &mut scratch.best;
    let mut stride = blocks.next_power_of_two();
    while stride > 0 {
        let mut p = stride - 1;
        while p < blocks {
            let j = end_row(p);
            let low = if p >= stride { best[p - stride] as usize } else { 0 };
            let high = if p + stride < blocks { best[p + stride] as usize } else { from.len() - 1 };
            let low = low.max(first[j] as usize);
            let high = high.min(last[j] as usize).max(low);
            best[p] = argmin(&from[low..=high], &b[low..=high], step.a[j]) as u32 + low as u32;
            p += 2 * stride;
        }
        stride /= 2;
    }
    let mut low = 0;
    for (p, &high) in best.iter().enumerate() {
        let start = p * BLOCK;
        let high = high as usize;
        let end = end_row(p);
        let k0 = low.max(first[start] as usize);
        if end + 1 - start == BLOCK {
            block_minima(step, start, k0, high, &mut out[start..start + BLOCK]);
        } else {
            for j in start..=end {
                let (k0, k1) = (k0.max(first[j] as usize), high.min(last[j] as usize));
                out[j] = minimum(&from[k0..=k1], &b[k0..=k1], step.a[j]);
            }
        }
        low = high;
    }
}

/// Minima of a whole block over predecessors `k0..=k1`, each row within its own admissible range.
#[inline(always)]
fn block_minima(step: Step<'_>, start: usize, k0: usize, k1: usize, out: &mut [f32]) {
    let mut a = [0.0_f32; BLOCK];
    let (mut first, mut last) = ([0_i32; BLOCK], [0_i32; BLOCK]);
    a.copy_from_slice(&step.a[start..start + BLOCK]);
    first.copy_from_slice(&step.first[start..start + BLOCK]);
    last.copy_from_slice(&step.last[start..start + BLOCK]);
    let mut best = [f32::INFINITY; BLOCK];
    // Admissible for every row of the block: no need to look at the row's own range.
    let safe_from = (first[BLOCK - 1] as usize).clamp(k0, k1 + 1);
    let safe_to = (last[0] as usize + 1).clamp(safe_from, k1 + 1);
    let mut masked = |from: &[f32], b: &[f32], offset: usize| {
        for (k, (&d, &bk)) in from.iter().zip(b).enumerate() {
            let k = (offset + k) as i32;
            for lane in 0..BLOCK {
                let t = a[lane] - bk;
                let c = d + t * t;
                let c = if (k >= first[lane]) & (k <= last[lane]) { c } else { f32::INFINITY };
                best[lane] = if c < best[lane] { c } else { best[lane] };
            }
        }
    };
    masked(&step.from[k0..safe_from], &step.b[k0..safe_from], k0);
    masked(&step.from[safe_to..=k1], &step.b[safe_to..=k1], safe_to);
    for (&d, &bk) in step.from[safe_from..safe_to].iter().zip(&step.b[safe_from..safe_to]) {
        for lane in 0..BLOCK {
            let t = a[lane] - bk;
            let c = d + t * t;
            best[lane] = if c < best[lane] { c } else { best[lane] };
        }
    }
    out.copy_from_slice(&best);
}

#[inline(always)]
fn min_plus_differences_body(from: &[f32], first: &[i32], last: &[i32], cost: &[f32], low: i32, out: &mut [f32]) {
    let least = from.iter().copied().fold(f32::INFINITY, |a, b| if b < a { b } else { a });
    let mut cheapest = 0;
    for (d, &c) in cost.iter().enumerate() {
        if c < cost[cheapest] {
            cheapest = d;
        }
    }
    let rows = out.len();
    let mut start = 0;
    while start < rows {
        let count = (rows - start).min(BLOCK);
        let mut best = [f32::INFINITY; BLOCK];
        let mut best_of_all = f32::INFINITY;
        // Outwards from the cheapest difference, first to longer steps, then to shorter ones.
        for (k, c) in cost.iter().enumerate().skip(cheapest) {
            if least + c >= best_of_all {
                break;
            }
            best_of_all = difference_lane(from, first, last, (start, count), k as i32 + low, *c, &mut best);
        }
        for (k, c) in cost[..cheapest].iter().enumerate().rev() {
            if least + c >= best_of_all {
                break;
            }
            best_of_all = difference_lane(from, first, last, (start, count), k as i32 + low, *c, &mut best);
        }
        out[start..start + count].copy_from_slice(&best[..count]);
        start += count;
    }
}

/// Tries one difference for a block of rows; returns the worst of their best costs.
#[inline(always)]
fn difference_lane(
    from: &[f32],
    first: &[i32],
    last: &[i32],
    (start, count): (usize, usize),
    difference: i32,
    cost: f32,
    best: &mut [f32; BLOCK],
) -> f32 {
    let mut worst = f32::NEG_INFINITY;
    let k0 = start as i32 - difference;
    // Only rows whose predecessor exists at all.
    let begin = (-k0).clamp(0, count as i32) as usize;
    let end = (from.len() as i32 - k0).clamp(begin as i32, count as i32) as usize;
    if begin == 0 && end == BLOCK {
        let from = &from[k0 as usize..k0 as usize + BLOCK];
        let (first, last) = (&first[start..start + BLOCK], &last[start..start + BLOCK]);
        for lane in 0..BLOCK {
            let k = k0 + lane as i32;
            let c = if (k >= first[lane]) & (k <= last[lane]) { from[lane] + cost } else { f32::INFINITY };
            best[lane] = if c < best[lane] { c } else { best[lane] };
            worst = if best[lane] > worst { best[lane] } else { worst };
        }
        return worst;
    }
    for lane in begin..end {
        let k = k0 + lane as i32;
        if k >= first[start + lane] && k <= last[start + lane] {
            let c = from[k as usize] + cost;
            best[lane] = if c < best[lane] { c } else { best[lane] };
        }
    }
    best[..count].iter().copied().fold(worst, |a, b| if b > a { b } else { a })
}

#[inline(always)]
fn best_predecessor_body(step: Step<'_>, j: usize) -> usize {
    let (low, high) = (step.first[j] as usize, step.last[j] as usize);
    low + argmin(&step.from[low..=high], &step.b[low..=high], step.a[j])
}

#[inline(always)]
fn minimum(from: &[f32], b: &[f32], a: f32) -> f32 {
    from.iter().zip(b).fold(f32::INFINITY, |best, (&d, &bk)| {
        let c = d + (a - bk) * (a - bk);
        if c < best { c } else { best }
    })
}

#[inline(always)]
fn argmin(from: &[f32], b: &[f32], a: f32) -> usize {
    let mut best = [f32::INFINITY; LANES];
    let mut index = [0_i32; LANES];
    let mut at = [0_i32; LANES];
    for (lane, at) in at.iter_mut().enumerate() {
        *at = lane as i32;
    }
    let (from_chunks, b_chunks) = (from.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = from.len() - from_chunks.remainder().len();
    for (d, bk) in from_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            let t = a - bk[lane];
            let c = d[lane] + t * t;
            let better = c < best[lane];
            best[lane] = if better { c } else { best[lane] };
            index[lane] = if better { at[lane] } else { index[lane] };
            at[lane] += LANES as i32;
        }
    }
    let (mut value, mut k) = (f32::INFINITY, 0);
    for lane in 0..LANES {
        if best[lane] < value || (best[lane] == value && index[lane] < k) {
            (value, k) = (best[lane], index[lane]);
        }
    }
    for i in rest..from.len() {
        let c = from[i] + (a - b[i]) * (a - b[i]);
        if c < value {
            (value, k) = (c, i as i32);
        }
    }
    k as usize
}

#[inline(always)]
fn segment_products_body<T: Real>(x: &[T], y0: &[T], y1: &[T]) -> (f64, f64, f64) {
    let mut sums = [[0.0_f64; LANES]; 3];
    let mut add = |lane: usize, x: T, y0: T, y1: T| {
        let (r, e) = (x.into() - y0.into(), y1.into() - y0.into());
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

#[inline(always)]
fn dots_to_distances_body(x_norm: f32, y_norms: &[f32], out: &mut [f32]) {
    for (value, norm) in out.iter_mut().zip(y_norms) {
        let d = x_norm + norm - 2.0 * *value;
        *value = if d > 0.0 { d } else { 0.0 };
    }
}

#[inline(always)]
fn squared_norm_body(x: &[f32]) -> f32 {
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

#[inline(always)]
fn absolute_distance_body<T: Real>(x: &[T], y0: &[T], y1: &[T], a: f32) -> f32 {
    let a = f64::from(a);
    let mut sums = [0.0_f64; LANES];
    for (c, ((&x, &y0), &y1)) in x.iter().zip(y0).zip(y1).enumerate() {
        let (x, y0, y1): (f64, f64, f64) = (x.into(), y0.into(), y1.into());
        sums[c % LANES] += (x - y0 - a * (y1 - y0)).abs();
    }
    sums.iter().sum::<f64>() as f32
}

/// Squared distances between `x_i` and `y` along one knot's row of grid points.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowSource<'a> {
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
pub(super) fn interpolate_row(source: RowSource<'_>, weight: f32, out: &mut [f32]) {
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
    for chunk in out[..whole].chunks_exact_mut(LANES) {
        let position = _mm256_max_ps(_mm256_add_ps(start, _mm256_mul_ps(index, step)), zero);
        let k = _mm256_min_epi32(_mm256_cvttps_epi32(position), top_v);
        let a = _mm256_sub_ps(position, _mm256_cvtepi32_ps(k));
        // SAFETY: 0 <= k <= top, and both arrays hold more than `top` values, `distance` one more.
        let (d0, d1, energy) = unsafe {
            (
                _mm256_i32gather_ps::<4>(source.distance.as_ptr(), k),
                _mm256_i32gather_ps::<4>(source.distance.as_ptr().add(1), k),
                _mm256_i32gather_ps::<4>(source.energy.as_ptr(), k),
            )
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
pub(super) fn dot_products(x: &[f32], y: &[f32], dim: usize, out: &mut [f32], stride: usize) {
    let (rows, columns) = (x.len() / dim, y.len() / dim);
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(columns <= stride && out.len() >= (rows - 1) * stride + columns);
    // SAFETY: `x` holds rows·dim values, `y` columns·dim (read as its transpose), and `out` was checked above.
    unsafe {
        matrixmultiply::sgemm(
            rows,
            dim,
            columns,
            1.0,
            x.as_ptr(),
            dim as isize,
            1,
            y.as_ptr(),
            1,
            dim as isize,
            0.0,
            out.as_mut_ptr(),
            stride as isize,
            1,
        );
    }
}

#[cfg(test)]
#[path = "kernels_tests.rs"]
mod tests;
