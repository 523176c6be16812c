use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn interpolated_rows_equal_the_portable_loop(
        distance in prop::collection::vec(0.0_f32..3.0, 2..40),
        start in 0.0_f32..3.0,
        step in 0.0_f32..1.5,
        count in 1_usize..50,
    ) {
        let energy: Vec<f32> = distance.iter().map(|d| 0.3 * d).collect();
        let source = RowSource { distance: &distance, energy: &energy, start, step };
        let (mut fast, mut portable) = (vec![0.0; count], vec![0.0; count]);
        interpolate_row(source, 0.7, &mut fast);
        interpolate_row_portable(source, 0.7, &mut portable, 0);
        prop_assert_eq!(fast, portable);
    }

    #[test]
    fn products_equal_the_definition(
        dim in 1_usize..40,
        values in prop::collection::vec(-2.0_f64..2.0, 120),
    ) {
        let (x, y0, y1) = (&values[..dim], &values[40..40 + dim], &values[80..80 + dim]);
        let (rr, re, ee) = segment_products(x, y0, y1);
        let sum = |f: &dyn Fn(usize) -> f64| (0..dim).map(f).sum::<f64>();
        prop_assert!((rr - sum(&|c| (x[c] - y0[c]).powi(2))).abs() < 1e-12);
        prop_assert!((re - sum(&|c| (x[c] - y0[c]) * (y1[c] - y0[c]))).abs() < 1e-12);
        prop_assert!((ee - sum(&|c| (y1[c] - y0[c]).powi(2))).abs() < 1e-12);
        let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
        let norm = f64::from(squared_norm(&single));
        prop_assert!((norm - sum(&|c| x[c] * x[c])).abs() < 1e-4);
    }
}

#[test]
fn dot_products_fill_their_rows_only() {
    let x = [1.0, 2.0, 3.0, 4.0];
    let y = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let mut out = [9.0; 8];
    dot_products(&x, &y, 2, &mut out, 4);
    assert_eq!(out, [1.0, 2.0, 3.0, 9.0, 3.0, 4.0, 7.0, 9.0]);
    let mut distances = [1.0, 2.0, 3.0];
    dots_to_distances(5.0, &[1.0, 1.0, 2.0], &mut distances);
    assert_eq!(distances, [4.0, 2.0, 1.0]);
}
