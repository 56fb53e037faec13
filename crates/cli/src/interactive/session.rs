//! A walk through a model: where it stands, where it has been, and what can be done next. Knows neither keys nor
//! screens, so that the screen and the prompt are two views of the same thing.

use birk_engine::{Model as _, Successors};
use birk_exec::simulate::draw;
use birk_exec::{Choose, Interpreter, Nearest, Random, Reason, Replayed, Why, nearest, why};
use birk_ir::text::NOT_RUNNING;
use birk_ir::{
    Expr, FaultId, History, InitialChoice, Program, Property, PropertyKind, ShownState, Step, ThreadId, TransitionId,
    View,
};

use crate::report::json::is_location_of;
use crate::report::trace_table::change_text;

/// A search for a condition looks at so many states before it gives up.
pub(crate) const HORIZON: usize = 200_000;

/// A walk.
pub(crate) struct Session<'p> {
    program: &'p Program,
    view: View<'p>,
    /// Those that were asked for.
    properties: Vec<&'p Property>,
    model: Interpreter<'p>,
    /// Which initial state it begins in.
    initial: u32,
    /// The states of the walk, also those behind the one it stands at.
    moments: Vec<Moment>,
    at: usize,
    offers: Vec<Offer>,
    is_cut: bool,
    choose: Choose,
    random: Random,
}

/// A state, and the step that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    state: Vec<u32>,
    step: Option<(Step, u32)>,
    fault: Option<FaultId>,
}

/// A transition of the current locations: one that can be taken, or one that cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) transition: TransitionId,
    /// Its position among the successors, if it can be taken.
    pub(crate) ordinal: Option<usize>,
    /// `Philosopher1.loc0 → loc1`
    pub(crate) title: String,
    /// `fork1: false → true`
    pub(crate) effect: String,
}

/// What the current state says about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) mood: Mood,
}

/// Good news, bad news, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Plain,
    Good,
    Bad,
}

impl<'p> Session<'p> {
    /// A walk that stands at the initial state, and watches these properties.
    pub(crate) fn new(program: &'p Program, properties: Vec<&'p Property>, choose: Choose, seed: u64) -> Self {
        let start = Moment { state: program.initial_state(), step: None, fault: None };
        let mut session = Self {
            program,
            view: program.view(),
            properties,
            model: Interpreter::new(program, &[]),
            initial: 0,
            moments: vec![start],
            at: 0,
            offers: Vec::new(),
            is_cut: false,
            choose,
            random: Random::new(seed),
        };
        session.look();
        session
    }

    /// Puts a run in the place of the walk, and stands at its beginning.
    pub(crate) fn open(&mut self, run: &Replayed) {
        self.moments.truncate(1);
        self.moments[0].state.clone_from(&run.states[0]);
        self.initial = run.initial;
        for (index, (step, ordinal)) in run.steps.iter().zip(&run.ordinals).enumerate() {
            let is_last = index + 1 == run.steps.len();
            let fault = if is_last { run.fault } else { None };
            self.moments.push(Moment { state: run.states[index + 1].clone(), step: Some((*step, *ordinal)), fault });
        }
        self.jump(0);
    }

    pub(crate) fn state(&self) -> &[u32] {
        &self.moments[self.at].state
    }

    /// The number of the current step, and of the last one.
    pub(crate) fn position(&self) -> (usize, usize) {
        (self.at, self.moments.len() - 1)
    }

    pub(crate) fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Takes one of the steps offered. If it is the one taken before, what followed it stays.
    pub(crate) fn take(&mut self, offer: usize) -> Result<(), String> {
        let Some(offer) = self.offers.get(offer) else { return Err("there is no such step".into()) };
        let Some(ordinal) = offer.ordinal else { return Err(format!("{} is not enabled", offer.title)) };
        self.take_successor(ordinal);
        Ok(())
    }

    fn take_successor(&mut self, ordinal: usize) {
        let batch = self.successors();
        let step = batch.step(ordinal);
        let known = self.moments.get(self.at + 1).and_then(|moment| moment.step);
        if known.is_none_or(|(known, _)| known != step) {
            self.moments.truncate(self.at + 1);
            let fault = self.model.fault_of(self.state(), step);
            let state = batch.state(ordinal).to_vec();
            self.moments.push(Moment { state, step: Some((step, ordinal as u32)), fault });
        }
        self.jump(self.at + 1);
    }

