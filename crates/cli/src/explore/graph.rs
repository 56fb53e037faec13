//! What the explorer's page asks: states by number, their successors, why a step is not enabled, what the threads look like.
//! Nothing is expanded until it is asked for.

use std::collections::{HashMap, HashSet};

use birk_engine::{Model as _, Successors};
use birk_exec::replay::replay_ordinals;
use birk_exec::{Interpreter, Replayed, why};
use birk_ir::{FaultId, Program, Step, ThreadId, TransitionId, View};
use serde_json::{Value, json};

use crate::automata::{Automaton, Now};
use crate::interactive::session::{describe, why_text};
use crate::report::trace_table::change_text;

/// The states that were asked for so far.
pub(crate) struct Explorer<'p> {
    program: &'p Program,
    view: View<'p>,
    nodes: Vec<Node>,
    /// So many of them, from 0 on, are initial states.
    initial: usize,
    numbers: HashMap<Vec<u32>, usize>,
    /// The states whose steps were asked for, and how often each transition is among these steps.
    expanded: HashSet<usize>,
    taken: Vec<u64>,
}

/// The explorer knows at most so many states, and shows at most so many steps of one.
const MAX_STATES: usize = 200_000;
const MAX_STEPS: usize = 5_000;
/// Of the initial states it shows the first.
const MAX_INITIAL: usize = 50;

/// A state; a failing check is a node of its own, which says what failed.
struct Node {
    state: Vec<u32>,
    fault: Option<FaultId>,
}

impl<'p> Explorer<'p> {
    /// Knows the initial states.
    pub(crate) fn new(program: &'p Program) -> Self {
        let mut explorer = Self {
            program,
            view: program.view(),
            nodes: Vec::new(),
            initial: 0,
            numbers: HashMap::new(),
            expanded: HashSet::new(),
            taken: vec![0; program.transitions.len()],
        };
        for state in program.initial_states().iter().take(MAX_INITIAL) {
            explorer.number(state, None);
        }
        explorer.initial = explorer.nodes.len();
        explorer
    }

