//! `birk check --campaign FOLDER`: one night more.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use birk::Options;
use birk::process_memory::Memory;
use birk_exec::Replayed;
use birk_ir::{Coverage, Property, Stop, Verdict};

use super::late;
use super::present::{Asked, present};
use super::{keeper, options, read};
use crate::campaign::{Campaign, Claim, Night, levels, meaning};
use crate::checkpoint::{self, Checkpoint, Identity};
use crate::cli::{CheckArgs, ReportFormat};
use crate::commands::campaign::text;
use crate::numbers::count;
use crate::progress::Watcher;
use crate::terminal::{print_for_people, uses_color};
use crate::{Exit, Failure, say};

/// Options that may differ from night to night: they say how far it goes, and with which luck.
const MAY_DIFFER: &[&str] = &["--time", "--memory", "--threads", "--seed"];

/// Runs one night.
pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let folder = args.campaign.as_deref().unwrap_or(Path::new(""));
    refuse(args)?;
    let (source, program, automaton) = read(args)?;
    let mut options = options(args);
    options.automaton = automaton;
    birk::validate_options(&options)?;
    let properties = birk::validate(&program, &options)?;
    fs::create_dir_all(folder)
        .map_err(|error| Failure::io(&format!("make the folder {}", folder.display()), &error))?;
    let _lock = checkpoint::lock(folder)?;
    let asked = Asked { args, options: &options, source: &source, program: &program, properties };
    let mut tonight = Tonight::open(&asked, folder)?;
    let mut watcher = Watcher::start(args.progress, args.time)?;
    let memory = Memory::new(args.memory);
    watcher.limit_memory(memory);
    if args.report.is_some() {
        watcher.remember();
    }
    if let Some(keeper) = tonight.keeper(&asked)? {
        watcher.keep(keeper);
    }
    let options = Options { seed: tonight.seed, memory, ..options.clone() };
    let (settled, pulse) = (watcher.settled(), watcher.pulse());
    late::watched(&asked, &settled, &pulse, || {
        let found = birk::night(&program, &options, tonight.kept, &tonight.still, &mut watcher)?;
        if let Some(failure) = watcher.keeper().and_then(Checkpoint::refusal) {
            return Err(failure);
        }
        if let Some(reason) = watcher.failure() {
            let message = format!("the search was ended: {reason}; make room, then run the command again");
            return Err(Failure { exit: Exit::Io, message });
        }
        watcher.conclude();
        let seconds = watcher.elapsed().as_secs_f64();
        tonight.record(&found, seconds);
        tonight.campaign.write(folder)?;
        let exit = present(&asked.report(&found, seconds), &watcher.course())?;
        if args.format == ReportFormat::Human {
            let color = uses_color(args.model.color, &std::io::stdout());
            print_for_people(&format!("\n{}", text(&tonight.campaign, folder, color)), color)?;
        }
        Ok(standing(&tonight.campaign, exit))
    })
}

/// A night, and what the nights before it leave to it.
struct Tonight<'f> {
    folder: &'f Path,
    campaign: Campaign,
    began: u64,
    seed: u64,
    meaning: String,
    asks: String,
    /// The night before, as far as it is about the same.
    last: Option<Night>,
    /// Violations that are known.
    still: Vec<(String, Replayed)>,
    kept: birk::Kept,
    /// A violation that is known ends the check before it begins, as it would end it later.
    is_over: bool,
}

impl<'f> Tonight<'f> {
    /// Reads what is known, and says what it is worth.
    fn open(asked: &Asked<'_>, folder: &'f Path) -> Result<Self, Failure> {
        let Asked { args, source, program, properties, .. } = asked;
        let (shown, decisive) = (folder.display(), decisive(&args.given));
        let begun = Campaign::read(folder)?;
        let campaign = begun.unwrap_or_else(|| Campaign::new(&source.path, &program.system, decisive.clone()));
        if campaign.options != decisive {
            let before = campaign.options.join(" ");
            return Err(Failure::usage(format!(
                "the campaign in {shown} was begun with other options ({before}); use them, or begin another one"
            )));
        }
        let (meaning, asks) = (meaning(program), crate::campaign::asked(properties));
        let is_changed = campaign.nights.last().is_some_and(|night| night.meaning != meaning);
        if is_changed {
            say("note: the model does not mean any more what it did: nothing that was claimed holds for it");
        } else if !campaign.nights.is_empty() {
            let number = campaign.nights.len() + 1;
            say(&format!("note: night {number} of the campaign in {shown}: it goes on where it was"));
        }
        let still = campaign.still_found(program, properties);
        if !campaign.found.is_empty() {
            let all = count(campaign.found.len() as u64, "counterexample");
            say(&format!("note: {all} of earlier nights replayed: {}", still_text(&still)));
        }
        let mut last = campaign.nights.last().filter(|_| !is_changed).cloned();
        let is_other = campaign.nights.last().is_some_and(|night| night.asked != asks);
        if let Some(night) = last.as_mut().filter(|_| is_other) {
            say("note: other properties of states than in the night before: their search begins anew");
            (night.depth, night.states, night.is_complete) = (None, 0, false);
        }
        if is_changed || is_other {
            forget(&levels(folder))?;
        }
        let kept = how(properties, last.as_ref(), &campaign, checkpoint::is_in(&levels(folder)));
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let seed = args.seed.wrapping_add(campaign.nights.len() as u64);
        let is_over = !still.is_empty() && !args.keep_going;
        Ok(Self { folder, campaign, began, seed, meaning, asks, last, still, kept, is_over })
    }

