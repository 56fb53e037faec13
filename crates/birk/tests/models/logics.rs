//! CTL beside LTL on the corpus: where both can say a thing, they say the same.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use birk_engine::{Job, Limits, Patient};
use birk_exec::automaton::violations_of;
use birk_exec::{Interpreter, Product, replay};
use birk_ir::branching::literal;
use birk_ir::{Branching, Expr, Formula, Goal, Outcome, Program, PropertyKind, Steps};
use birk_search::liveness::CycleSearch;
use birk_search::mucalculus::{Graph, Needs, Truth, decide};

/// The conditions of a model: what its properties are made of, and where its threads can be.
fn conditions(program: &Program) -> Vec<Expr> {
    let mut found = Vec::new();
    for property in &program.properties {
        if let PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) = &property.kind {
            found.push(expr.clone());
        }
    }
    for kind in program.kinds.iter().filter(|kind| kind.copies > 0) {
        for location in 0..kind.locations.len().min(3) {
            found.push(Expr::element(kind.counter, Expr::Const(0)).equals(location as i64));
        }
    }
    found.retain(|expr| expr.as_const().is_none() && !literal(expr).1);
    found.dedup();
    found.truncate(5);
    found
}

fn is_true_of_runs(program: &Program, formula: &Formula) -> bool {
    let (automaton, propositions) = violations_of(formula).expect("a small automaton");
    let goals: Vec<Goal> = propositions.into_iter().map(Goal::State).collect();
    let model = Interpreter::new(program, &goals);
    let product = Product::new(&model, automaton, None);
    let cycle_search = CycleSearch::of(product.is_weak(), &Job::new(1, Limits::NONE));
    cycle_search.hunt(&product, &mut Patient).outcomes[0] == Outcome::Absent
}

#[test]
fn ctl_says_what_ltl_says_on_the_corpus() {
    let next = |body: Branching| Branching::Every(Steps::OrStay, Box::new(body));
    let (mut models, mut by_truth) = (0, [0; 2]);
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")).expect("the corpus is there")
    {
        let path = entry.expect("readable").path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some(program) = birk_lang::load(&text, &[]).program else { continue };
        let propositions = conditions(&program);
        let goals: Vec<Goal> = propositions.iter().cloned().map(Goal::State).collect();
        let model = Interpreter::new(&program, &goals);
        let needs = Needs { propositions: goals.len(), labels: false, spare: 0 };
        let limits = Limits { states: 2000, ..Limits::NONE };
        let (mut graph, hunt) = Graph::explore(&model, needs, &limits, &mut Patient);
        // Runs that fault or are cut are evaluated differently by the two.
        let is_cut = hunt.stats.cut > 0 || program.fault.is_some();
        if !graph.is_complete() || is_cut || propositions.len() < 2 {
            continue;
        }
        models += 1;
        for pair in propositions.windows(2) {
            let (p, q) = (|| Box::new(Formula::Atom(pair[0].clone())), || Box::new(Formula::Atom(pair[1].clone())));
            let not_p = || Formula::Not(p());
            let (cp, cq) = (Branching::Atom(pair[0].clone()), Branching::Atom(pair[1].clone()));
            let again = |number| next(Branching::Variable(number));
            let af_q = Branching::Least(0, Box::new(cq.clone().or(again(0))));
            let response = cp.dual().or(af_q.clone()).and(again(1));
            let cases = [
                (Formula::Always(p()), Branching::Greatest(0, Box::new(cp.clone().and(again(0))))),
                (Formula::Eventually(q()), af_q),
                (Formula::Until(Box::new((*p(), *q()))), Branching::Least(0, Box::new(cq.or(cp.and(again(0)))))),
                (
                    Formula::Always(Box::new(Formula::Or(Box::new((not_p(), Formula::Eventually(q())))))),
                    Branching::Greatest(1, Box::new(response)),
                ),
            ];
            for (of_runs, branching) in cases {
                let wanted = is_true_of_runs(&program, &of_runs);
                let ControlFlow::Continue(Truth::Known(found, trace)) =
                    decide(&branching, &propositions, &mut graph, &model, &mut Patient)
                else {
                    panic!("{}: nobody ended it, and the graph is complete", path.display());
                };
                assert_eq!(found, wanted, "{}: {}", path.display(), program.branching_text(&branching));
                let run = replay(&program, &trace).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                if !found {
                    let shows = run.shows(&program, &branching);
                    assert_eq!(shows, birk_exec::replay::Shows::Whole(false), "{}", path.display());
                    assert!(run.loop_start.is_none() || !run.satisfies(&program, &of_runs), "{}", path.display());
                }
                by_truth[usize::from(found)] += 1;
            }
        }
    }
    assert!(models >= 15 && by_truth.iter().all(|&cases| cases >= 30), "{models} models, {by_truth:?}");
}
