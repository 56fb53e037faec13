//! A model written in Rust: a ferryman, a wolf, a goat and a cabbage, who cross a river. It is searched breadth-first,
//! depth-first, and for a run that violates an LTL property.
//!
//! `cargo run -p birk-examples --bin rust_model`
#![forbid(unsafe_code)]

use birk::engine::{GoalSet, Hunt, Job, Limits, Model, Patient, Search, Successors};
use birk::exec::Product;
use birk::exec::automaton::text::parse;
use birk::exec::automaton::{Buchi, Formulas, automaton_of};
use birk::ir::{Outcome, TransitionId};
use birk::search::engine;

/// Who is on the other bank: one bit each, in one word.
struct River;

const FERRYMAN: u32 = 1;
const PASSENGERS: [(&str, u32); 4] = [("nobody", 0), ("the wolf", 2), ("the goat", 4), ("the cabbage", 8)];
const ALL: u32 = 15;

impl River {
    /// The goat is not left alone with the wolf, nor with the cabbage.
    fn is_safe(state: u32) -> bool {
        let side = |bit: u32| state & bit != 0;
        let alone = |a: u32, b: u32| side(a) == side(b) && side(a) != side(FERRYMAN);
        !alone(2, 4) && !alone(4, 8)
    }
}

impl Model for River {
    fn words(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        out.push(TransitionId(0), 0, &[0]);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for (transition, (_, passenger)) in PASSENGERS.iter().enumerate() {
            let is_here = *passenger == 0 || (state[0] & passenger != 0) == (state[0] & FERRYMAN != 0);
            let next = state[0] ^ FERRYMAN ^ passenger;
            if is_here && Self::is_safe(next) {
                out.push(TransitionId(transition as u32), 0, &[next]);
            }
        }
    }

    /// Goal 0: all have crossed. Goal 1: the ferryman is where he began.
    fn evaluate(&self, state: &[u32], _stuck: bool) -> GoalSet {
        let mut goals = GoalSet::default();
        if state[0] == ALL {
            goals.insert(0);
        }
        if state[0] & FERRYMAN == 0 {
            goals.insert(1);
        }
        goals
    }

    fn transitions(&self) -> usize {
        PASSENGERS.len()
    }
}

/// Searches the river with an engine of this name for goal 0.
fn cross(name: &str) -> Hunt {
    let Some(Search::Model(search)) = engine(name).map(|engine| engine.search) else { panic!("no engine {name}") };
    search(&River, &Job::new(1, Limits::NONE), &mut Patient)
}

/// The automaton of the runs that violate a property of `crossed` and `home`, which are the goals in this order.
fn violations(property: &str) -> Buchi {
    let mut formulas = Formulas::default();
    for name in ["crossed", "home"] {
        formulas.proposition(name);
    }
    let formula = parse(property, &mut formulas).expect("a formula");
    let negated = formulas.negate(formula);
    automaton_of(&mut formulas, negated).expect("a small automaton")
}

/// Whether a property is true of all runs.
fn holds(property: &str) -> bool {
    let product = Product::new(&River, violations(property), None);
    let search = birk::search::liveness::CycleSearch::of(product.is_weak(), &Job::new(1, Limits::NONE));
    search.hunt(&product, &mut Patient).outcomes[0] == Outcome::Absent
}

fn main() {
    for name in ["bfs", "dfs"] {
        let hunt = cross(name);
        let Outcome::Found(trace) = &hunt.outcomes[0] else { panic!("there is a way") };
        println!("{name}: {} crossings", trace.steps.len());
        if name == "bfs" {
            for step in &trace.steps {
                println!("  with {}", PASSENGERS[step.transition.index()].0);
            }
        }
    }
    for property in ["[]<> home", "<> crossed"] {
        println!("{property}: {}", if holds(property) { "holds" } else { "violated" });
    }
}