    /// Stands at another step of the walk; numbers beyond its end mean the end.
    pub(crate) fn jump(&mut self, to: usize) {
        self.at = to.min(self.moments.len() - 1);
        self.look();
    }

    pub(crate) fn back(&mut self) -> Result<(), String> {
        self.at.checked_sub(1).map(|to| self.jump(to)).ok_or_else(|| "this is the start".into())
    }

    pub(crate) fn forward(&mut self) -> Result<(), String> {
        if self.at + 1 == self.moments.len() {
            return Err("this is the last step".into());
        }
        self.jump(self.at + 1);
        Ok(())
    }

    /// Takes the last step back, and forgets it and all behind it.
    pub(crate) fn undo(&mut self) -> Result<(), String> {
        self.back()?;
        self.moments.truncate(self.at + 1);
        Ok(())
    }

    /// The initial states, unless there is only one: what is chosen in each.
    pub(crate) fn beginnings(&self) -> Vec<String> {
        let name = |choice: &InitialChoice| self.program.element_name(choice.variable, choice.element);
        let text = |state: &Vec<u32>| {
            let value = |choice: &InitialChoice| {
                let value = self.program.layout.slot(choice.variable).get(state, choice.element);
                format!("{}={}", name(choice), self.program.variable(choice.variable).values.text(value))
            };
            self.program.choices.iter().map(value).collect::<Vec<_>>().join(" ")
        };
        if self.program.choices.is_empty() {
            Vec::new()
        } else {
            self.program.initial_states().iter().map(text).collect()
        }
    }

    /// The number of the initial state, and how many there are, unless there is only one.
    pub(crate) fn beginning(&self) -> Option<(u32, usize)> {
        let all = self.program.choices.iter().map(|choice| choice.values.len()).product();
        (all > 1).then_some((self.initial, all))
    }

    /// Forgets everything, and begins in another initial state.
    pub(crate) fn begin(&mut self, number: usize) -> Result<(), String> {
        let states = self.program.initial_states();
        let state = states.get(number).ok_or_else(|| format!("the initial states are 0 to {}", states.len() - 1))?;
        self.moments[0].state.clone_from(state);
        self.initial = number as u32;
        self.restart();
        Ok(())
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self) {
        self.moments.truncate(1);
        self.jump(0);
    }

    /// Takes so many random steps, fewer where it meets a violation or an end. Says how many.
    pub(crate) fn random(&mut self, steps: usize) -> usize {
        for taken in 0..steps {
            let batch = self.successors();
            if batch.is_empty() || taken > 0 && self.violated().is_some() {
                return taken;
            }
            let ordinal = draw(self.program, batch.steps(0), self.choose, &mut self.random);
            self.take_successor(ordinal);
        }
        steps
    }

    /// Takes the shortest path to a state that satisfies a condition; says how many steps that took.
    pub(crate) fn run_to(&mut self, condition: &Expr) -> Result<usize, String> {
        match nearest(self.program, self.state(), condition, HORIZON) {
            Nearest::Found(steps) => {
                for step in &steps {
                    let batch = self.successors();
                    let ordinal = (0..batch.len()).find(|&i| batch.step(i) == *step);
                    self.take_successor(ordinal.expect("the way was found by these very steps"));
                }
                Ok(steps.len())
            }
            Nearest::Absent => Err("no other state that can be reached from here satisfies it".into()),
            Nearest::Unknown(states) => {
                Err(format!("none of the nearest {states} states satisfies it; there are more"))
            }
        }
    }

    /// Why one of the steps offered can or cannot be taken.
    pub(crate) fn why(&self, transition: TransitionId) -> Vec<String> {
        why_text(self.program, transition, &why(self.program, self.state(), transition))
    }

    /// The value of a condition here.
    pub(crate) fn value(&self, condition: &Expr) -> bool {
        self.model.value(condition, self.state()) != 0
    }

