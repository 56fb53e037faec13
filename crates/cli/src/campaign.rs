//! A campaign: what is known of a model, run after run, in a folder.
//!
//! The folder has one file, which is replaced at once or not at all, and the folder of a search that is kept, whose name
//! says of what it is. A claim counts as long as the model means the same, and the property says the same: spaces and comments do
//! not matter.

use std::fs;
use std::path::{Path, PathBuf};

use birk::{Answer, Earlier, Grade, MemberFigures, Options, Pace, Report};
use birk_exec::Replayed;
use birk_exec::replay::replay_ordinals;
use birk_ir::{Coverage, Program, Property, PropertyKind, Span, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commands::replay::parse_ordinals;
use crate::report::ordinals_text;
use crate::{Failure, durable};

/// The file in the folder of a campaign.
const FILE: &str = "campaign.json";
/// The number changes when what is written does.
const SCHEMA: u32 = 2;

/// What is written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Campaign {
    pub(crate) schema: u32,
    pub(crate) birk: String,
    pub(crate) model: String,
    pub(crate) system: String,
    /// The options that decide what is claimed.
    pub(crate) options: Vec<String>,
    pub(crate) nights: Vec<Night>,
    /// Counterexamples and witnesses of all nights, also those of earlier versions of the model.
    pub(crate) found: Vec<Found>,
}

/// One run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Night {
    /// When it began, in seconds since 1970.
    pub(crate) began: u64,
    pub(crate) seconds: f64,
    pub(crate) seed: u64,
    /// What the model means, as a number.
    pub(crate) meaning: String,
    /// What it asks of states, as a number.
    pub(crate) asked: String,
    /// The search that is kept: up to which depth it has explored everything, in all nights, and how many states that are.
    pub(crate) depth: Option<u32>,
    pub(crate) states: u64,
    /// It has explored everything.
    pub(crate) is_complete: bool,
    /// States that others visited in this night.
    pub(crate) hunted: u64,
    /// How far those others have come.
    #[serde(default)]
    pub(crate) hunts: Vec<Hunter>,
    pub(crate) claims: Vec<Claim>,
}

/// One who hunts, and how far it has come in all nights.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hunter {
    pub(crate) engine: String,
    /// How many turns it had: each draws something else.
    pub(crate) turns: u32,
    /// How often its next turn is doubled.
    pub(crate) doublings: u32,
    /// The width with which its next turn begins, where it widens.
    pub(crate) width: usize,
}

/// What is known of a property after a night.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) property: String,
    /// What the property says, as a number.
    pub(crate) says: String,
    pub(crate) verdict: String,
    pub(crate) grade: Option<String>,
    /// There is no violation within so many steps.
    pub(crate) depth: Option<u32>,
    /// Of the trace that decides it.
    pub(crate) steps: Option<usize>,
    /// The engine that found out.
    pub(crate) by: String,
}

/// An execution that decided a property: a counterexample, or a witness of what is reachable.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Found {
    pub(crate) property: String,
    /// What it showed.
    pub(crate) verdict: String,
    /// The night in which it was found, from 1.
    pub(crate) night: usize,
    pub(crate) steps: usize,
    /// As `birk replay` takes it.
    pub(crate) replay: String,
}

/// What is known of a property after all nights.
pub(crate) struct Known<'c> {
    pub(crate) claim: &'c Claim,
    /// The first night after which so much was known, from 1.
    pub(crate) since: usize,
}

