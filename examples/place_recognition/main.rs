//! Place recognition by sequence: where along a known route was this film taken?
//!
//! A database is one drive along a route: an image descriptor and a geotag every few metres. A query is a short drive along a part
//! of it, at another speed, on another day, in other weather, with a rough fix of where that was. Subsequence GDTW puts every query
//! image on the route; the error is the distance of the geotags. The descriptors mix what tells a place with what only tells the weather, so a linear
//! embedding is trained to keep the first and drop the second, by the gradient of the alignment error through the solver.
//!
//! Everything is generated: `cargo run --no-default-features --example place_recognition`. The engine sees vectors and times
//! only; nothing here is sound.

mod route;
mod training;

use agogic::Result;

use route::{Drive, Route};
use training::{Embedding, Loss, errors};

const TRAINING_QUERIES: usize = 32;
const TEST_QUERIES: usize = 60;

fn main() -> Result<()> {
    let route = Route::new(1);
    let database = route.drive(0.0, route.length_m(), 2);
    let queries = |count: usize, seed: u64| (0..count).map(|i| route.query(seed + i as u64)).collect::<Vec<Drive>>();
    let (train, test) = (queries(TRAINING_QUERIES, 100), queries(TEST_QUERIES, 1000));

    println!("error of {TEST_QUERIES} held-out sequences along a route of {:.0} m", route.length_m());
    println!("{:<22}{:>12}{:>12}{:>16}", "embedding", "mean (m)", "max (m)", "within 5 m (%)");
    let base = Embedding::identity();
    print_row("base", &base, &database, &test)?;
    for (name, loss) in [("trained, mean error", Loss::Mean), ("trained, max error", Loss::Max)] {
        let trained = training::train(base.clone(), &database, &train, loss)?;
        print_row(name, &trained, &database, &test)?;
    }
    Ok(())
}

fn print_row(name: &str, embedding: &Embedding, database: &Drive, queries: &[Drive]) -> Result<()> {
    let (mut mean, mut max, mut near, mut images) = (0.0, 0.0, 0, 0);
    for query in queries {
        let errors = errors(embedding, database, query)?;
        mean += errors.iter().sum::<f64>() / errors.len() as f64;
        max += errors.iter().copied().fold(0.0, f64::max);
        near += errors.iter().filter(|&&e| e <= 5.0).count();
        images += errors.len();
    }
    let count = queries.len() as f64;
    let share = 100.0 * near as f64 / images as f64;
    println!("{name:<22}{:>12.2}{:>12.2}{share:>16.1}", mean / count, max / count);
    Ok(())
}