    /// What the current state says about each property.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        self.properties.iter().map(|property| self.standing(property)).collect()
    }

    fn standing(&self, property: &Property) -> Standing {
        let shown = self.shows(property);
        let stuck = !self.offers.iter().any(|offer| offer.ordinal.is_some());
        let (text, mood) = match (&property.kind, shown) {
            (PropertyKind::Deadlock, true) => ("no step is possible".into(), Mood::Bad),
            (PropertyKind::Deadlock, false) if stuck && self.is_cut => ("pruned by assume".into(), Mood::Plain),
            (PropertyKind::Deadlock, false) if stuck => ("ended".into(), Mood::Plain),
            (PropertyKind::Fault, true) => (self.fault_text(), Mood::Bad),
            (PropertyKind::Deadlock | PropertyKind::Fault, false) => ("no".into(), Mood::Plain),
            (PropertyKind::Invariant(_), true) => ("false".into(), Mood::Bad),
            (PropertyKind::Invariant(_), false) => ("true".into(), Mood::Plain),
            (PropertyKind::Reachable(_), true) => ("reached".into(), Mood::Good),
            (PropertyKind::Reachable(_), false) => ("not here".into(), Mood::Plain),
            (PropertyKind::Ltl(_) | PropertyKind::Automaton | PropertyKind::Claim(_), _) => {
                ("about executions".into(), Mood::Plain)
            }
            (PropertyKind::Ctl(_) | PropertyKind::Mu(_), _) => ("about executions".into(), Mood::Plain),
        };
        Standing { name: property.name.clone(), text, mood }
    }

    /// Whether the current state decides a property, evaluated as a trace that ends here.
    fn shows(&self, property: &Property) -> bool {
        self.here().confirm(self.program, property).is_ok()
    }

    /// A run that begins and ends here.
    fn here(&self) -> Replayed {
        let moment = &self.moments[self.at];
        let in_property = || {
            let faults = &self.program.property_faults;
            let found = faults.iter().find(|(condition, _)| self.model.value(condition, &moment.state) != 0);
            found.map(|(_, fault)| *fault)
        };
        let fault = moment.fault.or_else(in_property);
        Replayed {
            initial: self.initial,
            states: vec![moment.state.clone()],
            steps: Vec::new(),
            ordinals: Vec::new(),
            fault,
            loop_start: None,
            refused: None,
        }
    }

    fn fault_text(&self) -> String {
        let fault = self.here().fault.map(|fault| self.program.faults[fault.index()].message.clone());
        fault.unwrap_or_else(|| "a check failed".into())
    }

    /// The first property that is violated here.
    pub(crate) fn violated(&self) -> Option<&'p Property> {
        let is_bad = |property: &&Property| !property.wants_goal() && property.branching().is_none();
        self.properties.iter().copied().filter(is_bad).find(|property| self.shows(property))
    }

    /// Every value of the state: name, value, and the value before where it changed.
    pub(crate) fn values(&self) -> Vec<(String, String, Option<String>)> {
        let mut history = self.history(self.at.saturating_sub(1));
        let before = history.show(&self.moments[self.at.saturating_sub(1)].state);
        let now = history.show(self.state());
        let both = before.leaves().into_iter().zip(now.leaves());
        both.map(|((_, old), (name, now))| (name, now.to_string(), (old != now).then(|| old.to_string()))).collect()
    }

    /// What came before a moment of the walk.
    fn history(&self, at: usize) -> History<'_, 'p> {
        let mut history = self.view.history();
        self.moments[..at].iter().for_each(|moment| history.pass(&moment.state));
        history
    }

    /// The step that led to a moment of the walk, in words; the start has none.
    pub(crate) fn step_text(&self, at: usize) -> (String, String) {
        let Some((step, _)) = self.moments[at].step else { return ("(start)".into(), String::new()) };
        let mut history = self.history(at - 1);
        let [before, after] = [at - 1, at].map(|at| &self.moments[at].state);
        let shown = [before, after].map(|state| history.show(state));
        describe(self.program, step.transition, [before, after], [&shown[0], &shown[1]])
    }

    /// The transition that led to a moment of the walk.
    #[cfg(feature = "native")]
    pub(crate) fn transition(&self, at: usize) -> Option<TransitionId> {
        self.moments[at].step.map(|(step, _)| step.transition)
    }

    /// The walk up to where it stands, as a run.
    pub(crate) fn run(&self) -> Replayed {
        let moments = &self.moments[..=self.at];
        let steps = moments.iter().filter_map(|moment| moment.step);
        let (steps, ordinals) = steps.unzip();
        let states = moments.iter().map(|moment| moment.state.clone()).collect();
        let (initial, fault) = (self.initial, self.here().fault);
        Replayed { initial, states, steps, ordinals, fault, loop_start: None, refused: None }
    }

    fn successors(&self) -> Successors {
        let mut batch = Successors::new(self.model.words());
        self.model.successors(self.state(), &mut batch);
        batch
    }

    /// Finds out what can be done next.
    fn look(&mut self) {
        let batch = self.successors();
        self.is_cut = batch.cut > 0;
        let program = self.program;
        let state = self.state();
        let mut history = self.history(self.at);
        let now = history.show(state);
        let mut offers = Vec::new();
        for i in 0..batch.len() {
            let transition = batch.step(i).transition;
            let next = history.clone().show(batch.state(i));
            let (title, effect) = describe(program, transition, [state, batch.state(i)], [&now, &next]);
            offers.push(Offer { transition, ordinal: Some(i), title, effect });
        }
        let taken: Vec<TransitionId> = offers.iter().map(|offer| offer.transition).collect();
        for thread in (0..program.threads.len()).map(ThreadId::new) {
            let Some(location) = program.location_of(thread, state) else { continue };
            let (start, end) = program.thread(thread).at[location.index()];
            for transition in (start..end).map(TransitionId).filter(|id| !taken.contains(id)) {
                let target = program.transition(transition).target;
                let target = match target == Some(location) {
                    true => String::new(),
                    false => format!(" → {}", program.location_text(thread, target)),
                };
                let title = format!("{}{target}", program.transition_text(transition));
                offers.push(Offer { transition, ordinal: None, title, effect: String::new() });
            }
        }
        self.offers = offers;
    }
}

