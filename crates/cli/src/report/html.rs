//! The report as one HTML file that needs nothing else: verdict, runs to step through, source, plots, what was never
//! reached. The page's looks and moves are in `assets`; here is what fills it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use birk::{Grade, ShownTrace};
use birk_ir::{Coverage, Span, Transition};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::numbers::{count, grouped};
use crate::progress::Course;
use crate::report::chart::{Chart, chart};
use crate::report::ending::Ending;
use crate::report::explained::{Explained, is_marked, word};
use crate::report::fold::Look;
use crate::report::statistics::statistics;
use crate::report::threads::{Threads, threads};
use crate::report::trace_table::{Extent, TraceTable};
use crate::report::written::Line;
use crate::report::{Report, diagram, human, joint};
use crate::source::Source;
use crate::terminal::{Paint, visible};

const PAGE: &str = include_str!("../../assets/report.html");
const TRACE: &str = include_str!("../../assets/trace.html");
const CSS: &str = concat!(include_str!("../../assets/report.css"), include_str!("../../assets/picture.css"));
/// The threads of a report without a trace.
const THREADS: &str = "<section aria-labelledby=\"h-threads\"><h2 id=\"h-threads\">Threads</h2>\n<p class=\"soft\">{{legend}}</p>\n\
                       <div class=\"scroll automata\" tabindex=\"0\" role=\"group\" aria-label=\"thread automata\">{{pictures}}</div>\n</section>\n";
const JS: &str = concat!(include_str!("../../assets/chart.js"), include_str!("../../assets/report.js"));

/// So many unexplored places are shown.
const MAX_CUTS: usize = 20;
/// Runs up to this length are also there in words, for readers without scripts.
const MAX_WORDS: usize = 500;
/// Runs up to this length are also there as diagrams for other tools.
const MAX_DIAGRAM: usize = 20_000;

/// The whole file.
pub(crate) fn page(report: &Report<'_>, course: &Course<'_>) -> String {
    let program = report.program;
    let headline = human::headline(report);
    let trace = if report.traces.is_empty() { threads_section(report) } else { trace_section(report) };
    // What a browser would hide or reorder is seen; in the data of the script these are escapes of JSON.
    let page = fill(
        PAGE,
        &[
            ("title", &escape(&format!("{}: {} - Birk", program.system, report.verdict().word()))),
            ("css", CSS),
            ("js", JS),
            ("verdict", report.verdict().word()),
            ("system", &escape(&program.system)),
            ("model", &escape(&report.source.path)),
            ("headline", &with_code(&escape(&headline))),
            ("constants", &escape(&constants(report))),
            ("properties", &properties(report)),
            ("trace", &trace),
            ("covered", &covered(report)),
            ("unreached", &unreached(report)),
            ("statistics", &statistics(report, course)),
            ("reproduce", &escape(&report.reproduce())),
            ("version", env!("CARGO_PKG_VERSION")),
            ("data", &data(report)),
        ],
    );
    visible(&page).into_owned()
}

/// A page that has nothing but this.
pub(crate) fn plain_page(title: &str, body: &str) -> String {
    let title = escape(title);
    let head = format!(
        "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>"
    );
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head>{head}<style>{CSS}</style></head>\n<body><main><h1>{title}</h1>\n{body}</main></body></html>\n"
    );
    visible(&page).into_owned()
}

/// The constants after `-D`, which the source does not show.
fn constants(report: &Report<'_>) -> String {
    let values: Vec<String> =
        report.program.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if values.is_empty() { String::new() } else { format!("; with {}", values.join(", ")) }
}

/// Puts texts in the places `{{name}}` of a template, each once, from the beginning to the end.
pub(crate) fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the templates close what they open");
        out.push_str(before);
        let text = texts.iter().find(|(key, _)| *key == name).map(|(_, text)| *text);
        out.push_str(text.expect("every place of a template is filled"));
        rest = after;
    }
    out + rest
}

/// What stands between backticks, as code.
pub(crate) fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

