//! Certificates of LTL properties, which are about runs: for each, how often the automaton of its violations accepts a run at most,
//! and a certificate of states of the program that counts how often it does. That program is made again to check one; the checker of
//! certificates then knows no more of it than of any other. What a file says of properties of states is a part like these.

use birk_certify::{Certified, Evidence, MayGoOn, Refusal};
use birk_exec::{Counted, Fairness};
use birk_ir::{Program, Property};

use crate::properties::automaton_of_violations;

const TITLE: &str = "birk certificate, version 1: parts\n";
/// How the part about properties of states begins, and those about runs.
const STATES: &str = "properties of states";
const WEAK: &str = "weakly fair executions";
const ALL: &str = "executions";

/// What is proved of the runs that violate a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Its automaton accepts none of them more often.
    pub most: u32,
    /// This is proved of runs that are weakly fair only.
    pub is_fair: bool,
}

/// A proof of an LTL property.
#[derive(Clone, Debug)]
pub struct OfRuns {
    /// Its name.
    pub property: String,
    /// What is proved.
    pub bound: Bound,
    /// The certificate of the program that counts.
    pub bytes: Vec<u8>,
}

/// What a file certifies.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The properties; of those of runs, what was proved.
    pub properties: Vec<(Property, Option<Bound>)>,
    /// By what, all parts together.
    pub evidence: Evidence,
}

/// One file of what is certified of states, if anything is, and of runs.
pub fn joined(states: Option<&[u8]>, runs: &[OfRuns]) -> Vec<u8> {
    let mut file = TITLE.as_bytes().to_vec();
    let mut add = |head: String, bytes: &[u8]| {
        file.extend_from_slice(format!("{head}, {} bytes\n", bytes.len()).as_bytes());
        file.extend_from_slice(bytes);
    };
    if let Some(bytes) = states {
        add(STATES.to_owned(), bytes);
    }
    for OfRuns { property, bound, bytes } in runs {
        let which = if bound.is_fair { WEAK } else { ALL };
        add(format!("{which} accepted at most {} times as violations of {property}", bound.most), bytes);
    }
    file
}

/// Checks a file of either kind.
pub fn check(program: &Program, file: &[u8], may_go_on: MayGoOn<'_>) -> Result<Checked, Refusal> {
    let Some(mut rest) = file.strip_prefix(TITLE.as_bytes()) else {
        return birk_certify::check(program, file, may_go_on).map(of_states);
    };
    let mut all: Option<Checked> = None;
    while !rest.is_empty() {
        let (head, bytes, behind) =
            part(rest).ok_or_else(|| unfit("it is damaged: a part has no beginning, or no end"))?;
        let checked = match head {
            STATES => of_states(birk_certify::check(program, bytes, may_go_on)?),
            _ => of_runs(program, head, bytes, may_go_on)?,
        };
        all = Some(match all {
            None => checked,
            Some(before) => together(before, checked)?,
        });
        rest = behind;
    }
    all.ok_or_else(|| unfit("it has no part"))
}

fn unfit(reason: &str) -> Refusal {
    Refusal::Unfit(reason.to_owned())
}

/// The first part: its first line without the number of bytes, and these; and what follows.
fn part(rest: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    let (head, bytes) = std::str::from_utf8(&rest[..end]).ok()?.strip_suffix(" bytes")?.rsplit_once(", ")?;
    let (bytes, behind) = rest[end + 1..].split_at_checked(bytes.parse().ok()?)?;
    Some((head, bytes, behind))
}

fn of_states(certified: Certified) -> Checked {
    let properties = certified.properties.into_iter().map(|property| (property, None)).collect();
    Checked { properties, evidence: certified.evidence }
}

/// Checks that no run is accepted more often than a part says.
fn of_runs(program: &Program, head: &str, bytes: &[u8], may_go_on: MayGoOn<'_>) -> Result<Checked, Refusal> {
    let said = head.split_once(" accepted at most ").and_then(|(which, said)| {
        let (most, property) = said.split_once(" times as violations of ")?;
        Some((which, most.parse().ok()?, property))
    });
    let Some((which @ (ALL | WEAK), most, name)) = said else {
        return Err(unfit(&format!("it has a part that this version does not know: `{head}`")));
    };
    let own = program.properties.iter().find(|property| property.name == name);
    let watched = own.and_then(|property| Some((property, automaton_of_violations(property, None).ok()?)));
    let Some((property, (automaton, propositions))) = watched else {
        return Err(unfit(&format!(
            "it is about executions that violate `{name}`, and the model has no such LTL property"
        )));
    };
    let is_fair = which == WEAK;
    let fairness = is_fair.then(|| Fairness::weak(program)).transpose().map_err(Refusal::Unknown)?;
    let counted =
        Counted::new(program, &automaton, &propositions, fairness.as_ref(), most).map_err(Refusal::Unknown)?;
    // That no run is accepted more often is the only property that this program has, and no certificate is about none.
    let Certified { evidence, .. } = birk_certify::check(&counted.program, bytes, may_go_on)?;
    Ok(Checked { properties: vec![(property.clone(), Some(Bound { most, is_fair }))], evidence })
}

fn together(mut before: Checked, more: Checked) -> Result<Checked, Refusal> {
    before.evidence = match (before.evidence, more.evidence) {
        (Evidence::Invariants(clauses, questions), Evidence::Invariants(others, asked)) => {
            Evidence::Invariants(clauses + others, questions + asked)
        }
        _ => return Err(unfit("it has more than one part, and not all are by invariants")),
    };
    before.properties.extend(more.properties);
    Ok(before)
}
