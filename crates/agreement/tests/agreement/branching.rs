//! Formulas about branching on random programs: what diagrams say is held against what the graph says, and the runs that
//! both show are walked again.

use std::ops::ControlFlow;

use birk_agreement::case::{self, Case};
use birk_agreement::check::{Checked, same};
use birk_agreement::random::{Draw as _, Random};
use birk_engine::{Hunt, Job, Limits, Patient};
use birk_exec::automaton::violations_of;
use birk_exec::replay::Shows;
use birk_exec::{Fairness, Interpreter, Product, fair, replay};
use birk_ir::{
    Branching, Coverage, Expr, Formula, Goal, Outcome, Program, PropertyKind, Steps, Stop, Trace, TransitionId,
};
use birk_search::liveness::CycleSearch;
use birk_search::mucalculus::{Graph, Needs, Truth, decide};

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 160;
/// Their graphs have fewer states than this.
const FEW_STATES: u64 = 600;
/// Formulas for each program.
const FORMULAS: usize = 4;

pub(crate) fn programs(usually: u64) -> impl Iterator<Item = (u64, String, Case)> {
    case::programs(usually).filter(|(.., case)| case.answer.states < FEW_STATES)
}

/// Conditions that mean something in a program: of its properties, and where its threads are.
pub(crate) fn conditions(program: &Program) -> Vec<Expr> {
    let of_properties = program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => Some(expr.clone()),
        _ => None,
    });
    let places = program.kinds.iter().filter(|kind| kind.copies > 0).flat_map(|kind| {
        let at = |place: usize| Expr::element(kind.counter, Expr::Const(0)).equals(place as i64);
        (0..kind.locations.len().min(3)).map(at)
    });
    let mut conditions: Vec<Expr> = of_properties.chain(places).collect();
    conditions.retain(|expr| expr.as_const().is_none());
    conditions.truncate(8);
    conditions
}

/// Makes formulas with nested fixpoints, least and greatest by turns.
struct Maker<'p> {
    random: Random,
    program: &'p Program,
    conditions: Vec<Expr>,
    fixpoints: u32,
}

impl Maker<'_> {
    fn formula(&mut self) -> Branching {
        let fixpoints = self.random.below(4) as u32;
        self.fixpoints = fixpoints;
        let body = self.part(3 + fixpoints as usize, &mut (0..fixpoints).collect());
        let is_least = self.random.chance(50);
        (0..fixpoints).rev().fold(body, |body, number| match is_least == (number % 2 == 0) {
            true => Branching::Least(number, Box::new(body)),
            false => Branching::Greatest(number, Box::new(body)),
        })
    }

    fn part(&mut self, depth: usize, bound: &mut Vec<u32>) -> Branching {
        let choice = if depth == 0 { self.random.below(3) } else { self.random.below(14) };
        match choice {
            12 | 13 => self.of_runs(depth, bound),
            1 | 2 if !bound.is_empty() => Branching::Variable(*self.random.pick(bound)),
            0..=2 => {
                let condition = self.random.pick(&self.conditions).clone();
                Branching::Atom(if self.random.chance(50) { condition } else { condition.negate() })
            }
            3 | 4 => self.part(depth - 1, bound).and(self.part(depth - 1, bound)),
            5 | 6 => self.part(depth - 1, bound).or(self.part(depth - 1, bound)),
            7 | 8 => Branching::Some(self.steps(), Box::new(self.part(depth - 1, bound))),
            9 | 10 => Branching::Every(self.steps(), Box::new(self.part(depth - 1, bound))),
            _ => {
                let number = self.fixpoints;
                self.fixpoints += 1;
                bound.push(number);
                let body = Box::new(self.part(depth - 1, bound));
                bound.pop();
                if self.random.chance(50) { Branching::Least(number, body) } else { Branching::Greatest(number, body) }
            }
        }
    }

    /// `EF`, `E [p U q]`, `AG` and their like.
    fn of_runs(&mut self, depth: usize, bound: &mut Vec<u32>) -> Branching {
        let number = self.fixpoints;
        self.fixpoints += 1;
        let variable = Box::new(Branching::Variable(number));
        let steps = self.steps();
        let again =
            if self.random.chance(50) { Branching::Some(steps, variable) } else { Branching::Every(steps, variable) };
        let (p, q) = (self.part(depth - 1, bound), self.part(depth - 1, bound));
        let body = match self.random.below(4) {
            0 => q.or(again),
            1 => q.or(p.and(again)),
            2 => p.and(again),
            _ => q.and(p.or(again)),
        };
        let body = Box::new(body);
        if self.random.chance(50) { Branching::Least(number, body) } else { Branching::Greatest(number, body) }
    }

    fn steps(&mut self) -> Steps {
        let threads = self.program.threads.len().max(1);
        let thread = self.random.below(threads);
        match self.random.below(4) {
            0 => Steps::OrStay,
            1 => {
                let transitions = self.program.transitions.iter().enumerate();
                let of_thread = transitions.filter(|(_, transition)| transition.thread.index() == thread);
                Steps::Of(of_thread.map(|(id, _)| TransitionId::new(id)).collect())
            }
            _ => Steps::All,
        }
    }
}

