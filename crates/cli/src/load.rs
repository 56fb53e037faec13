//! Loading a model: its text, what it imports, and conditions about it; what is wrong with them goes to standard error.

use std::ops::Range;
use std::path::Path;

use birk_ir::{Conditions, Diagnostic, Expr, Program, Refinement};

use crate::cli::{Format, ModelArgs};
use crate::source::{MAX_TEXT, Source, contents};
use crate::terminal::uses_color;
use crate::{Exit, Failure, diagnostics};

/// The text of a file that another one names.
pub(crate) fn imported(path: &Path) -> Result<String, String> {
    let bytes = contents(path, MAX_TEXT).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Reads a model; its diagnostics go to standard error.
pub(crate) fn load(args: &ModelArgs) -> Result<(Source, Program), Failure> {
    load_with_conditions(args, None).map(|(source, program, _)| (source, program))
}

/// Reads a model, and the conditions that another file has about it; what is wrong with either goes to standard error.
pub(crate) fn load_with_conditions(
    args: &ModelArgs,
    other: Option<(&Source, &[Range<usize>])>,
) -> Result<(Source, Program, Vec<Expr>), Failure> {
    read(args, other).map(|Read { source, program, conditions, .. }| (source, program, conditions))
}

/// A model that was read.
pub(crate) struct Read {
    pub(crate) source: Source,
    pub(crate) program: Program,
    pub(crate) conditions: Vec<Expr>,
    pub(crate) refinement: Option<Refinement>,
}

/// Prints what is wrong with a model to standard error.
pub(crate) fn report(args: &ModelArgs, source: &Source, found: &[Diagnostic]) {
    match args.diagnostics {
        Format::Human => diagnostics::print(source, found, uses_color(args.color, &std::io::stderr())),
        Format::Json => diagnostics::json::print(source, found),
    }
}

/// The same, with all that there is to know of it.
pub(crate) fn read(args: &ModelArgs, other: Option<(&Source, &[Range<usize>])>) -> Result<Read, Failure> {
    let mut source = Source::read(&args.model)?;
    let conditions = match &other {
        Some((file, places)) => Conditions { file: (file.path.clone(), file.text.clone()), places: places.to_vec() },
        None => Conditions::default(),
    };
    let loaded = load_with(args, &source.text, conditions);
    let of_file = other.map(|_| loaded.files.len() as u32 - 1);
    let (of_other, found): (Vec<_>, Vec<_>) =
        loaded.diagnostics.into_iter().partition(|diagnostic| Some(diagnostic.span.file) == of_file);
    source.imported = loaded.files.into_iter().skip(1).map(|(path, text)| Source::new(path, text)).collect();
    report(args, &source, &found);
    if let Some((file, _)) = other {
        report(args, file, &as_its_own(of_other));
    }
    let (conditions, refinement) = (loaded.conditions, loaded.refinement);
    match loaded.program {
        Some(program) => Ok(Read { source, program, conditions, refinement }),
        None => Err(Failure { exit: Exit::Usage, message: String::new() }),
    }
}

/// What is wrong with the conditions of another file, as that file's own.
fn as_its_own(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.retain(|diagnostic| !diagnostic.is_warning());
    for diagnostic in &mut diagnostics {
        let own = diagnostic.span.file;
        diagnostic.related.retain(|(span, _)| span.file == own);
        diagnostic.span.file = 0;
        diagnostic.related.iter_mut().for_each(|(span, _)| span.file = 0);
        diagnostic.fix.iter_mut().for_each(|fix| fix.span.file = 0);
    }
    diagnostics
}

/// Reads the text of a model, and conditions about it; what it imports is looked for beside the model.
pub(crate) fn load_with(args: &ModelArgs, text: &str, conditions: Conditions) -> birk::Loaded {
    let folder = args.model.parent().unwrap_or(Path::new("")).to_owned();
    birk::load(&args.model, text, &args.define, &mut |path| imported(&folder.join(path)), conditions)
}