impl Campaign {
    /// What a folder has; nothing where there is no campaign.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::io(&format!("read {}", path.display()), &error)),
        };
        let shown = path.display();
        let read: Self = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(format!("{shown} is damaged: {error}; begin a campaign in another folder"))
        })?;
        if !(1..=SCHEMA).contains(&read.schema) || read.birk != env!("CARGO_PKG_VERSION") {
            let message =
                format!("{shown} was written by birk {}; go on with that version, or in another folder", read.birk);
            return Err(Failure::usage(message));
        }
        Ok(Some(Self { schema: SCHEMA, ..read }))
    }

    pub(crate) fn new(model: &str, system: &str, options: Vec<String>) -> Self {
        let birk = env!("CARGO_PKG_VERSION").to_owned();
        let (model, system) = (model.to_owned(), system.to_owned());
        Self { schema: SCHEMA, birk, model, system, options, ..Self::default() }
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(FILE);
        durable::write(&path, (self.text()).as_bytes())
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a campaign has only string keys") + "\n"
    }

    /// The best claim for each property that was checked in the last night, among those that are about the same model and property.
    pub(crate) fn known(&self) -> Vec<Known<'_>> {
        let Some(last) = self.nights.last() else { return Vec::new() };
        let mut all = Vec::new();
        for now in &last.claims {
            let mut best = Known { claim: now, since: self.nights.len() };
            for (number, night) in
                self.nights.iter().enumerate().rev().filter(|(_, night)| night.meaning == last.meaning)
            {
                let is_it = |claim: &&Claim| (&claim.property, &claim.says) == (&now.property, &now.says);
                if let Some(claim) = night.claims.iter().find(is_it)
                    && claim.worth() >= best.claim.worth()
                {
                    best = Known { claim, since: number + 1 };
                }
            }
            all.push(best);
        }
        all
    }

    /// How many nights there were since the model means what it means now.
    pub(crate) fn nights_of(&self, meaning: &str) -> usize {
        self.nights.iter().rev().take_while(|night| night.meaning == meaning).count()
    }

    /// What is known of these properties, of a model that means this.
    pub(crate) fn earlier(
        &self,
        meaning: &str,
        program: &Program,
        options: &Options,
        properties: &[Property],
    ) -> Earlier {
        let is_same = self.nights.last().is_some_and(|night| night.meaning == meaning);
        let is_asked = |claim: &Claim| {
            properties.iter().any(|property| property.name == claim.property && says(property) == claim.says)
        };
        let known = self.known().into_iter().map(|known| known.claim).filter(|claim| is_same && is_asked(claim));
        // What a trace decides is replayed.
        let decided = known
            .filter(|claim| claim.grade.as_deref() == Some(Grade::A.letter()))
            .filter_map(|claim| claim.verdict().map(|verdict| (claim.property.clone(), verdict)))
            .filter(|(_, verdict)| *verdict != Verdict::Inconclusive);
        let hunts = self.nights.last().filter(|_| is_same).into_iter().flat_map(|night| &night.hunts);
        let paces = hunts.map(|one| (one.engine.clone(), one.pace())).collect();
        Earlier { traces: self.still_found(program, options, properties), decided: decided.collect(), paces }
    }

    /// The former traces that decide a property still.
    fn still_found(&self, program: &Program, options: &Options, properties: &[Property]) -> Vec<(String, Replayed)> {
        let mut all = Vec::new();
        for found in &self.found {
            // Of a formula about branching only counterexamples are kept.
            let is_it = |property: &&Property| {
                property.name == found.property && !(property.wants_goal() && property.branching().is_some())
            };
            let Some(property) = properties.iter().find(is_it) else { continue };
            let Some((initial, steps, back)) = parse_ordinals(&found.replay) else { continue };
            let run = replay_ordinals(program, initial, &steps, back);
            let still = run.ok().filter(|run| birk::decides(program, options, property, run));
            all.extend(still.map(|run| (found.property.clone(), run)));
        }
        all
    }

    /// Adds the traces that decided something, unless they are known.
    pub(crate) fn keep(&mut self, report: &Report) {
        let night = self.nights.len();
        for shown in &report.traces {
            let answer = &report.answers[shown.answer];
            let found = Found {
                property: answer.property.name.clone(),
                verdict: answer.verdict.word().to_owned(),
                night,
                steps: shown.run.steps.len(),
                replay: ordinals_text(&shown.run),
            };
            let is_known = |other: &Found| (&other.property, &other.replay) == (&found.property, &found.replay);
            let is_decisive =
                answer.verdict == Verdict::Violated || matches!(answer.property.kind, PropertyKind::Reachable(_));
            if is_decisive && !self.found.iter().any(is_known) {
                self.found.push(found);
            }
        }
    }
}

