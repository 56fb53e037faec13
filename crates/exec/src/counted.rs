//! A program and an automaton that watches it, as one program, which counts how often the automaton accepts.
//!
//! A run is accepted if it is in accepting states infinitely often. If there is a number of times that no run is in them more often,
//! none is accepted, and whoever proves properties of states can prove that (k-liveness: Claessen and Sörensson, "A Liveness Checking
//! Algorithm that Counts", 2012). The automaton reads the state that is left, and a state in which no step is possible
//! repeats forever, as in [`crate::Product`]. With weak fairness, only rounds count in which the automaton accepts and every condition
//! is met: a flag for each says that it was, since the last round.
//!
//! Where a guard does not say whether a step is possible, because `require` does, it is taken for impossible in two places: there,
//! a state may stay as it is, and a condition of fairness counts as met. So there are more runs than in the product, and none is
//! missing. A lasso that is found in them has to be confirmed.

use std::collections::HashMap;

use birk_engine::{Model, Successors};
use birk_ir::{
    BinaryOp, Expr, Goal, Layout, LocalId, Location, LocationId, Op, Place, Program, Property, PropertyKind, Span,
    Step, Thread, ThreadId, ThreadKind, ThreadRole, Trace, Transition, TransitionId, ValueKind, VarId, VarRole,
    Variable,
};

use crate::automaton::Buchi;
use crate::automaton::label::Label;
use crate::interpreter::{Interpreter, frame_of};
use crate::product::Fairness;
use crate::replay::replay;

/// An automaton whose states have more edges than this is not taken up into a program.
const MOST_EDGES: usize = 64;
/// How the variables are called that the program has in addition.
const NAMES: [&str; 4] = ["watcher", "accepted", "met", "staying"];

/// A program that counts.
#[derive(Clone, Debug)]
pub struct Counted {
    /// What is searched. Its variables, threads and transitions begin with those of the program that is watched.
    pub program: Program,
    /// The count.
    accepted: VarId,
    /// How many variables and transitions are those of the program that is watched.
    variables: usize,
    transitions: usize,
}

impl Counted {
    /// Counts up to one more than `most` how often the automaton accepts a run of the program; `propositions` are what it reads. A
    /// reason, if that cannot be written as a program.
    pub fn new(
        program: &Program,
        automaton: &Buchi,
        propositions: &[Expr],
        fairness: Option<&Fairness>,
        most: u32,
    ) -> Result<Self, String> {
        if let Some(reason) = program.interpreted_only() {
            return Err(reason.to_owned());
        }
        let mut asks_stuck = false;
        propositions.iter().for_each(|part| part.walk(&mut |e| asks_stuck |= *e == Expr::Stuck));
        if asks_stuck {
            return Err("the formula asks for states in which no step is possible".to_owned());
        }
        let edges: usize = (0..automaton.len()).map(|state| automaton.edges(state).len()).sum();
        if automaton.initial().is_empty() || edges > MOST_EDGES {
            return Err(format!("its automaton has {edges} edges from {} initial states", automaton.initial().len()));
        }
        let mut counted = program.clone();
        let writer = Writer::new(&mut counted, automaton, propositions, fairness, most);
        let front: Vec<Front> = (0..program.transitions.len()).map(|id| writer.front(Some(id))).collect();
        let (staying, accepted) = (writer.front(None), writer.accepted);
        let stays = writer.stays();
        for (transition, front) in counted.transitions.iter_mut().zip(front) {
            front.put_before(transition);
        }
        add_staying(&mut counted, stays, staying);
        counted.layout = Layout::of(&counted.variables);
        let too_often = Expr::binary(BinaryOp::Gt, Expr::Var(accepted), Expr::Const(i64::from(most)));
        counted.properties =
            vec![Property { name: "too_often".to_owned(), kind: PropertyKind::Reachable(too_often), span: None }];
        Ok(Self {
            program: counted,
            accepted,
            variables: program.variables.len(),
            transitions: program.transitions.len(),
        })
    }

