//! `birk check --campaign FOLDER`: one night more.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use birk::process_memory::Memory;
use birk::{Earlier, Options};
use birk_ir::{Coverage, Property, Stop, Verdict};

use super::late;
use super::present::{Asked, present};
use super::{keeper, options, read};
use crate::campaign::{Campaign, Claim, Hunter, Night, asked as asked_of, forget_others, levels, meaning};
use crate::checkpoint::{self, Checkpoint, Identity};
use crate::cli::{CheckArgs, ReportFormat};
use crate::commands::campaign::text;
use crate::numbers::count;
use crate::place::Place;
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
        let found = birk::night(&program, &options, tonight.kept, &tonight.earlier, &mut watcher)?;
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
struct Tonight {
    campaign: Campaign,
    began: u64,
    seed: u64,
    meaning: String,
    asks: String,
    /// The night before, as far as it is about the same.
    last: Option<Night>,
    earlier: Earlier,
    /// The folder of the search that is kept.
    levels: PathBuf,
    kept: birk::Kept,
    /// A violation that is known ends the check before it begins, as it would end it later.
    is_over: bool,
}

impl Tonight {
    /// Reads what is known, and says what it is worth.
    fn open(asked: &Asked<'_>, folder: &Path) -> Result<Self, Failure> {
        let Asked { args, source, program, properties, options } = asked;
        let (shown, decisive) = (folder.display(), decisive(&args.given));
        let begun = Campaign::read(folder)?;
        let campaign = begun.unwrap_or_else(|| Campaign::new(&source.path, &program.system, decisive.clone()));
        if campaign.options != decisive {
            let before = campaign.options.join(" ");
            return Err(Failure::usage(format!(
                "the campaign in {shown} was begun with other options ({before}); use them, or begin another one"
            )));
        }
        let (meaning, asks) = (meaning(program, options), asked_of(properties));
        let is_changed = campaign.nights.last().is_some_and(|night| night.meaning != meaning);
        let levels = levels(folder, &meaning, &asks, &decisive);
        forget_others(folder, &levels)?;
        if is_changed {
            say("note: the model does not mean any more what it did: nothing that was claimed holds for it");
        } else if !campaign.nights.is_empty() {
            let number = campaign.nights.len() + 1;
            say(&format!("note: night {number} of the campaign in {shown}: it goes on where it was"));
        }
        let earlier = campaign.earlier(&meaning, program, options, properties);
        let violated = violated(&earlier, properties);
        let former = campaign.found.iter().filter(|found| found.verdict == Verdict::Violated.word()).count();
        if former > 0 {
            let all = count(former as u64, "counterexample");
            say(&format!("note: {all} of earlier nights replayed: {}", still_text(&violated)));
        }
        let mut last = campaign.nights.last().filter(|_| !is_changed).cloned();
        let is_other = campaign.nights.last().is_some_and(|night| night.asked != asks);
        if let Some(night) = last.as_mut().filter(|_| is_other) {
            say("note: other properties of states than in the night before: their search begins anew");
            (night.depth, night.states, night.is_complete) = (None, 0, false);
        }
        let is_open = |property: &&Property| !earlier.has(&property.name);
        let is_asked = properties.iter().filter(is_open).any(Property::is_of_states);
        let kept = match is_asked {
            true => how(last.as_ref(), &campaign, checkpoint::is_in(&levels)),
            false => birk::Kept::Over,
        };
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let seed = args.seed.wrapping_add(campaign.nights.len() as u64);
        let is_over = !violated.is_empty() && !args.keep_going;
        Ok(Self { campaign, began, seed, meaning, asks, last, earlier, levels, kept, is_over })
    }

    /// What keeps the search on disk, unless there is none tonight.
    fn keeper(&self, asked: &Asked<'_>) -> Result<Option<Checkpoint>, Failure> {
        let (birk::Kept::Half { is_continued } | birk::Kept::Whole { is_continued }) = self.kept else {
            return Ok(None);
        };
        if self.is_over {
            return Ok(None);
        }
        let (levels, identity) = (Place::Folder(self.levels.clone()), Identity::new(asked.source, &asked.args.given));
        Ok(Some(match is_continued {
            false => keeper(&levels, identity, None)?,
            // It is the same model, however it is written now.
            true => Checkpoint::resume(&levels, identity, checkpoint::look(&levels, None, false)?),
        }))
    }

    /// Adds the night.
    fn record(&mut self, found: &birk::Report, seconds: f64) {
        let members = || found.joint.iter().flat_map(|joint| &joint.members);
        let is_kept = self.kept != birk::Kept::Over && !self.is_over;
        let before = self.last.take().unwrap_or_default();
        let (depth, is_complete) = match (&found.hunt.coverage, is_kept) {
            (Coverage::Complete, true) => {
                let is_cut = found.hunt.stopped == Stop::Goal && found.verdict() == Verdict::Violated;
                (Some(found.hunt.stats.max_depth), !is_cut)
            }
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
            hunted: members().map(|one| one.states).fold(0, u64::saturating_add),
            hunts: members().filter(|one| one.pace.turns > 0).map(Hunter::new).collect(),
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
fn how(last: Option<&Night>, campaign: &Campaign, is_continued: bool) -> birk::Kept {
    let before = campaign.nights.len().checked_sub(2).and_then(|at| campaign.nights.get(at));
    match last {
        Some(last) if last.is_complete => birk::Kept::Over,
        Some(last) if before.is_some_and(|before| before.meaning == last.meaning && before.depth == last.depth) => {
            birk::Kept::Whole { is_continued }
        }
        _ => birk::Kept::Half { is_continued },
    }
}

/// The properties that are violated for all that is known.
fn violated(earlier: &Earlier, properties: &[Property]) -> Vec<String> {
    let is_bad = |name: &str| properties.iter().any(|property| property.name == name && !property.wants_goal());
    let shown = earlier.traces.iter().filter(|(name, _)| is_bad(name)).map(|(name, _)| name);
    let proved = earlier.decided.iter().filter(|(_, verdict)| *verdict == Verdict::Violated).map(|(name, _)| name);
    let mut names: Vec<String> = shown.chain(proved).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn still_text(violated: &[String]) -> String {
    let names: Vec<String> = violated.iter().map(|name| format!("`{name}`")).collect();
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
