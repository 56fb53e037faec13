//! `birk resume`: goes on with a search that was kept with `--checkpoint`.

use std::ffi::OsString;
use std::time::Instant;

use crate::cli::{Command, ResumeArgs};
use crate::commands::check;
use crate::place::Place;
use crate::{Exit, Failure, checkpoint, config};

/// Options that may differ from those of the search when it began: they say how far it goes, not what it finds on the way.
const MAY_DIFFER: &[&str] = &["--time", "--memory", "--threads", "--max-depth", "--max-states", "--max-disk"];

/// Whether another process keeps the search, and has the lock on the folder.
#[cfg(feature = "cluster")]
fn is_led(args: &ResumeArgs) -> Result<bool, Failure> {
    crate::cluster::Cluster::is_led(&args.together)
}

#[cfg(not(feature = "cluster"))]
fn is_led(_: &ResumeArgs) -> Result<bool, Failure> {
    Ok(false)
}

/// Runs the command.
pub(crate) fn run(args: &ResumeArgs) -> Result<Exit, Failure> {
    let deadline = args.time.and_then(|time| Instant::now().checked_add(time));
    let kept = checkpoint::look(&Place::named(&args.folder)?, deadline, is_led(args)?)?;
    let identity = &kept.identity;
    // As short as it was written, if that is possible.
    let here = std::env::current_dir().unwrap_or_default();
    let model = identity.model.strip_prefix(here).unwrap_or(&identity.model);
    let given = |name: &str| args.given.iter().any(|word| word == name);
    // A limit that ended the search would end it again.
    let is_dropped = |name: &str| given(name) || ["--time", "--max-states"].contains(&name);
    let mut words = vec![OsString::from("birk"), OsString::from("check"), model.into()];
    let mut options = identity.options.iter();
    while let Some(word) = options.next() {
        let is_flag = word.starts_with('-');
        if is_flag && MAY_DIFFER.contains(&word.as_str()) && is_dropped(word) {
            options.next();
        } else {
            words.push(word.into());
        }
    }
    words.extend(args.given.iter().map(OsString::from));
    let Command::Check(mut check) = config::parse(&words, &args.engines)?.command else {
        unreachable!("the words are those of a check")
    };
    let decisive = |options: &[String]| {
        let mut kept = Vec::new();
        let mut options = options.iter();
        while let Some(word) = options.next() {
            if MAY_DIFFER.contains(&word.as_str()) {
                options.next();
            } else {
                kept.push(word.clone());
            }
        }
        kept
    };
    if decisive(&check.given) != decisive(&identity.options) {
        return Err(Failure::usage(format!(
            "the environment or birk.toml has added options since the search began ({}); take them back",
            check.given.join(" ")
        )));
    }
    check.checkpoint = Some(args.folder.clone());
    check::resume(&check, kept)
}
