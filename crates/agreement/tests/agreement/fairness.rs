//! Weak fairness, said a second time: what is marked `fair` is one condition, and the search for cycles, the graph of states
//! and diagrams say of fair runs what the graph of the tree says.

use birk_exec::{Fairness, fair};
use birk_ir::{Expr, Formula, Span};

use crate::branching::{is_true_of_runs, of_graph, of_sets};
use birk_agreement::case::{self, Case, Made};
use birk_agreement::check::{Checked, same};
use birk_agreement::meaning::Meaning;
use birk_agreement::meaning::fair::{Ctl, Graph};
use birk_agreement::programs::fair::{mark, small};
use birk_agreement::programs::generate;
use birk_agreement::random::Random;
use birk_agreement::writer;

/// How many programs are examined, unless the environment says otherwise.
const PROGRAMS: u64 = 240;
/// Their graphs have fewer states than this.
const FEW_STATES: u64 = 200;

/// Small programs, and every third time one that has more of the language.
fn programs(usually: u64) -> impl Iterator<Item = (u64, String, Case)> {
    (0..case::seeds(usually)).filter_map(|seed| {
        let text = if seed % 3 > 0 {
            small(seed)
        } else {
            let mut system = generate(seed % 2 == 1, seed);
            mark(&mut system, &mut Random::new(seed ^ 0xfa1));
            writer::text(&system, &mut Random::new(seed))
        };
        let case = loaded(&text).filter(|case| case.answer.states < FEW_STATES)?;
        Some((seed, text, case))
    })
}

fn loaded(text: &str) -> Option<Case> {
    match case::make(text) {
        Made::Refused(why) if text.starts_with("system Small") => panic!("{why:?}\n{text}"),
        made => made.usable(),
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    programs: usize,
    by_truth: [usize; 2],
    /// Programs in which one mark became several transitions.
    compound: usize,
    cut: usize,
    wrong: usize,
    left: usize,
}

/// What is said of fair runs by the graph of the tree, the search for cycles, the graph of states and diagrams.
pub(crate) fn agree(seed: u64, case: &Case, fairness: &Fairness, tally: &mut Tally) -> Checked {
    let (meaning, program) = (Meaning::new(&case.system), &case.program);
    let graph = Graph::of(&meaning);
    let mut random = Random::new(seed ^ 0xfa2);
    let (atoms, values): (Vec<Expr>, Vec<Vec<bool>>) = graph.atoms(&meaning, program, &mut random).into_iter().unzip();
    if atoms.is_empty() {
        return Ok(());
    }
    tally.programs += 1;
    let marks = |id: usize| program.transitions[id].fair.map(|mark| (program.transitions[id].thread, mark));
    let is_doubled = |id: usize| marks(id).is_some() && (0..id).any(|other| marks(other) == marks(id));
    tally.compound += usize::from((0..program.transitions.len()).any(is_doubled));
    tally.cut += usize::from(graph.is_cut);
    tally.wrong += usize::from(graph.goes_wrong);
    let never = |at: usize| Ctl::Always(Box::new(Ctl::Atom(at).negated()));
    let mut formulas: Vec<(Ctl, Option<Formula>)> = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        let eventually = Formula::Eventually(Box::new(Formula::Atom(atom.clone())));
        formulas.push((never(at).negated(), Some(eventually.clone())));
        formulas.push((never(at).possible().negated(), Some(Formula::Always(Box::new(eventually)))));
    }
    formulas.extend((0..4).map(|_| (Ctl::drawn(&mut random, atoms.len(), 4), None)));
    let goes_on = fair::goes_on(program);
    let (mut made, mut wanted) = (Vec::new(), Vec::new());
    for (formula, of_runs) in formulas {
        let truth = graph.truth(&formula, &values)[..graph.initial].iter().all(|&is_true| is_true);
        let plain = formula.branching(true, &atoms, &mut 0);
        let named = |why: String| format!("{}: {why}", program.branching_text(&plain));
        if let Some(of_runs) = of_runs {
            same("of runs", &is_true_of_runs(program, &of_runs, Some(fairness)), &truth).map_err(named)?;
        }
        let fair = fairness.ctl(&plain, goes_on).expect("it is CTL");
        same("on the graph", &of_graph(program, &fair).map_err(named)?, &truth).map_err(named)?;
        tally.by_truth[usize::from(truth)] += 1;
        made.push(fair);
        wanted.push(truth);
    }
    match of_sets(seed, program, &made)? {
        Some(found) => same("on sets", &found, &wanted),
        None => {
            tally.left += 1;
            Ok(())
        }
    }
}

#[test]
fn what_is_marked_fair_is_one_condition_of_random_programs() {
    let mut tally = Tally::default();
    for (seed, text, case) in programs(PROGRAMS) {
        let Ok(fairness) = Fairness::weak(&case.program) else { continue };
        if let Err(why) = agree(seed, &case, &fairness, &mut tally) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tally:?}");
    assert!(tally.left * 10 <= tally.programs, "{tally:?}");
    let least = tally.compound.min(tally.cut).min(tally.wrong);
    assert!(least * 10 >= tally.programs && tally.by_truth.iter().all(|&cases| cases >= 100), "{tally:?}");
}

/// Break the rule, see the check fail: a condition for each transition instead of one for what is written.
#[test]
fn conditions_by_transition_are_noticed() {
    let is_noticed = programs(PROGRAMS).any(|(seed, _, case)| {
        let marks: Vec<usize> =
            (0..case.program.transitions.len()).filter(|&id| case.program.transitions[id].fair.is_some()).collect();
        let mut program = case.program.clone();
        // Marks at different places are different conditions.
        for (place, &id) in marks.iter().enumerate() {
            program.transitions[id].fair = Some(Span { start: place as u32, ..Span::default() });
        }
        Fairness::weak(&program).is_ok_and(|bent| agree(seed, &case, &bent, &mut Tally::default()).is_err())
    });
    assert!(is_noticed, "nobody notices");
}
