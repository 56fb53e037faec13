//! Searches that are kept and gone on with: the same answer as if nothing had happened, also after a sudden death.
//!
//! `BIRK_TEST_KILLS=50` kills that often instead of a few times.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use birk_exec::Random;
use serde_json::{Value, json};

use crate::binary::{Answer, BIRK, birk, command, folder, folder_with, killed_twice, run};

/// A model with large states, and one with small ones that is searched completely.
const USB: &str =
    "models/usb_stack.bir -D BUG=1 -D ADDRESSES=12 -D LOG=1 --search depth --increment 7 --threads 1 --keep-going";
const COUNTERS: &str = "models/counters_mod8.bir -D K=5 --search depth --threads 1";

fn check(options: &str) -> Answer {
    birk(&format!("check {options} --format json --progress off"))
}

fn resume(folder: &Path, options: &str) -> Answer {
    birk(&format!("resume {} --format json --progress off {options}", folder.display()))
}

/// What must not depend on where a search was interrupted.
#[track_caller]
fn essence(report: &Value) -> Value {
    let stats = &report["stats"];
    let verdicts: Vec<&Value> =
        report["properties"].as_array().expect("a list").iter().map(|p| &p["verdict"]).collect();
    json!([
        report["verdict"],
        report["coverage"],
        report["stopped_by"],
        verdicts,
        report["unreached"],
        stats["states"],
        stats["transitions"],
        stats["pruned_by_assume"],
    ])
}

fn kept(name: &str) -> PathBuf {
    folder(name).join("kept")
}

#[test]
fn a_search_in_pieces_gives_the_same_answer() {
    for (number, model) in [USB, COUNTERS].into_iter().enumerate() {
        let whole = check(model);
        let whole = essence(&whole.json());
        let folder = kept(&format!("pieces_{number}"));
        let mut states = 500;
        let first = check(&format!("{model} --max-states {states} --checkpoint {}", folder.display())).exits(3);
        let first = first.says("the search is saved; continue it with `birk resume ");
        assert_eq!(first.json()["stopped_by"], "states");
        let mut pieces = 1;
        let last = loop {
            states *= 2;
            let piece = resume(&folder, &format!("--max-states {states}")).json();
            if piece["stopped_by"] != "states" {
                break piece;
            }
            pieces += 1;
        };
        assert!(pieces >= 3, "{pieces}");
        assert_eq!(essence(&last), whole);
        // It is at its end now; going on leads to the same end, with more threads too.
        assert_eq!(essence(&resume(&folder, "--threads 3").json()), whole);
    }
}

#[test]
fn a_depth_can_be_raised() {
    let folder = kept("raised");
    let near = check(&format!("{COUNTERS} --max-depth 12 --checkpoint {}", folder.display())).exits(3).json();
    let says = "B, complete to depth 12: every state within 12 steps of the start; the depth limit was reached";
    assert_eq!(near["coverage"], json!({"kind": "depth", "depth": 12, "grade": "B", "statement": says}));
    let far = resume(&folder, "--max-depth 22").exits(3).json();
    assert_eq!(essence(&far), essence(&check(&format!("{COUNTERS} --max-depth 22")).json()));
}

/// However suddenly it ends, what was saved is whole, and the rest is done again.
#[test]
fn a_killed_search_goes_on() {
    let whole = check(USB).json();
    let started = Instant::now();
    check(&format!("{USB} --checkpoint {}", kept("killed_first").display()));
    let time = started.elapsed();
    let kills: u32 = std::env::var("BIRK_TEST_KILLS").map_or(4, |kills| kills.parse().expect("a number"));
    let (mut random, mut resumed) = (Random::new(7), 0);
    for kill in 0..kills {
        let folder = kept(&format!("killed_{kill}"));
        let is_saved = killed_twice(USB, &folder, time, &mut random);
        let last = if is_saved { resume(&folder, "") } else { check(USB) };
        resumed += u32::from(is_saved);
        let last = last.json();
        assert_eq!(essence(&last), essence(&whole));
        // From a completed bound on, everything is as it was the first time.
        assert_eq!(last["stats"]["revisits"], whole["stats"]["revisits"]);
        assert_eq!(last["stats"]["max_depth"], whole["stats"]["max_depth"]);
    }
    assert!(resumed * 2 >= kills, "{resumed} of {kills} had saved something");
}

