//! `birk check`: from text to verdict and trace.

mod branching;
mod late;
mod runs;
mod slices;

use std::path::Path;

use birk_exec::{Directed, GoalSet, Heuristic, goal_of, replay};
use birk_ir::{Coverage, Expr, Goal, Outcome, Program, Property, PropertyKind, Stop, Verdict};
use birk_jit::Staged;
use birk_search::bits::Field;
use birk_search::profile::Profile;
use birk_search::{Hunt, Job, Limits, Stats, Storage, Waiting};

pub(crate) use runs::Watch;
use runs::{Question, fairness};
use slices::Sliced;
pub(crate) use slices::Slices;

use crate::cli::{Accept, CheckArgs, Fair, Format, FrontierKind, OnOff, StoreKind, Threads};
use crate::commands::{print, print_for_people};
use crate::engines::{self, Engine, Way, engine};
use crate::limits::{self, Memory};
use crate::progress::{Sample, Watcher};
use crate::report::statement::Grade;
use crate::report::{self, Answer, Report, ShownTrace};
use crate::saved::{Identity, Keeper, Kept};
use crate::source::{Source, load, uses_color};
use crate::{Exit, Failure, durable, itf, saved, say};

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    check(args, None)
}

/// Goes on with a search that was kept in the folder of `--checkpoint`.
pub(crate) fn resume(args: &CheckArgs, kept: Kept) -> Result<Exit, Failure> {
    check(args, Some(kept))
}

fn check(args: &CheckArgs, kept: Option<Kept>) -> Result<Exit, Failure> {
    let engine = engine(&args.search).expect("the command line offers only engines of the table");
    reconcile(args, &engine)?;
    let (source, mut program) = load(&args.model)?;
    let of_file = Question::read(args, &source)?;
    if of_file.is_some() {
        let property = Property { name: "automaton".into(), kind: PropertyKind::Automaton, span: None };
        program.properties.push(property);
    }
    branching::make_fair(&mut program, args)?;
    let properties = selected(&program, &args.property, args.deadlock)?;
    reconcile_with(args, &properties)?;
    let hunted = hunted(&program, &properties)?;
    let mut watcher = Watcher::start(args.progress, args.time)?;
    let memory = Memory::new(args.memory);
    watcher.limit_memory(memory);
    let limits = limits_of(args, &engine, memory);
    if args.report.is_some() {
        watcher.remember();
    }
    let is_resumed = kept.is_some();
    if let Some(folder) = &args.checkpoint {
        watcher.keep(keeper(folder, Identity::new(&source, &args.given), kept)?);
    }
    let asked = Asked { args, engine: &engine, source: &source, program: &program, properties: &properties, limits };
    let (settled, pulse) = (late::Settled::default(), watcher.pulse());
    late::watched(&asked, &settled, &pulse, || {
        answer(&asked, of_file.as_ref(), &hunted, is_resumed, &settled, &mut watcher)
    })
}

/// What is asked, and by which engine.
struct Asked<'a> {
    args: &'a CheckArgs,
    engine: &'a Engine,
    source: &'a Source,
    program: &'a Program,
    properties: &'a [&'a Property],
    limits: Limits,
}

