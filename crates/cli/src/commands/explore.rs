//! `birk explore`: the web explorer, on this machine only.

use crate::cli::ExploreArgs;
use crate::explore::Questions;
#[cfg(feature = "native")]
use crate::explore::serve;
use crate::interactive::Place;
use crate::load::load;
use crate::{Exit, Failure};

/// Runs the command.
pub(crate) fn run(args: &ExploreArgs) -> Result<Exit, Failure> {
    let (source, program) = load(&args.model)?;
    let place = Place { args: &args.model, source: &source, program: &program };
    if args.stdio {
        let answered = Questions::new(&place).answer_all(std::io::stdin().lock(), std::io::stdout().lock());
        return answered.map(|()| Exit::Success).map_err(|error| Failure::io("answer a question", &error));
    }
    #[cfg(feature = "native")]
    match serve(&place, args.port)? {}
    #[cfg(not(feature = "native"))]
    Err(Failure::usage("there is no server here; use --stdio"))
}
