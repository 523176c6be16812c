//! Repetition and medians.

use std::time::{Duration, Instant};

use super::Measurement;
use crate::base::error::Result;
use crate::base::job::JobContext;

/// Timed runs of one piece of work: at least `FEWEST`, then more until `ENOUGH` has passed or there are `MOST`.
const FEWEST: usize = 5;
const MOST: usize = 101;
const ENOUGH: Duration = Duration::from_millis(600);

/// A piece of work under its name. What it computes must reach its caller, or the compiler may leave it out:
/// see [`std::hint::black_box`].
pub(super) struct Contestant<'a> {
    pub name: &'a str,
    pub work: Box<dyn FnMut() -> Result<()> + 'a>,
}

impl<'a> Contestant<'a> {
    pub(super) fn new<T>(name: &'a str, mut work: impl FnMut() -> Result<T> + 'a) -> Self {
        Self { name, work: Box::new(move || work().map(|result| drop(std::hint::black_box(result)))) }
    }
}

/// Runs each once to warm up, then in turns. The results are in the order given.
pub(super) fn take_turns(
    ctx: &JobContext,
    size: &str,
    threads: usize,
    contestants: &mut [Contestant<'_>],
) -> Result<Vec<Measurement>> {
    for contestant in contestants.iter_mut() {
        (contestant.work)()?;
    }
    let mut times = vec![Vec::new(); contestants.len()];
    let limit = ENOUGH * contestants.len() as u32;
    let begun = Instant::now();
    for round in 0..MOST {
        if round >= FEWEST && begun.elapsed() > limit {
            break;
        }
        ctx.check()?;
        for (contestant, times) in contestants.iter_mut().zip(&mut times) {
            times.push(milliseconds(&mut contestant.work)?);
        }
    }
    let results = contestants.iter().zip(times).map(|(contestant, mut times)| {
        times.sort_by(f64::total_cmp);
        Measurement {
            name: contestant.name.to_owned(),
            size: size.to_owned(),
            threads,
            repetitions: times.len(),
            median_ms: median_of_sorted(&times),
            min_ms: times[0],
            ratio_to_dtw: None,
            fastest_ratio_to_dtw: None,
            us_per_frame: None,
            times_real_time: None,
            times_faster: None,
        }
    });
    Ok(results.collect())
}

/// How long `work` takes.
fn milliseconds(work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

fn median_of_sorted(values: &[f64]) -> f64 {
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::base::error::Error;

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle() {
        assert_eq!(median_of_sorted(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median_of_sorted(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }

    #[test]
    fn everyone_has_the_same_number_of_turns_and_one_warm_up() {
        let (short, long) = (Cell::new(0), Cell::new(0));
        let mut both = [
            Contestant::new("short", || {
                short.set(short.get() + 1);
                Ok(())
            }),
            Contestant::new("long", || {
                long.set(long.get() + 1);
                std::thread::sleep(Duration::from_millis(1));
                Ok(())
            }),
        ];
        let results = take_turns(&JobContext::new(), "n=1", 1, &mut both).unwrap();
        assert!(results.iter().all(|r| (FEWEST..=MOST).contains(&r.repetitions)));
        assert_eq!((short.get(), long.get()), (results[0].repetitions + 1, results[1].repetitions + 1));
        assert!(results[1].min_ms >= 1.0 && results[1].median_ms >= results[1].min_ms);
    }

    #[test]
    fn a_failure_or_a_cancellation_ends_it() {
        let mut failing = [Contestant::new("x", || Err::<(), _>(Error::invalid("x", 1, "2")))];
        assert!(take_turns(&JobContext::new(), "", 1, &mut failing).is_err());
        let ctx = JobContext::new();
        ctx.cancel();
        let mut idle = [Contestant::new("x", || Ok(()))];
        assert!(matches!(take_turns(&ctx, "", 1, &mut idle), Err(Error::Cancelled)));
    }
}
