//! Diagnostics as people read them, drawn by the renderer that rustc and cargo use.

pub(crate) mod json;

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use birk_ir::{Diagnostic, Span};

use crate::report::fold::Look;
use crate::source::Source;
use crate::terminal::visible;
use crate::{say, say_in_color};

/// More than this many are counted, not shown.
const MAX_SHOWN: usize = 50;

/// Prints diagnostics and their number to standard error.
pub(crate) fn print(source: &Source, diagnostics: &[Diagnostic], color: bool) {
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        say_in_color(&format!("{}\n", render(source, diagnostic, color)));
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
    let all = diagnostic.related.iter().map(|(span, _)| *span).chain([diagnostic.span]);
    let excerpt = Excerpt::of(source, diagnostic.span, all);
    let context: Vec<_> = diagnostic.related.iter().filter(|(span, _)| span.file == diagnostic.span.file).collect();
    let context =
        context.into_iter().map(|(span, text)| AnnotationKind::Context.span(excerpt.range(*span)).label(visible(text)));
    let snippet = excerpt.annotated((diagnostic.span, &diagnostic.label)).annotations(context);
    let title = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code);
    drawn(vec![title.element(snippet)], diagnostic.help.as_deref(), color)
}

/// A place of the source with something to say about it.
pub(crate) fn excerpt(source: &Source, title: &str, primary: (Span, &str), look: Look) -> String {
    let excerpt = Excerpt::of(source, primary.0, [primary.0]);
    let title = Level::ERROR.with_name("violated").primary_title(visible(title));
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = look.width.map_or(renderer.clone(), |width| renderer.term_width(width));
    renderer.render(&[title.element(excerpt.annotated(primary))])
}

/// What is wrong at a place of another file than a model.
pub(crate) fn error(source: &Source, title: &str, primary: (Span, &str), help: Option<&str>, color: bool) -> String {
    let excerpt = Excerpt::of(source, primary.0, [primary.0]);
    let title = Level::ERROR.primary_title(visible(title));
    drawn(vec![title.element(excerpt.annotated(primary))], help, color)
}

fn drawn<'a>(mut report: Vec<Group<'a>>, help: Option<&'a str>, color: bool) -> String {
    report.extend(help.map(|help| Group::with_title(Level::HELP.secondary_title(visible(help)))));
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report)
}

/// Lines of a file as they are shown: what a terminal would obey is written out, and places have moved accordingly.
struct Excerpt<'a> {
    path: Cow<'a, str>,
    text: Cow<'a, str>,
    /// The lines as they are, the number of the first, and where it begins in the file.
    lines: &'a str,
    first: usize,
    start: usize,
}

impl<'a> Excerpt<'a> {
    /// The lines between all that are meant, of the file of one span.
    fn of(source: &'a Source, primary: Span, all: impl IntoIterator<Item = Span>) -> Self {
        let file = source.file(primary);
        let (mut from, mut to) = (primary.start, primary.end);
        for span in all.into_iter().filter(|span| span.file == primary.file) {
            (from, to) = (from.min(span.start), to.max(span.end));
        }
        let length = file.text.len() as u32;
        let (first, range) = file.lines(from.min(length), to.min(length));
        let lines = &file.text[range.clone()];
        Self { path: visible(&file.path), text: visible(lines), lines, first, start: range.start }
    }

    /// Where a span of the file is in the text that is shown.
    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let place = |at: u32| match self.lines.get(..(at as usize).saturating_sub(self.start)) {
            Some(before) => visible(before).len().min(self.text.len()),
            None => self.text.len(),
        };
        place(span.start).min(place(span.end))..place(span.end)
    }

    fn annotated<'s>(&'s self, primary: (Span, &'s str)) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
        Snippet::source(&*self.text)
            .line_start(self.first)
            .path(&*self.path)
            .annotation(AnnotationKind::Primary.span(self.range(primary.0)).label(visible(primary.1)))
    }
}
