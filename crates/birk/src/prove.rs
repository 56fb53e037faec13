//! [`prove`]: which of a model's invariants are inductive, and which step breaks the others.

use std::cell::RefCell;
use std::ops::ControlFlow;

use birk_certify::Refusal;
use birk_engine::{Job, Limits, Observer, Progress};
use birk_exec::goal_of;
use birk_ir::{Expr, Goal, Invariant, Outcome, Program, Property, PropertyKind, Stop};
use birk_symbolic::{Gap, Induction};

use crate::certificate;
use crate::error::Error;
use crate::properties::selected;

/// What was found out about some invariants.
#[derive(Clone, Debug)]
pub struct Proved<'p> {
    /// The invariants, in the order of the model.
    pub properties: Vec<&'p Property>,
    /// What breaks those that are not inductive.
    pub induction: Induction,
    /// What IC3 found out about those, where it was asked.
    pub strengthened: Vec<Strengthened>,
    /// A certificate of all that is proved, which the certifier has accepted; or why it could not check it. None where nothing is.
    pub certificate: Option<Result<Vec<u8>, String>>,
    /// What stopped it early: then nothing more is known than what is said here.
    pub stopped: Option<Stop>,
}

/// What IC3 found out about an invariant that is not inductive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strengthened {
    /// Nothing: it was not asked, or did not end.
    Open,
    /// It holds: with these clauses, and with those that are inductive anyway, it is inductive.
    By(Invariant),
    /// It is violated after so many steps.
    Violated(usize),
}

impl Proved<'_> {
    /// Whether the invariant at a position is inductive with the others.
    pub fn is_inductive(&self, position: usize) -> bool {
        self.induction.stopped.is_none() && self.induction.gaps[position].is_none()
    }

    /// Whether it is proved, by itself or by IC3.
    pub fn is_proved(&self, position: usize) -> bool {
        self.is_inductive(position) || matches!(self.strengthened[position], Strengthened::By(_))
    }

    /// Whether it is violated.
    pub fn is_violated(&self, position: usize) -> bool {
        let is_found = matches!(self.strengthened[position], Strengthened::Violated(_));
        is_found || self.induction.gaps[position] == Some(Gap::Initial)
    }
}

/// Finds out which invariants are inductive together: of these names, or all of the model. What is proved holds in every reachable
/// state; what is not may hold. Where it is asked to strengthen, IC3 tries to prove those that are not, relative to those that are.
pub fn prove<'p>(
    program: &'p Program,
    names: &[String],
    strengthen: bool,
    memory: u64,
    observer: &mut dyn Observer,
) -> Result<Proved<'p>, Error> {
    let properties = asked(program, names)?;
    let goal = |property: &&Property| goal_of(program, property);
    let goals: Vec<Goal> = properties.iter().filter_map(goal).collect();
    assert_eq!(goals.len(), properties.len(), "an invariant is about states");
    let bad: Vec<&Expr> = goals.iter().map(|Goal::State(bad)| bad).collect();
    let induction = birk_symbolic::induction(program, &bad, memory, observer).map_err(Error::Refused)?;
    let strengthened = vec![Strengthened::Open; properties.len()];
    let stopped = induction.stopped;
    let mut proved = Proved { properties, induction, strengthened, certificate: None, stopped };
    let inductive: Vec<usize> = (0..bad.len()).filter(|&at| proved.is_inductive(at)).collect();
    // What is inductive is certified first, so that it stays proved whatever becomes of the rest.
    proved.stopped = proved.stopped.or(certify(program, &mut proved, &inductive, observer)?);
    proved.induction.stopped = proved.stopped;
    let known: Vec<&Expr> = inductive.iter().map(|&at| bad[at]).collect();
    let job = Job::new(1, Limits { memory, ..Limits::NONE });
    for at in 0..bad.len() {
        let is_broken = matches!(proved.induction.gaps[at], Some(Gap::Step(_)));
        if strengthen && is_broken && proved.stopped.is_none() {
            let goal = &goals[at..=at];
            let hunt = birk_symbolic::strengthen(program, goal, &known, &job, observer).map_err(Error::Refused)?;
            proved.strengthened[at] = match (&hunt.outcomes[0], hunt.stats.sat().map(|sat| &sat.invariants[..])) {
                (Outcome::Found(trace), _) => Strengthened::Violated(trace.steps.len()),
                (Outcome::Absent, Some([Some(invariant)])) => Strengthened::By(invariant.clone()),
                _ => Strengthened::Open,
            };
            proved.stopped = Some(hunt.stopped).filter(|stop| !matches!(stop, Stop::Goal | Stop::Exhausted));
        }
    }
    let is_by = |one: &Strengthened| matches!(one, Strengthened::By(_));
    if proved.strengthened.iter().any(is_by)
        && let Some(stop) = certify(program, &mut proved, &inductive, observer)?
    {
        proved.strengthened.iter_mut().filter(|one| is_by(one)).for_each(|one| *one = Strengthened::Open);
        proved.stopped = Some(stop);
    }
    Ok(proved)
}