#[test]
fn what_is_damaged_is_refused() {
    let folder = kept("damaged");
    check(&format!("{COUNTERS} --max-states 900 --checkpoint {}", folder.display())).exits(3);
    let file = folder.join("search.birk");
    let whole = fs::read(&file).expect("it was saved");
    let places = [0, 5, 30, 60, whole.len() / 3, whole.len() / 2, whole.len() - 9, whole.len() - 1];
    for place in places {
        let mut bent = whole.clone();
        bent[place] ^= 4;
        fs::write(&file, &bent).expect("it can be written");
        resume(&folder, "").exits(2).says("is damaged");
        fs::write(&file, &whole[..place]).expect("it can be written");
        resume(&folder, "").exits(2).says("is damaged");
    }
    fs::write(&file, [&whole[..], &[0]].concat()).expect("it can be written");
    resume(&folder, "").exits(2).says("is damaged");
    fs::write(&file, &whole).expect("it can be written");
    assert_eq!(essence(&resume(&folder, "").json()), essence(&check(COUNTERS).json()));
}

/// What an older Birk wrote is not damaged, but of no use.
#[test]
fn an_older_format_is_refused() {
    let folder = kept("older");
    check(&format!("{COUNTERS} --max-states 900 --checkpoint {}", folder.display())).exits(3);
    let file = folder.join("search.birk");
    let whole = fs::read(&file).expect("it was saved");
    let title = b"a search of birk, version ";
    assert!(whole.starts_with(title));
    let mut older = whole.clone();
    older[title.len()] -= 1;
    fs::write(&file, &older).expect("it can be written");
    resume(&folder, "").exits(2).says("has the format of another version of birk");
    // The engine has a number of its own.
    let mut older = whole[..whole.len() - SUM].to_vec();
    let engine = lines(&older);
    older[engine] -= 1;
    fs::write(&file, [&older[..], &checksum(&older)].concat()).expect("it can be written");
    resume(&folder, "").exits(2).says("it was written in another format");
    fs::write(&file, &whole).expect("it can be written");
    resume(&folder, "").exits(0);
}

/// Bytes of a checksum.
const SUM: usize = 4;

/// The checksum that ends a file: whoever damages a search may know how to compute it.
fn checksum(bytes: &[u8]) -> [u8; SUM] {
    crc32fast::hash(bytes).to_le_bytes()
}

/// Bytes of the two lines that say what a file is.
fn lines(bytes: &[u8]) -> usize {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).expect("two lines").0 + 1
}

/// Whatever is changed in a search, with a checksum that fits: it is refused, or what is counted is right nevertheless.
#[test]
fn a_changed_search_with_a_fitting_checksum_gives_no_wrong_count() {
    // In the middle of a bound, between two bounds, with large states that are kept in pieces, and by fingerprints.
    let usb = USB.replace(" --keep-going", " --max-depth 21");
    let searches = [
        (COUNTERS.to_owned() + " --increment 3", "--max-states 900", ""),
        (COUNTERS.to_owned() + " --increment 3 --frontier tree", "--max-depth 12", "--max-depth 50"),
        (usb.clone(), "--max-states 900", ""),
        (usb + " --store compact", "--max-states 700", ""),
    ];
    let damages: usize = std::env::var("BIRK_TEST_DAMAGES").map_or(80, |damages| damages.parse().expect("a number"));
    let (mut random, mut refused) = (Random::new(11), 0);
    for (number, (model, first, then)) in searches.iter().enumerate() {
        let folder = kept(&format!("changed_{number}"));
        check(&format!("{model} {first} --checkpoint {}", folder.display())).exits(3);
        let file = folder.join("search.birk");
        let whole = fs::read(&file).expect("it was saved");
        let body = &whole[..whole.len() - SUM];
        assert_eq!(checksum(body), whole[body.len()..], "the checksum is that of the book");
        let right = resume(&folder, then).json();
        fs::write(&file, &whole).expect("it can be written");
        let lines = lines(body);
        for _ in 0..damages {
            let mut below = |n: usize| random.below(n);
            let mut bent = body.to_vec();
            let place = lines + below(body.len() - lines);
            match below(6) {
                0 => bent[place] ^= 1 << below(8),
                1 => bent[lines + below(400.min(body.len() - lines))] = [0, 0xff, 0x7f, 0x80, 1][below(5)],
                2 => bent.truncate(place),
                3 => bent[place] = below(256) as u8,
                4 => drop(bent.drain(place..(place + 1 + below(24)).min(body.len()))),
                _ => {
                    let end = (place + 8).min(body.len());
                    bent[place..end].fill([0, 0xff][below(2)]);
                }
            }
            let sum = checksum(&bent);
            fs::write(&file, [&bent[..], &sum].concat()).expect("it can be written");
            let answer = resume(&folder, &format!("{then} --memory 1G"));
            if answer.code == Some(2) {
                answer.says("search.birk is damaged: ");
                refused += 1;
            } else {
                assert!(matches!(answer.code, Some(0 | 1 | 3)), "{place} in {model}: {answer:?}");
                assert_eq!(essence(&answer.json()), essence(&right), "{place} in {model}");
            }
            fs::write(&file, &whole).expect("it can be written");
        }
    }
    assert!(refused * 10 > damages * 4 * 8, "{refused} were refused");
}

