//! One step of the DP: the cheapest way from each node of a row to each node of the next.

use super::LANES;
#[cfg(target_arch = "x86_64")]
use crate::base::simd::has_avx2;
use crate::base::simd::vectorised;

/// Rows of the DP that share one search range for their best predecessors.
const BLOCK: usize = 16;

/// Values that may be read, not used, behind the end of [`Step::from`] and [`Step::b`]: searches run in whole vectors.
pub(in crate::warping::gdtw) const PADDING: usize = LANES;

/// Reused index arrays of [`min_plus`].
#[derive(Debug, Default)]
pub(in crate::warping::gdtw) struct MinPlusScratch {
    best: Vec<u32>,
}

/// One DP step with quadratic edges: from cost `from[k] ≥ 0` at scaled position `b[k] = k·scale` to scaled position `a[j]`.
#[derive(Debug, Clone, Copy)]
pub(in crate::warping::gdtw) struct Step<'a> {
    /// With [`PADDING`] more values.
    pub from: &'a [f32],
    /// With [`PADDING`] more values.
    pub b: &'a [f32],
    pub scale: f32,
    pub a: &'a [f32],
    /// First and last admissible `k` of each `j`, both non-decreasing in `j`, never empty.
    pub first: &'a [i32],
    pub last: &'a [i32],
}

/// Adds `min_k from[k] + (a[j] − b[k])²` over the admissible `k` to `out[j]`, in O(len) vector operations since the best `k` never
/// falls as `j` grows.
pub(in crate::warping::gdtw) fn min_plus(step: Step<'_>, scratch: &mut MinPlusScratch, out: &mut [f32]) {
    step.check();
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        #[target_feature(enable = "avx2")]
        fn avx2(step: Step<'_>, scratch: &mut MinPlusScratch, out: &mut [f32]) {
            // SAFETY: inside this function AVX2 is there, and the step was checked.
            min_plus_body(step, scratch, out, |step, a, low, high| unsafe { argmin_avx2(step, a, low, high) });
        }
        // SAFETY: the processor has AVX2.
        return unsafe { avx2(step, scratch, out) };
    }
    min_plus_body(step, scratch, out, argmin);
}

/// The best predecessor of `j`: the least `k` of those with the smallest `from[k] + (a[j] − b[k])²`.
pub(in crate::warping::gdtw) fn best_predecessor(step: Step<'_>, j: usize) -> usize {
    step.check();
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2, and the step was checked.
        return search(step, j, step.first[j], step.last[j], |step, a, low, high| unsafe {
            argmin_avx2(step, a, low, high)
        });
    }
    search(step, j, step.first[j], step.last[j], argmin)
}

impl Step<'_> {
    /// Checks once what the searches rely on: windows within the row, padding behind it.
    fn check(&self) {
        let rows = self.a.len();
        assert!(self.first.len() >= rows && self.last.len() >= rows && rows > 0, "one window per row");
        // Windows never fall, so the first and the last one bound them all.
        let most = self.last[rows - 1];
        assert!(self.first[0] >= 0 && self.first[rows - 1] <= most && most >= 0, "windows within the row");
        assert!(self.from.len().min(self.b.len()) >= most as usize + 1 + PADDING, "padding behind the row");
    }
}

#[inline(always)]
fn min_plus_body(
    step: Step<'_>,
    scratch: &mut MinPlusScratch,
    out: &mut [f32],
    argmin: impl Fn(Step<'_>, f32, usize, usize) -> usize + Copy,
) {
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
            let low = if p >= stride { best[p - stride] as i32 } else { 0 };
            let high = if p + stride < blocks { best[p + stride] as i32 } else { i32::MAX };
            let low = low.max(first[j]);
            best[p] = search(step, j, low, high.min(last[j]).max(low), argmin) as u32;
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
                out[j] += minimum(&from[k0..=k1], &b[k0..=k1], step.a[j]);
            }
        }
        low = high;
    }
}

