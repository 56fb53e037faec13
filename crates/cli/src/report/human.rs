//! The report for people: verdict and bound first, then the trace, then what was counted, then what was never
//! reached, then the line that repeats it all.

use std::fmt::Write as _;

use birk::{Answer, AutomatonFigures, Grade, ShownTrace, Slices};
use birk_exec::replay::Decided;
use birk_exec::{Explanation, Fairness, Replayed};
use birk_ir::{Coverage, PropertyKind, Stop, TransitionId, Verdict};

use birk_engine::Relief;

use crate::cli::Fair;
use crate::numbers::{bytes, count, counted, grouped};
use crate::progress::relieved;
use crate::report::ending::Ending;
use crate::report::explained::Explained;
use crate::report::fold::Look;
use crate::report::joint;
use crate::report::statement::{Cut, Next, stopped};
use crate::report::trace_table::{Extent, TraceTable};
use crate::report::{Report, ordinals_text};
use crate::terminal::{Paint, visible};

/// Longer lists are cut.
const MAX_LISTED: usize = 12;
/// So many unexplored places are shown.
const MAX_CUTS: usize = 6;
/// A search that knows that something can be reached looks for the way there in a second pass.
const NO_TRACE: &str = "the search was ended before it had the trace";
/// The same where it was not.
const NOT_NUMBERED: &str = "a step has more outcomes than a trace can number";

/// The whole report.
pub(crate) fn text(report: &Report<'_>, look: Look) -> String {
    let paint = Paint(look.color);
    let mut out = first_line(report, paint);
    properties(&mut out, report, paint);
    for trace in &report.traces {
        let (program, property, run) = (report.program, report.property_of(trace), &trace.run);
        out.push_str(&shown_trace(
            &Ending { source: report.source, program, property, run },
            trace.explanation.as_ref(),
            look,
        ));
        if let Some(thread) = passed_over(report, trace) {
            let _ = writeln!(
                out,
                "  {} {thread} could move in every state of the cycle; --fairness weak excludes such executions",
                paint.dim("hint:")
            );
        }
    }
    statistics(&mut out, report, paint);
    cuts(&mut out, report, paint);
    unreached(&mut out, report, paint);
    ways_on(&mut out, report, paint);
    look.folded(&out).into_owned()
}

/// Who is passed over in a cycle although it could always move, where fairness was not asked for and would exclude this.
fn passed_over(report: &Report<'_>, trace: &ShownTrace) -> Option<String> {
    let is_asked = matches!(report.property_of(trace).kind, PropertyKind::Ltl(_)) && report.args.fairness == Fair::None;
    let fairness = Fairness::weak(report.program).ok().filter(|_| is_asked)?;
    // What a finite prefix violates, fairness does not change.
    if let PropertyKind::Ltl(formula) = &report.property_of(trace).kind
        && !trace.run.because(report.program, formula).iter().any(|line| line.by == Decided::Forever)
    {
        return None;
    }
    trace.run.passed_over(report.program, &fairness).map(|condition| fairness.names[condition].clone())
}

/// The first line without the verdict's word, for pages that show it apart.
pub(crate) fn headline(report: &Report<'_>) -> String {
    let line = first_line(report, Paint(false));
    line.split_once(": ").map_or(line.as_str(), |(_, rest)| rest).trim().to_owned()
}

/// The first line: the verdict and its bound.
fn first_line(report: &Report<'_>, paint: Paint) -> String {
    let model = format!("{} ({})", visible(&report.source.path), report.program.system);
    let word = paint.verdict(report.verdict(), report.verdict().word());
    let states = covered_all(report);
    let detail = match report.verdict() {
        Verdict::Holds if report.joint.is_some() => format!("every property is decided, by {}", report.deciders()),
        Verdict::Holds => match report.hunt.coverage {
            Coverage::Complete if report.is_of_runs() => {
                format!("for every execution ({states} in the product)")
            }
            Coverage::Complete if !report.is_of_all_states() => {
                format!("by a search that would have met a violation ({states} visited)")
            }
            Coverage::Complete if !report.dead.is_empty() => {
                format!("in every reachable state, up to dead variables ({states})")
            }
            Coverage::Complete => format!("in every reachable state ({states})"),
            _ if report.traces.is_empty() => "the types alone exclude every violation".to_owned(),
            _ => "every witness asked for was found".to_owned(),
        },
        Verdict::Violated => violation(report),
        Verdict::Inconclusive => {
            let accepted = if report.is_accepted(report.args.accept) { ", which --accept accepts" } else { "" };
            let why = match (&report.hunt.coverage, report.hunt.stopped) {
                (Coverage::Partial(_), Stop::Exhausted) if report.engine.directed => {
                    "others had a worse heuristic estimate"
                }
                (Coverage::Partial(_), Stop::Exhausted) => "others were left out at random",
                (_, stop) => stopped(stop),
            };
            format!("no violation {}; {why}{accepted}", covered(report))
        }
    };
    format!("{word}: {model}: {detail}\n")
}

