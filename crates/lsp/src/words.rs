//! One sentence about each word of BIR, for hovers and completions.

/// What a keyword, or a word that is one where it stands, does.
pub(crate) fn meaning(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(own, _)| *own == word).map(|(_, meaning)| *meaning).or_else(|| operator(word))
}

/// What an operator of temporal formulas means.
pub(crate) fn operator(word: &str) -> Option<&'static str> {
    OPERATORS.iter().find(|(own, _)| *own == word).map(|(_, meaning)| *meaning)
}

/// What a function does that is part of the language.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(own, _)| *own == name).map(|(_, meaning)| *meaning)
}

/// What a word means that is a value in guards.
pub(crate) fn value(word: &str) -> Option<&'static str> {
    VALUES.iter().find(|(own, _)| *own == word).map(|(_, meaning)| *meaning)
}

/// Names with a meaning in guards, unless something of the name is declared.
pub(crate) const VALUES: &[(&str, &str)] =
    &[("timeout", "In `await` and `when`: true where nothing else in the system can move.")];

/// Functions that are part of the language.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("len", "`len(c)`: the number of messages in a channel, or of elements of a sequence."),
    ("full", "`full(c)`: whether a channel or a sequence holds as much as it can."),
    ("empty", "`empty(c)`: whether a channel holds no message, or a sequence no element."),
    ("peek", "`peek(c)`: the oldest message in a channel, which stays there."),
    ("size", "`size(s)`: the number of members of a set, or of keys of a map."),
    ("append", "`append(s, x)`: the sequence with `x` behind its last element; a runtime error if it is full."),
    ("tail", "`tail(s)`: the sequence without its first element; a runtime error if it is empty."),
    ("head", "`head(s)`: the first element of a sequence; a runtime error if it is empty."),
    ("last", "`last(s)`: the last element of a sequence; a runtime error if it is empty."),
    ("remove", "`remove(m, k)`: the map without the key `k`, and without its value."),
    ("keys", "`keys(m)`: the set of the keys of a map."),
];

