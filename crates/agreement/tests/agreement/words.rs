//! Native code on words that are no state of the program: where the interpreter has an answer, it is the same.
//!
//! Behind what native code may write lie canaries, so that no other words lead it out of its memory unnoticed.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use birk_agreement::case::Case;
use birk_agreement::check::{Checked, same};
use birk_agreement::random::Random;
use birk_engine::{Model as _, Successors};
use birk_exec::Interpreter;
use birk_jit::Compiled;

/// Words that are tried for each program.
const TRIES: usize = 40;

/// Walks through states at random, and tries words that differ from each; counts the answers that could be compared.
pub(crate) fn any_words(case: &Case, seed: u64, compared: &mut u64) -> Checked {
    let interpreter = Interpreter::new(&case.program, &case.goals);
    let native = Compiled::new(&case.program, &case.goals)?;
    let mut random = Random::new(seed);
    let (mut expected, mut found) = (Successors::new(interpreter.words()), Successors::new(native.words()));
    let mut good = case.program.initial_state();
    for _ in 0..TRIES {
        let mut words = good.clone();
        for _ in 0..=random.below(words.len() + 1) {
            let word = random.below(words.len());
            words[word] ^= (random.below(1 << 32) & random.below(1 << 32)) as u32;
        }
        expected.clear();
        found.clear();
        // Where words lead to more outcomes than states do, native code leaves them to the interpreter.
        let is_answered = quietly(|| native.successors(&words, &mut found)).is_some();
        let goals = [false, true].map(|stuck| native.evaluate(&words, stuck));
        let answer = quietly(|| {
            interpreter.successors(&words, &mut expected);
            [false, true].map(|stuck| interpreter.evaluate(&words, stuck))
        });
        if let Some(expected_goals) = answer {
            same(&format!("whether {words:x?} are answered"), &is_answered, &true)?;
            same(&format!("goals of {words:x?}"), &goals, &expected_goals)?;
            same(&format!("steps of {words:x?}"), &found.steps(0), &expected.steps(0))?;
            same(&format!("successors of {words:x?}"), &found.states(0), &expected.states(0))?;
            *compared += 1;
        }
        expected.clear();
        interpreter.successors(&good, &mut expected);
        good = match expected.len() {
            0 => case.program.initial_state(),
            some => expected.state(random.below(some)).to_vec(),
        };
    }
    Ok(())
}

/// The interpreter stops where a variable would get a value that it cannot have, which nobody needs to read about.
fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let answer = catch_unwind(AssertUnwindSafe(work)).ok();
    set_hook(hook);
    answer
}