fn violation(report: &Report<'_>) -> String {
    let violated: Vec<&Answer> = report.answers.iter().filter(|a| a.verdict == Verdict::Violated).collect();
    let describe = |answer: &&Answer| {
        let run = answer.trace.map(|t| &report.traces[t].run);
        let fewest = answer.trace.and_then(|t| report.traces[t].fewest_within);
        if let Some(steps) = answer.untraced {
            let shortest = if report.is_shortest { ", shortest" } else { "" };
            let length = count(u64::from(steps), "step");
            return format!("`{}` ({length}{shortest}; {})", answer.property.name, no_trace(report));
        }
        match run {
            Some(run) => {
                let is_of_state = run.loop_start.is_none() && answer.property.branching().is_none();
                let is_least = answer.automaton.as_ref().is_some_and(|figures| figures.is_shortest);
                let shortest = match (is_of_state, report.is_shortest) {
                    _ if fewest.is_some() => ", with the fewest context switches",
                    (false, _) if is_least => ", shortest in the product",
                    (true, true) => ", shortest",
                    (true, false) if report.engine.directed => ", perhaps not the shortest",
                    _ => "",
                };
                format!("`{}` ({}{shortest})", answer.property.name, length_text(run))
            }
            None if answer.by.is_some() => {
                let by = report.by(answer).unwrap_or_default();
                format!("`{}` (no witness exists, {by})", answer.property.name)
            }
            None if answer.property.branching().is_some() => {
                format!("`{}` (no witness in {})", answer.property.name, covered_all(report))
            }
            None if report.hunt.stats.sat().is_some() => {
                format!("`{}` (never reached: {})", answer.property.name, covered_all(report))
            }
            None if !report.is_of_all_states() => {
                format!(
                    "`{}` (never reached; {} visited by a reduced search)",
                    answer.property.name,
                    covered_all(report)
                )
            }
            None => format!("`{}` (never reached in {})", answer.property.name, covered_all(report)),
        }
    };
    violated.iter().map(describe).collect::<Vec<_>>().join(", ")
}

fn covered_all(report: &Report<'_>) -> String {
    report.induction().unwrap_or_else(|| report.states())
}

/// What was explored, in words.
fn covered(report: &Report<'_>) -> String {
    match &report.hunt.coverage {
        Coverage::Complete if !report.is_of_all_states() => "by a search that would have met one".into(),
        Coverage::Complete => "in any reachable state".into(),
        Coverage::Depth(depth) => format!("within {} of the start", count(u64::from(*depth), "step")),
        Coverage::Hashed { depth: None, .. } => "in the states reached, up to hash collisions".into(),
        Coverage::Hashed { depth: Some(depth), .. } => format!("within {depth} steps, up to hash collisions"),
        Coverage::Partial(states) if report.slices.as_ref().is_some_and(|slices| slices.done > 1) => {
            format!("in about {}", count(*states, "state"))
        }
        // More than 64 bits hold: the diagrams know.
        Coverage::Partial(u64::MAX) => format!("in the {} explored", report.states()),
        Coverage::Partial(states) => format!("in the {} explored", count(*states, "state")),
    }
}

