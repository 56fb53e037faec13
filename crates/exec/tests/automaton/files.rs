//! Files of automata: what is written is read back as the same language, and what is wrong is refused with its place.

use birk_exec::Random;
use birk_exec::automaton::text::parse;
use birk_exec::automaton::{Formulas, Strength, automaton_of, hoa, never};

use crate::formula::Tree;
use crate::product::{Word, accepts};
use crate::{agree_on_words, automaton};

#[test]
fn what_is_written_is_read_back() {
    let mut random = Random::new(6);
    for round in 0..500 {
        let tree = Tree::drawn(&mut random, 3 + round % 9, 3, true);
        let ours = automaton(&tree, 3);
        let read = hoa::read(&hoa::write(&ours, &tree.text())).expect("our own file").automaton;
        let words: Vec<Word> = (0..30).map(|_| Word::drawn(&mut random, 3)).collect();
        agree_on_words(&tree, &read, &words);
    }
}

/// Labels on states, aliases, two sets on edges, several initial states, implicit labels.
#[test]
fn all_of_the_format_that_is_buchi_is_read() {
    let text = r#"HOA: v1 /* infinitely often p0 and infinitely often p1 */
        States: 1 Start: 0 AP: 2 "p0" "p1" acc-name: generalized-Buchi 2 Acceptance: 2 Inf(0)&Inf(1)
        Alias: @both 0&1 properties: trans-labels
        --BODY-- State: 0 "only" [@both] 0 {0 1} [0&!1] 0 {0} [!0&1] 0 {1} [!0&!1] 0 --END--"#;
    let read = hoa::read(text).expect("it is well formed").automaton;
    let mut random = Random::new(7);
    let words: Vec<Word> = (0..200).map(|_| Word::drawn(&mut random, 2)).collect();
    let tree = crate::formula::parse("[]<>p0 && []<>p1");
    agree_on_words(&tree, &read, &words);
    let implicit = "HOA: v1 Start: 0 Start: 1 AP: 1 \"p0\" Acceptance: 0 t --BODY-- State: 0 0 2 State: [!0] 1 1 \
                    State: 2 --END--";
    let read = hoa::read(implicit).expect("it is well formed").automaton;
    let always_false = Word { letters: vec![0], back: 0 };
    let at_last_true = Word { letters: vec![0, 1], back: 1 };
    assert!(accepts(&read, &always_false) && !accepts(&read, &at_last_true));
}

#[test]
fn what_is_not_supported_is_refused_with_its_place() {
    let refused = |text: &str| hoa::read(text).expect_err("it should be refused");
    assert!(refused("never {").contains("must begin with `HOA: v1`"));
    assert_eq!(
        refused("HOA: v1\nStates: 1\nAP: 0\nAcceptance: 2 Fin(0)&Inf(1)\n--BODY--\n--END--"),
        "line 4: only Büchi and generalized Büchi acceptance is supported: Inf(0)&Inf(1)&…"
    );
    assert!(refused("HOA: v1\nAP: 0\nStart: 0&1\nAcceptance: 0 t\n--BODY--\n--END--").contains("alternating"));
    let body = "HOA: v1\nAP: 1 \"a\"\nStart: 0\nAcceptance: 0 t\n--BODY--\nState: 0\n";
    assert_eq!(refused(&format!("{body}[1] 0\n--END--")), "line 7: there is no such proposition");
    assert_eq!(refused(&format!("{body}[0] 7\n--END--")), "there is no state 7");
    assert_eq!(refused(&format!("{body}[0 0\n--END--")), "line 7: expected `]`");
    assert!(refused(&format!("HOA: v1 Alias: @a {}", "(".repeat(100_000))).contains("nested"));
    assert!(refused(&format!("HOA: v1 Alias: @a {}", "! ".repeat(100_000))).contains("nested"));
    assert!(never::read("never { S: do :: (p -> goto S od }").expect_err("no").contains("expected `)`"));
    assert!(never::read("never { S: do :: (p) -> goto Q od }").expect_err("no").contains("no state `Q`"));
}

