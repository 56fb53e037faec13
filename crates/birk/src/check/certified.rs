//! What was proved, checked by the certifier, and written down as a certificate where one was asked for.

use std::cell::RefCell;
use std::ops::ControlFlow;

use birk_certify::Refusal;
use birk_engine::{Hunt, Progress};
use birk_ir::{Coverage, Invariant, Outcome, Program, Property, Stop, Verdict};

use super::context::Context;
use crate::certificate;
use crate::error::Error;
use crate::report::Answer;
use crate::watch::Watch;

/// A certificate, or why there is none.
pub(super) type Certificate = Result<Vec<u8>, String>;

/// By the visited states of a complete search.
pub(super) fn by_states(context: &Context<'_>, indices: &[usize], hunt: &Hunt, keys: &[u8]) -> Certificate {
    if hunt.coverage != Coverage::Complete {
        return Err(incomplete(hunt));
    }
    let outcomes = indices.iter().zip(&hunt.outcomes);
    let absent = outcomes.filter(|(_, outcome)| **outcome == Outcome::Absent);
    let properties: Vec<&Property> = absent.map(|(&index, _)| context.properties[index]).collect();
    match properties.is_empty() {
        true => Err("every property has a trace that decides it".to_owned()),
        false => Ok(certificate::of_states(context.program, &properties, keys)),
    }
}

fn incomplete(hunt: &Hunt) -> String {
    match hunt.stopped {
        Stop::Goal => "the search stopped at a violation".to_owned(),
        _ => "the search is not complete".to_owned(),
    }
}

/// By the invariants that an engine has found: each is checked by the certifier. What it does not accept is not claimed of an engine that
/// knows of no state; one on decision diagrams has reached them all, and only the certificate is missing. An engine that finds none is
/// not concerned.
pub(super) fn by_invariants(
    context: &Context<'_>,
    indices: &[usize],
    hunt: &mut Hunt,
    watch: &mut dyn Watch,
) -> Result<Certificate, Error> {
    let invariants = (0..).zip(hunt.stats.invariants());
    let found: Vec<(usize, Invariant)> = invariants.filter_map(|(goal, found)| Some((goal, found.clone()?))).collect();
    let has_reached_all = hunt.stats.bdd().is_some();
    let progress = Progress { depth: hunt.stats.max_depth, bytes: hunt.stats.store_bytes, ..Progress::default() };
    let mut accepted = Vec::new();
    for (goal, invariant) in &found {
        let property = context.properties[indices[*goal]];
        let bytes = certificate::of_invariants(context.program, &[(property, invariant)]);
        match checked(context.program, &bytes, &progress, watch) {
            Ok(()) => accepted.push((property, invariant)),
            Err(Unchecked::Unknown(reason)) => {
                let name = &property.name;
                watch.note(&format!("the proof of `{name}` was not checked by the certifier: {reason}"));
            }
            Err(Unchecked::Wrong(reason)) => return Err(Error::Internal(reason)),
            Err(Unchecked::Stopped(_)) if has_reached_all => {
                return Ok(Err("the search ended before the certifier had checked it".to_owned()));
            }
            Err(Unchecked::Stopped(stop)) => {
                hunt.outcomes[*goal] = Outcome::Inconclusive;
                (hunt.coverage, hunt.stopped) = (Coverage::Partial(0), stop);
            }
        }
    }
    Ok(match accepted.is_empty() {
        false => Ok(certificate::of_invariants(context.program, &accepted)),
        true if has_reached_all && found.is_empty() && hunt.coverage == Coverage::Complete => {
            Err("as an invariant, the reached states would be too large".to_owned())
        }
        true if hunt.outcomes.contains(&Outcome::Absent) => Err("the certifier cannot check the proof".to_owned()),
        true => Err(incomplete(hunt)),
    })
}

/// Why a proof was not accepted.
pub(super) enum Unchecked {
    Unknown(String),
    Wrong(String),
    Stopped(Stop),
}

/// Lets the certifier check the certificate of a program.
pub(super) fn checked(
    program: &Program,
    bytes: &[u8],
    progress: &Progress,
    watch: &mut dyn Watch,
) -> Result<(), Unchecked> {
    let asked = RefCell::new((watch, None));
    let may_go_on = || {
        let (watch, stopped) = &mut *asked.borrow_mut();
        if let ControlFlow::Break(stop) = watch.progress(progress) {
            *stopped = Some(stop);
        }
        stopped.is_none()
    };
    let checked = birk_certify::check(program, bytes, &may_go_on);
    match checked {
        Ok(_) => Ok(()),
        Err(Refusal::Unknown(reason)) => Err(Unchecked::Unknown(reason)),
        Err(Refusal::Stopped) => Err(Unchecked::Stopped(asked.into_inner().1.unwrap_or(Stop::Interrupt))),
        Err(refusal @ (Refusal::Unfit(_) | Refusal::Fails(_))) => Err(Unchecked::Wrong(refusal.to_string())),
    }
}

/// The certificate of a whole check, or why there is none. What it says nothing of is told.
pub(super) fn conclude(context: Context<'_>, answers: &[Answer], watch: &mut dyn Watch) -> Certificate {
    let of_runs = context.of_runs.into_inner().expect("nobody who holds it panics");
    let certificate = context.certificate.into_inner();
    let certificate = match (certificate, &of_runs[..]) {
        (Some(certificate), []) => certificate,
        (None, []) => Err("of the properties that were checked, none has a certificate".to_owned()),
        (Some(Err(reason)), of_runs) => {
            watch.note(&format!("the certificate says nothing of properties of states: {reason}"));
            Ok(certificate::joined(None, of_runs))
        }
        (of_states, of_runs) => Ok(certificate::joined(of_states.and_then(Result::ok).as_deref(), of_runs)),
    };
    let is_uncovered = |answer: &&Answer| {
        certificate.is_ok()
            && answer.verdict == Verdict::Holds
            && !birk_certify::is_certifiable(&answer.property)
            && !of_runs.iter().any(|of| of.property == answer.property.name)
    };
    for answer in answers.iter().filter(is_uncovered) {
        let name = &answer.property.name;
        watch.note(&format!("the certificate says nothing of `{name}`, which is not about single states"));
    }
    certificate
}