/// Some formulas about a program; none where it has no conditions.
pub(crate) fn formulas(seed: u64, program: &Program) -> Vec<Branching> {
    let conditions = conditions(program);
    let count = if conditions.is_empty() { 0 } else { FORMULAS };
    let mut maker = Maker { random: Random::new(seed ^ 0xf0), program, conditions, fixpoints: 0 };
    (0..count).map(|_| maker.formula()).collect()
}

/// What the graph of all states, or of a part of them, says of a formula.
pub(crate) fn on_graph(program: &Program, formula: &Branching, limits: &Limits) -> Truth {
    with_graph(program, formula, limits).0
}

/// The same, and what the graph covers.
fn with_graph(program: &Program, formula: &Branching, limits: &Limits) -> (Truth, Coverage) {
    let mut propositions = Vec::new();
    formula.add_propositions(&mut propositions);
    let goals: Vec<Goal> = propositions.iter().cloned().map(Goal::State).collect();
    let model = Interpreter::new(program, &goals);
    let needs = Needs { propositions: goals.len(), labels: true, spare: 0 };
    let (mut graph, hunt) = Graph::explore(&model, needs, limits, &mut Patient);
    match decide(formula, &propositions, &mut graph, &model, &mut Patient) {
        ControlFlow::Continue(truth) => (truth, hunt.coverage),
        ControlFlow::Break(stop) => panic!("nobody ended it: {stop:?}"),
    }
}

/// Whether a formula is true in an initial state: its dual is not true in all of them.
pub(crate) fn is_true_somewhere(program: &Program, formula: &Branching) -> Result<bool, String> {
    match on_graph(program, &formula.dual(), &Limits::NONE) {
        Truth::Known(truth, _) => Ok(!truth),
        Truth::Open => Err("the graph is complete".to_owned()),
    }
}

/// What an engine on sets says of formulas.
pub(crate) fn on_sets(
    engine: &str,
    program: &Program,
    formulas: &[Branching],
    limits: &Limits,
) -> Result<Hunt, String> {
    let limits = Limits { memory: 8 << 20, ..*limits };
    let job = Job { keep_going: true, ..Job::new(formulas.len(), limits) };
    let row = birk_symbolic::ENGINES.iter().find(|row| row.name == engine).expect("it is in the table");
    row.mu_calculus.expect("it decides formulas")(program, formulas, &job, &mut Patient)
}