/// Conditions of a model are propositions, whatever they are made of; the guard's own negations and parentheses are not.
#[test]
fn propositions_of_never_claims_are_conditions() {
    let propositions = |guard: &str| {
        let text = format!("never {{ /* a claim */\nT0_init:\n\tdo\n\t:: {guard} -> goto T0_init\n\tod;\n}}\n");
        let read = never::read(&text).unwrap_or_else(|error| panic!("{guard}: {error}"));
        read.places.into_iter().map(|place| text[place].to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(propositions("(1)"), [""; 0]);
    assert_eq!(propositions("(! ((n == 1)))"), ["n == 1"]);
    assert_eq!(propositions("((! ((p)) || (q)))"), ["p", "q"]);
    assert_eq!(propositions("(! ((T[0]@c && y)) && (x[0] > 2))"), ["T[0]@c", "y", "x[0] > 2"]);
    assert_eq!(propositions("((a + b) * 2 > c && !(a + b))"), ["(a + b) * 2 > c", "a + b"]);
    assert_eq!(propositions("(!a == b || !f(a, 1))"), ["!a == b", "f(a, 1)"]);
    assert_eq!(propositions("((n==1) && ! ((n == 1)) && (n != 1))"), ["n==1", "n != 1"]);
    assert_eq!(propositions("r.f"), ["r.f"]);
}

#[test]
fn formulas_are_read_in_all_spellings() {
    let read = |text: &str| {
        let mut formulas = Formulas::default();
        let formula = parse(text, &mut formulas).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let automaton = automaton_of(&mut formulas, formula).expect("small");
        hoa::write(&automaton, "")
    };
    assert_eq!(read("[] (a -> <> b)"), read("always (a => eventually b)"));
    assert_eq!(read("G (a -> F b)"), read("[] (!a || true U b)"));
    assert_eq!(read("a V b"), read("a release b"));
    assert_eq!(read("a W b"), read("(a U b) || []a"));
    assert_eq!(read("\"x == 1\" U y"), read("\"x == 1\" until y"));
    assert_eq!(read("a & b | c"), read("(a && b) || c"));
    let wrong = |text: &str| {
        let error = parse(text, &mut Formulas::default()).expect_err("it is wrong");
        (error.at, error.reason)
    };
    assert_eq!(wrong("a U").0, 3);
    assert_eq!(wrong("[] (a").1, "expected `)`, but the formula ends here");
    assert_eq!(wrong("a b").1, "expected an operator, but found `b`");
    assert_eq!(wrong("a ? b").1, "`?` has no meaning in a formula");
    assert!(wrong(&"(".repeat(10_000)).1.contains("200 operators deep"));
}

#[test]
fn strength_is_found() {
    let strength = |text: &str| automaton(&crate::formula::parse(text), 2).strength();
    assert_eq!(strength("<> p0"), Strength::Terminal);
    assert_eq!(strength("p0 U p1"), Strength::Terminal);
    assert_eq!(strength("[] p0"), Strength::Weak);
    assert_eq!(strength("<> [] p0"), Strength::Weak);
    assert_eq!(strength("!([] (p0 -> <> p1))"), Strength::Weak);
    assert_eq!(strength("[] <> p0"), Strength::General);
}

/// As SPIN writes the claim of a formula that no run satisfies.
#[test]
fn a_claim_without_a_way_on_accepts_nothing() {
    for guard in ["false", "(0)"] {
        let text = format!("never {{ accept_init: T0_init: do :: {guard} od; }}");
        let read = never::read(&text).expect("it is a never claim").automaton;
        assert!((0..2).all(|letter| !accepts(&read, &Word { letters: vec![letter], back: 0 })), "{text}");
    }
    let named = never::read("never { accept_init: do :: (od > fi) -> goto accept_init od; }");
    assert_eq!(named.expect("variables may be called so").automaton.names(), ["od > fi"]);
}
