//! What a reduction costs in a state: to choose a stubborn set, and to replace a successor by its representative.
//!
//! The states are those that the reduced search visits first. Their successors are computed with the reduction and without it, by the
//! same native code, the least of three; the difference is the cost. What was remembered of other states is forgotten before.

use std::collections::{HashSet, VecDeque};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use birk_engine::{Model, Patient, Successors};
use birk_exec::reduction::{Preserve, Trial};
use birk_exec::{Automorphisms, Reduced, Specialised, Symmetric, goal_of};
use birk_ir::{Goal, Program};
use birk_jit::{Compiled, Predicates};
use birk_symbolic::with_solver;

use crate::Bench;
use crate::highway::page::Page;

/// So many states are looked at, and models with fewer are left out.
const MOST: usize = 20_000;
const FEW: usize = 2_000;
const FOLDERS: [&str; 5] = ["", "beem", "cookbook", "structured", "peers"];

/// Measures the corpus, and writes the page.
pub(crate) fn compare(bench: &Bench) {
    let mut page = Page::read(&bench.root, "reductions.md", 0, crate::budgets::machine(&bench.root));
    let (mut choosing, mut replacing) = (Vec::new(), Vec::new());
    for path in models(&bench.root) {
        let name =
            path.strip_prefix(bench.root.join("models")).unwrap_or(&path).with_extension("").display().to_string();
        let Ok(program) = birk::load_file(&path) else { continue };
        let goals: Vec<Goal> = program.properties.iter().filter_map(|property| goal_of(&program, property)).collect();
        if goals.is_empty() || goals.len() > 64 || program.interpreted_only().is_some() {
            continue;
        }
        if let Some(micros) = of_choosing(&program, &goals) {
            println!("{name}: {micros:.2} µs a state to choose");
            choosing.push((micros, name.clone()));
        }
        if let Some(micros) = of_replacing(&program, &goals) {
            println!("{name}: {micros:.2} µs a successor to replace");
            replacing.push((micros, name));
        }
    }
    let mut rows = vec![["", "models", "median, µs", "most, µs", "by"].map(str::to_owned).to_vec()];
    for (title, mut all) in [("a state: choosing its set", choosing), ("a successor: its representative", replacing)] {
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let Some((most, by)) = all.last() else { continue };
        let median = all[all.len() / 2].0;
        let name = format!("`{by}`");
        rows.push(vec![title.to_owned(), all.len().to_string(), format!("{median:.2}"), format!("{most:.2}"), name]);
    }
    page.table("costs", &rows);
    page.write();
}

fn models(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in FOLDERS {
        let files = std::fs::read_dir(root.join("models").join(folder)).expect("the models are there");
        let paths = files.map(|file| file.expect("it can be read").path());
        all.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "bir")));
    }
    all.sort();
    all
}

/// Microseconds to choose the set of a state, where the reduction is worth it.
fn of_choosing(program: &Program, goals: &[Goal]) -> Option<f64> {
    let specialised = Specialised::new(program);
    let full = Compiled::new(&specialised.program, goals).ok()?;
    let mut reduced = with_solver(&specialised.program, &mut Patient, u64::MAX, |solver| {
        let solver = solver?;
        solver.learn();
        Reduced::new(&specialised.program, &full, Preserve::Distances(goals), solver).ok()
    })?;
    if reduced.trial() != Trial::Worthwhile {
        return None;
    }
    let native = Predicates::new(&specialised.program, reduced.conditions()).ok()?;
    let reduced = reduced.with_conditions(Arc::new(native));
    let states = visited(&reduced);
    (states.len() >= FEW)
        .then(|| (seconds(&reduced, &states).0 - seconds(&full, &states).0) * 1e6 / states.len() as f64)
}

/// Microseconds to replace a successor by its representative, where there is symmetry.
fn of_replacing(program: &Program, goals: &[Goal]) -> Option<f64> {
    let found = Automorphisms::new(program, goals);
    if found.is_trivial() {
        return None;
    }
    let full = Compiled::new(program, goals).ok()?;
    let symmetric = Symmetric::new(&full, &found);
    let states = visited(&symmetric);
    let ((with, successors), (without, _)) = (seconds(&symmetric, &states), seconds(&full, &states));
    (states.len() >= FEW).then(|| (with - without) * 1e6 / successors as f64)
}

/// The first states of a breadth-first search.
fn visited(model: &dyn Model) -> Vec<Vec<u32>> {
    let mut batch = Successors::new(model.words());
    model.initial(&mut batch);
    let mut queue: VecDeque<Vec<u32>> = (0..batch.len()).map(|at| batch.state(at).to_vec()).collect();
    let (mut seen, mut states) = (queue.iter().cloned().collect::<HashSet<_>>(), Vec::new());
    while let Some(state) = queue.pop_front().filter(|_| states.len() < MOST) {
        batch.clear();
        model.successors(&state, &mut batch);
        let next = (0..batch.len()).map(|at| batch.state(at)).filter(|next| !model.is_fault(next));
        queue.extend(next.filter(|next| seen.insert(next.to_vec())).map(<[u32]>::to_vec));
        states.push(state);
    }
    states
}

/// Seconds to compute the successors of all these states, and how many there are.
fn seconds(model: &dyn Model, states: &[Vec<u32>]) -> (f64, usize) {
    let mut least = (f64::INFINITY, 0);
    for _ in 0..3 {
        let mut batch = Successors::new(model.words());
        let (began, mut successors) = (Instant::now(), 0);
        for state in states {
            batch.clear();
            model.successors(state, &mut batch);
            successors += black_box(&batch).len();
        }
        let took = began.elapsed().as_secs_f64();
        if took < least.0 {
            least = (took, successors);
        }
    }
    least
}
