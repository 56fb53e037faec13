//! Hunts in the models of the repository: whatever members say is so, and turns follow from what they have shown.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use birk_engine::{Observer, Patient};

use super::*;
use crate::{Pace, Threads};

/// Ends a check at a moment.
struct Until(Instant);

impl Observer for Until {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        if Instant::now() < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Time) }
    }
}

impl Watch for Until {
    fn deadline(&self) -> Option<Instant> {
        Some(self.0)
    }
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut all = Vec::new();
    for folder in [folder.clone(), folder.join("cookbook"), folder.join("structured"), folder.join("dve")] {
        let files = std::fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("it is read").path());
        all.extend(files.filter(|path| path.extension().is_some_and(|e| e == "bir" || e == "dve")));
    }
    all.sort();
    all
}

fn options(threads: usize) -> Options {
    let memory = Memory { search: 1 << 30, rest: 0, asked: None };
    Options { keep_going: true, threads: Threads::Number(threads), memory, ..Options::default() }
}

/// A hunt for what a search to this depth leaves open.
fn hunted(program: &Program, options: &Options, depth: u32, time: Duration) -> Report {
    let first = Options { engine: FIRST.into(), max_depth: Some(depth), ..options.clone() };
    let report = crate::check::check(program, &first, &mut Patient).expect("it is searched");
    let until = Instant::now() + time;
    let mut portfolio = Portfolio::new(program, options, &Arc::default(), Instant::now()).expect("it can be asked");
    portfolio.adopt(report, &mut Until(until));
    portfolio.hunt(until, options.memory.search, false, &mut Until(until)).expect("they hunt");
    portfolio.report()
}

/// What a complete search finds, of models that are not too large for a test.
fn known(program: &Program) -> Option<Report> {
    let options = Options { engine: FIRST.into(), max_states: Some(20_000), ..options(1) };
    let report = crate::check::check(program, &options, &mut Patient).ok()?;
    let is_decided = report.answers.iter().all(|answer| answer.verdict != Verdict::Inconclusive);
    (is_decided && report.hunt.coverage == Coverage::Complete).then_some(report)
}

/// Whatever the members say of a model of the corpus is so.
fn members_say_what_is_so(part: usize, parts: usize) {
    let (mut decided, mut asked) = (0, 0);
    for (number, path) in models().iter().enumerate() {
        if number % parts != part {
            continue;
        }
        let program = crate::load_file(path).expect("it is a model");
        let Some(truth) = known(&program) else { continue };
        let found = hunted(&program, &options(1 + number / parts % 2), 2, Duration::from_millis(400));
        for (answer, known) in found.answers.iter().zip(&truth.answers) {
            let name = format!("{}: {} by {:?}", path.display(), answer.property.name, answer.by);
            asked += 1;
            if answer.verdict != Verdict::Inconclusive {
                decided += 1;
                assert_eq!(answer.verdict, known.verdict, "{name}");
            } else if let (Some(Coverage::Depth(depth)), Some(trace)) = (&answer.coverage, known.trace) {
                // Traces to states are shortest there.
                let steps = truth.traces[trace].run.steps.len();
                assert!(truth.traces[trace].run.loop_start.is_some() || steps > *depth as usize, "{name}: {steps}");
            }
        }
        let joint = found.joint.expect("there was a hunt");
        let credited: usize = joint.members.iter().map(|member| member.decided.len()).sum();
        let by_members = found.answers.iter().filter(|a| a.by.is_some() && a.verdict != Verdict::Inconclusive).count();
        assert_eq!(credited, by_members, "{}", path.display());
    }
    assert!(decided * 10 >= asked * 8, "{decided} of {asked} are decided");
}

#[test]
fn members_say_what_is_so_0() {
    members_say_what_is_so(0, 2);
}

#[test]
fn members_say_what_is_so_1() {
    members_say_what_is_so(1, 2);
}

fn program(text: &str) -> Program {
    crate::load_text("model.bir", text).expect("it is a model")
}

/// A violation far away, among very many states.
const DEEP: &str = include_str!("../../../../../benches/models/deep.bir");

