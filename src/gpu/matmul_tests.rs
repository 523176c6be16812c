use super::card::Card;
use super::matmul::{Matrices, Product, multiply};
use super::test_card;

fn wave(count: usize, pace: f32) -> Vec<f32> {
    (0..count).map(|i| (pace * i as f32).sin()).collect()
}

fn product(card: &Card, (count, rows, columns, inner): (usize, usize, usize, usize), transposed: bool) -> Vec<f32> {
    let (a, b) = (wave(count * rows * inner, 0.7), wave(count * inner * columns, 1.3));
    let (a, b) = (card.upload(&a), card.upload(&b));
    let out = card.upload(&vec![1.0_f32; count * rows * columns]);
    let a = Matrices { array: &a, start: 0, batch: rows * inner, row: inner, column: 1 };
    let b = if transposed {
        Matrices { array: &b, start: 0, batch: inner * columns, row: inner, column: 1 }.transposed()
    } else {
        Matrices { array: &b, start: 0, batch: inner * columns, row: columns, column: 1 }
    };
    let result = Matrices { array: &out, start: 0, batch: rows * columns, row: columns, column: 1 };
    let mut commands = card.commands();
    multiply(&mut commands, Product { count, rows, columns, inner, scale: -2.0, adds: true }, a, b, result);
    commands.read(&[&out]).unwrap().remove(0).into_iter().map(f32::from_bits).collect()
}

fn compare(card: &Card, (count, rows, columns, inner): (usize, usize, usize, usize), transposed: bool, most: f64) {
    let found = product(card, (count, rows, columns, inner), transposed);
    let (a, b) = (wave(count * rows * inner, 0.7), wave(count * inner * columns, 1.3));
    for m in 0..count {
        for i in 0..rows {
            for j in 0..columns {
                let value = |k: usize| {
                    let at = if transposed { j * inner + k } else { k * columns + j };
                    f64::from(a[(m * rows + i) * inner + k]) * f64::from(b[m * inner * columns + at])
                };
                let expected = 1.0 - 2.0 * (0..inner).map(value).sum::<f64>();
                let found = f64::from(found[(m * rows + i) * columns + j]);
                assert!((found - expected).abs() < most, "{m} {i} {j}: {found} {expected}");
            }
        }
    }
}

#[test]
fn products_of_all_shapes_agree_with_the_triple_loop() {
    let Some(card) = test_card() else { return };
    for shape in [(1, 1, 1, 1), (3, 65, 63, 17), (2, 130, 7, 64), (1, 64, 64, 16), (2, 3, 4, 0)] {
        for transposed in [false, true] {
            compare(&card, shape, transposed, 1e-4);
        }
    }
}

/// Mesa's software card would not finish this in one dispatch.
#[test]
fn long_sums_agree_with_the_triple_loop() {
    let Some(card) = test_card() else { return };
    compare(&card, (1, 3, 2, 70_000), false, 1e-2);
}
