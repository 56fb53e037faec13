//! The hunt of a portfolio in reports: who searched with what, and whose the answers are.

use std::fmt::Write as _;

use birk::{Answer, Joint, MemberFigures};
use birk_ir::{Coverage, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::escape::escape;
use crate::numbers::{count, grouped};
use crate::report::Report;

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HuntReport {
    seconds: f64,
    members: Vec<MemberReport>,
}

#[derive(JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct MemberReport {
    name: &'static str,
    /// What to write after `birk check MODEL` to search as in its last turn.
    options: String,
    turns: u32,
    seconds: f64,
    states: u64,
    max_depth: u32,
    /// Names of properties.
    decided: Vec<String>,
    reason: Option<String>,
}

impl HuntReport {
    pub(super) fn of(report: &Report<'_>) -> Option<Self> {
        let Joint { members, seconds } = report.joint.as_ref()?;
        let member = |one: &MemberFigures| MemberReport {
            name: one.name,
            options: one.words.clone(),
            turns: one.turns,
            seconds: one.seconds,
            states: one.states,
            max_depth: one.depth,
            decided: one.decided.iter().map(|&index| report.answers[index].property.name.clone()).collect(),
            reason: one.reason.clone(),
        };
        Some(Self { seconds: *seconds, members: members.iter().map(member).collect() })
    }
}

impl Report<'_> {
    /// The member of the portfolio whose answer it is.
    pub(super) fn member(&self, answer: &Answer) -> Option<&MemberFigures> {
        self.joint.as_ref()?.members.get(answer.by?)
    }

    /// Whose answer it is, in words: `by ic3`, `within 20 steps, by bmc`.
    pub(super) fn by(&self, answer: &Answer) -> Option<String> {
        let name = self.member(answer)?.name;
        Some(match (answer.verdict, &answer.coverage) {
            (Verdict::Inconclusive, Some(Coverage::Depth(depth))) => {
                format!("none within {}, by {name}", count(u64::from(*depth), "step"))
            }
            _ => format!("by {name}"),
        })
    }

    /// All who decided something: `bfs and ic3`.
    pub(super) fn deciders(&self) -> String {
        let decided = self.answers.iter().filter(|answer| answer.verdict != Verdict::Inconclusive);
        let mut names: Vec<&str> = Vec::new();
        for name in decided.map(|answer| self.member(answer).map_or(self.engine.name, |member| member.name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(" and ")
    }

    /// When the hunt found violations: ``; violation of `low` found after 0.2 s``.
    pub(super) fn found(&self) -> String {
        let known = self.answers.iter().filter_map(|answer| Some((&answer.property.name, answer.after?)));
        known.map(|(name, after)| format!("; violation of `{name}` found after {:.1} s", after.as_secs_f64())).collect()
    }

    /// How long the first search took.
    pub(super) fn first_seconds(&self) -> f64 {
        self.seconds - self.joint.as_ref().map_or(0.0, |joint| joint.seconds)
    }

    fn decided_names(&self, member: &MemberFigures) -> String {
        let names = member.decided.iter().map(|&index| format!("`{}`", self.answers[index].property.name));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// What a member counted.
fn counted(member: &MemberFigures) -> String {
    let depth = format!("depth {}", grouped(u64::from(member.depth)));
    match member.states {
        0 => depth,
        u64::MAX => format!("more states than 64 bits hold, {depth}"),
        states => format!("{}, {depth}", count(states, "state")),
    }
}

/// One line for each member that had a turn.
pub(super) fn lines(report: &Report<'_>) -> Vec<String> {
    let Some(joint) = &report.joint else { return Vec::new() };
    let hunters: Vec<&MemberFigures> = joint.members.iter().filter(|one| one.turns > 0).collect();
    let width = hunters.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let line = |one: &&MemberFigures| {
        let decided = report.decided_names(one);
        let decided = if decided.is_empty() { decided } else { format!("; decided {decided}: {}", one.words) };
        let reason = one.reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
        let (turns, figures) = (count(u64::from(one.turns), "turn"), counted(one));
        format!("{:width$}  {turns:>8}  {:>6.1} s  {figures}{decided}{reason}", one.name, one.seconds)
    };
    hunters.iter().map(line).collect()
}

/// The same as a table for the page.
pub(super) fn table(report: &Report<'_>) -> String {
    let Some(joint) = &report.joint else { return String::new() };
    let mut out = format!(
        "<table><caption>the hunt by other engines, {:.1} s{}</caption><thead><tr><th scope=\"col\">engine</th>\
         <th scope=\"col\">turns</th><th scope=\"col\">seconds</th><th scope=\"col\">explored</th>\
         <th scope=\"col\">decided</th><th scope=\"col\">options of the last turn</th></tr></thead><tbody>\n",
        joint.seconds,
        escape(&report.found().replace('`', ""))
    );
    for one in joint.members.iter().filter(|one| one.turns > 0) {
        let decided = report.decided_names(one).replace('`', "");
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{:.1}</td><td>{}</td><td class=\"mono\">{}</td>\
             <td class=\"mono\">{}</td></tr>",
            one.name,
            one.turns,
            one.seconds,
            counted(one),
            escape(&decided),
            escape(&one.words)
        );
    }
    out + "</tbody></table>\n"
}