/// As many states, and an invariant of which one clause is the proof.
const SAFE: &str = "system Safe {
  int (0, 255) a; int (0, 255) b; int (0, 255) c; int (0, 255) d; boolean once;
  active thread A() { while (true) { either { await a < 255; a := a + 1; } or { await a > 0; a := a - 1; } } }
  active thread B() { while (true) { either { await b < 255; b := b + 1; } or { await b > 0; b := b - 1; } } }
  active thread C() { while (true) { either { await c < 255; c := c + 1; } or { await c > 0; c := c - 1; } } }
  active thread D() { while (true) { either { await d < 255 && !once; d := d + 1; } or { await d > 0; d := d - 1; } } }
  invariant never: !once;
}";

#[test]
fn a_violation_beyond_the_first_search_is_found_within_the_time() {
    let program = program(DEEP);
    let options =
        Options { keep_going: false, memory: Memory { search: 64 << 20, rest: 0, asked: None }, ..options(2) };
    let began = Instant::now();
    let report = check(&program, &options, &mut Until(began + Duration::from_secs(20))).expect("it is searched");
    assert_eq!(report.verdict(), Verdict::Violated);
    assert_eq!(report.hunt.stopped, Stop::Goal);
    let low = report.answers.iter().find(|answer| answer.property.name == "low").expect("it is asked");
    assert!(low.by.is_some() && low.trace.is_some());
    assert!(matches!(report.hunt.coverage, Coverage::Depth(_)), "the first search says what it covered");
}

/// Ends a check, as Ctrl-C does, when a violation is known and the first search goes on.
#[derive(Default)]
struct Impatient {
    has_heard: bool,
    is_hunt: bool,
    notes: Vec<String>,
}

impl Observer for Impatient {
    fn progress(&mut self, _: &Progress) -> ControlFlow<Stop> {
        if self.has_heard && !self.is_hunt {
            return ControlFlow::Break(Stop::Interrupt);
        }
        ControlFlow::Continue(())
    }
}

impl Watch for Impatient {
    fn decided(&mut self, _: usize, answer: &Answer, _: Option<&ShownTrace>) {
        self.has_heard |= answer.verdict == Verdict::Violated;
    }

