//! The questions that a check consists of.

use super::branching::BranchingQuestion;
use super::context::Context;
use super::findings::{Findings, Question};
use super::liveness::LivenessQuestion;
use super::safety::SafetyQuestion;
use crate::error::Error;

/// All questions, by their kinds.
pub(super) struct Questions<'a> {
    pub(super) safety: Option<SafetyQuestion>,
    pub(super) branching: Vec<BranchingQuestion<'a>>,
    pub(super) liveness: Vec<LivenessQuestion<'a>>,
}

impl<'a> Questions<'a> {
    /// Of all properties; what cannot be asked is noted in the findings.
    pub(super) fn new(context: &Context<'a>, findings: &mut Findings) -> Result<Self, Error> {
        let branching = BranchingQuestion::all(context.properties);
        let mut liveness = Vec::new();
        for (index, property) in context.properties.iter().enumerate().filter(|(_, property)| property.is_of_runs()) {
            match LivenessQuestion::new(index, property, context.options.automaton.as_ref()) {
                Ok(question) => liveness.push(question),
                Err(reason) => findings.give_up(index, reason),
            }
        }
        let safety = SafetyQuestion::new(context)?;
        let asks_other = context.properties.iter().any(|p| p.is_of_runs() || p.branching().is_some());
        // Without any property, the states are explored.
        let safety = Some(safety).filter(|safety| !safety.is_empty() || !asks_other);
        Ok(Self { safety, branching, liveness })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Question> {
        let safety = self.safety.iter().map(|question| question as &dyn Question);
        let branching = self.branching.iter().map(|question| question as &dyn Question);
        safety.chain(branching).chain(self.liveness.iter().map(|question| question as &dyn Question))
    }
}