/// One line a property, when there is more than one to tell apart.
fn properties(out: &mut String, report: &Report<'_>, paint: Paint) {
    let width = report.answers.iter().map(|a| a.property.name.chars().count()).max().unwrap_or(0);
    out.push('\n');
    for answer in &report.answers {
        let note = match (answer.verdict, &answer.reason, answer.trace) {
            _ if answer.untraced.is_some() => untraced_text(report, answer),
            (_, Some(reason), _) => format!("not checked: {reason}"),
            (_, _, Some(trace)) if answer.property.branching().is_some() => {
                let run = &report.traces[trace].run;
                let what = if answer.property.wants_goal() { "witness" } else { "counterexample" };
                format!("{what}: {}", length_text(run))
            }
            (Verdict::Holds, _, Some(trace)) => {
                format!("reached in {}", count(report.traces[trace].run.steps.len() as u64, "step"))
            }
            _ => answer.automaton.as_ref().map(watch_text).unwrap_or_default(),
        };
        let note = [note, report.by(answer).unwrap_or_default()].into_iter().filter(|part| !part.is_empty());
        let note = note.collect::<Vec<_>>().join(", ");
        let kind = answer.property.word();
        let kind = if kind == answer.property.name { "" } else { kind };
        let padding = " ".repeat(12 - answer.verdict.word().len());
        let grade = answer.grade().map_or("-", Grade::letter);
        let line = format!(
            "  {}{padding} {grade}  {:width$}  {kind:9}  {note}",
            paint.verdict(answer.verdict, answer.verdict.word()),
            answer.property.name,
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for name in report.unchecked() {
        let _ = writeln!(out, "  not checked  -  {name:width$}  labels; check them with --property {name}");
    }
}

/// How far away something is of which there is no trace.
pub(crate) fn untraced_text(report: &Report<'_>, answer: &Answer) -> String {
    format!("reached in {}; {}", count(u64::from(answer.untraced.unwrap_or(0)), "step"), no_trace(report))
}

/// Why there is no trace of what was reached.
fn no_trace(report: &Report<'_>) -> &'static str {
    if report.hunt.stopped == Stop::Goal { NOT_NUMBERED } else { NO_TRACE }
}

/// What watched the executions, and how much was explored.
fn watch_text(watch: &AutomatonFigures) -> String {
    let automaton = count(watch.automaton as u64, "state");
    match watch.bound {
        None => format!("product: {}, automaton: {automaton}", count(watch.states, "state")),
        Some(0) => format!("never accepted, automaton: {automaton}"),
        Some(bound) => format!("accepted at most {}, automaton: {automaton}", count(u64::from(bound), "time")),
    }
}

/// How long a run is: steps, and those that repeat.
fn length_text(run: &Replayed) -> String {
    let steps = |number: usize| count(number as u64, "step");
    match run.loop_start {
        None => steps(run.steps.len()),
        Some(start) if start == run.steps.len() => format!("{}, then stutters forever", steps(start)),
        Some(0) => format!("{} forever", steps(run.steps.len())),
        Some(start) => format!("{}, then {} forever", steps(start), steps(run.steps.len() - start)),
    }
}

/// A trace with what it shows at its end.
pub(crate) fn shown_trace(shown: &Ending<'_>, explanation: Option<&Explanation>, look: Look) -> String {
    let Ending { source, program, property, run } = *shown;
    let (paint, mut out) = (Paint(look.color), String::new());
    let title = match property.kind {
        PropertyKind::Deadlock => "deadlock".to_owned(),
        PropertyKind::Fault => "fault".to_owned(),
        _ => format!("{} `{}`", property.word(), property.name),
    };
    let how = match (property.branching().is_some(), property.wants_goal()) {
        (true, true) => "witnessed by",
        (true, false) => "violated by",
        _ if run.loop_start.is_some() => "violated by",
        _ => "in",
    };
    let _ = writeln!(out, "\n{} {how} {}:\n", paint.bold(&title), length_text(run));
    let table = TraceTable { source, program, run, extent: Extent::Ends, explanation };
    out.push_str(&table.text(look));
    out.push('\n');
    out.push_str(&shown.text(look));
    if let Some(explanation) = explanation {
        let wants_goal = property.wants_goal();
        out.push_str(&Explained { source, program, wants_goal, explanation }.text(paint));
    }
    let steps = if table.is_cut() { "too long to show; --trace FILE saves it".to_owned() } else { ordinals_text(run) };
    let _ = writeln!(out, "  {} {steps}", paint.dim("replay:"));
    out
}

/// What a state takes.
fn memory(report: &Report<'_>, is_small: bool) -> String {
    let stats = &report.hunt.stats;
    let mut text = format!("{} bits per state", report.program.layout.bits());
    if !is_small {
        let each = stats.store_bytes as f64 / stats.states.max(1) as f64;
        let _ = write!(text, ", {each:.1} bytes stored per state");
    }
    if stats.transient > 0 {
        let _ = write!(text, ", {} not stored", count(stats.transient, "state"));
    }
    text + &report.peak_memory.map(|peak| format!("; {} peak", bytes(peak))).unwrap_or_default()
}

fn statistics(out: &mut String, report: &Report<'_>, paint: Paint) {
    let stats = &report.hunt.stats;
    let _ = writeln!(out, "\n{} {}", paint.bold("covered:"), report.covered());
    if let Some(slices) = &report.slices {
        self::slices(out, slices, paint);
    }
    // Averages over a handful of states say nothing.
    let is_small = stats.states < 1000 || stats.bdd().is_some() || stats.sat().is_some();
    let rate = grouped((stats.states as f64 / report.first_seconds().max(1e-9)) as u64);
    let rate = if is_small { String::new() } else { format!(", {rate} states/s") };
    let states = counted(&report.states_text(), "state");
    let transitions = report.transitions_text().map_or("steps not counted".into(), |text| counted(&text, "transition"));
    let depth = report.depth().map(|depth| format!(", depth {depth}")).unwrap_or_default();
    let searched = match stats.sat() {
        Some(unrolled) if unrolled.largest_invariant().is_some() => count(u64::from(stats.max_depth), "frame"),
        Some(_) => format!("executions of up to {}", count(u64::from(stats.max_depth), "step")),
        None => format!("{states}, {transitions}{depth}"),
    };
    let _ = writeln!(out, "{} {searched}", paint.bold("searched:"));
    if let Some(unrolled) = stats.sat() {
        let (clauses, variables) = (count(unrolled.clauses, "clause"), count(unrolled.variables, "variable"));
        let _ = writeln!(out, "{} {clauses}, {variables}", paint.bold("unrolled:"));
    }
    if let Some(sets) = stats.bdd() {
        let (nodes, iterations) = (count(sets.peak_nodes, "node"), count(u64::from(sets.iterations), "iteration"));
        let _ = writeln!(out, "{} {nodes} at peak, {iterations}", paint.bold("BDDs:"));
    }
    let seconds = report.first_seconds();
    let _ = writeln!(out, "{} {seconds:.3} s with {}{rate}", paint.bold("time:"), report.searched_with());
    if let Some(joint) = &report.joint {
        let _ = writeln!(out, "{} {:.3} s by other engines{}", paint.bold("hunt:"), joint.seconds, report.found());
        joint::lines(report).iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    let _ = writeln!(out, "{} {}", paint.bold("memory:"), memory(report, is_small));
    if let Some(disk) = stats.disk() {
        let [peak, written, read] = [disk.peak_bytes, disk.written, disk.read].map(bytes);
        let _ = writeln!(out, "{} {peak} at peak, {written} written, {read} read", paint.bold("files:"));
    }
    if let Some(exchange) = stats.exchange().filter(|exchange| exchange.blocks > 0) {
        let (sent, blocks) = (bytes(exchange.bytes), count(exchange.blocks, "block"));
        let compressed = grouped(exchange.compressed_blocks);
        let _ = writeln!(out, "{} {sent} sent in {blocks}, {compressed} compressed", paint.bold("exchange:"));
    }
    if let Some(bounded) = stats.bounded().filter(|bounded| !bounded.relief.is_empty()) {
        let step =
            |(relief, states): &(Relief, u64)| format!("after {} states, {}", grouped(*states), relieved(*relief));
        let steps: Vec<String> = bounded.relief.iter().map(step).collect();
        let _ = writeln!(out, "{} {}", paint.bold("memory was short:"), steps.join("; "));
    }
    if stats.cut > 0 {
        let branches = if stats.cut == 1 { "branch" } else { "branches" };
        let _ = writeln!(out, "{} {} {branches} pruned by `assume`", paint.bold("assumed:"), grouped(stats.cut));
    }
}

/// How many slices there were, where a violation was, and what it means that there was none.
fn slices(out: &mut String, slices: &Slices, paint: Paint) {
    if slices.asked.is_none() && slices.done == 1 {
        return;
    }
    let _ = write!(out, "{} {}", paint.bold("slices:"), grouped(slices.done));
    if let Some(asked) = slices.asked.filter(|asked| *asked != slices.done) {
        let _ = write!(out, " of {}", grouped(asked));
    }
    let last = if slices.is_doubling { ", the last" } else { "" };
    let _ = write!(out, "{last} of width {}", grouped(slices.width as u64));
    if let Some((number, seed, width)) = slices.found_in {
        let _ = write!(out, "; the violation is in number {number} (--seed {seed} --width {width})");
    }
    out.push('\n');
    if let Some((confidence, rate)) = slices.ruled_out {
        let _ = writeln!(
            out,
            "{} {confidence} that fewer than {:.2} % of such slices have a violation; this is about slices of this width, \
             drawn in this way, and is not a probability that the model is correct",
            paint.bold("confidence:"),
            rate * 100.0
        );
    }
}

/// Where the search stopped early: which threads had steps there.
fn cuts(out: &mut String, report: &Report<'_>, paint: Paint) {
    let (cuts, border) = (report.cuts(), &report.hunt.stats.cutoff);
    if cuts.is_empty() {
        return;
    }
    let examined = match border.examined < border.states {
        true => format!(" ({} examined)", grouped(border.examined)),
        false => String::new(),
    };
    let about = if border.is_estimate { "about " } else { "" };
    let states = count(border.states, "state");
    let title = paint.bold("unexplored at:");
    let _ = writeln!(out, "{title} {about}{states}{examined}, before these steps, most frequent first");
    let name = |cut: &Cut| {
        let location = report.program.location_text(cut.thread, Some(cut.location));
        format!("{} @ {location}", report.program.thread(cut.thread).name)
    };
    let shown = &cuts[..cuts.len().min(MAX_CUTS)];
    let width = shown.iter().map(|cut| name(cut).chars().count()).max().unwrap_or(0);
    for cut in shown {
        let _ = writeln!(out, "  {:width$}  {}", name(cut), count(cut.steps, "step"));
    }
    if cuts.len() > shown.len() {
        let _ = writeln!(out, "  … ({} more)", cuts.len() - shown.len());
    }
}

/// What was not reached, and what is known of it.
fn unreached(out: &mut String, report: &Report<'_>, paint: Paint) {
    if report.is_of_runs() {
        return;
    }
    let untaken = report.untaken();
    let plain = |ids: &[TransitionId]| report.written(ids).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    let guarded = |(id, name): (TransitionId, String)| {
        let guard = report.guard_text(id).map(|guard| format!(" `{}`", visible(&guard))).unwrap_or_default();
        name + &guard
    };
    let rows = [
        ("locations", report.unreached().locations),
        ("not enabled", report.written(&untaken.not_enabled).into_iter().map(guarded).collect()),
        ("enabled, unexplored", plain(&untaken.cut)),
        ("pruned by `assume`", plain(&untaken.assumed)),
    ];
    if rows.iter().all(|(_, names)| names.is_empty()) {
        return;
    }
    let is_final = report.hunt.coverage == Coverage::Complete;
    let _ = writeln!(out, "{}", paint.bold(if is_final { "never reached:" } else { "not reached so far:" }));
    let width = rows.iter().filter(|(_, names)| !names.is_empty()).map(|(what, _)| what.len()).max().unwrap_or(0);
    for (what, names) in rows.iter().filter(|(_, names)| !names.is_empty()) {
        let mut line: String = names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
        if names.len() > MAX_LISTED {
            let _ = write!(line, " … ({} more)", names.len() - MAX_LISTED);
        }
        let _ = writeln!(out, "  {what:width$}  {line}");
    }
}

/// What the next depth would cost, and how to go on.
fn ways_on(out: &mut String, report: &Report<'_>, paint: Paint) {
    if let Some(next) = report.next() {
        let text = next.map_or_else(|reason| format!("no estimate: {reason}"), |next| next_text(&next));
        let _ = writeln!(out, "{} {text}", paint.bold("next:"));
    }
    // The same command is the next run of a campaign.
    let label = if report.args.campaign.is_some() { "continue:" } else { "reproduce:" };
    let _ = writeln!(out, "\n{} {}", paint.bold(label), report.reproduce());
    if let Some(command) = report.go_on() {
        let _ = writeln!(out, "{} {command}", paint.bold("continue:"));
    }
}

/// The next depth, in words.
pub(crate) fn next_text(next: &Next) -> String {
    let (least, most) = next.states;
    let states = match least == most {
        true => count(most, "state"),
        false => format!("{} to {}", grouped(least), count(most, "state")),
    };
    let seconds = match next.seconds {
        (_, most) if most < 1.0 => "less than a second".to_owned(),
        (least, most) => format!("{least:.1} to {most:.1} s"),
    };
    let memory = next.memory.map(|(least, most)| format!(" and {} to {}", bytes(least), bytes(most)));
    let known = if least == most { "has" } else { "probably has" };
    let depth = next.depth;
    format!("depth {depth} {known} {states}; searching to it takes {seconds}{}", memory.unwrap_or_default())
}
