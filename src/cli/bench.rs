//! `agogic bench`: how fast the parts are on this machine.

use super::args::BenchArgs;
use crate::error::Result;
use crate::job::JobContext;

pub(super) fn run(_ctx: &JobContext, _args: &BenchArgs) -> Result<()> {
    Ok(())
}