/// A run for a formula that is true; `true` if it shows all of it.
fn shown(program: &Program, formula: &Branching, trace: &Trace) -> Result<bool, String> {
    let run = replay(program, trace).map_err(|error| error.to_string())?;
    if run.loop_start.is_some() {
        run.closes(program).map_err(|error| error.to_string())?;
    }
    match run.shows(program, formula) {
        Shows::Whole(false) => Err(format!("the run {trace:?} shows the opposite")),
        shows => Ok(shows == Shows::Whole(true)),
    }
}

#[derive(Debug, Default)]
struct Tally {
    formulas: usize,
    by_truth: [usize; 2],
    alternating: usize,
    left: usize,
    whole: usize,
    loops: usize,
    cut_known: usize,
    /// Only results of failing checks lie beyond the depth.
    ends_in_faults: usize,
}

/// Engine after engine says of each formula what the graph says, and shows it.
fn agreed(seed: u64, case: &Case, tally: &mut Tally) -> Checked {
    let program = &case.program;
    let formulas = formulas(seed, program);
    if formulas.is_empty() {
        return Ok(());
    }
    let engine = ["bdd", "bdd-chain"][seed as usize % 2];
    let whole = on_sets(engine, program, &formulas, &Limits::NONE);
    let Some(whole) = whole.ok().filter(|hunt| hunt.stopped != Stop::Memory) else {
        tally.left += 1;
        return Ok(());
    };
    same("coverage", &whole.coverage, &Coverage::Complete)?;
    // Near the start, or so that only the last level is missing.
    let depth = if seed.is_multiple_of(3) { case.survey.deepest.saturating_sub(1) } else { seed as u32 % 4 };
    let depth = Limits { depth, ..Limits::NONE };
    let part = on_sets("bdd", program, &formulas, &depth)?;
    for (number, formula) in formulas.iter().enumerate() {
        let named = |why: String| format!("{engine}: {}: {why}", program.branching_text(formula));
        let truth = is_true_somewhere(program, formula)?;
        tally.formulas += 1;
        tally.by_truth[usize::from(truth)] += 1;
        tally.alternating += usize::from(depth_of_fixpoints(formula) >= 2);
        match &whole.outcomes[number] {
            Outcome::Found(trace) if truth => {
                tally.whole += usize::from(shown(program, formula, trace).map_err(named)?);
                tally.loops += usize::from(trace.loop_start.is_some());
            }
            Outcome::Absent if !truth => {}
            other => return Err(named(format!("{other:?}, and it is {truth}"))),
        }
        // A part of the states says nothing that is not so of all, and as much as the same part of the graph.
        let (of_graph, coverage) = with_graph(program, formula, &depth);
        if part.stopped != Stop::Memory {
            same("what a part covers", &part.coverage, &coverage).map_err(named)?;
            tally.ends_in_faults += usize::from(coverage == Coverage::Complete && case.survey.deepest > depth.depth);
        }
        let known = match &part.outcomes[number] {
            Outcome::Found(trace) => {
                shown(program, formula, trace).map_err(named)?;
                Some(true)
            }
            Outcome::Absent => Some(false),
            Outcome::Untraced(_) | Outcome::Inconclusive => None,
        };
        if let Some(known) = known {
            same("what a part says", &known, &truth).map_err(named)?;
            tally.cut_known += usize::from(part.coverage != Coverage::Complete);
        } else if formula.is_existential() && matches!(of_graph, Truth::Known(true, _)) {
            return Err(named("the same part of the graph shows it".to_owned()));
        }
    }
    Ok(())
}

/// How deep fixpoints are nested.
fn depth_of_fixpoints(formula: &Branching) -> usize {
    match formula {
        Branching::Atom(_) | Branching::Variable(_) => 0,
        Branching::And(parts) | Branching::Or(parts) => depth_of_fixpoints(&parts.0).max(depth_of_fixpoints(&parts.1)),
        Branching::Some(_, body) | Branching::Every(_, body) => depth_of_fixpoints(body),
        Branching::Least(_, body) | Branching::Greatest(_, body) => 1 + depth_of_fixpoints(body),
    }
}