    fn hunting(&mut self, members: &str) {
        self.is_hunt = !members.is_empty();
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

/// Philosophers in a ring, of whom highway search soon finds a deadlock that is far away.
fn philosophers() -> Program {
    program(&include_str!("../../../../../models/philosophers_ring.bir").replace("const N = 5", "const N = 22"))
}

#[test]
fn who_ends_the_search_hears_what_others_have_found() {
    let mut watch = Impatient::default();
    let report =
        check(&philosophers(), &Options { keep_going: false, ..options(1) }, &mut watch).expect("it is searched");
    assert!(watch.has_heard, "the hunt finds it while the search waits");
    assert_eq!(report.verdict(), Verdict::Violated);
    let found = &report.answers[0];
    assert!(found.after.is_some_and(|after| after > Duration::ZERO) && found.trace.is_some() && found.by.is_some());
    assert!(matches!(report.hunt.coverage, Coverage::Depth(_)), "and what was covered");
}

#[test]
fn a_violation_is_told_when_it_is_found() {
    let (program, mut options) = (philosophers(), options(1));
    options.keep_going = false;
    for (seconds, told) in [(0, 0), (60, 1)] {
        let began = Instant::now().checked_sub(Duration::from_secs(seconds)).expect("the machine runs for so long");
        let mut portfolio = Portfolio::new(&program, &options, &Arc::default(), began).expect("it can be asked");
        let (mut watch, until) = (Impatient::default(), Instant::now() + Duration::from_secs(20));
        portfolio.hunt(until, options.memory.search, true, &mut watch).expect("they hunt");
        assert!(watch.has_heard && portfolio.report().verdict() == Verdict::Violated);
        assert_eq!(watch.notes.len(), told, "{:?}", watch.notes);
        assert!(
            watch
                .notes
                .iter()
                .all(|note| note.starts_with("`deadlock` is violated (") && note.contains(" steps, found after 60."))
        );
    }
}

#[test]
fn a_violation_outlives_the_failure_of_another_search() {
    let (program, options) = (philosophers(), Options { keep_going: false, ..options(1) });
    let mut portfolio = Portfolio::new(&program, &options, &Arc::default(), Instant::now()).expect("it can be asked");
    let failed = |options: &Options| Turned {
        member: 3,
        options: options.clone(),
        result: Err(Error::Internal("it panicked".into())),
        seconds: 0.1,
        is_whole: false,
    };
    let mut watch = Impatient::default();
    assert!(portfolio.take(failed(&options), &mut watch).is_err(), "otherwise it is told");
    let until = Instant::now() + Duration::from_secs(20);
    portfolio.hunt(until, options.memory.search, true, &mut watch).expect("they hunt");
    assert!(portfolio.take(failed(&options), &mut watch).is_ok());
    assert!(watch.notes.iter().any(|note| note.contains("it panicked")) && portfolio.standing[3].state == State::Left);
    assert_eq!(portfolio.report().verdict(), Verdict::Violated);
}

#[test]
fn a_trace_that_is_shortest_is_not_long() {
    let (program, options) = (philosophers(), Options { keep_going: false, ..options(1) });
    let first = Options { engine: "bdd-chain".into(), ..options.clone() };
    let found = crate::check::check(&program, &first, &mut Patient).expect("it is searched");
    let mut portfolio = Portfolio::new(&program, &options, &Arc::default(), Instant::now()).expect("it can be asked");
    portfolio.learn(1, found.clone(), &mut Patient);
    let violation = portfolio.violation().expect("it is found");
    assert!(violation.trace.is_some_and(|trace| portfolio.report.traces[trace].run.steps.len() > SHORT));
    assert!(!portfolio.is_long(violation) && portfolio.report.is_shortest);
    // Whether another was found before does not matter.
    let mut portfolio = Portfolio::new(&program, &options, &Arc::default(), Instant::now()).expect("it can be asked");
    let until = Instant::now() + Duration::from_secs(20);
    portfolio.hunt(until, options.memory.search, true, &mut Patient).expect("they hunt");
    assert!(portfolio.is_long(portfolio.violation().expect("it is found")) && !portfolio.report.is_shortest);
    portfolio.learn(1, found.clone(), &mut Patient);
    assert!(!portfolio.is_long(portfolio.violation().expect("it is found")) && portfolio.report.is_shortest);
    // What the first search has of it remains as it is.
    portfolio.adopt(
        unsearched(&found.answers.iter().map(|one| one.property.clone()).collect::<Vec<_>>(), 0, found.engine),
        &mut Patient,
    );
    assert!(!portfolio.is_long(portfolio.violation().expect("it is found")) && portfolio.report.is_shortest);
}

#[test]
fn a_proof_decides_what_cannot_be_searched() {
    let program = program(SAFE);
    let options = Options { memory: Memory { search: 64 << 20, rest: 0, asked: None }, ..options(2) };
    let report =
        check(&program, &options, &mut Until(Instant::now() + Duration::from_secs(20))).expect("it is searched");
    let never = report.answers.iter().find(|answer| answer.property.name == "never").expect("it is asked");
    assert_eq!((never.verdict, &never.coverage), (Verdict::Holds, &Some(Coverage::Complete)));
    assert_ne!(report.hunt.coverage, Coverage::Complete, "nobody visited every state");
}

#[test]
fn what_the_first_search_finishes_is_its_own() {
    for text in [DEEP, SAFE] {
        let text = text.replace("255", "3").replace("a < 120", "a < 3");
        let program = program(&text);
        let [alone, auto] = [FIRST, "auto"].map(|engine| {
            let options = Options { engine: engine.into(), ..options(1) };
            crate::check::check(&program, &options, &mut Patient).expect("it is searched")
        });
        assert!(auto.joint.is_none());
        assert_eq!((alone.engine.name, auto.engine.name), (FIRST, FIRST));
        assert_eq!(alone.hunt.stats.levels, auto.hunt.stats.levels);
        let verdicts = |report: &Report| report.answers.iter().map(|answer| answer.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&alone), verdicts(&auto));
    }
}

#[test]
fn options_about_one_search_leave_it_alone() {
    let program = program(DEEP);
    let limits: [fn(&mut Options); 3] = [
        |options| options.max_states = Some(1_000),
        |options| options.max_depth = Some(3),
        |options| options.accept = Accept::Depth(3),
    ];
    for limit in limits {
        let mut options = options(1);
        limit(&mut options);
        assert!(!may_hunt(&options));
    }
    let options = Options { max_depth: Some(3), ..options(1) };
    let report = check(&program, &options, &mut Patient).expect("it is searched");
    assert!(report.joint.is_none() && report.hunt.stopped == Stop::Depth);
}

#[test]
fn with_one_thread_a_hunt_repeats_itself() {
    let program = program(SAFE);
    let [one, other] = [(); 2].map(|()| {
        let report = hunted(&program, &options(1), 4, Duration::from_secs(60));
        let figures = |one: &MemberFigures| (one.name, one.words.clone(), one.turns, one.states, one.decided.clone());
        report.joint.expect("there was a hunt").members.iter().map(figures).collect::<Vec<_>>()
    });
    assert_eq!(one, other);
}

#[test]
fn a_later_run_begins_with_the_largest_turn_that_ended_by_itself() {
    let program = program(SAFE);
    let options = options(1);
    let mut portfolio = Portfolio::new(&program, &options, &Arc::default(), Instant::now()).expect("it can be asked");
    let mut standing = portfolio.standing.swap_remove(0);
    [Stop::States, Stop::States, Stop::Time, Stop::Time].iter().for_each(|&stopped| standing.count_turn(stopped));
    let pace = standing.end().pace;
    assert_eq!((pace.turns, pace.doublings), (4, 1));
    // The turn after these draws what none of them has drawn, and is as large as the second.
    let open: Vec<&Property> = program.properties.iter().collect();
    let [first, second, next] = [(0, 0), (1, 1), (4, 1)].map(|(turns, doublings)| {
        let turn = MEMBERS[0].turn(&options, &open, Pace { turns, doublings, width: 1 });
        let (options, _) = turn.expect("something is open");
        (options.seed, options.max_states)
    });
    assert!(next.0 > second.0 && second.0 > first.0 && next.1 == second.1 && second.1 > first.1);
    // In a run where no turn of that size ends, they become smaller.
    let mut standing = portfolio.standing.swap_remove(0);
    standing.go_on(Pace { width: 64, ..pace });
    standing.count_turn(Stop::Interrupt);
    assert_eq!(standing.end().pace, Pace { turns: 5, doublings: 0, width: 32 });
}

#[test]
fn who_gained_most_comes_first_and_nobody_is_forgotten() {
    let (program, options) = (program(SAFE), options(1));
    let mut portfolio = Portfolio::new(&program, &options, &Arc::default(), Instant::now()).expect("it can be asked");
    let give = |portfolio: &mut Portfolio<'_>| {
        let member = portfolio.next().expect("somebody waits");
        portfolio.standing[member].figures.turns += 1;
        member
    };
    let (quick, others): (Vec<usize>, Vec<usize>) = (0..MEMBERS.len()).partition(|&member| MEMBERS[member].is_quick);
    for expected in &others {
        assert!(quick.contains(&give(&mut portfolio)), "every second turn");
        assert_eq!(give(&mut portfolio), *expected, "each has a first turn");
    }
    // Who gained something comes first, but many fruitful turns of one do not keep the others from theirs.
    let fruitful = others[1];
    portfolio.standing[fruitful].gains = 1;
    give(&mut portfolio);
    assert_eq!(give(&mut portfolio), fruitful);
    (portfolio.standing[fruitful].figures.turns, portfolio.standing[fruitful].gains) = (30, 30);
    portfolio.standing[quick[1]].figures.turns += 40;
    assert_eq!(give(&mut portfolio), others[0]);
    // In a brief hunt only one hunts.
    portfolio.is_brief = true;
    assert_eq!(portfolio.next(), Some(quick[0]));
    portfolio.standing[quick[0]].state = State::Runs;
    assert_eq!(portfolio.next(), None);
    portfolio.is_brief = false;
    portfolio.standing.iter_mut().for_each(|one| one.state = State::Left);
    assert_eq!(portfolio.next(), None);
}