/// The best predecessor of row `j` in `low ..= high`. What is further from the row's own position than the root of a known cost costs
/// more than that, whatever its `from`.
#[inline(always)]
fn search(
    step: Step<'_>,
    j: usize,
    mut low: i32,
    mut high: i32,
    argmin: impl Fn(Step<'_>, f32, usize, usize) -> usize,
) -> usize {
    let a = step.a[j];
    if step.scale > 0.0 && high - low > LANES as i32 {
        let per_scale = 1.0 / step.scale;
        let centre = (a * per_scale) as i32;
        let near = centre.clamp(low, high) as usize;
        let t = a - step.b[near];
        let steps = (step.from[near] + t * t).sqrt() * per_scale;
        // One more on either side for rounding; the conversion saturates.
        let reach = (steps as i32).saturating_add(2);
        low = low.max(centre.saturating_sub(reach)).min(near as i32);
        high = high.min(centre.saturating_add(reach)).max(near as i32);
    }
    argmin(step, a, low as usize, high as usize)
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
    let pairs = |range: std::ops::Range<usize>| step.from[range.clone()].iter().zip(&step.b[range]);
    for (k, (&d, &bk)) in (k0 as i32..).zip(pairs(k0..safe_from)) {
        for lane in 0..BLOCK {
            let t = a[lane] - bk;
            let c = d + t * t;
            let c = if (k >= first[lane]) & (k <= last[lane]) { c } else { f32::INFINITY };
            best[lane] = if c < best[lane] { c } else { best[lane] };
        }
    }
    for (&d, &bk) in pairs(safe_from..safe_to) {
        for lane in 0..BLOCK {
            let t = a[lane] - bk;
            let c = d + t * t;
            best[lane] = if c < best[lane] { c } else { best[lane] };
        }
    }
    // Behind the safe range every row's first predecessor is past: only the last one counts.
    for (k, (&d, &bk)) in (safe_to as i32..).zip(pairs(safe_to..k1 + 1)) {
        for lane in 0..BLOCK {
            let t = a[lane] - bk;
            let c = d + t * t;
            let c = if k <= last[lane] { c } else { f32::INFINITY };
            best[lane] = if c < best[lane] { c } else { best[lane] };
        }
    }
    for (value, best) in out.iter_mut().zip(best) {
        *value += best;
    }
}

vectorised! {
    /// Adds `min_k from[k] + cost[j − k − low]` to `out[j]`, over `first[j] ..= last[j]`, for costs that fall to one least difference and
    /// rise after it.
    pub(in crate::warping::gdtw) fn min_plus_differences(from: &[f32], first: &[i32], last: &[i32], cost: &[f32], low: i32, out: &mut [f32]) {
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
            out[start..start + count].iter_mut().zip(best).for_each(|(value, best)| *value += best);
            start += count;
        }
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
fn minimum(from: &[f32], b: &[f32], a: f32) -> f32 {
    from.iter().zip(b).fold(f32::INFINITY, |best, (&d, &bk)| {
        let c = d + (a - bk) * (a - bk);
        if c < best { c } else { best }
    })
}

/// The least index in `low ..= high` with the smallest cost.
fn argmin(step: Step<'_>, a: f32, low: usize, high: usize) -> usize {
    let (mut best, mut least) = (low, f32::INFINITY);
    for k in low..=high {
        let t = a - step.b[k];
        let c = step.from[k] + t * t;
        if c < least {
            (best, least) = (k, c);
        }
    }
    best
}

/// [`argmin`], eight at a time.
///
/// # Safety
/// `high + PADDING` must be inside `step.from` and `step.b`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn argmin_avx2(step: Step<'_>, a: f32, low: usize, high: usize) -> usize {
    use std::arch::x86_64::*;
    let infinity = _mm256_set1_ps(f32::INFINITY);
    let (mut best, mut index) = (infinity, _mm256_set1_epi32(low as i32));
    let (a, end) = (_mm256_set1_ps(a), _mm256_set1_epi32(high as i32 + 1));
    let mut at = _mm256_add_epi32(index, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    let mut k = low;
    while k <= high {
        // SAFETY: k <= high, and eight values follow `high`.
        let (d, b) = unsafe { (_mm256_loadu_ps(step.from.as_ptr().add(k)), _mm256_loadu_ps(step.b.as_ptr().add(k))) };
        let t = _mm256_sub_ps(a, b);
        let c = _mm256_add_ps(d, _mm256_mul_ps(t, t));
        let inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(end, at));
        let c = _mm256_blendv_ps(infinity, c, inside);
        let better = _mm256_cmp_ps::<_CMP_LT_OQ>(c, best);
        best = _mm256_min_ps(c, best);
        index = _mm256_blendv_epi8(index, at, _mm256_castps_si256(better));
        at = _mm256_add_epi32(at, _mm256_set1_epi32(LANES as i32));
        k += LANES;
    }
    // The smallest value in every lane, then the least index of those that have it.
    let least = _mm256_min_ps(best, _mm256_permute2f128_ps::<1>(best, best));
    let least = _mm256_min_ps(least, _mm256_permute_ps::<0b01_00_11_10>(least));
    let least = _mm256_min_ps(least, _mm256_permute_ps::<0b10_11_00_01>(least));
    let equal = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_EQ_OQ>(best, least));
    let index = _mm256_blendv_epi8(_mm256_set1_epi32(i32::MAX), index, equal);
    let first = _mm_min_epi32(_mm256_castsi256_si128(index), _mm256_extracti128_si256::<1>(index));
    let first = _mm_min_epi32(first, _mm_shuffle_epi32::<0b01_00_11_10>(first));
    let first = _mm_min_epi32(first, _mm_shuffle_epi32::<0b10_11_00_01>(first));
    _mm_cvtsi128_si32(first) as usize
}

#[cfg(test)]
#[path = "min_plus_tests.rs"]
mod tests;
