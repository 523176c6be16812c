//! `agogic synth`: a score as sound.

use std::iter;
use std::path::{Path, PathBuf};

use super::args::SynthArgs;
use crate::audio::{AudioClip, write_wav};
use crate::base::atomic_file::check_writable;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::score::{Score, SoundFont, SynthParams, synthesise, system_soundfonts};

pub(super) fn run(ctx: &JobContext, args: &SynthArgs) -> Result<()> {
    if args.list_soundfonts {
        let listed = system_soundfonts().iter().map(|path| format!("{}\n", path.display())).collect::<String>();
        return super::print(listed.as_bytes());
    }
    let (Some(score), Some(output)) = (&args.score, &args.output) else { return Ok(()) };
    if output.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case("wav")) {
        return Err(Error::invalid("--output", output.display(), "a .wav file"));
    }
    let inputs: Vec<&Path> = iter::once(score).chain(&args.soundfont).map(PathBuf::as_path).collect();
    super::check_not_an_input(output, &inputs)?;
    check_writable(output)?;
    write_wav(ctx, output, &play(ctx, score, &args.part, args.soundfont.as_deref())?)
}

/// A score, or some of its parts, played with a SoundFont or the built-in piano.
pub(super) fn play(ctx: &JobContext, score: &Path, parts: &[String], soundfont: Option<&Path>) -> Result<AudioClip> {
    let score = Score::read(score)?.only_parts(parts)?;
    let params = SynthParams { soundfont: SoundFont::load(soundfont)?, ..SynthParams::default() };
    synthesise(ctx, &score, &params)
}
