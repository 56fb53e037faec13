//! Which steps of a trace matter, for people and for programs: what else was possible in their places, from where on the end cannot be
//! avoided, and what is superfluous.

use std::fmt::Write as _;

use birk_exec::explanation::{Beginning, Escape, EscapeEnd};
use birk_exec::{Explanation, Role, replay};
use birk_ir::{Program, Step, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::numbers::count;
use crate::report::ordinals_text;
use crate::report::trace_table::STATEMENT;
use crate::source::Source;
use crate::terminal::{Paint, visible};

/// So many steps are listed with what else was possible, and so many possibilities of each.
const MOST_STEPS: usize = 4;
const MOST_OTHERS: usize = 2;
/// So many numbers, or ranges of them, are listed.
const MOST_NUMBERS: usize = 8;
/// Longer replay lines are left to the JSON report.
const REPLAY: usize = 48;

/// An explanation, and what it is about.
#[derive(Clone, Copy)]
pub(crate) struct Explained<'a> {
    pub(crate) source: &'a Source,
    pub(crate) program: &'a Program,
    /// It is about a witness, not about a violation.
    pub(crate) wants_goal: bool,
    pub(crate) explanation: &'a Explanation,
}

/// Whether the steps are told apart by marks: where all are alike, that says nothing.
pub(crate) fn is_marked(explanation: &Explanation) -> bool {
    let minor = explanation.steps.iter().filter(|role| role.is_minor()).count();
    minor > 0 && minor < explanation.steps.len()
}

impl Explained<'_> {
    /// In a few lines.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut out = String::new();
        if self.explanation.is_empty() {
            return out;
        }
        let mut say = |label: &str, text: String| _ = writeln!(out, "  {} {text}", paint.dim(&format!("{label}:")));
        if let Some(shorter) = &self.explanation.shorter {
            let (all, left) = (self.explanation.steps.len(), shorter.steps.len());
            let line = ordinals_of(self.program, shorter).filter(|line| line.len() <= REPLAY);
            let line = line.map(|line| format!(", {line}")).unwrap_or_default();
            say("superfluous", format!("{} of {all} steps; the other {left} alone lead there, too{line}", all - left));
        }
        self.unavoidable().into_iter().for_each(|text| say("unavoidable", text));
        self.decisive().into_iter().for_each(|text| say("matters", text));
        for beginning in &self.explanation.initial {
            self.beginning(beginning).into_iter().for_each(|(label, text)| say(label, text));
        }
        let unknown = numbers(self.explanation.unknown());
        if !unknown.is_empty() {
            say("not known", format!("{unknown}; --explain searches further"));
        }
        out
    }

    /// From where on it cannot be avoided, and how it could have been.
    fn unavoidable(&self) -> Option<String> {
        let (after, all) = (self.explanation.unavoidable_after, self.explanation.steps.len());
        let beginning = if self.program.choices.is_empty() { "" } else { " that begins like this" };
        match (after, &self.explanation.escape) {
            (0, _) if all > 0 => Some(format!("every execution{beginning} leads there, whatever is done")),
            (after, escape) if after < all => {
                let escape = escape.as_ref().map(|escape| format!("; {}", self.escape(escape))).unwrap_or_default();
                Some(format!("after step {after}, every execution leads there{escape}"))
            }
            // Where the last step matters, what else was possible is listed below.
            (_, Some(escape)) if !matches!(self.explanation.steps[escape.instead_of], Role::Matters(_)) => {
                Some(format!("only at the end; {}", self.escape(escape)))
            }
            _ => None,
        }
    }

    fn escape(&self, escape: &Escape) -> String {
        let then = match escape.end {
            EscapeEnd::Forever => " and goes on without end",
            EscapeEnd::Ends => " and ends",
            EscapeEnd::Fault => " and ends with a runtime error",
        };
        let step = self.step(escape.step, &escape.after);
        format!("with {step} in the place of step {}, one avoids it{then}", escape.instead_of + 1)
    }

    /// The steps that matter, and what else was possible.
    fn decisive(&self) -> Option<String> {
        let explanation = self.explanation;
        let all = explanation.decisive().count();
        if all == 0 {
            return None;
        }
        let steps = match explanation.decisive().count() == explanation.steps.len() {
            true => "every step".to_owned(),
            false => numbers(explanation.decisive()),
        };
        let not = if self.wants_goal { "not reached" } else { "no violation" };
        let within = count(u64::from(explanation.within), "step");
        let place = if all == 1 { "its place" } else { "their places" };
        let mut text = format!("{steps}; with these in {place}, {not} within {within}:");
        let width = explanation.steps.len().to_string().len();
        for number in explanation.decisive().take(MOST_STEPS) {
            let Role::Matters(others) = &explanation.steps[number - 1] else { continue };
            let mut texts: Vec<String> =
                others.iter().take(MOST_OTHERS).map(|(step, after)| self.step(*step, after)).collect();
            if others.len() > MOST_OTHERS {
                texts.push(format!("{} others", others.len() - MOST_OTHERS));
            }
            let _ = write!(text, "\n    {number:>width$}  {}", texts.join(" or "));
        }
        if all > MOST_STEPS {
            let _ = write!(text, "\n    … ({} more)", all - MOST_STEPS);
        }
        if is_marked(explanation) {
            let _ = write!(text, "\n    {:>width$}  does not matter: others would do, or it comes anyway", "·");
        }
        Some(text)
    }

    fn beginning(&self, beginning: &Beginning) -> Option<(&'static str, String)> {
        let (name, value) = self.initial(beginning);
        let not = if self.wants_goal { "not reached" } else { "no violation" };
        let within = count(u64::from(self.explanation.within), "step");
        match beginning.matters? {
            true => Some(("matters", format!("{name} = {value} at the start; with another, {not} within {within}"))),
            false => Some(("does not matter", format!("{name} = {value} at the start"))),
        }
    }

    fn initial(&self, beginning: &Beginning) -> (String, String) {
        let choice = &self.program.choices[beginning.choice];
        let value = self.program.variable(choice.variable).values.text(beginning.value);
        (self.program.shown_name(choice.variable, choice.element), value)
    }

    /// `Process[0] taking → entering`
    fn step(&self, step: Step, after: &[u32]) -> String {
        let transition = self.program.transition(step.transition);
        let name = &self.program.thread(transition.thread).name;
        if self.source.is_promela() {
            return format!("{name} `{}`", visible(&self.source.statements(transition, STATEMENT)));
        }
        let (from, to) = self.ends(step, after);
        format!("{name} {from} → {}", to.unwrap_or_else(|| "fault".to_owned()))
    }

    /// The locations of a step's thread; it has none after a runtime error.
    fn ends(&self, step: Step, after: &[u32]) -> (String, Option<String>) {
        let (program, transition) = (self.program, self.program.transition(step.transition));
        let name = |location| program.location_text(transition.thread, location).to_owned();
        let to = (!program.is_faulty(after)).then(|| name(program.location_of(transition.thread, after)));
        (name(Some(transition.location)), to)
    }

    fn other(&self, number: usize, step: Step, after: &[u32]) -> OtherStep {
        let (from, to) = self.ends(step, after);
        let thread = self.program.thread(self.program.transition(step.transition).thread).name.clone();
        OtherStep { step: number, thread, from, to }
    }

    /// For programs.
    pub(crate) fn json(&self) -> ExplanationReport {
        let explanation = self.explanation;
        let mut instead = Vec::new();
        for (role, number) in explanation.steps.iter().zip(1..) {
            if let Role::Matters(others) = role {
                instead.extend(others.iter().map(|(step, after)| self.other(number, *step, after)));
            }
        }
        let escape = explanation.escape.as_ref().map(|escape| EscapeReport {
            instead: self.other(escape.instead_of + 1, escape.step, &escape.after),
            ends: match escape.end {
                EscapeEnd::Forever => "forever",
                EscapeEnd::Ends => "stuck",
                EscapeEnd::Fault => "fault",
            },
            replay: ordinals_of(self.program, &escape.trace),
        });
        let initial = explanation.initial.iter().map(|beginning| {
            let (name, value) = self.initial(beginning);
            InitialReport { name, value, matters: beginning.matters }
        });
        ExplanationReport {
            within: explanation.within,
            roles: explanation.steps.iter().map(word).collect(),
            instead,
            unavoidable_after: explanation.unavoidable_after,
            escape,
            shorter: explanation.shorter.as_ref().and_then(|trace| ordinals_of(self.program, trace)),
            initial: initial.collect(),
        }
    }
}