/// Searches, and reports what was found.
fn answer(
    asked: &Asked<'_>,
    of_file: Option<&Question>,
    hunted: &[(usize, Goal)],
    is_resumed: bool,
    settled: &late::Settled,
    watcher: &mut Watcher,
) -> Result<Exit, Failure> {
    let &Asked { args, engine, source, program, properties, limits } = asked;
    let mut answers: Vec<Answer<'_>> = properties.iter().map(|property| Answer::open(property)).collect();
    let mut traces = Vec::new();
    let question = |property: &&Property| property.is_of_runs().then(|| Question::of(property, of_file));
    let questions: Vec<Option<Result<Question, String>>> = properties.iter().map(question).collect();
    let fairness = fairness(program, args)?;
    let groups = branching::Group::all(properties);
    let sliced = engine.slices.then(|| {
        let job = job(args, limits, properties, hunted);
        let asked = slices::Asked { questions: &questions, groups: &groups };
        slices::check(program, args, &job, hunted, &asked, fairness.as_ref(), watcher)
    });
    let (mut hunt, mut assumed, mut chased, mut branched, slices) = match sliced {
        Some(sliced) => {
            let Sliced { hunt, chased, branched, slices, assumed } = sliced;
            (hunt, Some(assumed), Some(chased), Some(branched.into_iter()), Some(slices))
        }
        None => {
            let (hunt, assumed) = hunt_states(program, args, engine, limits, properties, hunted, watcher)?;
            (hunt, assumed, None, None, None)
        }
    };
    watcher.end();
    if let Some(failure) = watcher.keeper().and_then(Keeper::refusal) {
        return Err(failure);
    }
    // What a search took before it was kept is not known, so nothing is guessed from it.
    let mut profile = if is_resumed { Profile::default() } else { Profile::of(&hunt.stats) };
    for ((index, goal), outcome) in hunted.iter().zip(&hunt.outcomes) {
        let property = properties[*index];
        // A goal that the types exclude needs no search.
        let is_excluded = *goal == Goal::BadState(Expr::FALSE);
        let outcome = if is_excluded { &Outcome::Absent } else { outcome };
        let is_open = *outcome == Outcome::Inconclusive;
        assert!(!is_open || hunt.coverage != Coverage::Complete, "a complete search decides every goal");
        // What is absent is so in every state, also where other goals are still open.
        let is_absent = *outcome == Outcome::Absent;
        answers[*index].coverage = Some(if is_absent { Coverage::Complete } else { hunt.coverage.clone() });
        answers[*index].verdict = property.verdict(outcome);
        if let Outcome::Untraced(steps) = outcome {
            answers[*index].untraced = Some(*steps);
        }
        if let Outcome::Found(trace) = outcome {
            let run = replay(program, trace).map_err(|error| impostor(property, &error))?;
            run.confirm(program, property).map_err(|error| impostor(property, &error))?;
            answers[*index].trace = Some(traces.len());
            traces.push(ShownTrace { property, run });
        }
        settled.note(*index, &answers[*index], &traces);
    }
    let mut has_states = !hunted.is_empty() || slices.is_some();
    let mut is_over = answers.iter().any(|answer| answer.verdict == Verdict::Violated) && !args.keep_going;
    for group in &groups {
        let decided = match &mut branched {
            // In the slices it was decided before, or its turn never came.
            Some(branched) => match branched.next().flatten() {
                Some(decided) => decided?,
                None => continue,
            },
            None if is_over || matches!(hunt.stopped, Stop::Time | Stop::Interrupt) => break,
            None => {
                watcher.next_search();
                group.decide(program, args, limits, watcher)?
            }
        };
        watcher.end();
        for (index, verdict) in decided.answers {
            answers[index].verdict = verdict.verdict;
            answers[index].coverage = verdict.reason.is_none().then(|| decided.hunt.coverage.clone());
            answers[index].reason = verdict.reason;
            is_over |= answers[index].verdict == Verdict::Violated && !args.keep_going;
            if let Some(run) = verdict.run {
                answers[index].trace = Some(traces.len());
                traces.push(ShownTrace { property: properties[index], run });
            }
            settled.note(index, &answers[index], &traces);
        }
        if covers_less(&decided.hunt, &hunt, has_states) {
            profile = Profile::of(&decided.hunt.stats);
        }
        hunt = joined(hunt, decided.hunt, has_states);
        has_states = true;
    }
    for answer in answers.iter_mut().filter(|answer| answer.property.branching().is_some()) {
        if answer.coverage.is_none() && answer.reason.is_none() {
            answer.reason = Some(unasked(is_over, hunt.stopped));
        }
    }
    for (index, question) in questions.into_iter().enumerate() {
        let (answer, property) = (&mut answers[index], properties[index]);
        let question = match question {
            None => continue,
            Some(Ok(question)) => question,
            Some(Err(reason)) => {
                answer.reason = Some(reason);
                continue;
            }
        };
        let decided = match &mut chased {
            Some(chased) => match chased[index].take() {
                Some((hunt, seconds)) => question.decided(program, property, fairness.as_ref(), hunt, seconds)?,
                None => {
                    answer.reason = Some(unasked(is_over, hunt.stopped));
                    continue;
                }
            },
            None if is_over || matches!(hunt.stopped, Stop::Time | Stop::Interrupt) => {
                answer.reason = Some(unasked(is_over, hunt.stopped));
                continue;
            }
            None => {
                watcher.next_search();
                question.decide(program, property, args, limits, watcher)?
            }
        };
        answer.verdict = property.verdict(&decided.hunt.outcomes[0]);
        answer.watch = Some(decided.watch);
        answer.coverage = Some(decided.hunt.coverage.clone());
        let all = assumed.iter_mut().flatten();
        all.zip(decided.assumed).for_each(|(all, one)| *all |= one);
        is_over |= answer.verdict == Verdict::Violated && !args.keep_going;
        if let Some(run) = decided.run {
            answer.trace = Some(traces.len());
            traces.push(ShownTrace { property, run });
        }
        settled.note(index, answer, &traces);
        if covers_less(&decided.hunt, &hunt, has_states) {
            profile = Profile::of(&decided.hunt.stats);
        }
        hunt = joined(hunt, decided.hunt, has_states);
        has_states = true;
    }
    watcher.conclude();
    if let Some(keeper) = watcher
        .keeper()
        .filter(|_| matches!(hunt.stopped, Stop::Time | Stop::Memory | Stop::Depth | Stop::States | Stop::Interrupt))
    {
        saved::farewell(keeper);
    }
    let has_engine = !hunted.is_empty() || slices.is_some();
    let report = Report {
        source,
        program,
        args,
        engine,
        verdict: answers.iter().map(|answer| answer.verdict).max().unwrap_or(Verdict::Holds),
        answers,
        traces,
        hunt: &hunt,
        profile,
        assumed,
        slices: slices.as_ref(),
        threads: if !has_engine { args.threads.for_cycles() } else { limits.threads },
        seconds: watcher.elapsed().as_secs_f64(),
        peak_memory: limits::peak_memory(),
    };
    present(&report, watcher.samples())
}