/// A step in words, by the states before and after it: who goes where, and what changes.
pub(crate) fn describe(
    program: &Program,
    id: TransitionId,
    [before, after]: [&[u32]; 2],
    shown: [&ShownState<'_>; 2],
) -> (String, String) {
    let thread = program.transition(id).thread;
    let faulty = program.is_faulty(after);
    let target = if faulty { "fault" } else { program.location_text(thread, program.location_of(thread, after)) };
    let changes = shown[0].changes(shown[1]);
    let others = changes.iter().filter(|change| !is_location_of(program, thread, &change.name));
    let changes: Vec<String> = others.map(change_text).collect();
    // Who stays where it is goes nowhere.
    let stays = !faulty && program.location_of(thread, before) == program.location_of(thread, after);
    let target = if stays { String::new() } else { format!(" → {target}") };
    (format!("{}{target}", program.transition_text(id)), changes.join(", "))
}

/// An explanation in lines.
pub(crate) fn why_text(program: &Program, id: TransitionId, why: &Why) -> Vec<String> {
    let name = program.transition_text(id);
    let thread = program.transition(id).thread;
    let who = &program.thread(thread).name;
    let mut lines = vec![match why.reason {
        Reason::Enabled => format!("{name} is enabled"),
        Reason::Elsewhere(None) => format!("{name} is not enabled: {who} is {NOT_RUNNING}"),
        Reason::Elsewhere(at) => {
            let wanted = program.location_text(thread, Some(program.transition(id).location));
            format!("{name} is not enabled: {who} is at {}, not at {wanted}", program.location_text(thread, at))
        }
        Reason::Guard => format!("{name} is not enabled, because its guard is false:"),
        Reason::Blocked => format!("{name} is not enabled: a step is taken as a whole or not at all, and in it"),
        Reason::Cut => format!("{name} is pruned by an `assume`:"),
        Reason::Over => format!("{name} is not enabled: a runtime error has ended the execution"),
    }];
    let width = why.parts.iter().map(|part| 2 * part.depth + part.text.chars().count()).max().unwrap_or(0);
    for part in &why.parts {
        let text = format!("{}{}", "  ".repeat(part.depth), part.text);
        lines.push(format!("  {text:width$}  {}", part.value));
    }
    lines
}