/// The words, those at the begin of declarations first.
pub(crate) const WORDS: &[(&str, &str)] = &[
    ("import", "`import \"path\";` makes the declarations of a library visible; `std/…` is the standard library."),
    ("system", "A model: its declarations, threads and properties."),
    ("library", "Declarations to be imported by systems; there is nothing to check in it by itself."),
    ("const", "A value that is known before the search; `-D NAME=VALUE` on the command line replaces it."),
    ("typealias", "Gives a type a name."),
    (
        "symmetric",
        "The values of the type have no order: they can be compared for equality, assigned and used as indices.",
    ),
    ("enum", "A type with named values, written `Enum.VALUE`."),
    ("record", "A type with named fields, written `r.field`."),
    ("function", "An expression with a name and parameters; it has no side effects."),
    (
        "procedure",
        "Statements with a name. Each parameter stands for its argument, so that variables can be passed and changed.",
    ),
    ("thread", "A sequence of steps beside others; without `active` it runs once it is started."),
    ("active", "The thread runs from the start; `active [N] thread T(int me)` makes `N` instances."),
    (
        "crashes",
        "The thread may crash at any of its locations. It loses what is not `durable`, is at `crashed`, and may restart.",
    ),
    ("durable", "A variable of a thread that keeps its value when the thread crashes."),
    (
        "on",
        "`on crash { … }` is done in the step of a crash, `on restart { … }` is what the thread does first afterwards.",
    ),
    ("crash", "`on crash { … }`: done in the same step as the crash."),
    ("restart", "`on restart { … }`: what a thread does first after a crash."),
    ("fair", "Not passed over forever while it is enabled; used by `--fairness`."),
    ("loc", "A place where a thread can be, with the guarded commands that leave it."),
    ("when", "The guard: the step is enabled only where this is true. In `receive`: only such a message is taken."),
    ("do", "What a guarded command does, in one atomic step."),
    ("goto", "Where the thread is after the step."),
    ("return", "Ends the thread; in a procedure, ends the procedure."),
    ("end", "A thread may wait here forever: that is not a deadlock."),
    ("accept", "Visiting this place infinitely often is accepting, for properties of infinite executions."),
    ("progress", "Visiting this place is progress, for properties of infinite executions."),
    ("choose", "`x := choose(lo, hi)`: one branch of the step for each value; `choose(s)` for each member of a set."),
    ("assert", "Where the condition is false, the step is a runtime error."),
    ("assume", "Where the condition is false, this branch of the step is pruned, as if it could not happen."),
    ("await", "Waits until the condition is true."),
    ("start", "Starts an instance of a thread; it is a runtime error if all of them are running."),
    ("skip", "Does nothing, in one step."),
    ("send", "Puts a message into a channel; waits while the channel is full."),
    (
        "receive",
        "Takes the oldest message from a channel: `?x` stores a value, `_` is any value, all else must be equal.",
    ),
    ("broadcast", "Puts the same message into every channel of an array, in one step; waits until all have room."),
    ("except", "`broadcast c (…) except i;`: the channel with this index gets no message."),
    ("if", "The tests are made in one step, then the branch is entered."),
    ("else", "The branch that is entered where no condition before it is true."),
    ("while", "Repeats its body; the test is a step of its own, except for the literal `true`."),
    ("for", "Repeats its body for each value of a constant range."),
    ("either", "Any alternative whose first step is enabled may be taken."),
    ("or", "The next alternative of an `either`; in a type, `NAME or nobody` has one more value."),
    ("atomic", "Everything inside is one step, taken whole or not at all."),
    ("break", "Leaves the innermost `while`."),
    ("boolean", "The type of `true` and `false`: 1 bit."),
    ("byte", "Integers from 0 to 255, which wrap around: 8 bits."),
    ("int", "Integers of 32 bits; `int (lo, hi)` has a range, and leaving it is a runtime error."),
    ("wrap", "`int wrap (lo, hi)`: a value outside of the range is wrapped around into it."),
    ("set", "`set of lo .. hi`, or of the values of a type: one bit for each possible member."),
    ("of", "What a set, a channel or a sequence consists of; in `map of`, which keys there can be."),
    (
        "channel",
        "`channel of TYPE [N]`: a queue of at most `N` messages; with 0, sender and receiver meet in one step.",
    ),
    ("sequence", "`sequence of TYPE [N]`: a list of at most `N` elements; it begins empty."),
    ("map", "`map of KEYS to TYPE`: a value for each of its keys; it begins without keys."),
    ("to", "`map of KEYS to TYPE`: the type of the values."),
    ("lossy", "The channel may lose a message by itself."),
    ("duplicating", "The channel may double a message by itself."),
    ("reordering", "The channel may swap two neighbouring messages by itself."),
    ("nobody", "One more value of a symmetric type, `NAME.nobody`."),
    ("true", "The boolean value *true*."),
    ("false", "The boolean value *false*."),
    ("forall", "Whether the body is true for each value: `forall (i : lo .. hi) e`, `forall (x in s) e`."),
    ("exists", "Whether the body is true for some value: `exists (i : lo .. hi) e`, `exists (x in s) e`."),
    ("count", "For how many values the body is true: `count (i : lo .. hi) e`."),
    ("sum", "The sum of the body over all values: `sum (i : lo .. hi) e`."),
    ("let", "`let x = e in body`: a name for a value."),
    ("in", "Whether a set has this member, a sequence this element, a map this key; in a quantifier, its range."),
    ("invariant", "A condition that must be true in every reachable state."),
    ("reachable", "A condition that must be true in some reachable state."),
    ("ltl", "A property of every infinite execution, in linear temporal logic."),
    ("ctl", "A property of the branching of executions, in CTL."),
    ("mu", "A property in the modal mu-calculus; in it, `mu X. e` is the least fixpoint."),
    ("nu", "`nu X. e`: the greatest fixpoint."),
    ("expect", "What a check should find; `birk test` compares."),
    ("refines", "What the variables of a specification are in this model; `birk refine` checks the steps."),
    ("holds", "Expects that a property holds, or all of them."),
    ("violated", "Expects that a property is violated, `in` so many steps."),
    ("reached", "Expects that a `reachable` condition is reached, `in` so many steps."),
    ("states", "Expects this number of reachable states."),
    ("transitions", "Expects this number of transitions."),
    ("depth", "Expects this depth of the state space."),
];

/// The operators of temporal formulas that are letters; they are not reserved.
pub(crate) const OPERATORS: &[(&str, &str)] = &[
    ("G", "Always: now and in every later state."),
    ("always", "Now and in every later state."),
    ("F", "Eventually: now or in some later state."),
    ("eventually", "Now or in some later state."),
    ("X", "In the next state."),
    ("next", "In the next state."),
    ("U", "Until: the left side holds until the right side does, and the right side does at some time."),
    ("until", "The left side holds until the right side does, and the right side does at some time."),
    ("W", "Weak until: as `U`, but the left side may also hold forever."),
    ("weakuntil", "As `until`, but the left side may also hold forever."),
    ("R", "Release: the right side holds up to and including the state in which the left side does, or forever."),
    ("release", "The right side holds up to and including the state in which the left side does, or forever."),
    ("A", "On all executions from here."),
    ("E", "On some execution from here."),
    ("AX", "In all next states."),
    ("EX", "In some next state."),
    ("AG", "In all states that can be reached from here."),
    ("EG", "In all states of some execution from here."),
    ("AF", "At some time on all executions from here."),
    ("EF", "In some state that can be reached from here."),
];

#[cfg(test)]
mod tests {
    use birk_lang::lexer::TokenKind;

    use super::*;

    #[test]
    fn every_reserved_word_has_a_sentence_and_no_word_has_two() {
        for keyword in TokenKind::KEYWORDS {
            let word = keyword.text().expect("a keyword is always written the same");
            assert!(meaning(word).is_some(), "{word}");
        }
        let all = || WORDS.iter().chain(OPERATORS).chain(BUILT_IN).chain(VALUES);
        for (index, (word, sentence)) in all().enumerate() {
            assert!(sentence.ends_with('.') && sentence.len() < 130, "{word}: {}", sentence.len());
            assert!(!all().skip(index + 1).any(|(other, _)| other == word), "{word}");
        }
    }
}