/// Prints a report, and writes the files that were asked for.
fn present(report: &Report<'_>, samples: &[Sample]) -> Result<Exit, Failure> {
    let args = report.args;
    let color = uses_color(args.model.color, &std::io::stdout());
    match args.format {
        Format::Json => print(&report::json::text(report))?,
        Format::Human => print_for_people(&report::human::text(report, color), color)?,
    };
    if let Some(path) = &args.trace {
        save(path, report)?;
    }
    if let Some(path) = &args.report {
        durable::write(path, report::html::page(report, samples).as_bytes())
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
    }
    Ok(exit(report))
}

/// What keeps the search: in a new folder, or in that which it was kept in for the same model.
fn keeper(folder: &Path, identity: Identity, kept: Option<Kept>) -> Result<Keeper, Failure> {
    match kept {
        None => Keeper::begin(folder, identity),
        Some(kept) if kept.identity.is_of(&identity) => Ok(Keeper::resume(folder, identity, kept)),
        Some(kept) => Err(Failure::usage(format!(
            "{} is not what it was when the search began; start a new one with `birk check`",
            kept.identity.model.display()
        ))),
    }
}

/// The hunt for all properties of states at once; without one, nothing was searched and nothing left to search.
fn hunt_states(
    program: &Program,
    args: &CheckArgs,
    engine: &Engine,
    limits: Limits,
    properties: &[&Property],
    hunted: &[(usize, Goal)],
    watcher: &mut Watcher,
) -> Result<(Hunt, Option<Vec<bool>>), Failure> {
    let goals: Vec<Goal> = hunted.iter().map(|(_, goal)| goal.clone()).collect();
    let asks_other = properties.iter().any(|property| property.is_of_runs() || property.branching().is_some());
    if hunted.is_empty() && asks_other {
        let nothing = vec![false; program.transitions.len()];
        let hunt = Hunt {
            outcomes: Vec::new(),
            coverage: Coverage::Complete,
            stopped: Stop::Exhausted,
            stats: Stats::default(),
            fired: nothing.clone(),
        };
        return Ok((hunt, Some(nothing)));
    }
    let mut job = job(args, limits, properties, hunted);
    let search = match engine.hunt {
        Way::Model(search) => search,
        Way::Program(search) => {
            let refused = |reason| Failure::usage(format!("--search {} cannot be used here: {reason}", engine.name));
            let beside = birk_symbolic::address_space(engine.name);
            job.limits.memory = limits::at_once(job.limits.memory, beside).map_err(refused)?;
            // What an `assume` cuts is not noticed there.
            return search(program, &goals, &job, watcher).map_err(refused).map(|hunt| (hunt, None));
        }
    };
    let model = Staged::new(program, &goals);
    let hunt = match field(args, job.limits) {
        Some(field) => field.hunt(&model, &job, watcher),
        None if engine.name == "astar" => {
            let model = Directed::new(&model, estimates(program, &goals, args.refine));
            search(&model, &job, watcher)
        }
        None => search(&model, &job, watcher),
    };
    note_refusal(&model, watcher);
    Ok((hunt, Some(model.assumed())))
}

