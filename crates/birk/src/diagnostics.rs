//! Diagnostics as people read them, drawn by the renderer that rustc and cargo use.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use birk_ir::Span;
use birk_lang::diagnostic::Diagnostic;

use crate::say;
use crate::source::Source;

/// More than this many are counted, not shown.
const MAX_SHOWN: usize = 50;

/// Prints diagnostics and their number to standard error.
pub(crate) fn print(source: &Source, diagnostics: &[Diagnostic], color: bool) {
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        say(&format!("{}\n", render(source, diagnostic, color)));
    }
    if diagnostics.len() > MAX_SHOWN {
        say(&format!("… and {} more\n", diagnostics.len() - MAX_SHOWN));
    }
    let errors = diagnostics.iter().filter(|d| !d.is_warning()).count();
    if errors > 0 {
        let first = diagnostics.iter().find(|d| !d.is_warning()).map_or("", |d| d.code);
        let plural = if errors == 1 { "" } else { "s" };
        say(&format!("birk: {} has {errors} error{plural}; `birk explain {first}` says more", source.path));
    }
}

/// One diagnostic.
pub(crate) fn render(source: &Source, diagnostic: &Diagnostic, color: bool) -> String {
    let level = if diagnostic.is_warning() { Level::WARNING } else { Level::ERROR };
    let primary = (diagnostic.span, diagnostic.label.as_str());
    let context: Vec<_> = diagnostic.related.iter().map(|(span, text)| (*span, text.as_str())).collect();
    let snippet = annotated(source, primary, &context);
    let mut report = vec![level.primary_title(&diagnostic.message).id(diagnostic.code).element(snippet)];
    if let Some(help) = &diagnostic.help {
        report.push(Group::with_title(Level::HELP.secondary_title(help)));
    }
    renderer(color).render(&report)
}

/// A place of the source with something to say about it.
pub(crate) fn excerpt(source: &Source, title: &str, primary: (Span, &str), color: bool) -> String {
    let snippet = annotated(source, primary, &[]);
    renderer(color).render(&[Level::ERROR.with_name("violated").primary_title(title).element(snippet)])
}

/// What is wrong at a place of another file than a model.
pub(crate) fn mistake(source: &Source, title: &str, primary: (Span, &str), help: Option<&str>, color: bool) -> String {
    let mut report = vec![Level::ERROR.primary_title(title).element(annotated(source, primary, &[]))];
    report.extend(help.map(|help| Group::with_title(Level::HELP.secondary_title(help))));
    renderer(color).render(&report)
}

fn renderer(color: bool) -> Renderer {
    if color { Renderer::styled() } else { Renderer::plain() }
}

fn annotated<'a>(
    source: &'a Source,
    primary: (Span, &'a str),
    context: &[(Span, &'a str)],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = source.file(primary.0);
    let range = |span: Span| {
        let end = (span.end as usize).min(source.text.len());
        (span.start as usize).min(end)..end
    };
    let mut snippet = Snippet::source(&source.text)
        .path(&source.path)
        .annotation(AnnotationKind::Primary.span(range(primary.0)).label(primary.1));
    for (span, text) in context.iter().filter(|(span, _)| span.file == primary.0.file) {
        snippet = snippet.annotation(AnnotationKind::Context.span(range(*span)).label(*text));
    }
    snippet
}
