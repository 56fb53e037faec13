//! Two graphs of states compared without knowing which place of the one is which of the other.
//!
//! Where a body is made of statements, the program numbers its places as it likes. So each state has a colour: at first
//! what can be seen of it, then, round by round, that and the colours of its successors. If the graphs mean the same,
//! the same colours occur equally often in every round.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_ir::{FaultKind, Program, VarId};

use crate::check::{Checked, same};
use crate::meaning::{Meaning, Outcome, State, Step};

/// After so many steps a difference must show.
const ROUNDS: usize = 6;

/// What can be seen of a state, and where its steps lead: by whom, and to which state or fault.
struct Node {
    seen: Vec<i64>,
    cut: u64,
    edges: Vec<(u64, Result<usize, Option<FaultKind>>)>,
}

/// A graph; the first nodes are the initial states.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// The graph of a program, with the elements in the order of the meaning's names.
    fn of_program(meaning: &Meaning<'_>, program: &Program, by_kind: bool) -> Result<Self, String> {
        let elements = Elements::new(meaning, program)?;
        let model = Interpreter::new(program, &[]);
        let mut batch = Successors::new(model.words());
        model.initial(&mut batch);
        let mut states: Vec<Vec<u32>> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
        let mut known: HashMap<Vec<u32>, usize> = states.iter().cloned().zip(0..).collect();
        let mut graph = Graph::default();
        while let Some(state) = states.get(graph.nodes.len()).cloned() {
            batch.clear();
            batch.cut = 0;
            model.successors(&state, &mut batch);
            let mut edges = Vec::new();
            for i in 0..batch.len() {
                let taken = batch.step(i);
                let transition = program.transition(taken.transition);
                let thread = program.thread(transition.thread);
                let label = colour(&(thread.kind, i64::from(thread.copy), transition.fair));
                if model.is_fault(batch.state(i)) {
                    let fault = model.fault_of(&state, taken).map(|id| program.faults[id.index()].kind);
                    edges.push((label, Err(fault.filter(|_| by_kind))));
                    continue;
                }
                let next = known.len();
                let target = *known.entry(batch.state(i).to_vec()).or_insert_with(|| {
                    states.push(batch.state(i).to_vec());
                    next
                });
                edges.push((label, Ok(target)));
            }
            graph.nodes.push(Node { seen: elements.seen(meaning, program, &state), cut: batch.cut, edges });
        }
        Ok(graph)
    }

    /// The colours of one round after those of the last.
    fn next(&self, colours: &[u64]) -> Vec<u64> {
        let of = |(node, own): (&Node, &u64)| {
            let mut edges: Vec<u64> =
                node.edges.iter().map(|edge| colour(&(edge.0, edge.1.map(|t| colours[t])))).collect();
            edges.sort_unstable();
            colour(&(own, edges))
        };
        self.nodes.iter().zip(colours).map(of).collect()
    }

    fn first(&self) -> Vec<u64> {
        self.nodes.iter().map(|node| colour(&(&node.seen, node.cut))).collect()
    }
}