/// Says why the search did without native code, if it wanted some.
pub(super) fn note_refusal(model: &Staged<'_>, watcher: &mut Watcher) {
    if let Some(reason) = model.refusal() {
        watcher.clear();
        say(&format!("note: the model was interpreted, because it could not be compiled: {reason}"));
    }
}

/// How far each goal is, at least; as refined as was asked for.
pub(super) fn estimates<'p>(program: &'p Program, goals: &[Goal], refine: Option<u32>) -> Vec<Heuristic<'p>> {
    let estimate = |goal: &Goal| match refine {
        Some(depth) => Heuristic::new(program, goal, depth),
        None => Heuristic::deepened(program, goal),
    };
    goals.iter().map(estimate).collect()
}

/// What several searches covered together: as much as the one that covered least.
fn joined(mut all: Hunt, next: Hunt, has_states: bool) -> Hunt {
    all.fired.iter_mut().zip(&next.fired).for_each(|(all, next)| *all |= next);
    let is_found = next.stopped == Stop::Goal;
    if covers_less(&next, &all, has_states) {
        all.coverage = next.coverage;
        all.stopped = next.stopped;
        all.stats.border = next.stats.border.clone();
    }
    if is_found {
        all.stopped = Stop::Goal;
    }
    if !has_states {
        all.stats = next.stats;
    }
    all
}

/// Why nobody looked at a property whose turn never came.
fn unasked(is_over: bool, stopped: Stop) -> String {
    match stopped {
        _ if is_over => "the search ended at a violation",
        Stop::Time => "the time was up",
        _ => "the search was ended before",
    }
    .to_owned()
}

/// Whether the next of several searches is the one that covered least. A run that was found takes nothing from what is
/// known of the states.
fn covers_less(next: &Hunt, all: &Hunt, has_states: bool) -> bool {
    let grade = |hunt: &Hunt| Grade::of(Some(&hunt.coverage));
    !has_states || next.stopped != Stop::Goal && grade(next) > grade(all)
}

/// Bytes of a field of bits, unless told otherwise.
const USUAL_FIELD: u64 = 256 << 20;

/// How states are remembered by bits, where that is asked for.
pub(super) fn field(args: &CheckArgs, limits: Limits) -> Option<Field> {
    (args.store == StoreKind::Bitstate).then(|| Field {
        bytes: args.memory.unwrap_or(USUAL_FIELD.min(limits.memory)).max(64) / 2,
        expected: args.max_states,
        swarm: args.swarm,
        seed: args.seed,
    })
}

/// Saves the trace; the report is already out, so a full disk costs only the file.
fn save(path: &Path, report: &Report<'_>) -> Result<(), Failure> {
    let Some(trace) = report.first_trace() else {
        say(&format!("birk: there is no trace, so {} was not written", path.display()));
        return Ok(());
    };
    durable::write(path, itf::write(report.source, report.program, Some(trace.property), &trace.run).as_bytes())
        .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))
}