    /// What is reached if the automaton accepts too often.
    pub fn goal(&self) -> Goal {
        Goal::State(self.program.properties[0].conditions()[0].clone())
    }

    /// A run of the program that is watched which is accepted again and again, if this one of the program that counts comes to a place
    /// a second time, and has counted in between. Staying in the last state forever is a loop of no step.
    pub fn lasso(&self, watched: &Program, trace: &Trace) -> Option<Trace> {
        let states = replay(&self.program, trace).ok()?.states;
        let mut first: HashMap<Vec<i64>, usize> = HashMap::new();
        let (start, end) = states.iter().enumerate().find_map(|(at, state)| {
            let before = *first.entry(self.place(state)).or_insert(at);
            (self.count(state) > self.count(&states[before])).then_some((before, at))
        })?;
        let states: Vec<Vec<u32>> = states[..=end].iter().map(|state| self.below(watched, state)).collect();
        let initial = watched.initial_states().iter().position(|initial| *initial == states[0])?;
        let model = Interpreter::new(watched, &[]);
        let (mut steps, mut loop_start) = (Vec::new(), 0);
        for (at, step) in trace.steps[..end].iter().enumerate() {
            if at == start {
                loop_start = steps.len();
            }
            if step.transition.index() < self.transitions {
                steps.push(taken(&model, step.transition, [&states[at], &states[at + 1]])?);
            }
        }
        Some(Trace { initial: initial as u32, steps, loop_start: Some(loop_start) })
    }

    fn count(&self, state: &[u32]) -> i64 {
        self.program.layout.slot(self.accepted).get(state, 0)
    }

    /// All of a state but the count.
    fn place(&self, state: &[u32]) -> Vec<i64> {
        let ids = (0..self.program.variables.len()).map(VarId::new).filter(|id| *id != self.accepted);
        let slots = ids.map(|id| self.program.layout.slot(id));
        slots.flat_map(|slot| (0..slot.len).map(|element| slot.get(state, element))).collect()
    }

    /// The state of the program that is watched.
    fn below(&self, watched: &Program, state: &[u32]) -> Vec<u32> {
        let mut below = vec![0; watched.layout.words()];
        for id in (0..self.variables).map(VarId::new) {
            let (from, to) = (self.program.layout.slot(id), watched.layout.slot(id));
            (0..to.len).for_each(|element| to.set(&mut below, element, from.get(state, element)));
        }
        below
    }
}

/// The step by a transition from one state to another.
fn taken(model: &Interpreter<'_>, transition: TransitionId, [from, to]: [&[u32]; 2]) -> Option<Step> {
    let mut successors = Successors::in_parts(model.words());
    let found = successors.find(model, from, |step, state| step.transition == transition && state == to)?;
    Some(successors.step(found))
}

/// What a transition does first.
struct Front {
    ops: Vec<Op>,
    locals: u32,
}

impl Front {
    fn put_before(self, transition: &mut Transition) {
        transition.ops.splice(0..0, self.ops);
        transition.locals = transition.locals.max(self.locals);
    }
}

/// Writes what transitions do in addition.
struct Writer<'a> {
    program: &'a Program,
    automaton: &'a Buchi,
    propositions: &'a [Expr],
    fairness: Option<&'a Fairness>,
    most: u32,
    watcher: VarId,
    accepted: VarId,
    met: Option<VarId>,
    /// For each condition of fairness, that nobody can meet it.
    prevented: Vec<Expr>,
    /// Locals from this one on are in no expression.
    free: u32,
}

