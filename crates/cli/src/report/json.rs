//! The reports for programs: one JSON object, schema 1. The types here are the schema (`birk schema`); the manual describes every
//! field.

use birk::{Answer, Grade, Slices};
use birk_exec::replay::Shows;
use birk_exec::{Explanation, Replayed};
use birk_ir::{Change, Program, Property, PropertyKind, ShownState, ShownValue, Span, ThreadId, TransitionId, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{Fair, StoreKind};
use crate::report::covered::{Count, CoverageReport};
use crate::report::disk::DiskReport;
use crate::report::ending::Ending;
use crate::report::exchange::ExchangeReport;
use crate::report::explained::{Explained, ExplanationReport};
use crate::report::joint::HuntReport;
use crate::report::statement::Next;
use crate::report::{Report, ordinals_text};
use crate::source::Source;

/// The report of `birk check`.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckReport {
    schema: u32,
    birk: &'static str,
    model: String,
    system: String,
    constants: Fields,
    engine: &'static str,
    store: &'static str,
    threads: usize,
    seed: u64,
    verdict: &'static str,
    coverage: CoverageReport,
    stopped_by: &'static str,
    properties: Vec<PropertyReport>,
    stats: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    slices: Option<SlicesReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunt: Option<HuntReport>,
    unreached: Option<Unreached>,
    unexplored: Option<Cutoff>,
    next: Option<NextDepth>,
    traces: Vec<TraceReport>,
    reproduce: String,
    #[serde(rename = "continue")]
    go_on: Option<String>,
}

