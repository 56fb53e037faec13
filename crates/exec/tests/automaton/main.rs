//! Formulas and their automata against independent oracles: direct evaluation on words, a naive tableau, and SPIN.
//!
//! `BIRK_TEST_FULL=1` takes the full number of random formulas instead of a share.

mod files;
mod formula;
mod patterns;
mod product;
mod spin;
mod tableau;

use birk_exec::Random;
use birk_exec::automaton::{Buchi, Formulas, automaton_of};
use formula::Tree;
use product::{Word, accepts, words};

/// A share of the full number.
pub(crate) fn number(full: usize, share: usize) -> usize {
    if std::env::var_os("BIRK_TEST_FULL").is_some() { full } else { share }
}

/// The automaton of a formula, over propositions `p0`, `p1`, ….
pub(crate) fn automaton(tree: &Tree, propositions: usize) -> Buchi {
    let mut formulas = Formulas::default();
    (0..propositions).for_each(|p| _ = formulas.proposition(&format!("p{p}")));
    let formula = tree.build(&mut formulas);
    automaton_of(&mut formulas, formula).expect("small enough")
}

/// Checks an automaton on words, against the formula's value.
#[track_caller]
pub(crate) fn agree_on_words(tree: &Tree, automaton: &Buchi, words: &[Word]) {
    for word in words {
        let (expected, found) = (tree.value(word), accepts(automaton, word));
        assert_eq!(found, expected, "{} on {word:?} with\n{}", tree.text(), dot(automaton));
    }
}

pub(crate) fn dot(automaton: &Buchi) -> String {
    birk_exec::automaton::hoa::write(automaton, "test")
}

#[test]
fn random_formulas_on_words() {
    let mut random = Random::new(1);
    let short = words(1, 2, 2);
    for round in 0..number(20_000, 6_000) {
        let propositions = 1 + round % 3;
        let tree = Tree::drawn(&mut random, 4 + round % 12, propositions, true);
        let automaton = automaton(&tree, propositions);
        let mut tried: Vec<Word> = (0..40).map(|_| Word::drawn(&mut random, propositions)).collect();
        if propositions == 1 {
            tried.extend(short.iter().cloned());
        }
        agree_on_words(&tree, &automaton, &tried);
    }
}

#[test]
fn random_formulas_against_the_tableau() {
    let mut random = Random::new(2);
    let mut compared = 0;
    for round in 0.. {
        let tree = Tree::drawn(&mut random, 4 + round % 9, 2, true);
        if tree.temporal() > 5 {
            continue;
        }
        let negation = Tree::not(tree.clone());
        for (tree, negation) in [(&tree, &negation), (&negation, &tree)] {
            let automaton = automaton(tree, 2);
            assert!(
                !tableau::intersects(&automaton, negation, 2),
                "{} accepts too much:\n{}",
                tree.text(),
                dot(&automaton)
            );
        }
        compared += 1;
        if compared == number(5_000, 1_200) {
            break;
        }
    }
}

#[test]
fn patterns_on_words_and_against_the_tableau() {
    let mut random = Random::new(3);
    for (name, text) in patterns::all() {
        let tree = formula::parse(text);
        let propositions = tree.propositions();
        let ours = automaton(&tree, propositions);
        let tried: Vec<Word> = (0..300).map(|_| Word::drawn(&mut random, propositions)).collect();
        agree_on_words(&tree, &ours, &tried);
        let negation = Tree::not(tree.clone());
        agree_on_words(&negation, &automaton(&negation, propositions), &tried);
        if tree.temporal() + propositions <= 9 {
            assert!(!tableau::intersects(&ours, &negation, propositions), "{name}: {text}");
        }
    }
}

#[test]
fn known_automata_are_small() {
    let size = |text: &str| automaton(&formula::parse(text), 3).len();
    assert_eq!(size("[] p0"), 1);
    assert_eq!(size("<> p0"), 2);
    assert_eq!(size("[] <> p0"), 2);
    assert_eq!(size("<> [] p0"), 2);
    assert_eq!(size("[] (p0 -> <> p1)"), 2);
    assert_eq!(size("!([] (p0 -> <> p1))"), 2);
    assert_eq!(size("p0 U p1"), 2);
    assert_eq!(size("[] <> p0 && [] <> p1"), 3);
    assert_eq!(size("([] <> p0) -> ([] <> p1)"), 5);
    assert_eq!(size("p0 && !p0"), 0);
}