impl Hunter {
    pub(crate) fn new(figures: &MemberFigures) -> Self {
        let Pace { turns, doublings, width } = figures.pace;
        Self { engine: figures.name.to_owned(), turns, doublings, width }
    }

    fn pace(&self) -> Pace {
        Pace { turns: self.turns, doublings: self.doublings, width: self.width }
    }
}

impl Claim {
    pub(crate) fn new(answer: &Answer, report: &Report) -> Self {
        let trace = answer.trace.map(|trace| &report.traces[trace].run);
        let member =
            |member: usize| report.joint.as_ref().and_then(|joint| joint.members.get(member)).map(|one| one.name);
        let depth = match answer.coverage {
            Some(Coverage::Depth(depth)) if answer.verdict == Verdict::Inconclusive => Some(depth),
            _ => None,
        };
        Self {
            property: answer.property.name.clone(),
            says: says(&answer.property),
            verdict: answer.verdict.word().to_owned(),
            grade: answer.grade().map(|grade| grade.letter().to_owned()),
            depth,
            steps: trace.map(|run| run.steps.len()),
            by: answer.by.and_then(member).unwrap_or(report.engine.name).to_owned(),
        }
    }

    pub(crate) fn verdict(&self) -> Option<Verdict> {
        let all = [Verdict::Violated, Verdict::Holds, Verdict::Inconclusive];
        all.into_iter().find(|verdict| verdict.word() == self.verdict)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.verdict == Verdict::Inconclusive.word()
    }

    /// Claims can be compared: a violation is worth most, then what holds, then what was explored to a greater depth, and otherwise.
    fn worth(&self) -> (u32, u32) {
        let decided = match self.verdict.as_str() {
            word if word == Verdict::Violated.word() => 4,
            word if word == Verdict::Holds.word() => 3,
            _ if self.depth.is_some() => 2,
            _ => u32::from(self.grade.as_deref() != Some("E")),
        };
        (decided, self.depth.unwrap_or(0))
    }
}

/// What a model means: its variables, its steps and what is promised of them, and an automaton beside it; not how they are written.
pub(crate) fn meaning(program: &Program, options: &Options) -> String {
    let mut marks: Vec<Span> = Vec::new();
    let mut mark = |span: Span| {
        marks.iter().position(|other| *other == span).unwrap_or_else(|| {
            marks.push(span);
            marks.len() - 1
        })
    };
    let promised: Vec<Option<usize>> = program.transitions.iter().map(|one| one.fair.map(&mut mark)).collect();
    let kinds: Vec<_> = program.kinds.iter().map(|kind| (kind.fair, kind.crashed)).collect();
    let text = format!("{} {promised:?} {kinds:?} {:?}", birk::certify::identity(program), options.automaton);
    format!("{:016x}", birk::certify::sum(text.as_bytes()))
}

/// What the search that is kept asks of states: all such properties, in their order.
pub(crate) fn asked(properties: &[Property]) -> String {
    let of_states = properties.iter().filter(|property| property.is_of_states());
    let all: Vec<String> = of_states.map(|property| format!("{} {}", property.name, says(property))).collect();
    format!("{:016x}", birk::certify::sum(all.join("\n").as_bytes()))
}

/// What a property says.
fn says(property: &Property) -> String {
    format!("{:016x}", birk::certify::sum(format!("{:?}", property.kind).as_bytes()))
}

/// How the folders of searches begin that are kept.
const LEVELS: &str = "levels";

/// The folder of the search that is kept: of this model, for these questions, with these options, and of no other.
pub(crate) fn levels(folder: &Path, meaning: &str, asked: &str, options: &[String]) -> PathBuf {
    let all = format!("{meaning} {asked} {options:?}");
    folder.join(format!("{LEVELS}-{:016x}", birk::certify::sum(all.as_bytes())))
}

/// Removes the searches that were kept of something else.
pub(crate) fn forget_others(folder: &Path, levels: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io(&format!("tidy up {}", folder.display()), &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().starts_with(LEVELS) && entry.path() != levels {
            fs::remove_dir_all(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}