    /// What keeps the search on disk, unless there is none tonight.
    fn keeper(&self, asked: &Asked<'_>) -> Result<Option<Checkpoint>, Failure> {
        let (birk::Kept::Half { is_continued } | birk::Kept::Whole { is_continued }) = self.kept else {
            return Ok(None);
        };
        if self.is_over {
            return Ok(None);
        }
        let (levels, identity) = (levels(self.folder), Identity::new(asked.source, &asked.args.given));
        Ok(Some(match is_continued {
            false => keeper(&levels, identity, None)?,
            // It is the same model, however it is written now.
            true => Checkpoint::resume(&levels, identity, checkpoint::look(&levels, None, false)?),
        }))
    }

    /// Adds the night.
    fn record(&mut self, found: &birk::Report, seconds: f64) {
        let members = found.joint.iter().flat_map(|joint| &joint.members);
        let is_kept = self.kept != birk::Kept::Over && !self.is_over;
        let before = self.last.take().unwrap_or_default();
        let (depth, is_complete) = match (&found.hunt.coverage, is_kept) {
            (Coverage::Complete, true) => (Some(found.hunt.stats.max_depth), found.hunt.stopped != Stop::Goal),
            (Coverage::Depth(depth), true) => (Some(*depth), false),
            _ => (before.depth, before.is_complete),
        };
        self.campaign.nights.push(Night {
            began: self.began,
            seconds,
            seed: self.seed,
            meaning: self.meaning.clone(),
            asked: self.asks.clone(),
            depth,
            states: if is_kept { found.hunt.stats.states } else { before.states },
            is_complete,
            hunted: members.map(|one| one.states).fold(0, u64::saturating_add),
            claims: found.answers.iter().map(|answer| Claim::new(answer, found)).collect(),
        });
        self.campaign.keep(found);
    }
}

/// What does not go together with a campaign.
fn refuse(args: &CheckArgs) -> Result<(), Failure> {
    if args.time.is_none() {
        return Err(Failure::usage(
            "--campaign needs the time of one run; use --time, for example --time 1h".to_owned(),
        ));
    }
    if args.search != "auto" {
        return Err(Failure::usage(format!(
            "--campaign chooses the engines itself; leave --search {} out",
            args.search
        )));
    }
    let given = [
        ("--checkpoint", args.checkpoint.is_some()),
        ("--disk", args.disk.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("--max-depth", args.max_depth.is_some()),
        ("--max-states", args.max_states.is_some()),
        #[cfg(feature = "cluster")]
        ("--cluster", args.together.cluster.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} is about one search, and --campaign about many; leave one out")))
        }
        None => Ok(()),
    }
}

/// The options that must be the same in all nights.
fn decisive(given: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = given.iter();
    while let Some(word) = words.next() {
        match MAY_DIFFER.contains(&word.as_str()) {
            true => _ = words.next(),
            false => kept.push(word.clone()),
        }
    }
    kept
}

/// The search that is kept has half of the time; all of it if that was not enough for one level in the night before.
fn how(properties: &[Property], last: Option<&Night>, campaign: &Campaign, is_continued: bool) -> birk::Kept {
    let before = campaign.nights.len().checked_sub(2).and_then(|at| campaign.nights.get(at));
    match last {
        _ if !properties.iter().any(crate::campaign::is_of_states) => birk::Kept::Over,
        Some(last) if last.is_complete => birk::Kept::Over,
        Some(last) if before.is_some_and(|before| before.meaning == last.meaning && before.depth == last.depth) => {
            birk::Kept::Whole { is_continued }
        }
        _ => birk::Kept::Half { is_continued },
    }
}

/// Removes the search that is kept: it is one of another model.
fn forget(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io(&format!("remove {}", folder.display()), &error))
        }
        _ => Ok(()),
    }
}

fn still_text(still: &[(String, Replayed)]) -> String {
    let mut names: Vec<String> = still.iter().map(|(name, _)| format!("`{name}`")).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { "none is one any more".to_owned() } else { format!("still violated: {}", names.join(", ")) }
}

/// How the process ends: by what all nights know.
fn standing(campaign: &Campaign, exit: Exit) -> Exit {
    let known = campaign.known();
    let is = |verdict: Verdict| move |known: &crate::campaign::Known<'_>| known.claim.verdict == verdict.word();
    if known.iter().any(is(Verdict::Violated)) {
        Exit::Violated
    } else if known.iter().all(is(Verdict::Holds)) {
        Exit::Success
    } else {
        exit
    }
}