impl<'a> Writer<'a> {
    /// Adds the variables to a program.
    fn new(
        program: &'a mut Program,
        automaton: &'a Buchi,
        propositions: &'a [Expr],
        fairness: Option<&'a Fairness>,
        most: u32,
    ) -> Self {
        let conditions = fairness.map_or(0, |fairness| fairness.names.len());
        let first = automaton.initial()[0] as i64;
        let [watcher, accepted, met, _] = NAMES;
        let watcher = add(program, variable(watcher, automaton.len() as i64 - 1, &[], first));
        if automaton.initial().len() > 1 {
            let values = automaton.initial().iter().map(|&state| state as i64).collect();
            program.choices.push(birk_ir::InitialChoice { variable: watcher, element: 0, values });
        }
        let accepted = add(program, variable(accepted, i64::from(most) + 1, &[], 0));
        let met = (conditions > 0).then(|| add(program, variable(met, 1, &[conditions as u32 + 1], 0)));
        let program = &*program;
        let can_meet = |condition: usize| {
            let ids = (0..program.transitions.len())
                .filter(move |&id| fairness.is_some_and(|fairness| fairness.met_by[id] >> condition & 1 == 1));
            Expr::any(ids.filter_map(|id| surely_possible(program, &program.transitions[id])).collect())
        };
        let prevented = (0..conditions).map(|condition| can_meet(condition).negate()).collect();
        let mut frame = propositions.iter().map(frame_of).max().unwrap_or(0);
        for transition in &program.transitions {
            frame = frame.max(frame_of(&transition.guard)).max(transition.locals as usize);
        }
        Self { program, automaton, propositions, fairness, most, watcher, accepted, met, prevented, free: frame as u32 }
    }

    /// What a transition does first; without one, what is done where the state stays as it is.
    fn front(&self, transition: Option<usize>) -> Front {
        let mut ops = Vec::new();
        let mut locals = self.free;
        let degree = (0..self.automaton.len()).map(|state| self.automaton.edges(state).len()).max().unwrap_or(0);
        let chosen = if degree > 1 {
            let local = LocalId(locals);
            locals += 1;
            ops.push(Op::Choose(local, Expr::Const(0), Expr::Const(degree as i64 - 1)));
            Some(local)
        } else {
            None
        };
        let (mut moves, mut next) = (Vec::new(), Expr::Var(self.watcher));
        for state in 0..self.automaton.len() {
            for (number, edge) in self.automaton.edges(state).iter().enumerate() {
                let is_chosen = chosen.map_or(Expr::TRUE, |local| Expr::Local(local).equals(number as i64));
                let here = Expr::Var(self.watcher).equals(state as i64).and(is_chosen);
                moves.push(here.clone().and(self.condition(edge.label)));
                next = Expr::choose(here, Expr::Const(edge.target as i64), next);
            }
        }
        ops.push(Op::Require(Expr::any(moves)));
        self.count(transition, &mut ops, &mut locals);
        ops.push(Op::Assign(Place { variable: self.watcher, index: None }, next));
        Front { ops, locals }
    }

    /// Counts an accepting state that is left, or a round in which there was one and every condition was met.
    fn count(&self, transition: Option<usize>, ops: &mut Vec<Op>, locals: &mut u32) {
        let accepting = (0..self.automaton.len()).filter(|&state| self.automaton.is_accepting(state));
        let accepts = Expr::any(accepting.map(|state| Expr::Var(self.watcher).equals(state as i64)).collect());
        let mut counts = accepts.clone();
        if let Some(met) = self.met {
            let mask = transition.and_then(|id| Some(self.fairness?.met_by[id])).unwrap_or(0);
            let now = |(condition, prevented): (usize, &Expr)| match mask >> condition & 1 {
                1 => Expr::TRUE,
                _ => prevented.clone(),
            };
            let now: Vec<Expr> = [accepts].into_iter().chain(self.prevented.iter().enumerate().map(now)).collect();
            let first = *locals;
            for (flag, now) in now.into_iter().enumerate() {
                let before = Expr::element(met, Expr::Const(flag as i64));
                ops.push(Op::Let(LocalId(*locals), before.or(now)));
                *locals += 1;
            }
            let flags = first..*locals;
            ops.push(Op::Let(
                LocalId(*locals),
                Expr::all(flags.clone().map(|flag| Expr::Local(LocalId(flag))).collect()),
            ));
            counts = Expr::Local(LocalId(*locals));
            *locals += 1;
            for (element, flag) in flags.enumerate() {
                let still = Expr::Local(LocalId(flag)).and(counts.clone().negate());
                let place = Place { variable: met, index: Some(Expr::Const(element as i64)) };
                ops.push(Op::Assign(place, Expr::choose(still, Expr::TRUE, Expr::FALSE)));
            }
        }
        let is_counted = Expr::binary(BinaryOp::Le, Expr::Var(self.accepted), Expr::Const(i64::from(self.most)));
        let more = Expr::binary(BinaryOp::Add, Expr::Var(self.accepted), Expr::Const(1));
        let value = Expr::choose(counts.and(is_counted), more, Expr::Var(self.accepted));
        ops.push(Op::Assign(Place { variable: self.accepted, index: None }, value));
    }

