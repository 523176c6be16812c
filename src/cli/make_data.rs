//! `agogic make-data`: labelled pieces to train on, made of scores.

use super::args::MakeDataArgs;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::making::{MakeData, make_data};

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &MakeDataArgs) -> Result<()> {
    let wanted = MakeData {
        scores: args.scores.clone(),
        studies: args.studies,
        out_dir: args.out_dir.clone(),
        count: args.count,
        seed: args.seed,
        soundfonts: args.soundfont.clone(),
        samples: args.samples.clone(),
        seconds: args.seconds,
        jobs: args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
    };
    let made = make_data(ctx, &wanted)?;
    if !quiet {
        let minutes = made.seconds / 60.0;
        let kept = if made.kept > 0 { format!(", {} of them from before", made.kept) } else { String::new() };
        super::print_note(&format!("{} items, {minutes:.1} minutes{kept}: {}", made.items, made.manifest.display()));
    }
    Ok(())
}