fn colour(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What can be seen of a state of the tree: all variables, and of each copy the marks of its place.
fn seen(meaning: &Meaning<'_>, state: &State) -> Vec<i64> {
    let mut all = state.clone();
    for (kind, declared) in meaning.kinds.iter().enumerate() {
        for copy in 0..declared.copies {
            let place = meaning.place_of(state, kind, copy);
            let marks = place.map(|place| declared.code.places[place].marks);
            all[declared.counter + copy as usize] = marks.map_or(-1, number);
        }
    }
    all
}

fn number(marks: [bool; 3]) -> i64 {
    marks.iter().fold(0, |all, &mark| 2 * all + i64::from(mark))
}

/// Where the elements of the tree's states are in those of the program.
struct Elements(Vec<(VarId, u32)>);

impl Elements {
    fn new(meaning: &Meaning<'_>, program: &Program) -> Result<Self, String> {
        let visible: HashMap<String, (VarId, u32)> =
            program.visible_elements().map(|(v, e)| (program.element_name(v, e), (v, e))).collect();
        let find = |name: &String| visible.get(name).copied().ok_or_else(|| format!("`{name}` is not in the program"));
        // Beside them there is a place for what the environment does to each marked channel.
        let own = visible.keys().filter(|name| !name.starts_with('(')).count();
        same("elements", &own, &meaning.names.len())?;
        Ok(Elements(meaning.names.iter().map(find).collect::<Result<_, _>>()?))
    }

    fn seen(&self, meaning: &Meaning<'_>, program: &Program, words: &[u32]) -> Vec<i64> {
        let mut all: Vec<i64> = self.0.iter().map(|&(v, element)| program.layout.slot(v).get(words, element)).collect();
        for (kind, declared) in meaning.kinds.iter().enumerate() {
            for place in &mut all[declared.counter..declared.counter + declared.copies as usize] {
                let location = program.kinds[kind].locations.get(*place as usize);
                *place = location.map_or(-1, |l| number([l.end, l.accept, l.progress]));
            }
        }
        all
    }
}

/// The graph of the tree, as it is explored: which number each state has, and the steps of those examined.
#[derive(Default)]
pub(crate) struct Explored {
    pub(crate) states: Vec<State>,
    pub(crate) steps: Vec<Vec<Step>>,
    pub(crate) known: HashMap<State, usize>,
}

impl Explored {
    fn graph(&self, meaning: &Meaning<'_>, by_kind: bool) -> Graph {
        let mut graph = Graph::default();
        for (state, steps) in self.states.iter().zip(&self.steps) {
            let mut node = Node { seen: seen(meaning, state), cut: 0, edges: Vec::new() };
            for step in steps {
                let label = colour(&(step.kind, step.copy, step.fair));
                for outcome in &step.outcomes {
                    match outcome {
                        Outcome::Cut => node.cut += 1,
                        Outcome::Fault(kind) => node.edges.push((label, Err(Some(*kind).filter(|_| by_kind)))),
                        Outcome::State(next) => node.edges.push((label, Ok(self.known[next]))),
                    }
                }
            }
            graph.nodes.push(node);
        }
        graph
    }
}

/// Says where a program differs from the tree. Which fault it is counts only `by_kind`.
pub(crate) fn compare(meaning: &Meaning<'_>, program: &Program, explored: &Explored, by_kind: bool) -> Checked {
    let (ours, theirs) = (explored.graph(meaning, by_kind), Graph::of_program(meaning, program, by_kind)?);
    let (mut own, mut their) = (ours.first(), theirs.first());
    for round in 0..ROUNDS {
        let mut count: HashMap<u64, i64> = HashMap::new();
        own.iter().for_each(|colour| *count.entry(*colour).or_default() += 1);
        their.iter().for_each(|colour| *count.entry(*colour).or_default() -= 1);
        let differs = |colour: &u64| count[colour] != 0;
        let shown = |node: &Node| {
            let values = meaning.names.iter().zip(&node.seen).map(|(name, value)| format!("{name}={value}"));
            format!("{}; cut {}; {} outcomes", values.collect::<Vec<_>>().join(" "), node.cut, node.edges.len())
        };
        let first = |colours: &[u64], graph: &Graph| colours.iter().position(differs).map(|at| shown(&graph.nodes[at]));
        if let (None, None) = (first(&own, &ours), first(&their, &theirs)) {
            same("the initial state", &their[0], &own[0])?;
            (own, their) = (ours.next(&own), theirs.next(&their));
            continue;
        }
        let where_is = own.iter().position(differs).map(|at| &explored.steps[at]);
        return Err(format!(
            "after {round} rounds; {} states, not {}\n  the tree has {:?}\n  the program has {:?}\n  the tree's steps there: {:?}",
            theirs.nodes.len(),
            ours.nodes.len(),
            first(&own, &ours),
            first(&their, &theirs),
            where_is
        ));
    }
    Ok(())
}