    fn condition(&self, label: Label) -> Expr {
        self.automaton.labels().condition(label, self.propositions)
    }

    /// Where no step is possible, as far as guards say so.
    fn stays(&self) -> Expr {
        let possible = self.program.transitions.iter().filter_map(|of| surely_possible(self.program, of)).collect();
        let faulty = self.program.fault.map_or(Expr::FALSE, Expr::Var);
        faulty.negate().and(Expr::any(possible).negate())
    }
}

/// Where a transition is possible, if its guard alone says so.
fn surely_possible(program: &Program, transition: &Transition) -> Option<Expr> {
    let may_lack = |op: &Op| match op {
        Op::Require(_) | Op::Assume(_) => true,
        Op::Choose(_, lo, hi) => !matches!((lo.as_const(), hi.as_const()), (Some(lo), Some(hi)) if lo <= hi),
        _ => false,
    };
    if transition.ops.iter().any(may_lack) {
        return None;
    }
    let thread = program.thread(transition.thread);
    let counter = Expr::element(program.kinds[thread.kind].counter, Expr::Const(i64::from(thread.copy)));
    Some(counter.equals(transition.location.index() as i64).and(transition.guard.clone()))
}

fn variable(name: &str, hi: i64, shape: &[u32], initial: i64) -> Variable {
    let len: u32 = shape.iter().product();
    Variable {
        name: name.to_owned(),
        role: VarRole::Global,
        lo: 0,
        hi,
        shape: shape.to_vec(),
        values: ValueKind::Integer,
        initial: vec![initial; len as usize],
        span: Span::default(),
    }
}

/// Adds a variable, under a name that no other has.
fn add(program: &mut Program, mut variable: Variable) -> VarId {
    while program.variables.iter().any(|other| other.name == variable.name) {
        variable.name.push('\'');
    }
    program.variables.push(variable);
    VarId::new(program.variables.len() - 1)
}

/// Adds a thread whose only step stays in a state where this is true.
fn add_staying(program: &mut Program, guard: Expr, front: Front) {
    let kind = program.kinds.len();
    let name = NAMES[3];
    let counter = Variable { role: VarRole::Counter(kind), ..variable(&format!("{name}@"), 1, &[1], 0) };
    let counter = add(program, counter);
    let location =
        Location { name: "stays".to_owned(), span: Span::default(), end: true, accept: false, progress: false };
    program.kinds.push(ThreadKind {
        name: name.to_owned(),
        role: ThreadRole::Thread,
        span: Span::default(),
        locations: vec![location],
        counter,
        copies: 1,
        indexed: false,
        fair: false,
        crashed: None,
    });
    let first = program.transitions.len() as u32;
    program.threads.push(Thread { name: name.to_owned(), kind, copy: 0, at: vec![(first, first + 1)] });
    let mut transition = Transition {
        thread: ThreadId::new(program.threads.len() - 1),
        location: LocationId::new(0),
        ordinal: 0,
        target: Some(LocationId::new(0)),
        span: Span::default(),
        guard_span: None,
        parts: Vec::new(),
        guard,
        ops: Vec::new(),
        locals: 0,
        fair: None,
        then: None,
        receiver: None,
    };
    front.put_before(&mut transition);
    program.transitions.push(transition);
}