#[test]
fn diagrams_say_of_formulas_what_the_graph_says() {
    let (mut tally, mut examined) = (Tally::default(), 0);
    for (seed, text, case) in programs(PROGRAMS) {
        examined += 1;
        if let Err(why) = agreed(seed, &case, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{examined} programs, {tally:?}");
    assert!(tally.left * 20 <= examined, "{tally:?}");
    let least = tally.by_truth[0].min(tally.by_truth[1]).min(tally.alternating);
    assert!(least * 5 >= tally.formulas, "{tally:?}");
    assert!(tally.whole > 20 && tally.loops > 10 && tally.cut_known > 5 && tally.ends_in_faults > 0, "{tally:?}");
}

/// A way to misread a part of a formula.
type Bend = fn(&Branching) -> Branching;

const BENDS: [(&str, Bend); 5] = [
    ("where nothing goes on, nothing is next", |part| match part {
        Branching::Some(Steps::OrStay, body) => Branching::Some(Steps::All, body.clone()),
        Branching::Every(Steps::OrStay, body) => Branching::Every(Steps::All, body.clone()),
        other => other.clone(),
    }),
    ("all steps are meant", |part| match part {
        Branching::Some(Steps::Of(_), body) => Branching::Some(Steps::All, body.clone()),
        Branching::Every(Steps::Of(_), body) => Branching::Every(Steps::All, body.clone()),
        other => other.clone(),
    }),
    ("every step is some step", |part| match part {
        Branching::Every(steps, body) => Branching::Some(steps.clone(), body.clone()),
        other => other.clone(),
    }),
    ("some step is every step", |part| match part {
        Branching::Some(steps, body) => Branching::Every(steps.clone(), body.clone()),
        other => other.clone(),
    }),
    ("the greatest fixpoint is the least", |part| match part {
        Branching::Greatest(number, body) => Branching::Least(*number, body.clone()),
        other => other.clone(),
    }),
];

/// A formula with all its parts bent.
fn bent(formula: &Branching, bend: Bend) -> Branching {
    let inner = |formula: &Branching| Box::new(bent(formula, bend));
    let two = |parts: &(Branching, Branching)| Box::new((bent(&parts.0, bend), bent(&parts.1, bend)));
    bend(&match formula {
        Branching::Atom(_) | Branching::Variable(_) => formula.clone(),
        Branching::And(parts) => Branching::And(two(parts)),
        Branching::Or(parts) => Branching::Or(two(parts)),
        Branching::Some(steps, body) => Branching::Some(steps.clone(), inner(body)),
        Branching::Every(steps, body) => Branching::Every(steps.clone(), inner(body)),
        Branching::Least(number, body) => Branching::Least(*number, inner(body)),
        Branching::Greatest(number, body) => Branching::Greatest(*number, inner(body)),
    })
}

/// What is compared tells right from wrong: diagrams that misread formulas would be noticed.
#[test]
fn misread_formulas_are_noticed() {
    let cases: Vec<(u64, Case)> = programs(40).map(|(seed, _, case)| (seed, case)).collect();
    for (about, bend) in BENDS {
        let is_noticed = cases.iter().any(|(seed, case)| {
            let conditions = conditions(&case.program);
            if conditions.is_empty() {
                return false;
            }
            let mut maker =
                Maker { random: Random::new(seed ^ 0xf0), program: &case.program, conditions, fixpoints: 0 };
            let formulas: Vec<Branching> = (0..FORMULAS).map(|_| maker.formula()).collect();
            let misread: Vec<Branching> = formulas.iter().map(|formula| bent(formula, bend)).collect();
            let hunt = on_sets("bdd", &case.program, &misread, &Limits::NONE).expect("it can be encoded");
            formulas.iter().zip(&hunt.outcomes).any(|(formula, outcome)| {
                let is_found = matches!(outcome, Outcome::Found(_));
                matches!(on_graph(&case.program, formula, &Limits::NONE), Truth::Known(truth, _) if truth != is_found)
            })
        });
        assert!(is_noticed, "nobody notices: {about}");
    }
}

/// What the graph of all states says of a formula; the run that it shows does not show the opposite.
pub(crate) fn of_graph(program: &Program, formula: &Branching) -> Result<bool, String> {
    let Truth::Known(truth, trace) = on_graph(program, formula, &Limits::NONE) else {
        return Err("the graph is complete".to_owned());
    };
    let of_run = if truth { formula.clone() } else { formula.dual() };
    shown(program, &of_run, &trace).map(|_| truth)
}

/// The same for formulas on sets of states; `None` if it is too much for diagrams.
pub(crate) fn of_sets(seed: u64, program: &Program, formulas: &[Branching]) -> Result<Option<Vec<bool>>, String> {
    // One initial state in which it is true is not enough, if there are others: one in which it is false is.
    let is_turned = !program.choices.is_empty();
    let sought: Vec<Branching> =
        formulas.iter().map(|formula| if is_turned { formula.dual() } else { formula.clone() }).collect();
    let hunt = on_sets(["bdd", "bdd-chain"][seed as usize % 2], program, &sought, &Limits::NONE);
    let Some(hunt) = hunt.ok().filter(|hunt| hunt.stopped != Stop::Memory) else { return Ok(None) };
    let truth = sought.iter().zip(&hunt.outcomes).map(|(formula, outcome)| match outcome {
        Outcome::Found(trace) => shown(program, formula, trace).map(|_| !is_turned),
        Outcome::Absent => Ok(is_turned),
        Outcome::Untraced(_) | Outcome::Inconclusive => Err("all states were examined".to_owned()),
    });
    truth.collect::<Result<_, _>>().map(Some)
}

/// What the search for cycles says of a formula about runs.
pub(crate) fn is_true_of_runs(program: &Program, formula: &Formula, fairness: Option<&Fairness>) -> bool {
    let (automaton, propositions) = violations_of(formula).expect("a small automaton");
    let goals: Vec<Goal> = propositions.into_iter().map(Goal::State).collect();
    let model = Interpreter::new(program, &goals);
    let product = Product::new(&model, automaton, fairness.cloned());
    let cycle_search = CycleSearch::of(product.is_weak(), &Job::new(1, Limits::NONE));
    cycle_search.hunt(&product, &mut Patient).outcomes[0] == Outcome::Absent
}

/// A formula of LTL, and the same in CTL, for two conditions.
fn pairs(p: &Expr, q: &Expr) -> Vec<(Formula, Branching)> {
    let (lp, lq) = (|| Formula::Atom(p.clone()), || Formula::Atom(q.clone()));
    let (cp, cq) = (|| Branching::Atom(p.clone()), || Branching::Atom(q.clone()));
    let next = |body: Branching| Branching::Every(Steps::OrStay, Box::new(body));
    let again = |number| next(Branching::Variable(number));
    let least = |number, body: Branching| Branching::Least(number, Box::new(body));
    let greatest = |number, body: Branching| Branching::Greatest(number, Box::new(body));
    let af_q = || least(0, cq().or(again(0)));
    let implies = |b: Formula| Formula::Or(Box::new((Formula::Not(Box::new(lp())), b)));
    let eventually_q = || Formula::Eventually(Box::new(lq()));
    let always = |body: Formula| Formula::Always(Box::new(body));
    vec![
        (always(lp()), greatest(0, cp().and(again(0)))),
        (eventually_q(), af_q()),
        (Formula::Next(Box::new(lp())), next(cp())),
        (Formula::Until(Box::new((lp(), lq()))), least(0, cq().or(cp().and(again(0))))),
        (Formula::WeakUntil(Box::new((lp(), lq()))), greatest(0, cq().or(cp().and(again(0))))),
        (Formula::Release(Box::new((lp(), lq()))), greatest(0, cq().and(cp().or(again(0))))),
        (always(implies(eventually_q())), greatest(1, cp().dual().or(af_q()).and(again(1)))),
        (always(eventually_q()), greatest(1, af_q().and(again(1)))),
        (always(implies(Formula::Next(Box::new(lq())))), greatest(0, cp().dual().or(next(cq())).and(again(0)))),
    ]
}

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS_OF_RUNS: u64 = 100;

/// Both logics say the same of each pair: of all runs, if none is cut or goes wrong, and of fair runs always. On the graph
/// and, for fair runs, on sets of states.
fn coincide(seed: u64, case: &Case, by_truth: &mut [[usize; 2]; 2], left: &mut usize) -> Checked {
    let program = &case.program;
    let conditions = conditions(program);
    if conditions.len() < 2 {
        return Ok(());
    }
    let mut random = Random::new(seed ^ 0xc71);
    let first = random.below(conditions.len());
    let second = (first + 1 + random.below(conditions.len() - 1)) % conditions.len();
    let fault = program.properties.iter().position(|property| matches!(property.kind, PropertyKind::Fault));
    let is_whole = case.answer.cut == 0 && fault.is_none_or(|fault| case.answer.shortest[fault].is_none());
    let fairness = Fairness::weak(program)?;
    let goes_on = fair::goes_on(program);
    let (mut sought, mut wanted) = (Vec::new(), Vec::new());
    for (of_runs, branching) in pairs(&conditions[first], &conditions[second]) {
        let named = |why: String| format!("{}: {why}", program.branching_text(&branching));
        let whole = |formula: &Branching| match on_graph(program, formula, &Limits::NONE) {
            Truth::Known(truth, trace) if !truth => {
                shown(program, &formula.dual(), &trace).map_err(named)?.then_some(false).ok_or("not shown".to_owned())
            }
            Truth::Known(..) => Ok(true),
            Truth::Open => Err("the graph is complete".to_owned()),
        };
        if is_whole {
            let truth = is_true_of_runs(program, &of_runs, None);
            same("of all runs", &whole(&branching)?, &truth).map_err(named)?;
            by_truth[0][usize::from(truth)] += 1;
        }
        let truth = is_true_of_runs(program, &of_runs, Some(&fairness));
        let fair = fairness.ctl(&branching, goes_on).expect("it is CTL");
        same("of fair runs", &whole(&fair)?, &truth).map_err(named)?;
        by_truth[1][usize::from(truth)] += 1;
        sought.push(fair.dual());
        wanted.push(truth);
    }
    let hunt = on_sets(["bdd", "bdd-chain"][seed as usize % 2], program, &sought, &Limits::NONE);
    // What cannot be encoded, or is too large, is left.
    let Some(hunt) = hunt.ok().filter(|hunt| hunt.stopped != Stop::Memory) else {
        *left += 1;
        return Ok(());
    };
    for ((formula, truth), outcome) in sought.iter().zip(wanted).zip(&hunt.outcomes) {
        same("of fair runs, on sets", &(*outcome == Outcome::Absent), &truth)?;
        if let Outcome::Found(trace) = outcome {
            same("shown by one run", &shown(program, formula, trace)?, &true)?;
        }
    }
    Ok(())
}

#[test]
fn ctl_says_what_ltl_says_of_random_programs() {
    let (mut by_truth, mut examined, mut left) = ([[0; 2]; 2], 0, 0);
    for (seed, text, case) in programs(PROGRAMS_OF_RUNS) {
        examined += 1;
        if let Err(why) = coincide(seed, &case, &mut by_truth, &mut left) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!(
        "{examined} programs, {by_truth:?} false and true of all runs, and of fair ones; {left} too much for diagrams"
    );
    assert!(left * 20 <= examined, "{left} of {examined} are too much for diagrams");
    assert!(by_truth.as_flattened().iter().all(|&cases| cases >= 20), "{by_truth:?}");
}
