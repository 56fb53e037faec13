//! `birk explore`: the web explorer, on this machine only.

use crate::cli::ExploreArgs;
use crate::explore::serve;
use crate::interactive::Place;
use crate::load::load;
use crate::{Exit, Failure};

/// Runs the command.
pub(crate) fn run(args: &ExploreArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    match serve(&Place { args: &args.model, source: &source, program: &program }, args.port)? {}
}