/// Options that cannot be meant together.
fn reconcile(args: &CheckArgs, engine: &Engine) -> Result<(), Failure> {
    if args.fairness == Fair::Strong {
        return Err(Failure::usage(
            "--fairness strong is not offered: it cannot be had by watching threads one after the other, as weak \
             fairness can; write what is meant into the formula: ([]<> enabled -> []<> taken) -> …",
        ));
    }
    let is_by_bits = args.store == StoreKind::Bitstate;
    if is_by_bits && matches!(args.threads, Threads::Number(2..)) {
        return Err(Failure::usage("--store bitstate searches with one core; leave --threads out"));
    }
    if !is_by_bits && args.swarm > 1 {
        return Err(Failure::usage("--swarm repeats a search that may lose states; it needs --store bitstate"));
    }
    for option in args.given.iter().filter_map(|word| word.strip_prefix("--")) {
        let owners: Vec<&str> = engines::all().filter(|e| e.options.contains(&option)).map(|e| e.name).collect();
        if !owners.is_empty() && !owners.contains(&engine.name) {
            return Err(Failure::usage(format!(
                "--{option} means nothing to --search {}; leave it out, or use --search {}",
                engine.name,
                owners.join(" or --search ")
            )));
        }
    }
    if args.beam.is_some() && args.weight > 1 {
        return Err(Failure::usage(
            "--beam compares states of one depth, so that --weight means nothing to it; leave one of them out",
        ));
    }
    if !engine.scales && matches!(args.threads, Threads::Number(2..)) {
        let name = engine.name;
        return Err(Failure::usage(format!(
            "--search {name} uses one thread; leave --threads out, or use --search bfs"
        )));
    }
    if !engine.scales && args.store == StoreKind::Compact {
        return Err(Failure::usage(format!("--search {} stores states exactly; use --search bfs", engine.name)));
    }
    if args.checkpoint.is_some() && !engine.options.contains(&"frontier") {
        return Err(Failure::usage(format!(
            "--search {} cannot be kept to go on with later; leave --checkpoint out, or use --search depth",
            engine.name
        )));
    }
    slices::reconcile(args, engine)?;
    let Accept::Depth(wanted) = args.accept else { return Ok(()) };
    if !engine.covers_by_depth {
        return Err(Failure::usage(format!(
            "--search {} does not go level by level, so --accept depth:{wanted} could never be met; \
             use --search bfs or --search depth, or --accept sampled",
            engine.name
        )));
    }
    match args.max_depth {
        Some(depth) if depth < wanted => Err(Failure::usage(format!(
            "--max-depth {depth} ends the search before --accept depth:{wanted} can be met; raise it to {wanted}"
        ))),
        _ => Ok(()),
    }
}

/// Options that mean nothing for the properties that are asked for.
fn reconcile_with(args: &CheckArgs, properties: &[&Property]) -> Result<(), Failure> {
    let of_runs = properties.iter().any(|property| property.is_of_runs());
    let of_states = properties.iter().any(|property| !property.is_of_runs());
    let of_fair_runs = of_runs || properties.iter().any(|property| matches!(property.kind, PropertyKind::Ctl(_)));
    if let Some(property) = properties.iter().find(|property| property.branching().is_some()) {
        let (word, name) = (property.word(), &property.name);
        if args.store != StoreKind::Exact {
            return Err(Failure::usage(format!(
                "`{word}` properties such as `{name}` need every state in full; use --store exact, or choose others \
                 with --property"
            )));
        }
    }
    if args.fairness == Fair::Weak {
        branching::reconcile(args, properties)?;
    }
    if args.fairness == Fair::Weak && !of_fair_runs {
        return Err(Failure::usage("--fairness is about formulas, and none is checked; leave it out"));
    }
    if args.store == StoreKind::Bitstate && of_states && args.search != "dfs" {
        return Err(Failure::usage(format!(
            "--store bitstate keeps no state to come back to, so --search {} cannot use it; use --search dfs",
            args.search
        )));
    }
    if args.store == StoreKind::Compact && of_runs {
        return Err(Failure::usage(
            "--store compact is for properties of states; choose those with --property, or use --store bitstate",
        ));
    }
    if args.store == StoreKind::Bitstate && of_runs && args.max_depth.is_some() {
        return Err(Failure::usage("--max-depth needs all states within it for a formula; use --store exact"));
    }
    Ok(())
}