/// Names and values, in the order of the model.
pub(crate) type Fields = serde_json::Map<String, Value>;

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct PropertyReport {
    name: String,
    kind: &'static str,
    verdict: &'static str,
    grade: Option<&'static str>,
    /// Where the model states it; null for what is asked of every model.
    source: Option<Region>,
    /// Position among the traces.
    trace: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    untraced_steps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    /// Seconds after which the hunt knew of the violation; the search may have gone on for a shorter trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_after: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fairness: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    automaton: Option<AutomatonReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    product: Option<ProductReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct AutomatonReport {
    states: usize,
    strength: &'static str,
    /// No run is accepted more often, where that was proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct ProductReport {
    states: u64,
    transitions: u64,
    /// No lasso of the product has fewer steps than the one that was found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    shortest: bool,
    seconds: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    states: Option<Count>,
    transitions: Option<Count>,
    max_depth: Option<u32>,
    revisits: u64,
    /// States that were not stored, because only one step leads on from them; each visit counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    transient: Option<u64>,
    pruned_by_assume: u64,
    seconds: f64,
    states_per_second: Option<f64>,
    peak_memory_bytes: Option<u64>,
    store_bytes_per_state: Option<f64>,
    state_bits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unrolled: Option<Unrolled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontier: Option<Frontier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<DiskReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange: Option<ExchangeReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Unrolled {
    clauses: u64,
    variables: u64,
    induction: Option<u32>,
    invariant: Option<u64>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Frontier {
    kept_as: &'static str,
    peak_states: u64,
    bytes_per_state: f64,
    peak_bytes: u64,
    replays: u64,
    steps_per_replay: f64,
    relief: Vec<ReliefStep>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct ReliefStep {
    step: &'static str,
    states: u64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct SlicesReport {
    asked: Option<u64>,
    done: u64,
    width: usize,
    visits: u64,
    found_in: Option<FoundIn>,
    ruled_out: Option<RuledOut>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct FoundIn {
    number: u64,
    seed: u64,
    width: usize,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct RuledOut {
    confidence: f64,
    rate: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Unreached {
    transitions: Vec<String>,
    locations: Vec<String>,
    not_enabled: Vec<NotEnabled>,
    unexplored: Vec<String>,
    pruned: Vec<String>,
}

/// A transition that was never enabled, with its condition.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct NotEnabled {
    transition: String,
    guard: Option<String>,
    source: Place,
}

/// A place in the text, from 1.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    fn new(source: &Source, span: Span) -> Self {
        let (line, column) = source.position(span);
        Self { line, column }
    }
}

/// A part of a file: its first letter, and behind its last, from 1.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Region {
    file: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl Region {
    fn new(source: &Source, span: Span) -> Self {
        let ((line, column), (end_line, end_column)) = (source.position(span), source.end(span));
        Self { file: source.file(span).path.clone(), line, column, end_line, end_column }
    }
}

/// Where the search stopped early.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Cutoff {
    states: u64,
    examined: u64,
    estimated: bool,
    at: Vec<CutoffAt>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct CutoffAt {
    thread: String,
    location: String,
    steps: u64,
}

/// What the next depth would cost, at least and at most; or why that cannot be told.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum NextDepth {
    Unknown { reason: &'static str },
    Known { depth: u32, states: (u64, u64), seconds: (f64, f64), memory_bytes: Option<(u64, u64)> },
}

/// A run with its steps and states.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceReport {
    property: Option<String>,
    length: usize,
    /// The step from which on the rest repeats forever.
    #[serde(rename = "loop")]
    loop_start: Option<usize>,
    steps: Vec<StepReport>,
    states: Vec<Fields>,
    replay: String,
    /// What it shows, line by line: who waits for what, which values decide, what repeats forever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    why: Vec<String>,
    /// Which of its steps matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ExplanationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shows: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultReport>,
    /// Of a simulation: the seed of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct StepReport {
    thread: String,
    from: String,
    to: Option<String>,
    source: Place,
    changes: Fields,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct FaultReport {
    kind: &'static str,
    message: String,
    source: Place,
}

/// The report as text, with a line feed at its end.
pub(crate) fn text(report: &Report<'_>) -> String {
    let document = CheckReport {
        schema: 1,
        birk: env!("CARGO_PKG_VERSION"),
        model: report.source.path.clone(),
        system: report.program.system.clone(),
        constants: constants(report.program),
        engine: report.searched_with(),
        store: match report.args.store {
            StoreKind::Exact => "exact",
            StoreKind::Compact => "compact",
            StoreKind::Bitstate => "bitstate",
        },
        threads: report.threads,
        seed: report.args.seed,
        verdict: report.verdict().word(),
        coverage: CoverageReport::new(report),
        stopped_by: report.hunt.stopped.word(),
        properties: report.answers.iter().map(|answer| property(report, answer)).collect(),
        stats: figures(report),
        slices: report.slices.as_ref().map(slices),
        hunt: HuntReport::of(report),
        unreached: unreached(report),
        unexplored: cutoff(report),
        next: next(report),
        traces: report
            .traces
            .iter()
            .map(|trace| {
                let (property, shown) = (report.property_of(trace), (&trace.run, trace.explanation.as_ref()));
                trace_report(report.source, report.program, Some(property), shown)
            })
            .collect(),
        reproduce: report.reproduce(),
        go_on: report.go_on(),
    };
    serde_json::to_string_pretty(&document).expect("a report has only string keys") + "\n"
}

/// The constants of a program, as JSON has them.
pub(crate) fn constants(program: &Program) -> Fields {
    let value = |text: &str| match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Into::into),
    };
    program.constants.iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

fn figures(report: &Report<'_>) -> Figures {
    let stats = &report.hunt.stats;
    let sets = stats.bdd();
    let states = sets.and_then(|sets| sets.states.parse().ok()).unwrap_or(stats.states as f64);
    let is_counted = stats.sat().is_none();
    Figures {
        states: match sets {
            None => is_counted.then_some(Count::Number(stats.states)),
            Some(sets) => Some(Count::new(&sets.states)),
        },
        transitions: match sets {
            None => is_counted.then_some(Count::Number(stats.transitions)),
            Some(sets) => sets.transitions.as_deref().map(Count::new),
        },
        max_depth: report.depth(),
        revisits: stats.revisits,
        transient: Some(stats.transient).filter(|&transient| transient > 0),
        pruned_by_assume: stats.cut,
        seconds: report.seconds,
        states_per_second: is_counted.then(|| (states / report.seconds.max(1e-9)).round()),
        peak_memory_bytes: report.peak_memory,
        store_bytes_per_state: is_counted.then(|| stats.store_bytes as f64 / states.max(1.0)),
        state_bits: report.program.layout.bits(),
        peak_nodes: sets.map(|sets| sets.peak_nodes),
        iterations: sets.map(|sets| sets.iterations),
        unrolled: stats.sat().map(|sat| Unrolled {
            clauses: sat.clauses,
            variables: sat.variables,
            induction: sat.proved_at,
            invariant: sat.largest_invariant(),
        }),
        frontier: frontier(stats),
        disk: DiskReport::of(stats),
        exchange: ExchangeReport::of(stats),
    }
}

fn frontier(stats: &birk_engine::Stats) -> Option<Frontier> {
    let bounded = stats.bounded()?;
    let frontier = bounded.frontier?;
    let relief = bounded.relief.iter().map(|&(relief, states)| ReliefStep { step: relief.word(), states });
    Some(Frontier {
        kept_as: frontier.kind,
        peak_states: frontier.states,
        bytes_per_state: frontier.bytes as f64 / frontier.states.max(1) as f64,
        peak_bytes: frontier.peak_bytes,
        replays: frontier.replays,
        steps_per_replay: frontier.replayed as f64 / frontier.replays.max(1) as f64,
        relief: relief.collect(),
    })
}

fn property(report: &Report<'_>, answer: &Answer) -> PropertyReport {
    let is_ctl = matches!(answer.property.kind, PropertyKind::Ctl(_));
    let has_fairness = answer.automaton.is_some() || (is_ctl && answer.reason.is_none());
    let fairness = match report.args.fairness {
        Fair::None => "none",
        Fair::Weak => "weak",
        Fair::Strong => "strong",
    };
    let figures = answer.automaton.as_ref();
    PropertyReport {
        name: answer.property.name.clone(),
        kind: answer.property.word(),
        verdict: answer.verdict.word(),
        grade: answer.grade().map(Grade::letter),
        source: answer.property.span.map(|span| Region::new(report.source, span)),
        trace: answer.trace,
        untraced_steps: answer.untraced,
        reason: answer.reason.clone().filter(|_| answer.verdict == Verdict::Inconclusive),
        by: report.member(answer).map(|member| member.name),
        found_after: answer.after.map(|after| after.as_secs_f64()),
        fairness: has_fairness.then_some(fairness),
        automaton: figures.map(|of| AutomatonReport { states: of.automaton, strength: of.strength, bound: of.bound }),
        product: figures.filter(|of| of.bound.is_none()).map(|of| ProductReport {
            states: of.states,
            transitions: of.transitions,
            shortest: of.is_shortest,
            seconds: of.seconds,
        }),
    }
}

fn slices(slices: &Slices) -> SlicesReport {
    SlicesReport {
        asked: slices.asked,
        done: slices.done,
        width: slices.width,
        visits: slices.visits,
        found_in: slices.found_in.map(|(number, seed, width)| FoundIn { number, seed, width }),
        ruled_out: slices.ruled_out.map(|(confidence, rate)| RuledOut { confidence, rate }),
    }
}

/// What was never taken or entered; nothing where nobody noted it.
fn unreached(report: &Report<'_>) -> Option<Unreached> {
    let program = report.program;
    let is_noted = report.hunt.stats.sat().is_none() && report.hunt.fired.len() == program.transitions.len();
    let (unreached, untaken) = (report.unreached(), report.untaken());
    let texts = |ids: &[TransitionId]| ids.iter().map(|&id| program.transition_text(id)).collect();
    let not_enabled = |&id: &TransitionId| NotEnabled {
        transition: program.transition_text(id),
        guard: report.guard_text(id),
        source: Place::new(report.source, program.transition(id).span),
    };
    is_noted.then(|| Unreached {
        transitions: texts(&unreached.transitions),
        locations: unreached.locations,
        not_enabled: untaken.not_enabled.iter().map(not_enabled).collect(),
        unexplored: texts(&untaken.cut),
        pruned: texts(&untaken.assumed),
    })
}

fn cutoff(report: &Report<'_>) -> Option<Cutoff> {
    let cutoff = &report.hunt.stats.cutoff;
    let at = report.cuts().into_iter().map(|cut| CutoffAt {
        thread: report.program.thread(cut.thread).name.clone(),
        location: report.program.location_text(cut.thread, Some(cut.location)).to_owned(),
        steps: cut.steps,
    });
    (cutoff.states > 0).then(|| Cutoff {
        states: cutoff.states,
        examined: cutoff.examined,
        estimated: cutoff.is_estimate,
        at: at.collect(),
    })
}

fn next(report: &Report<'_>) -> Option<NextDepth> {
    Some(match report.next()? {
        Err(reason) => NextDepth::Unknown { reason },
        Ok(Next { depth, states, seconds, memory }) => {
            NextDepth::Known { depth, states, seconds, memory_bytes: memory }
        }
    })
}

/// A run with its steps and states.
pub(crate) fn trace_report(
    source: &Source,
    program: &Program,
    property: Option<&Property>,
    (run, explanation): (&Replayed, Option<&Explanation>),
) -> TraceReport {
    let wants_goal = property.is_some_and(Property::wants_goal);
    let formula = property.and_then(Property::branching);
    let shows = |formula| if run.shows(program, formula) == Shows::Part { "part" } else { "whole" };
    let fault = run.fault.map(|id| &program.faults[id.index()]);
    let view = program.view();
    let mut history = view.history();
    let mut before = history.show(&run.states[0]);
    let (mut steps, mut states) = (Vec::new(), vec![state_fields(&before)]);
    for at in 0..run.steps.len() {
        let after = history.show(&run.states[at + 1]);
        steps.push(step(source, program, run, at, &before.changes(&after)));
        states.push(state_fields(&after));
        before = after;
    }
    TraceReport {
        property: property.map(|property| property.name.clone()),
        length: run.steps.len(),
        loop_start: run.loop_start,
        steps,
        states,
        replay: ordinals_text(run),
        why: property.map_or(Vec::new(), |property| lines(&Ending { source, program, property, run }.details())),
        explanation: explanation.map(|explanation| Explained { source, program, wants_goal, explanation }.json()),
        shows: formula.map(shows),
        fault: fault.map(|fault| FaultReport {
            kind: fault.kind.word(),
            message: fault.message.clone(),
            source: Place::new(source, fault.span),
        }),
        seed: None,
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn step(source: &Source, program: &Program, run: &Replayed, at: usize, changes: &[Change<'_, '_>]) -> StepReport {
    let transition = program.transition(run.steps[at].transition);
    let faults = at + 1 == run.steps.len() && program.is_faulty(run.last());
    let others = changes.iter().filter(|change| !is_location_of(program, transition.thread, &change.name));
    let changes = others.map(|change| (change.name.clone(), value(change.after, &PLAIN)));
    StepReport {
        thread: program.thread(transition.thread).name.clone(),
        from: location(program, transition.thread, &run.states[at]),
        to: (!faults).then(|| location(program, transition.thread, &run.states[at + 1])),
        source: Place::new(source, transition.span),
        changes: changes.collect(),
    }
}

/// Whether this is the name of a thread's location: its change is shown as `from` and `to`.
pub(crate) fn is_location_of(program: &Program, thread: ThreadId, name: &str) -> bool {
    name.strip_suffix('@') == Some(&program.thread(thread).name)
}

fn location(program: &Program, thread: ThreadId, state: &[u32]) -> String {
    program.location_text(thread, program.location_of(thread, state)).to_owned()
}

fn state_fields(state: &ShownState<'_>) -> Fields {
    let variables = state.variables.iter();
    variables.map(|variable| (variable.name.to_string(), value(&variable.value, &PLAIN))).collect()
}

/// How values are written for which JSON has no form of its own.
pub(crate) struct Forms {
    /// A set, of its members.
    pub(crate) set: fn(Vec<Value>) -> Value,
    /// A map, of its keys with their values.
    pub(crate) map: fn(Vec<(i64, Value)>) -> Value,
}

/// Sets as lists, maps as objects.
const PLAIN: Forms =
    Forms { set: Value::Array, map: |pairs| pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect() };

/// A value as JSON has it.
pub(crate) fn value(shown: &ShownValue<'_>, forms: &Forms) -> Value {
    match shown {
        ShownValue::Boolean(value) => (*value).into(),
        ShownValue::Number(value) => (*value).into(),
        ShownValue::Set(members) => (forms.set)(members.iter().map(|&member| member.into()).collect()),
        ShownValue::Map(pairs) => (forms.map)(pairs.iter().map(|(key, held)| (*key, value(held, forms))).collect()),
        ShownValue::Record(fields) => {
            fields.iter().map(|(name, field)| ((*name).to_owned(), value(field, forms))).collect()
        }
        ShownValue::Array(values) | ShownValue::Queue(values) | ShownValue::Sequence(values) => {
            values.iter().map(|element| value(element, forms)).collect()
        }
        ShownValue::Name(_) | ShownValue::Location(_) => shown.to_string().into(),
    }
}
