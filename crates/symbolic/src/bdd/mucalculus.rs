//! What can happen from a state on: formulas of the mu-calculus, decided on sets of states (Burch, Clarke, McMillan,
//! Dill and Hwang 1990).
//!
//! The equations are those of the explicit side. A part is a set of reachable states: a modality what leads into a set,
//! a fixpoint what is left when its body does not change it any more. Where a fixpoint only follows single steps, as `EF`
//! and `AG` do, each event of the relation is applied at once to all that was found so far, which is the same set by
//! fewer and smaller ones (see `chaining`). A value is kept together with the fixpoints that it was made of, and
//! computed again only when one of those has changed.

mod witness;

use birk_engine::{Hunt, Job, Observer};
use birk_exec::equations::{Equations, Kind, Meant};
use birk_ir::{Branching, Expr, Outcome, Program, Trace};

use crate::attempt::{Attempt, Broken};
use crate::bdd::condition::{Condition, stuck_among};
use crate::bdd::diagram::Set;
use crate::bdd::preimage::{Preimage, preimages};
use crate::bdd::search::{Ended, Fixpoint, Part, Search, Strategy, nothing, saturated};
use crate::bitvector::Algebra;
use crate::cancellable::{Line, cancellable};

/// Decides formulas, after all states were reached in some way: each that is true is found, with a run that shows it as far
/// as a run can. Where a limit ends the search before, those are decided that claim no more than what can happen.
pub(crate) fn decide(
    strategy: Strategy,
    program: &Program,
    formulas: &[Branching],
    job: &Job,
    observer: &mut dyn Observer,
) -> Result<Hunt, String> {
    if let Some(reason) = program.interpreted_only() {
        return Err(reason.to_owned());
    }
    let nothing = nothing(program, formulas.len());
    let (program, formulas, job, none) = (program.clone(), formulas.to_vec(), job.clone(), nothing.clone());
    let search = move |line: &Line| {
        let mut propositions = Vec::new();
        formulas.iter().for_each(|formula| formula.add_propositions(&mut propositions));
        let prepared = Search::new(&program, &[], &job, line).and_then(|mut search| {
            search.found = vec![None; formulas.len()];
            let truths = truths(&search, &propositions)?;
            Ok((search, truths))
        });
        let (mut search, truths) = match prepared {
            Ok(prepared) => prepared,
            Err(Broken::Stopped(stopped)) => return Ok(Hunt { stopped, ..none }),
            Err(Broken::Refused(reason)) => return Err(reason),
            Err(Broken::Undecided(_)) => unreachable!("only events are asked, and they answer"),
        };
        let mut ended = strategy(&mut search);
        if let Ok(Ended::Depth) = ended {
            ended = closed(&mut search).map(|closed| closed.map_or(Ended::Depth, Ended::Complete));
        }
        let ended = decide_all(&mut search, &formulas, &propositions, &truths, ended);
        Ok(search.finish(ended))
    };
    cancellable(nothing, search, observer)
}

/// Whether no step leads out of what was reached. Formulas are about states: what fails a check beyond the depth limit is none.
fn closed(search: &mut Search<'_>) -> Attempt<Option<Fixpoint>> {
    let reached = search.reached.clone();
    let next = search.image(&reached)?;
    let diagrams = &search.encoding.diagrams;
    let new = diagrams.minus(&diagrams.minus(&next, &reached)?, &search.faulty)?;
    Ok(Fixpoint::of(diagrams, &new))
}

/// Where each proposition is true.
fn truths(search: &Search<'_>, propositions: &[Expr]) -> Attempt<Vec<Condition>> {
    propositions.iter().map(|proposition| Condition::new(&search.encoding, proposition)).collect()
}