/// The invariants of these names, or all.
fn asked<'p>(program: &'p Program, names: &[String]) -> Result<Vec<&'p Property>, Error> {
    let is_own = |property: &&Property| matches!(property.kind, PropertyKind::Invariant(_));
    let is_asked = |property: &&Property| !names.is_empty() || is_own(property);
    let properties: Vec<&Property> = selected(program, names, true)?.into_iter().filter(is_asked).collect();
    let may_be = |property: &&&Property| is_own(property) || matches!(property.kind, PropertyKind::Fault);
    if let Some(other) = properties.iter().find(|property| !may_be(property)) {
        let (word, name) = (other.word(), &other.name);
        return Err(Error::refused(format!(
            "`{name}` is a property of another kind ({word}): only invariants and `fault` can be inductive; \
             birk check decides `{name}`"
        )));
    }
    if properties.is_empty() {
        return Err(Error::refused(
            "the model has no invariants; add one, such as `invariant positive: x > 0;`, or prove that there are no runtime \
             errors by --with fault",
        ));
    }
    Ok(properties)
}

/// Has what was proved checked by the certifier: what is inductive, and, with that, each invariant that IC3 has proved. What stopped
/// it, if it was stopped: then nothing was checked.
fn certify(
    program: &Program,
    proved: &mut Proved<'_>,
    inductive: &[usize],
    observer: &mut dyn Observer,
) -> Result<Option<Stop>, Error> {
    let bounds = proved.induction.bounds.clone();
    let (mut all, mut whole) = (inductive.to_vec(), Invariant { bounds, excluded: Vec::new() });
    for (at, strengthened) in proved.strengthened.iter().enumerate() {
        let Strengthened::By(invariant) = strengthened else { continue };
        all.push(at);
        whole.excluded.extend(invariant.excluded.iter().cloned());
    }
    if all.is_empty() {
        return Ok(None);
    }
    let properties: Vec<&Property> = all.iter().map(|&at| proved.properties[at]).collect();
    let bytes = certificate::of_properties(program, &properties, &whole);
    let asked = RefCell::new((observer, None));
    let may_go_on = || {
        let (observer, stopped) = &mut *asked.borrow_mut();
        if let ControlFlow::Break(stop) = observer.progress(&Progress::default()) {
            *stopped = Some(stop);
        }
        stopped.is_none()
    };
    let checked = birk_certify::check(program, &bytes, &may_go_on);
    match checked {
        Ok(_) => proved.certificate = Some(Ok(bytes)),
        Err(Refusal::Unknown(reason)) => proved.certificate = Some(Err(reason)),
        Err(Refusal::Stopped) => return Ok(asked.into_inner().1.or(Some(Stop::Interrupt))),
        Err(refusal) => return Err(Error::Internal(refusal.to_string())),
    }
    Ok(None)
}
