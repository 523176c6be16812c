use super::*;
use proptest::prelude::*;

/// The definition: every predecessor of every row.
fn naive(step: Step<'_>) -> Vec<f32> {
    (0..step.a.len())
        .map(|j| {
            (step.first[j]..=step.last[j])
                .map(|k| {
                    let t = step.a[j] - step.b[k as usize];
                    step.from[k as usize] + t * t
                })
                .fold(f32::INFINITY, f32::min)
        })
        .collect()
}

/// Monotone windows of random width round a random diagonal.
fn windows(rows: usize, columns: usize, shift: i32, below: i32, above: i32) -> (Vec<i32>, Vec<i32>) {
    let top = columns as i32 - 1;
    let centre = |j: usize| (j * columns / rows) as i32 + shift;
    let first = (0..rows).map(|j| (centre(j) - below).clamp(0, top)).collect();
    let last = (0..rows).map(|j| (centre(j) + above).clamp(0, top)).collect();
    (first, last)
}

proptest! {
    #[test]
    fn min_plus_equals_the_definition(
        from in prop::collection::vec(0.0_f32..3.0, 1..90),
        rows in 1_usize..90,
        (scale_a, scale_b, shift_a) in (0.0_f32..0.5, 0.0_f32..0.5, -3.0_f32..3.0),
        (shift, below, above) in (-20_i32..20, 0_i32..60, 0_i32..60),
    ) {
        let columns = from.len();
        let a: Vec<f32> = (0..rows).map(|j| shift_a + j as f32 * scale_a).collect();
        let b: Vec<f32> = (0..columns + PADDING).map(|k| k as f32 * scale_b).collect();
        // What is behind the end must not count.
        let mut from = from;
        from.resize(columns + PADDING, -9.0);
        let (first, last) = windows(rows, columns, shift, below, above);
        let step = Step { from: &from, b: &b, scale: scale_b, a: &a, first: &first, last: &last };
        let expected = naive(step);
        let mut fast = vec![0.0; rows];
        min_plus(step, &mut MinPlusScratch::default(), &mut fast);
        let mut portable = vec![0.0; rows];
        min_plus_body(step, &mut MinPlusScratch::default(), &mut portable, argmin);
        prop_assert_eq!(&fast, &portable);
        for j in 0..rows {
            // Ties broken by rounding may shift the best predecessor, never the minimum by more than rounding.
            prop_assert!((fast[j] - expected[j]).abs() <= 1e-5 * (1.0 + expected[j]), "row {}: {} {}", j, fast[j], expected[j]);
            let k = best_predecessor(step, j);
            prop_assert!(k as i32 >= first[j] && k as i32 <= last[j]);
            let t = a[j] - b[k];
            prop_assert!((from[k] + t * t - expected[j]).abs() <= 1e-5 * (1.0 + expected[j]));
        }
    }

    #[test]
    fn differences_equal_the_definition(
        from in prop::collection::vec(0.0_f32..3.0, 1..90),
        rows in 1_usize..90,
        (cheapest, fall, rise) in (-10_i32..40, 0.0_f32..0.5, 0.0_f32..0.5),
        (shift, below, above) in (-20_i32..20, 0_i32..60, 0_i32..60),
    ) {
        let (first, last) = windows(rows, from.len(), shift, below, above);
        let low = (0..rows).map(|j| j as i32 - last[j]).min().unwrap();
        let high = (0..rows).map(|j| j as i32 - first[j]).max().unwrap();
        let cost: Vec<f32> = (low..=high)
            .map(|d| if d < cheapest { (cheapest - d) as f32 * fall } else { ((d - cheapest) as f32 * rise).sqrt() })
            .collect();
        let mut fast = vec![0.0; rows];
        min_plus_differences(&from, &first, &last, &cost, low, &mut fast);
        for j in 0..rows {
            let expected = (first[j]..=last[j])
                .map(|k| from[k as usize] + cost[(j as i32 - k - low) as usize])
                .fold(f32::INFINITY, f32::min);
            prop_assert_eq!(fast[j], expected);
        }
    }
}
