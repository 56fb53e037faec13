//! `--search disk` as a user runs it: killed and gone on with, with a full disk, in a folder that cannot be written to, and with files
//! that are not as they were written.
//!
//! `BIRK_TEST_KILLS=40` kills that often instead of a few times.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use birk_exec::Random;
use serde_json::json;

use crate::binary::{self, Answer, BIRK, birk, command, essence, folder, killed_twice};

/// Narrow states; and wide ones, with a violation.
const COUNTERS: &str = "models/counters_mod8.bir -D K=5 --search disk";
const USB: &str = "models/usb_stack.bir -D BUG=1 -D ADDRESSES=12 -D LOG=1 --search disk --keep-going";

fn check(options: &str) -> Answer {
    birk(&format!("check {options} --format json --progress off"))
}

fn resume(folder: &Path, options: &str) -> Answer {
    birk(&format!("resume {} --format json --progress off {options}", folder.display()))
}

fn kept(name: &str) -> PathBuf {
    folder(name).join("kept")
}

#[test]
fn a_killed_search_goes_on() {
    let kills: u32 = std::env::var("BIRK_TEST_KILLS").map_or(2, |kills| kills.parse().expect("a number"));
    let (mut random, mut resumed) = (Random::new(7), 0);
    let bfs = [COUNTERS, USB].map(|model| model.replace("--search disk", "--search bfs"));
    for (number, model) in [COUNTERS, USB, &bfs[0], &bfs[1]].into_iter().enumerate() {
        let started = Instant::now();
        let whole = check(&format!("{model} --checkpoint {}", kept(&format!("disk_whole_{number}")).display())).json();
        let time = started.elapsed();
        assert_eq!(essence(&whole), essence(&check(&model.replace("--search disk", "--search bfs")).json()));
        for kill in 0..kills {
            let folder = kept(&format!("disk_killed_{number}_{kill}"));
            let is_saved = killed_twice(model, &folder, time, &mut random);
            let threads = 1 + random.below(3);
            let last = if is_saved { resume(&folder, &format!("--threads {threads}")) } else { check(model) };
            resumed += u32::from(is_saved);
            assert_eq!(essence(&last.json()), essence(&whole), "{}", last.err);
        }
    }
    assert!(resumed >= 2 * kills, "{resumed} of {} had saved something", 4 * kills);
}

#[test]
fn a_full_disk_ends_a_search_with_what_was_covered() {
    let full = check(&format!("{COUNTERS} --max-disk 10K")).exits(3).quietly().json();
    assert_eq!((&full["verdict"], &full["stopped_by"]), (&json!("inconclusive"), &json!("disk")));
    assert_eq!(full["coverage"]["kind"], "depth");
    // Every state up to there was evaluated, and none beyond the next level counts.
    let depth = full["coverage"]["depth"].as_u64().expect("a depth");
    assert!(depth > 2, "{depth}");
    let within = |depth: u64| {
        let bounded = check(&format!("models/counters_mod8.bir -D K=5 --max-depth {depth}")).json();
        bounded["stats"]["states"].as_u64().expect("a number")
    };
    let states = full["stats"]["states"].as_u64().expect("a number");
    assert!((within(depth)..=within(depth + 1)).contains(&states), "{states} states, depth {depth}");
    assert!(full["stats"]["disk"]["peak_bytes"].as_u64().is_some_and(|bytes| bytes <= 10 << 10));
    // Where there is more room, it goes on.
    let folder = kept("disk_full");
    check(&format!("{COUNTERS} --max-disk 10K --checkpoint {}", folder.display())).exits(3);
    let more = resume(&folder, "--max-disk 1G").exits(0).json();
    assert_eq!(essence(&more), essence(&check(COUNTERS).json()));
}

#[test]
fn a_folder_that_cannot_be_used_is_an_error() {
    let place = folder("disk_unusable").join("file");
    fs::write(&place, "").expect("it can be written");
    let shown = place.display();
    check(&format!("{COUNTERS} --disk {shown}")).exits(4).says("cannot make the folder");
    check(&format!("{COUNTERS} --checkpoint {shown}")).exits(4).says("cannot make the folder");
}

/// A limit on the size of files, as the system has it: nothing is said of the model, and what was saved stays.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let folder = kept("disk_limited");
    let begin = format!("check {COUNTERS} --checkpoint {}", folder.display());
    let script = format!("ulimit -f 8; exec {BIRK} {begin} --progress off");
    let ended =
        binary::run(command("bash").args(["-c", &script])).exits(4).says("the search was ended: cannot write to");
    assert_eq!(ended.out, "", "nothing is said of the model");
    ended.says("then go on from the last complete level with `birk resume ");
    assert_eq!(essence(&resume(&folder, "").exits(0).json()), essence(&check(COUNTERS).json()));
}

#[test]
fn damaged_levels_are_refused() {
    let folder = kept("disk_damaged");
    check(&format!("{COUNTERS} --max-states 9000 --checkpoint {}", folder.display())).exits(3);
    let whole = essence(&check(COUNTERS).json());
    let (mut random, mut refused, mut changed) = (Random::new(3), 0, 0);
    let files = ["levels.run", "levels.log"].map(|name| folder.join(name));
    let texts = files.each_ref().map(|file| fs::read(file).expect("it is there"));
    for trial in 0..16 {
        let bent = trial % 2;
        let (file, text) = (&files[bent], &texts[bent]);
        let place = random.below(text.len() - 1);
        let mut other = text.clone();
        let is_changed = trial % 4 < 2;
        if is_changed {
            other[place] ^= 1 << random.below(8);
        } else {
            other.truncate(place);
        }
        fs::write(file, other).expect("it can be written");
        let answer = resume(&folder, "");
        changed += usize::from(is_changed);
        if answer.code == Some(2) {
            refused += usize::from(is_changed);
            answer.says("is damaged: ").says("; start the search again");
        } else {
            // It seems that the last levels were never written: they are made again.
            assert_eq!(essence(&answer.exits(0).json()), whole, "{place} of {}", file.display());
        }
        for (file, text) in files.iter().zip(&texts) {
            fs::write(file, text).expect("it can be written");
        }
    }
    assert!(refused * 4 >= changed * 3, "{refused} of {changed} changed files were refused");
    assert_eq!(essence(&resume(&folder, "").exits(0).json()), whole);
}
