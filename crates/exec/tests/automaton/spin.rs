//! SPIN's translation (`spin -f`) as an oracle: the same language, and automata that are not smaller than ours.

use std::process::{Command, Stdio};

use birk_agreement::tools;
use birk_exec::Random;
use birk_exec::automaton::{Buchi, never};

use crate::formula::{Tree, parse};
use crate::product::{Word, accepts, has_accepting_cycle};
use crate::{automaton, number, patterns};

/// What its translation needs.
const SPIN: &[&str] = &["spin", "timeout"];

/// SPIN's automaton of a formula, with the propositions in the order of their numbers.
fn spins(tree: &Tree) -> Option<Buchi> {
    // SPIN takes minutes for some formulas; those are left out.
    let mut command = Command::new("timeout");
    let output = command.args(["2", "spin", "-f", &tree.text()]).stdin(Stdio::null()).output().expect("spin is there");
    let text = String::from_utf8(output.stdout).expect("text");
    if !output.status.success() || !text.contains("never") {
        return None;
    }
    Some(never::read(&text).unwrap_or_else(|error| panic!("{error} in {text}")).automaton)
}

/// A letter in the numbering of an automaton that met its propositions in another order.
fn letter(automaton: &Buchi, letter: u64) -> u64 {
    let bit = |(at, name): (usize, &String)| {
        let number: u32 = name[1..].parse().expect("p and a number");
        (letter >> number & 1) << at
    };
    automaton.names().iter().enumerate().map(bit).sum()
}

fn renamed(automaton: &Buchi, word: &Word) -> Word {
    Word { letters: word.letters.iter().map(|&l| letter(automaton, l)).collect(), back: word.back }
}

/// Whether two automata accept a word in common.
fn intersect(ours: &Buchi, theirs: &Buchi, propositions: usize) -> bool {
    let letters = 1u64 << propositions;
    let width = theirs.len().max(1);
    // Acceptance of both: a bit remembers nothing, marks are joined over the component.
    let successors = |node: usize| {
        let mut next = Vec::new();
        for edge in ours.edges(node / width) {
            for other in theirs.edges(node % width) {
                let common = (0..letters).any(|l| {
                    ours.labels().is_true(edge.label, l) && theirs.labels().is_true(other.label, letter(theirs, l))
                });
                if common {
                    next.push(edge.target * width + other.target);
                }
            }
        }
        next
    };
    let marks =
        |node: usize| u64::from(ours.is_accepting(node / width)) | u64::from(theirs.is_accepting(node % width)) << 1;
    let initial: Vec<usize> =
        ours.initial().iter().flat_map(|a| theirs.initial().iter().map(move |b| a * width + b)).collect();
    has_accepting_cycle(ours.len() * width, &initial, 3, &successors, &marks)
}

#[test]
fn random_formulas_as_spin_translates_them() {
    if !tools::are_installed(SPIN) {
        return;
    }
    let mut random = Random::new(4);
    let (mut compared, mut our_states, mut their_states) = (0, 0, 0);
    for round in 0.. {
        let tree = Tree::drawn(&mut random, 3 + round % 7, 3, false);
        if tree.temporal() > 5 {
            continue;
        }
        let negation = Tree::not(tree.clone());
        let (Some(theirs), Some(their_negation)) = (spins(&tree), spins(&negation)) else { continue };
        let (ours, our_negation) = (automaton(&tree, 3), automaton(&negation, 3));
        assert!(!intersect(&ours, &their_negation, 3), "{}: ours and SPIN's negation", tree.text());
        assert!(!intersect(&our_negation, &theirs, 3), "{}: SPIN's and our negation", tree.text());
        for _ in 0..20 {
            let word = Word::drawn(&mut random, 3);
            assert_eq!(accepts(&ours, &word), accepts(&theirs, &renamed(&theirs, &word)), "{} {word:?}", tree.text());
        }
        compared += 1;
        our_states += ours.len();
        their_states += theirs.len();
        if compared == number(5_000, 300) {
            break;
        }
    }
    println!("{compared} formulas: {our_states} states, SPIN {their_states}");
    assert!(our_states <= their_states, "{our_states} states, SPIN has {their_states}");
}

#[test]
fn patterns_as_spin_translates_them() {
    if !tools::are_installed(SPIN) {
        return;
    }
    let mut random = Random::new(5);
    let (mut compared, mut our_states, mut their_states) = (0, 0, 0);
    for (name, text) in patterns::all().into_iter().filter(|(_, text)| !text.contains("X ")) {
        for tree in [parse(text), Tree::not(parse(text))] {
            // SPIN's translation of long chains takes minutes.
            if tree.temporal() > 6 {
                continue;
            }
            let Some(theirs) = spins(&tree) else { continue };
            let propositions = tree.propositions();
            let ours = automaton(&tree, propositions);
            for _ in 0..100 {
                let word = Word::drawn(&mut random, propositions);
                let renamed = renamed(&theirs, &word);
                assert_eq!(accepts(&ours, &word), accepts(&theirs, &renamed), "{name}: {} {word:?}", tree.text());
            }
            if ours.len() > theirs.len() {
                println!("{name}: {}: {} states, SPIN {}", tree.text(), ours.len(), theirs.len());
            }
            compared += 1;
            our_states += ours.len();
            their_states += theirs.len();
        }
    }
    println!("{compared} formulas: {our_states} states, SPIN {their_states}");
    assert!(compared > 60 && our_states <= their_states, "{our_states} states, SPIN has {their_states}");
}