/// The properties asked for.
pub(crate) fn selected<'p>(
    program: &'p Program,
    names: &[String],
    deadlock: OnOff,
) -> Result<Vec<&'p Property>, Failure> {
    if deadlock == OnOff::Off && names.iter().any(|name| name == "deadlock") {
        return Err(Failure::usage("--property deadlock and --deadlock off contradict each other; leave one out"));
    }
    for name in names {
        if !program.properties.iter().any(|property| property.name == *name) {
            let names: Vec<&str> = program.properties.iter().map(|p| p.name.as_str()).collect();
            let meant = birk_lang::diagnostic::nearest(name, names.iter().copied());
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(Failure::usage(format!("there is no property `{name}`; {help}")));
        }
    }
    let asked = |property: &&Property| match property.kind {
        PropertyKind::Deadlock if deadlock == OnOff::Off => false,
        // What marks mean is checked when it is asked for: many models have marks for other reasons.
        PropertyKind::Ltl(_) if property.span.is_none() => names.contains(&property.name),
        _ => names.is_empty() || names.contains(&property.name),
    };
    Ok(program.properties.iter().filter(asked).collect())
}

/// The goals of the properties that have one, each with its property's position.
pub(crate) fn hunted(program: &Program, properties: &[&Property]) -> Result<Vec<(usize, Goal)>, Failure> {
    let goals = properties.iter().enumerate().filter_map(|(i, property)| Some((i, goal_of(program, property)?)));
    let hunted: Vec<(usize, Goal)> = goals.collect();
    if hunted.len() > GoalSet::CAPACITY {
        return Err(Failure::usage(format!(
            "{} properties are more than the {} of one search; choose some with --property",
            hunted.len(),
            GoalSet::CAPACITY
        )));
    }
    Ok(hunted)
}

fn job(args: &CheckArgs, limits: Limits, properties: &[&Property], hunted: &[(usize, Goal)]) -> Job {
    let mut stop_at = GoalSet::default();
    for (goal, (index, _)) in hunted.iter().enumerate() {
        if !args.keep_going && !properties[*index].wants_goal() {
            stop_at.insert(goal);
        }
    }
    Job { goals: hunted.len(), stop_at, keep_going: args.keep_going, limits }
}

fn limits_of(args: &CheckArgs, engine: &Engine, memory: Memory) -> Limits {
    Limits {
        memory: memory.search,
        depth: args.max_depth.unwrap_or(u32::MAX),
        states: args.max_states.unwrap_or(u64::MAX),
        threads: match args.threads {
            Threads::Number(number) => number,
            Threads::Auto if !engine.scales => 1,
            Threads::Auto => std::thread::available_parallelism().map_or(1, usize::from),
        },
        storage: match args.store {
            StoreKind::Exact | StoreKind::Bitstate => Storage::Exact,
            StoreKind::Compact => Storage::Compact,
        },
        increment: args.increment,
        waiting: match args.frontier {
            FrontierKind::States => Some(Waiting::States),
            FrontierKind::Traces => Some(Waiting::Traces),
            FrontierKind::Tree => Some(Waiting::Tree),
            FrontierKind::Auto => None,
        },
        width: args.width.first(),
        degrade_depth: args.degrade_depth,
        weight: args.weight,
        beam: args.beam.map(|width| width as usize),
        refine: args.refine,
        seed: args.seed,
        ..Limits::NONE
    }
}

pub(crate) fn impostor(property: &Property, error: &birk_exec::ReplayError) -> Failure {
    Failure::internal(format!("the trace for `{}` does not replay: {error}", property.name))
}

fn exit(report: &Report<'_>) -> Exit {
    match report.verdict {
        Verdict::Violated => Exit::Violated,
        Verdict::Holds => Exit::Success,
        Verdict::Inconclusive if report.hunt.stopped == Stop::Interrupt => Exit::Interrupted,
        Verdict::Inconclusive if report.is_accepted() => Exit::Success,
        Verdict::Inconclusive => Exit::Inconclusive,
    }
}