/// Decides one formula after the other, until one ends the search. What becomes of them, if all states are known, takes
/// away from how exploring ended: it is the answer.
fn decide_all(
    search: &mut Search<'_>,
    formulas: &[Branching],
    propositions: &[Expr],
    truths: &[Condition],
    ended: Attempt<Ended>,
) -> Attempt<Ended> {
    let is_complete = matches!(ended, Ok(Ended::Complete(_)));
    if is_complete {
        // All states are known, but not yet what is asked of them.
        search.part = Part::Some(saturated(&search.states));
    }
    let is_part = matches!(ended, Ok(Ended::Depth | Ended::States));
    for (number, formula) in formulas.iter().enumerate() {
        search.tell();
        let can_be_told = is_complete || (is_part && formula.is_existential());
        if !can_be_told {
            continue;
        }
        let equations = Equations::new(formula, propositions, search.encoding.program.transitions.len());
        let decided = Evaluation::new(search, &equations, truths).and_then(|mut evaluation| evaluation.decide());
        match decided {
            Ok(Outcome::Absent) if !is_complete => {}
            Ok(outcome) => {
                let is_found = matches!(outcome, Outcome::Found(_));
                search.found[number] = Some(outcome);
                if is_found && search.job.stop_at.contains(number) {
                    break;
                }
            }
            Err(broken) => return Err(broken),
        }
    }
    // Those behind one that ends the search were not asked.
    search.found.iter_mut().for_each(|found| _ = found.get_or_insert(Outcome::Inconclusive));
    ended
}

/// The parts of one formula, as sets.
struct Evaluation<'s, 'a> {
    search: &'s mut Search<'a>,
    equations: &'s Equations,
    preimages: Vec<Preimage>,
    /// The states that were reached.
    reached: Set,
    /// Those without any step, taken or cut.
    stuck: Set,
    propositions: Vec<Set>,
    /// By modality of fairness, where it was asked for: where nothing is possible that was promised.
    idle: Vec<Option<Set>>,
    /// The fixpoints so far, by part.
    fixpoints: Vec<Set>,
    /// For each part the fixpoints around it on which it depends.
    depends: Vec<Vec<u32>>,
    /// For each part its value, and what these fixpoints were then.
    kept: Vec<Option<(Vec<Set>, Set)>>,
    /// A fixpoint within others of its kind goes on from its last value; it need not, and must not while a run is read off.
    goes_on: bool,
}

impl<'s, 'a> Evaluation<'s, 'a> {
    fn new(search: &'s mut Search<'a>, equations: &'s Equations, truths: &[Condition]) -> Attempt<Self> {
        let diagrams = &search.encoding.diagrams;
        let reached = diagrams.minus(&search.reached, &search.faulty)?;
        let among = |truth: &Condition| truth.among(diagrams, &search.relation, &reached);
        let propositions = truths.iter().map(among).collect::<Attempt<Vec<Set>>>()?;
        let preimages = preimages(&search.encoding, &search.relation, &search.faulty)?;
        let stuck = stuck_among(diagrams, &search.relation, &reached)?;
        let parts = equations.parts.len();
        let fixpoints = vec![diagrams.no.clone(); parts];
        let depends = depends(equations);
        let kept = vec![None; parts];
        let idle = vec![None; equations.steps.len()];
        Ok(Self {
            search,
            equations,
            preimages,
            reached,
            stuck,
            propositions,
            idle,
            fixpoints,
            depends,
            kept,
            goes_on: true,
        })
    }

    /// Whether the formula is true in an initial state, and a witness.
    fn decide(&mut self) -> Attempt<Outcome> {
        let value = self.value(0)?;
        let initial = self.search.encoding.program.initial_states();
        let Some(first) = initial.iter().position(|state| self.search.encoding.contains(&value, state)) else {
            return Ok(Outcome::Absent);
        };
        let trace = witness::walk(self, initial[first].clone())?;
        Ok(Outcome::Found(Trace { initial: first as u32, ..trace }))
    }

