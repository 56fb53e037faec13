//! The figures of a search for the HTML report: a table, and plots of how it went.

use std::fmt::Write as _;

use birk_engine::SatStats;

use crate::escape::escape;
use crate::numbers::{bytes, grouped};
use crate::progress::{Course, Sample};
use crate::report::Report;
use crate::report::plot::{Titles, bars, curve};

/// So many searches are drawn.
const MAX_PHASES: usize = 12;

/// Of bounded model checking, which counts no states.
fn unrolled_statistics(report: &Report<'_>, unrolled: &SatStats) -> String {
    let depth = grouped(u64::from(report.hunt.stats.max_depth));
    let searched = match unrolled.largest_invariant() {
        Some(clauses) => [("frames", depth), ("clauses of the largest invariant", grouped(clauses))].to_vec(),
        None => [("maximum length of executions", depth)].to_vec(),
    };
    let rest = [
        ("clauses", grouped(unrolled.clauses)),
        ("variables", grouped(unrolled.variables)),
        ("time", format!("{:.3} s with {}", report.seconds, report.engine.name)),
        ("state size in bits", report.program.layout.bits().to_string()),
        ("peak memory of the process", report.peak_memory.map_or_else(|| "not known".into(), bytes)),
    ];
    table(&searched.into_iter().chain(rest).collect::<Vec<_>>())
}

fn table(rows: &[(&str, String)]) -> String {
    let mut out = String::from("<table><tbody>");
    for (name, value) in rows {
        let _ = writeln!(out, "<tr><th scope=\"row\">{name}</th><td class=\"mono\">{value}</td></tr>");
    }
    out + "</tbody></table>\n"
}

pub(crate) fn statistics(report: &Report<'_>, course: &Course<'_>) -> String {
    let stats = &report.hunt.stats;
    let known = stats.transitions.saturating_add(1).saturating_sub(stats.states);
    let unknown = || "not known".to_owned();
    // Sets can have more states than 64 bits hold; then there is nothing to draw.
    let is_held = |number: u64| number != u64::MAX;
    let held = |number: u64| if is_held(number) { grouped(number) } else { "more than 64 bits hold".to_owned() };
    if let Some(unrolled) = stats.sat() {
        return unrolled_statistics(report, unrolled);
    }
    let mut rows = vec![
        ("states", report.states_text()),
        ("transitions", report.transitions_text().unwrap_or_else(unknown)),
        ("steps to visited states", if is_held(stats.transitions) { grouped(known) } else { unknown() }),
        ("states expanded more than once", grouped(stats.revisits)),
        ("maximum depth", report.depth().map_or_else(unknown, |depth| grouped(u64::from(depth)))),
        ("peak frontier", held(stats.peak_frontier)),
        ("time", format!("{:.3} s with {}", report.seconds, report.searched_with())),
        ("state size in bits", report.program.layout.bits().to_string()),
        ("store", bytes(stats.store_bytes)),
        ("peak memory of the process", report.peak_memory.map_or_else(|| "not known".into(), bytes)),
    ];
    if stats.transient > 0 {
        rows.insert(1, ("of these, not stored", grouped(stats.transient)));
    }
    let mut out = table(&rows);
    out += "<div class=\"plots\">\n";
    if !stats.levels.is_empty() && is_held(stats.states) {
        out += &bars(&Titles { title: "States per depth", x: "depth", y: "new states" }, &stats.levels);
    }
    if is_held(stats.states) {
        out += &over_time(course, stats.levels.is_empty());
    }
    out + "</div>\n"
}

/// How the searches went; each phase has plots of its own, with the time since it began.
fn over_time(course: &Course<'_>, has_frontier: bool) -> String {
    let phases: Vec<&[Sample]> =
        course.samples.chunk_by(|a, b| a.phase == b.phase).filter(|phase| phase.len() > 2).collect();
    let mut out = String::new();
    for samples in phases.iter().take(MAX_PHASES) {
        let name = course.phases.get(samples[0].phase).map_or("", String::as_str);
        let of = if course.phases.len() > 1 { format!(": {}", escape(name)) } else { String::new() };
        // Where the search goes level by level, the frontier is the next level.
        if has_frontier && samples[0].search == 0 {
            out += &frontier(samples, &of);
        }
        let began = samples[0].seconds;
        let lasted = samples[samples.len() - 1].seconds - began;
        let (unit, factor) = if lasted < 0.1 { ("ms", 1000.0) } else { ("s", 1.0) };
        let mut over = |title: &str, y: &str, pick: fn(&Sample) -> u64| {
            let point = |one: &Sample| ((one.seconds - began) * factor, pick(one) as f64);
            let searches = samples.chunk_by(|a, b| a.search == b.search);
            let curves: Vec<Vec<(f64, f64)>> = searches.map(|search| search.iter().map(point).collect()).collect();
            let y = if curves.len() > 1 { format!("{y}, a curve for each search") } else { y.to_owned() };
            out += &curve(&Titles { title: &format!("{title}{of}"), x: &format!("time in {unit}"), y: &y }, &curves);
        };
        over("States over time", "states", |sample| sample.states);
        over("Revisited states", "steps to visited states", |sample| {
            (sample.transitions + 1).saturating_sub(sample.states)
        });
    }
    if phases.len() > MAX_PHASES {
        let _ = writeln!(out, "<p class=\"soft\">The first {MAX_PHASES} of {} searches are drawn.</p>", phases.len());
    }
    out
}

/// The largest frontier while states of each depth were expanded; nothing where it was always empty.
fn frontier(samples: &[Sample], of: &str) -> String {
    let deepest = samples.iter().map(|sample| sample.depth).max().unwrap_or(0);
    let mut peaks = vec![0; deepest as usize + 1];
    for sample in samples {
        let most = &mut peaks[sample.depth as usize];
        *most = sample.frontier.max(*most);
    }
    if peaks.iter().all(|most| *most == 0) {
        return String::new();
    }
    let title = format!("Frontier per depth{of}");
    bars(&Titles { title: &title, x: "depth of the state expanded", y: "states in the frontier" }, &peaks)
}