/// JSON that cannot end the script element it stands in.
pub(crate) fn embedded(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

fn properties(report: &Report<'_>) -> String {
    let mut out = String::from(
        "<table class=\"properties\"><caption>properties</caption><thead><tr><th scope=\"col\">verdict</th><th scope=\"col\">property</th>\
         <th scope=\"col\">kind</th><th scope=\"col\">grade</th><th scope=\"col\"></th></tr></thead><tbody>\n",
    );
    for answer in &report.answers {
        let length = answer.trace.map(|trace| report.traces[trace].run.steps.len() as u64);
        let note = match (answer.reason.as_deref(), length) {
            _ if answer.untraced.is_some() => human::untraced_text(report, answer),
            (Some(reason), _) => format!("not checked: {reason}"),
            (None, Some(length)) => format!("a trace of {}", count(length, "step")),
            (None, None) => report.by(answer).unwrap_or_default(),
        };
        let grade = answer.grade().map_or("", Grade::letter);
        let (word, name, kind) = (answer.verdict.word(), escape(&answer.property.name), answer.property.word());
        let _ = writeln!(
            out,
            "<tr><td class=\"{word}\"><strong>{word}</strong></td><td class=\"mono\">{name}</td><td>{kind}</td><td>{grade}</td>\
             <td class=\"soft\">{}</td></tr>",
            escape(&note)
        );
    }
    for name in report.unchecked() {
        let name = escape(name);
        let _ = writeln!(
            out,
            "<tr><td>not checked</td><td class=\"mono\">{name}</td><td>labels</td><td></td><td class=\"soft\">check them \
             with --property {name}</td></tr>"
        );
    }
    out + "</tbody></table>\n"
}

/// The runs to show: violations first, because the page opens on the first.
fn runs<'r>(report: &'r Report<'_>) -> Vec<&'r ShownTrace> {
    let mut runs: Vec<_> = report.traces.iter().collect();
    runs.sort_by_key(|trace| report.property_of(trace).wants_goal());
    runs
}

fn trace_section(report: &Report<'_>) -> String {
    let mut options = String::new();
    let runs = runs(report);
    for (index, trace) in runs.iter().enumerate() {
        let text = format!("{} ({})", report.property_of(trace).name, count(trace.run.steps.len() as u64, "step"));
        let _ = write!(options, "<option value=\"{index}\">{}</option>", escape(&text));
    }
    let words = match runs.first() {
        Some(trace) if trace.run.steps.len() <= MAX_WORDS => {
            let (source, program, run) = (report.source, report.program, &trace.run);
            let explanation = trace.explanation.as_ref();
            TraceTable { source, program, run, extent: Extent::Whole, explanation }.text(Look::default())
        }
        _ => "this trace is too long to show here; `birk replay` prints it".to_owned(),
    };
    let none = || Threads { pictures: "<p>Too many transitions to draw.</p>".into(), legend: String::new() };
    let Threads { pictures, legend } = threads(report).unwrap_or_else(none);
    let source = source_lines(report);
    fill(
        TRACE,
        &[
            ("options", &options),
            ("source", &source),
            ("words", &escape(&words)),
            ("pictures", &pictures),
            ("legend", &escape(&legend)),
        ],
    )
}

/// The threads where there is no trace to step through.
fn threads_section(report: &Report<'_>) -> String {
    let Some(Threads { pictures, legend }) = threads(report) else { return String::new() };
    fill(THREADS, &[("pictures", &pictures), ("legend", &escape(&legend))])
}

/// A file, and a line of it.
type Place = (u32, usize);

/// The lines that each transition executes. Where a transformation has several paths, those of the other paths are not
/// among them; braces and the like belong to all.
fn executed(report: &Report<'_>) -> Vec<BTreeSet<Place>> {
    let of = |span: Span| {
        let (file, first, last) = lines(report.source, span);
        (first..=last).map(move |line| (file, line))
    };
    let transitions = &report.program.transitions;
    // Every line that only some of the paths through a text execute.
    let mut optional: HashMap<Span, BTreeSet<Place>> = HashMap::new();
    for transition in transitions {
        optional.entry(transition.span).or_default().extend(transition.parts.iter().flat_map(|&part| of(part)));
    }
    let own = |transition: &Transition| -> BTreeSet<Place> {
        let parts: BTreeSet<Place> = transition.parts.iter().flat_map(|&part| of(part)).collect();
        let others = &optional[&transition.span];
        let rest = of(transition.span).filter(|line| !others.contains(line));
        let received = transition.receiver.iter().flat_map(|receiver| of(receiver.span));
        rest.chain(parts.iter().copied()).chain(received).collect()
    };
    transitions.iter().map(own).collect()
}

/// The text of every file that steps come from; lines that only unreached steps have are marked.
fn source_lines(report: &Report<'_>) -> String {
    let (mut reached, mut missed) = (BTreeSet::new(), BTreeSet::new());
    for (lines, fired) in executed(report).into_iter().zip(&report.hunt.fired) {
        if *fired { &mut reached } else { &mut missed }.extend(lines);
    }
    let files: BTreeSet<u32> = report.program.transitions.iter().map(|transition| transition.span.file).collect();
    let mut out = String::new();
    for &file in files.iter().chain(files.is_empty().then_some(&0)) {
        let source = report.source.file(Span { file, start: 0, end: 0 });
        if files.len() > 1 {
            let _ = writeln!(out, "<div class=\"soft\">{}</div>", escape(&source.path));
        }
        for (index, text) in source.text.lines().enumerate() {
            let line = index + 1;
            let is_never = missed.contains(&(file, line)) && !reached.contains(&(file, line));
            let class = if is_never { " class=\"never\"" } else { "" };
            let _ = write!(
                out,
                "<div data-line=\"{file}:{line}\"{class}><span class=\"n\">{line}</span>{}</div>",
                escape(text)
            );
        }
    }
    out
}

/// The file and the lines of a span, from 1.
fn lines(source: &Source, span: Span) -> (u32, usize, usize) {
    let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
    (span.file, source.position(span).0, source.position(end).0)
}

/// The coverage statement: grade, where the search stopped early, what the next depth would cost, how to continue.
fn covered(report: &Report<'_>) -> String {
    let mut out = format!("<p><strong>{}</strong></p>\n", with_code(&escape(&report.covered())));
    let (cuts, border) = (report.cuts(), &report.hunt.stats.cutoff);
    if !cuts.is_empty() {
        let about = if border.is_estimate { "about " } else { "" };
        let examined = if border.examined < border.states { ", some of them examined" } else { "" };
        let _ = writeln!(
            out,
            "<table><caption>unexplored at {about}{}{examined}, before these steps</caption><thead><tr>\
             <th scope=\"col\">thread</th><th scope=\"col\">location</th><th scope=\"col\">steps</th></tr></thead><tbody>",
            count(border.states, "state")
        );
        for cut in cuts.iter().take(MAX_CUTS) {
            let thread = escape(&report.program.thread(cut.thread).name);
            let location = escape(report.program.location_text(cut.thread, Some(cut.location)));
            let _ = writeln!(
                out,
                "<tr><td class=\"mono\">{thread}</td><td class=\"mono\">{location}</td><td>{}</td></tr>",
                grouped(cut.steps)
            );
        }
        out += "</tbody></table>\n";
    }
    match report.next() {
        Some(Ok(next)) => _ = writeln!(out, "<p>Next: {}.</p>", escape(&human::next_text(&next))),
        Some(Err(reason)) => _ = writeln!(out, "<p>Next: no estimate: {}.</p>", escape(reason)),
        None => {}
    }
    out += &joint::table(report);
    if let Some(command) = report.go_on() {
        let _ = writeln!(out, "<p>To continue:</p><pre>{}</pre>", escape(&command));
    }
    out
}

fn unreached(report: &Report<'_>) -> String {
    if report.hunt.stats.sat().is_some() {
        return "<p>Not known: this engine searches for traces, and does not record which transitions were taken.</p>"
            .into();
    }
    let untaken = report.untaken();
    let mut missed: Vec<(Line, String)> = Vec::new();
    missed.extend(report.missed_locations().into_iter().map(|line| (line, "location never entered".to_owned())));
    for (id, line) in report.lines(&untaken.not_enabled) {
        let guard = report.guard_text(id).map(|guard| format!(": {guard}")).unwrap_or_default();
        missed.push((line, format!("not enabled{guard}")));
    }
    for (ids, why) in [(&untaken.cut, "enabled in unexplored states only"), (&untaken.assumed, "pruned by assume")] {
        missed.extend(report.lines(ids).into_iter().map(|(_, line)| (line, why.to_owned())));
    }
    missed.sort_by_key(|(line, _)| (line.kind, line.line));
    let is_final = report.hunt.coverage == Coverage::Complete;
    if missed.is_empty() {
        return "<p>Every location was entered and every transition was taken.</p>".into();
    }
    let mut out = match is_final {
        true => "<p>The search was complete: these cannot be reached.</p>\n".to_owned(),
        false => "<p>The search stopped early: these were not reached so far.</p>\n".to_owned(),
    };
    for of_thread in missed.chunk_by(|(a, _), (b, _)| a.kind == b.kind) {
        let name = escape(&report.program.kinds[of_thread[0].0.kind].name);
        let _ = writeln!(out, "<h3 class=\"mono\">{name}</h3><table class=\"unreached\"><tbody>");
        for (Line { line, text, .. }, why) in of_thread {
            let (text, why) = (escape(text), escape(why));
            let _ = writeln!(out, "<tr><td>line {line}</td><td class=\"mono\">{text}</td><td>{why}</td></tr>");
        }
        out += "</tbody></table>\n";
    }
    if report.traces.is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>Source</summary><div class=\"scroll source mono\" tabindex=\"0\" role=\"group\" \
             aria-label=\"source\">{}</div></details>",
            source_lines(report)
        );
    }
    out
}