    /// Where a part is true, given the fixpoints around it.
    fn value(&mut self, part: u32) -> Attempt<Set> {
        let part = self.equations.computed_for(part);
        let given: Vec<Set> =
            self.depends[part as usize].iter().map(|&outer| self.fixpoints[outer as usize].clone()).collect();
        if let Some((_, value)) = self.kept[part as usize].as_ref().filter(|(then, _)| *then == given) {
            return Ok(value.clone());
        }
        let of = &self.equations.parts[part as usize];
        let value = match of.kind {
            Kind::Atom(index, is_negated) if is_negated => self.without(&self.propositions[index])?,
            Kind::Atom(index, _) => self.propositions[index].clone(),
            Kind::And | Kind::Or => {
                let (left, right) = (self.child(part, 0)?, self.child(part, 1)?);
                let diagrams = &self.search.encoding.diagrams;
                if of.kind == Kind::And { diagrams.and(&left, &right)? } else { diagrams.or(&left, &right)? }
            }
            Kind::Some(steps) => {
                let ends = self.child(part, 0)?;
                self.preimage(steps, &ends)?
            }
            Kind::Every(steps) => {
                let ends = self.child(part, 0)?;
                let others = self.preimage(steps, &self.without(&ends)?)?;
                self.without(&others)?
            }
            Kind::Fixpoint { least } => {
                self.begin(part, least);
                match Simple::of(self.equations, part) {
                    Some(simple) => self.follow(&simple, least)?,
                    None => self.fixpoint(part)?,
                }
            }
        };
        self.kept[part as usize] = Some((given, value.clone()));
        Ok(value)
    }

    /// The value of a child; a fixpoint around the part is what it is so far.
    fn child(&mut self, part: u32, number: usize) -> Attempt<Set> {
        match self.equations.parts[part as usize].children[number] {
            child if child <= part => Ok(self.fixpoints[child as usize].clone()),
            child => self.value(child),
        }
    }

    fn without(&self, set: &Set) -> Attempt<Set> {
        self.search.encoding.diagrams.minus(&self.reached, set)
    }

    fn bottom(&self, least: bool) -> Set {
        if least { self.search.encoding.diagrams.no.clone() } else { self.reached.clone() }
    }

    /// A fixpoint that begins a block begins with nothing or everything, and so do all in its block; the others go on.
    fn begin(&mut self, part: u32, least: bool) {
        if self.equations.parts[part as usize].block == Some(part) {
            for &member in &self.equations.block(part).members {
                self.fixpoints[member as usize] = self.bottom(least);
            }
        } else if !self.goes_on {
            self.fixpoints[part as usize] = self.bottom(least);
        }
    }

    /// What a fixpoint's body comes to, step by step.
    fn fixpoint(&mut self, part: u32) -> Attempt<Set> {
        loop {
            let next = self.child(part, 0)?;
            self.rest()?;
            if next == self.fixpoints[part as usize] {
                return Ok(next);
            }
            self.fixpoints[part as usize] = next;
        }
    }

    /// The steps were applied once more to a set.
    fn rest(&mut self) -> Attempt<()> {
        self.search.watch.iterations += 1;
        self.search.encoding.diagrams.tidy();
        self.search.watch.look(&self.search.encoding.diagrams)
    }

    /// Where one of these steps leads into a set.
    fn preimage(&mut self, steps: usize, ends: &Set) -> Attempt<Set> {
        let idle = self.idle(steps)?;
        let (meant, diagrams) = (&self.equations.steps[steps], &self.search.encoding.diagrams);
        let mut before = Vec::new();
        if meant.includes_staying() {
            before.push(diagrams.and(ends, &self.stuck)?);
        }
        for preimage in &self.preimages {
            if meant.includes(Some(preimage.transition)) {
                before.push(preimage.of(diagrams, ends)?);
            } else if idle != diagrams.no {
                before.push(diagrams.and(&preimage.of(diagrams, ends)?, &idle)?);
            }
            self.search.watch.look(diagrams)?;
        }
        diagrams.and(&diagrams.any(before)?, &self.reached)
    }

    /// Where nothing is possible that was promised, for a modality of fairness.
    fn idle(&mut self, steps: usize) -> Attempt<Set> {
        let diagrams = &self.search.encoding.diagrams;
        let meant = &self.equations.steps[steps];
        if !matches!(meant, Meant::Fair(_)) {
            return Ok(diagrams.no.clone());
        }
        if self.idle[steps].is_none() {
            let events = self.search.relation.events.iter().filter(|event| meant.includes(Some(event.transition)));
            let possible = events.map(|event| event.possible(diagrams)).collect::<Attempt<Vec<Set>>>()?;
            self.idle[steps] = Some(self.without(&diagrams.any(possible)?)?);
        }
        Ok(self.idle[steps].clone().expect("it was computed"))
    }

