//! Properties of states: deadlock, runtime errors, invariants, states to be reached. One search hunts them all.

use birk_engine::{Hunt, Job, Search};
use birk_exec::replay;
use birk_ir::{Coverage, Expr, Goal, Outcome};

use super::context::Context;
use super::findings::{Answered, Decided, Question};
use crate::error::Error;
use crate::model::Layers;
use crate::process_memory::at_once;
use crate::properties::{goals_of, replay_failure};
use crate::watch::Watch;

/// The properties that are goals of one search.
pub(super) struct SafetyQuestion {
    /// Positions of the properties.
    indices: Vec<usize>,
    pub(super) goals: Vec<Goal>,
}

impl SafetyQuestion {
    pub(super) fn new(context: &Context<'_>) -> Result<Self, Error> {
        let (indices, goals) = goals_of(context.program, context.properties)?.into_iter().unzip();
        Ok(Self { indices, goals })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// The search for all goals.
    pub(super) fn job(&self, context: &Context<'_>) -> Job {
        let stop_at = context.stop_at(self.indices.iter().map(|&index| context.properties[index]));
        Job { stop_at, ..context.job(self.goals.len()) }
    }

    /// What a hunt says of each property; each trace is replayed.
    pub(super) fn answers(&self, context: &Context<'_>, hunt: &Hunt) -> Result<Vec<(usize, Answered)>, Error> {
        let mut answers = Vec::new();
        for ((&index, goal), outcome) in self.indices.iter().zip(&self.goals).zip(&hunt.outcomes) {
            let property = context.properties[index];
            // A goal that the types exclude needs no search.
            let outcome = if *goal == Goal::State(Expr::FALSE) { &Outcome::Absent } else { outcome };
            let is_open = *outcome == Outcome::Inconclusive;
            assert!(!is_open || hunt.coverage != Coverage::Complete, "a complete search decides every goal");
            // What is absent is so in every state, also where other goals are still open.
            let is_absent = *outcome == Outcome::Absent;
            let coverage = if is_absent { &Coverage::Complete } else { &hunt.coverage };
            let mut answered = Answered::new(property, outcome, coverage);
            if let Outcome::Found(trace) = outcome {
                let run = replay(context.program, trace).map_err(|error| replay_failure(property, &error))?;
                run.confirm(context.program, property).map_err(|error| replay_failure(property, &error))?;
                answered.run = Some(run);
            }
            answers.push((index, answered));
        }
        Ok(answers)
    }
}

impl Question for SafetyQuestion {
    fn decide(&self, context: &Context<'_>, watch: &mut dyn Watch) -> Result<Decided, Error> {
        let mut job = self.job(context);
        let (hunt, assumed) = match context.engine.search {
            Search::Program(search) => {
                let refused = |reason: String| context.refused(&reason);
                job.limits.memory = at_once(job.limits.memory, context.engine.address_space).map_err(refused)?;
                // What an `assume` prunes is not noticed there.
                (search(context.program, &self.goals, &job, watch).map_err(refused)?, None)
            }
            Search::Model(search) => {
                let layers = Layers::new(context.program, &self.goals);
                let hunt = match context.bitstate() {
                    Some(bitstate) => bitstate.hunt(layers.plain(), &job, watch),
                    None if context.engine.directed => search(&layers.directed(&job.options), &job, watch),
                    None => search(layers.plain(), &job, watch),
                };
                layers.note_refusal(watch);
                (hunt, Some(layers.assumed()))
            }
        };
        watch.end();
        Ok(Decided { answers: self.answers(context, &hunt)?, hunt, assumed })
    }
}