/// Texts by number: each is in the file once.
#[derive(Default)]
struct Words {
    texts: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Words {
    fn number(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.texts.push(visible(text).into_owned());
        self.numbers.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}

/// What the script reads.
fn data(report: &Report<'_>) -> String {
    let program = report.program;
    let mut words = Words::default();
    let traces: Vec<Value> = runs(report).into_iter().map(|trace| trace_data(report, trace, &mut words)).collect();
    let start = program.show(&program.initial_state());
    let names: Vec<String> = start.leaves().into_iter().map(|(name, _)| name).collect();
    let places: Vec<Value> = executed(report).iter().map(|lines| json!(ranges(lines))).collect();
    // Where each is written.
    let lines: Vec<usize> = program.transitions.iter().map(|one| report.source.position(one.span).0).collect();
    embedded(&json!({"names": names, "places": places, "lines": lines, "words": words.texts, "traces": traces}))
}

/// Lines as ranges: the file, the first and the last of each.
fn ranges(lines: &BTreeSet<Place>) -> Vec<(u32, usize, usize)> {
    let mut ranges: Vec<(u32, usize, usize)> = Vec::new();
    for &(file, line) in lines {
        match ranges.last_mut() {
            Some(last) if last.0 == file && last.2 + 1 == line => last.2 = line,
            _ => ranges.push((file, line, line)),
        }
    }
    ranges
}

fn trace_data(report: &Report<'_>, trace: &ShownTrace, words: &mut Words) -> Value {
    let (program, run) = (report.program, &trace.run);
    let chart = chart(report.source, program, run);
    let explanation = trace.explanation.as_ref().filter(|explanation| is_marked(explanation));
    let view = program.view();
    let mut history = view.history();
    let mut before = history.show(&run.states[0]);
    let leaves = before.leaves();
    let initial: Vec<usize> = leaves.iter().map(|(_, value)| words.number(&value.to_string())).collect();
    let places: HashMap<String, usize> = leaves.into_iter().map(|(name, _)| name).zip(0..).collect();
    let mut steps = Vec::new();
    for (at, row) in chart.rows.iter().enumerate() {
        let transition = run.steps[at].transition;
        let thread = program.transition(transition).thread;
        // What a channel does by itself has no location that is shown.
        let own = places.get(&format!("{}@", program.thread(thread).name));
        let after = history.show(&run.states[at + 1]);
        let mut changes = Vec::new();
        for change in before.changes(&after) {
            changes.push(places[&change.name]);
            changes.push(words.number(&change.after.to_string()));
        }
        before = after;
        let title = words.number(&row.title);
        let role = explanation.map(|explanation| word(&explanation.steps[at]));
        steps.push(json!({"l": row.lane, "t": title, "p": transition.index(), "own": own, "c": changes, "role": role}));
    }
    let messages = chart.messages.iter().map(|m| json!([m.sent, m.taken, m.from, m.to, words.number(&m.label)]));
    let messages: Vec<Value> = messages.collect();
    let diagram = |draw: fn(&Chart, &str) -> String, text: &str, word: &str| match chart.rows.len() > MAX_DIAGRAM {
        true => format!("this trace is too long to show here; `birk replay --format {word}` prints it"),
        false => visible(&draw(&chart, text)).into_owned(),
    };
    let short = format!(
        "{} {}",
        report.property_of(trace).name,
        if report.property_of(trace).wants_goal() { "reached" } else { "violated" }
    );
    let ending = Ending { source: report.source, program, property: report.property_of(trace), run };
    let wants_goal = report.property_of(trace).wants_goal();
    let explained = trace.explanation.as_ref().map_or_else(String::new, |explanation| {
        Explained { source: report.source, program, wants_goal, explanation }.text(Paint(false))
    });
    json!({
        "lanes": chart.lanes.iter().map(|lane| words.number(lane)).collect::<Vec<_>>(),
        "initial": initial,
        "steps": steps,
        "messages": messages,
        "loop": run.loop_start,
        "ending": visible(&(ending.details() + &explained)),
        "mermaid": diagram(diagram::mermaid, &short, "mermaid"),
        "plantuml": diagram(diagram::plantuml, &short, "plantuml"),
    })
}