    /// A fixpoint that only follows single steps: a greatest one is what is left by the least one of the negation.
    fn follow(&mut self, simple: &Simple, least: bool) -> Attempt<Set> {
        let meant = &self.equations.steps[simple.steps];
        let mut found = self.value(simple.ends)?;
        let mut through = match simple.through {
            Some(part) => self.value(part)?,
            None => self.bottom(!least),
        };
        if !least {
            (found, through) = (self.without(&found)?, self.without(&through)?);
        }
        loop {
            let last = found.clone();
            for preimage in self.preimages.iter().filter(|preimage| meant.includes(Some(preimage.transition))) {
                let diagrams = &self.search.encoding.diagrams;
                let before = diagrams.and(&preimage.of(diagrams, &found)?, &through)?;
                found = diagrams.or(&found, &before)?;
                self.search.watch.look(diagrams)?;
                diagrams.tidy();
            }
            self.rest()?;
            if found == last {
                return if least { Ok(found) } else { self.without(&found) };
            }
        }
    }
}

/// `mu X. a || b && <..> X`, or `nu X. a && (b || [..] X)`; `b` may be missing.
struct Simple {
    ends: u32,
    through: Option<u32>,
    steps: usize,
}

impl Simple {
    fn of(equations: &Equations, fixpoint: u32) -> Option<Self> {
        let of = |part: u32| &equations.parts[part as usize];
        let Kind::Fixpoint { least } = of(fixpoint).kind else { return None };
        let (outer, inner) = if least { (Kind::Or, Kind::And) } else { (Kind::And, Kind::Or) };
        // The steps of the modality to which the fixpoint itself is given.
        let goes_on = |part: u32| match of(part).kind {
            Kind::Some(steps) if least && of(part).children[0] == fixpoint => Some(steps),
            Kind::Every(steps) if !least && of(part).children[0] == fixpoint => Some(steps),
            _ => None,
        };
        // Which steps are meant must not depend on where they are taken.
        let goes_on = |part: u32| goes_on(part).filter(|&steps| !matches!(equations.steps[steps], Meant::Fair(_)));
        // The same as one of two children, the other of which does not speak of the fixpoint.
        let split = |part: u32, pick: &dyn Fn(u32) -> bool| {
            let [one, two] = of(part).children[..] else { return None };
            let (ends, other) = if pick(two) { (one, two) } else { (two, one) };
            let is_apart = |part: u32| {
                part > fixpoint && (part..of(part).end).all(|inner| !of(inner).children.contains(&fixpoint))
            };
            (pick(other) && is_apart(ends)).then_some((ends, other))
        };
        let body = of(fixpoint).children[0];
        if body <= fixpoint || of(body).kind != outer {
            return None;
        }
        let is_step = |part: u32| part > fixpoint && goes_on(part).is_some();
        if let Some((ends, step)) = split(body, &is_step) {
            return Some(Self { ends, through: None, steps: goes_on(step)? });
        }
        let is_guarded = |part: u32| part > fixpoint && of(part).kind == inner && split(part, &is_step).is_some();
        let (ends, guarded) = split(body, &is_guarded)?;
        let (through, step) = split(guarded, &is_step)?;
        Some(Self { ends, through: Some(through), steps: goes_on(step)? })
    }
}

/// For each part the fixpoints around it on which it depends.
fn depends(equations: &Equations) -> Vec<Vec<u32>> {
    let mut depends: Vec<Vec<u32>> = vec![Vec::new(); equations.parts.len()];
    for part in (0..equations.parts.len() as u32).rev() {
        let mut outer = Vec::new();
        for &child in &equations.parts[part as usize].children {
            match child {
                child if child < part => outer.push(child),
                child if child > part => outer.extend(depends[child as usize].iter().filter(|&&at| at < part)),
                _ => {}
            }
        }
        outer.sort_unstable();
        outer.dedup();
        depends[part as usize] = outer;
    }
    depends
}