/// What is known of a step, in a word.
pub(crate) fn word(role: &Role) -> &'static str {
    match role {
        Role::Matters(_) => "matters",
        Role::Replaceable(_) => "replaceable",
        Role::Forced => "forced",
        Role::Unavoidable => "unavoidable",
        Role::Superfluous => "superfluous",
        Role::Unknown => "unknown",
    }
}

/// A trace as `birk replay` reads it.
fn ordinals_of(program: &Program, trace: &Trace) -> Option<String> {
    replay(program, trace).ok().map(|run| ordinals_text(&run))
}

/// `step 3`, `steps 2, 5 and 6`, `steps 1 to 9`; nothing if there are none.
fn numbers(all: impl Iterator<Item = usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in all {
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == number => last.1 = number,
            _ => ranges.push((number, number)),
        }
    }
    let is_one = matches!(ranges[..], [(first, last)] if first == last);
    let text = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    let mut texts: Vec<String> = ranges.iter().take(MOST_NUMBERS).map(text).collect();
    if ranges.len() > MOST_NUMBERS {
        texts.push("…".to_owned());
    }
    match (texts.is_empty(), is_one) {
        (true, _) => String::new(),
        (false, true) => format!("step {}", texts[0]),
        (false, false) => format!("steps {}", texts.join(", ")),
    }
}

/// Which steps of a trace matter.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplanationReport {
    /// Executions of at most so many steps were compared.
    within: u32,
    /// For each step: `matters`, `replaceable`, `forced`, `unavoidable`, `superfluous` or `unknown`.
    roles: Vec<&'static str>,
    /// What was possible in the places of steps that matter.
    instead: Vec<OtherStep>,
    /// After so many steps, every execution leads there.
    unavoidable_after: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    escape: Option<EscapeReport>,
    /// The trace without superfluous steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    shorter: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    initial: Vec<InitialReport>,
}

/// A step in the place of another one.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct OtherStep {
    /// In the place of this one, from 1.
    step: usize,
    thread: String,
    from: String,
    to: Option<String>,
}

/// An execution that avoids the end of the trace.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct EscapeReport {
    instead: OtherStep,
    /// `forever`, `stuck` or `fault`.
    ends: &'static str,
    replay: Option<String>,
}

/// What is known of an initial value.
#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct InitialReport {
    name: String,
    value: String,
    matters: Option<bool>,
}