/// Two processes at one search would replace each other's work.
#[test]
fn one_process_at_a_time_is_at_a_search() {
    let folder = kept("locked");
    let file = folder.join("search.birk");
    check(&format!("{COUNTERS} --max-states 900 --checkpoint {}", folder.display())).exits(3);
    let before = fs::read(&file).expect("it was saved");
    let lock = fs::File::options().write(true).open(folder.join("search.lock")).expect("it is there");
    lock.lock().expect("nobody else has it");
    resume(&folder, "").exits(2).says("is in use by another process");
    fs::remove_file(&file).expect("it was there");
    let begun = check(&format!("{COUNTERS} --checkpoint {}", folder.display())).exits(2);
    begun.says("is in use by another process");
    fs::write(&file, before).expect("it can be written");
    drop(lock);
    assert_eq!(essence(&resume(&folder, "").json()), essence(&check(COUNTERS).json()));
}

#[test]
fn a_search_goes_on_from_any_folder() {
    let folder = kept("elsewhere");
    check(&format!("{COUNTERS} --max-states 900 --checkpoint {}", folder.display())).exits(3);
    let mut elsewhere = command(BIRK);
    elsewhere.args(["resume", "kept", "--format", "json"]).current_dir(folder.parent().expect("it is in a folder"));
    assert_eq!(essence(&run(&mut elsewhere).json()), essence(&check(COUNTERS).json()));
}

/// A time limit is kept while a large search is read, and what was saved stays.
#[test]
fn reading_a_search_ends_in_time() {
    let folder = kept("late");
    let model = "models/counters_mod8.bir -D K=6 --search depth --threads 1";
    check(&format!("{model} --max-states 100000 --checkpoint {}", folder.display())).exits(3);
    let before = fs::read(folder.join("search.birk")).expect("it was saved");
    let late = resume(&folder, "--time 1ms").exits(3);
    assert!(late.out.is_empty() || late.json()["stopped_by"] == "time", "{late:?}");
    assert!(fs::read(folder.join("search.birk")).expect("it is there") == before, "what was saved stays");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    birk("check models/peterson2.bir --search dfs --checkpoint x").exits(2).says("--search dfs cannot be saved");
    let empty = folder("nothing_kept");
    resume(&empty, "").exits(2).says("there is no search in ");
    let model = folder_with("changed", "peterson2.bir").join("peterson2.bir");
    let folder = model.with_file_name("kept");
    let arguments =
        format!("check {} --search depth --max-states 3 --checkpoint {}", model.display(), folder.display());
    birk(&arguments).exits(3);
    birk(&arguments).exits(2).says("already holds a search; continue it with `birk resume ");
    let added = run(command(BIRK).args(["resume", &folder.display().to_string()]).env("BIRK_INCREMENT", "3"));
    added.exits(2).says("the environment or birk.toml has added options");
    let text = fs::read_to_string(&model).expect("the model");
    fs::write(&model, format!("{text}\n// changed\n")).expect("it can be written");
    resume(&folder, "").exits(2).says("is not what it was when the search began");
    fs::write(&model, text).expect("it can be written");
    resume(&folder, "").exits(0);
}

/// A folder that cannot be written to costs the checkpoint, not the search.
#[test]
fn a_search_that_cannot_be_saved_says_so() {
    let folder = kept("full");
    fs::create_dir_all(folder.join("search.unfinished")).expect("a folder in the way");
    let answer = check(&format!("{COUNTERS} --max-states 900 --checkpoint {}", folder.display())).exits(3);
    answer.says("could not be saved");
}

/// A limit on the size of files ends a checkpoint, not the process; what was saved before stays, and nothing else.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_reported() {
    let folder = kept("limited");
    check(&format!("{COUNTERS} --max-states 900 --checkpoint {}", folder.display())).exits(3);
    let before = fs::read(folder.join("search.birk")).expect("it was saved");
    let script = format!("ulimit -f 8; exec {BIRK} resume {} --max-states 20000 --progress off", folder.display());
    run(command("bash").args(["-c", &script])).exits(3).says("could not be saved").prints("states");
    assert!(fs::read(folder.join("search.birk")).expect("it is there") == before, "what was saved stays");
    assert!(!folder.join("search.unfinished").exists());
}