    fn number(&mut self, state: &[u32], fault: Option<FaultId>) -> usize {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        self.nodes.push(Node { state: state.to_vec(), fault });
        self.numbers.insert(state.to_vec(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// What the page needs to know of the model, and the initial states.
    pub(crate) fn start(&self, model: &str) -> Value {
        let program = self.program;
        // The names of the values of every state, in the same order.
        let shown = self.view.show(&self.nodes[0].state);
        let names: Vec<String> = shown.leaves().into_iter().map(|(name, _)| name).collect();
        json!({
            "model": model,
            "system": program.system,
            "threads": program.threads.iter().map(|thread| &thread.name).collect::<Vec<_>>(),
            "names": names,
            "properties": program.properties.iter().map(|property| json!({
                "name": property.name,
                "kind": property.word(),
                "wanted": property.wants_goal(),
                "isOfStates": property.is_of_states(),
            })).collect::<Vec<_>>(),
            "initial": program.choices.iter().map(|choice| choice.values.len()).product::<usize>(),
            "nodes": (0..self.initial).map(|number| self.node(number)).collect::<Vec<_>>(),
        })
    }

    /// A state with everything that can be said about it alone.
    fn node(&self, number: usize) -> Value {
        let program = self.program;
        let Node { state, fault } = &self.nodes[number];
        let model = Interpreter::new(program, &[]);
        let mut batch = Successors::new(model.words());
        model.successors(state, &mut batch);
        let in_property = || program.property_faults.iter().find(|(condition, _)| model.value(condition, state) != 0);
        let fault = fault.or_else(|| in_property().map(|(_, fault)| *fault));
        let here = Replayed {
            initial: 0,
            states: vec![state.clone()],
            steps: Vec::new(),
            ordinals: Vec::new(),
            fault,
            loop_start: None,
            refused: None,
        };
        let decided = |wanted: bool| -> Vec<&str> {
            let of_states = program.properties.iter().filter(|p| p.is_of_states());
            let shown = of_states.filter(|p| p.wants_goal() == wanted);
            shown.filter(|property| here.confirm(program, property).is_ok()).map(|p| p.name.as_str()).collect()
        };
        json!({
            "id": number,
            "values": self.view.show(state).leaves().iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>(),
            "violated": decided(false),
            "reached": decided(true),
            "fault": fault.map(|fault| &program.faults[fault.index()].message),
            "enabled": batch.len(),
        })
    }

    /// The successors of a state, and what cannot be taken there.
    pub(crate) fn expand(&mut self, number: usize) -> Result<Value, String> {
        let program = self.program;
        let state = self.nodes.get(number).ok_or("there is no such state")?.state.clone();
        let model = Interpreter::new(program, &[]);
        let mut batch = Successors::new(model.words());
        model.successors(&state, &mut batch);
        if batch.len() > MAX_STEPS {
            return Err(format!("this state has {} steps, and at most {MAX_STEPS} can be shown", batch.len()));
        }
        if self.nodes.len() + batch.len() > MAX_STATES {
            return Err(format!(
                "{MAX_STATES} states were explored, the most that can be kept; restart `birk explore`"
            ));
        }
        let (mut edges, mut found) = (Vec::new(), Vec::new());
        for i in 0..batch.len() {
            let step = batch.step(i);
            let fault = model.fault_of(&state, step);
            let to = self.number(batch.state(i), fault);
            edges.push(self.edge([number, to], step, [&state, batch.state(i)]));
            found.push(self.node(to));
        }
        let taken: Vec<TransitionId> = batch.steps(0).iter().map(|step| step.transition).collect();
        if self.expanded.insert(number) {
            taken.iter().for_each(|id| self.taken[id.index()] += 1);
        }
        let mut disabled = Vec::new();
        for thread in (0..program.threads.len()).map(ThreadId::new).filter(|_| !model.is_fault(&state)) {
            let Some(location) = program.location_of(thread, &state) else { continue };
            let (start, end) = program.thread(thread).at[location.index()];
            for id in (start..end).map(TransitionId).filter(|id| !taken.contains(id)) {
                disabled.push(json!({"transition": id.index(), "title": program.transition_text(id)}));
            }
        }
        Ok(json!({"node": number, "edges": edges, "nodes": found, "disabled": disabled}))
    }

    /// Why a transition is not enabled in a state.
    pub(crate) fn why(&self, number: usize, transition: usize) -> Result<Value, String> {
        let node = self.nodes.get(number).ok_or("there is no such state")?;
        if transition >= self.program.transitions.len() {
            return Err("there is no such transition".into());
        }
        let id = TransitionId::new(transition);
        Ok(json!({"lines": why_text(self.program, id, &why(self.program, &node.state, id))}))
    }

    /// A state's words, to be searched from without holding on to the explorer.
    pub(crate) fn state(&self, number: usize) -> Result<Vec<u32>, String> {
        Ok(self.nodes.get(number).ok_or("there is no such state")?.state.clone())
    }

    /// The states on a way that was found.
    pub(crate) fn way(&mut self, number: usize, steps: &[Step]) -> Result<Vec<usize>, String> {
        let model = Interpreter::new(self.program, &[]);
        let mut path = vec![number];
        for step in steps {
            let state = self.state(path[path.len() - 1])?;
            let mut batch = Successors::new(model.words());
            model.successors(&state, &mut batch);
            let next = (0..batch.len()).find(|&i| batch.step(i) == *step).ok_or("the path is lost")?;
            let fault = model.fault_of(&state, *step);
            path.push(self.number(batch.state(next), fault));
        }
        Ok(path)
    }

    /// A state that was found: the path to it, its last step, and how it differs from where the path begins.
    pub(crate) fn result(&mut self, number: usize, steps: &[Step]) -> Result<Value, String> {
        let path = self.way(number, steps)?;
        let end = path[path.len() - 1];
        let [before, after] = [number, end].map(|node| self.view.show(&self.nodes[node].state));
        let changes: Vec<String> = before.changes(&after).iter().map(change_text).collect();
        let last = steps.last().map(|step| self.program.transition_text(step.transition));
        Ok(json!({"path": path, "title": last, "changes": changes.join(", ")}))
    }

    /// The states on the way from the start by these steps, each its position among the steps of its state.
    pub(crate) fn open(&mut self, steps: &str) -> Result<Value, String> {
        let misfit = || "an address has numbers with commas between them behind `#s=0:`".to_owned();
        let (initial, steps) = steps.split_once(':').ok_or_else(misfit)?;
        let initial: u32 = initial.parse().map_err(|_| misfit())?;
        let numbers: Result<Vec<u32>, _> = steps.split(',').filter(|step| !step.is_empty()).map(str::parse).collect();
        let numbers = numbers.map_err(|_| misfit())?;
        let run = replay_ordinals(self.program, initial, &numbers, None);
        let run = run.map_err(|error| format!("the address does not fit the model: {error}"))?;
        if initial as usize >= self.initial {
            return Err(format!("only the first {} initial states are shown", self.initial));
        }
        Ok(json!({"path": self.way(initial as usize, &run.steps)?}))
    }

    /// The threads as automata, with where they are in a state, what they can do there, and what was taken so far.
    pub(crate) fn threads(&self, automata: &[Automaton], number: usize) -> Result<Value, String> {
        let state = self.state(number)?;
        let model = Interpreter::new(self.program, &[]);
        let mut batch = Successors::new(model.words());
        model.successors(&state, &mut batch);
        let taken = |id: TransitionId| self.taken[id.index()];
        let at = |thread: ThreadId| self.program.location_of(thread, &state);
        let enabled: HashSet<TransitionId> = batch.steps(0).iter().map(|step| step.transition).collect();
        let is_enabled = |id: TransitionId| enabled.contains(&id);
        let now = Now { taken: &taken, is_counted: true, at: Some(&at), is_enabled: &is_enabled };
        let one = |automaton: &Automaton| json!({"name": automaton.name, "svg": automaton.picture(self.program, Some(&now)).inline()});
        Ok(json!({"states": self.expanded.len(), "threads": automata.iter().map(one).collect::<Vec<_>>()}))
    }

    fn edge(&self, [from, to]: [usize; 2], step: Step, states: [&[u32]; 2]) -> Value {
        let thread = self.program.transition(step.transition).thread;
        let shown = states.map(|state| self.view.show(state));
        let (title, effect) = describe(self.program, step.transition, states, [&shown[0], &shown[1]]);
        json!({
            "from": from, "to": to, "thread": thread.index(), "transition": step.transition.index(),
            "choice": step.choice, "title": title, "effect": effect,
        })
    }
}
