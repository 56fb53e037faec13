//! Files that Birk reads and writes: what is no file is refused, and what cannot be written whole leaves the old file alone.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::binary::{Answer, BIRK, command, folder, root};

/// Runs `birk` in a shell that has limited its resources; what does not end in time is ended.
#[track_caller]
fn limited(folder: &Path, limits: &str, words: &[&str]) -> Answer {
    let mut shell = command("sh");
    shell.current_dir(folder).arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).arg(BIRK).args(words);
    let mut process = shell.spawn().expect("the shell can be run");
    let began = Instant::now();
    while process.try_wait().expect("it can be asked").is_none() {
        if began.elapsed() > Duration::from_secs(20) {
            process.kill().expect("it can be ended");
            panic!("birk {words:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = process.wait_with_output().expect("it has ended");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Answer { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder with a small model and things that are no files.
fn folder_of_devices(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::copy(root().join("models/philosophers2.bir"), folder.join("m.bir")).expect("the model can be copied");
    let made = Command::new("mkfifo").arg(folder.join("fifo")).status().expect("mkfifo can be run");
    assert!(made.success());
    let large = fs::File::create(folder.join("large")).expect("writable");
    large.set_len(3 << 30).expect("a file can have holes");
    folder
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = folder_of_devices("files_devices");
    for path in ["/dev/zero", "fifo"] {
        fs::write(folder.join("imports.bir"), format!("import \"{path}\";\nsystem S {{ }}\n")).expect("writable");
        fs::create_dir_all(folder.join("set")).expect("writable");
        let _ = fs::remove_file(folder.join("set/birk.toml"));
        let target = if path == "fifo" { "../fifo" } else { path };
        symlink(target, folder.join("set/birk.toml")).expect("writable");
        fs::copy(folder.join("m.bir"), folder.join("set/m.bir")).expect("writable");
        for (words, code) in [
            (&["check", path][..], 4),
            (&["fmt", path], 4),
            (&["check", "imports.bir"], 2),
            (&["check", "set/m.bir"], 4),
            (&["check", "m.bir", "--automaton", path], 4),
            (&["replay", "m.bir", path], 4),
            (&["simulate", "m.bir", "--guided", "--trace", path], 4),
        ] {
            let answer = limited(&folder, "ulimit -v 4000000", words).exits(code);
            answer.says("it is not a regular file").says("save its contents in a file");
        }
    }
    assert!(fs::metadata(folder.join("fifo")).expect("it is still there").file_type().is_fifo());
}

#[test]
fn files_that_are_too_large_are_refused() {
    let folder = folder_of_devices("files_large");
    fs::write(folder.join("imports.bir"), "import \"large\";\nsystem S { }\n").expect("writable");
    let refused = |words: &[&str], code| limited(&folder, "ulimit -v 4000000", words).exits(code);
    refused(&["check", "large"], 4).says("cannot read large: it is larger than 64 MiB, the most that is read");
    refused(&["check", "imports.bir"], 2).says("it is larger than 64 MiB");
    refused(&["check", "m.bir", "--automaton", "large"], 4).says("it is larger than 64 MiB");
    refused(&["replay", "m.bir", "large"], 4).says("it is larger than 1 GiB");
}

/// A full disk, as far as one process is concerned: no file may have more than one block, and a longer one is an error.
const FULL: &str = "trap '' XFSZ; ulimit -f 1";

/// A model of some length that is not formatted.
fn untidy(folder: &Path) -> String {
    let variables: String = (0..400).map(|i| format!("   boolean    variable{i}   ;\n")).collect();
    let text = format!(
        "system Long {{\n{variables} active thread T() {{ loc l: do {{ variable0 := true; }} return; }}\n reachable on: variable0; }}\n"
    );
    fs::write(folder.join("long.bir"), &text).expect("writable");
    text
}

/// What a folder holds.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it can be listed");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_the_model_as_it_was() {
    let folder = folder("files_full");
    let text = untidy(&folder);
    limited(&folder, FULL, &["fmt", "long.bir"]).exits(4).says("cannot write long.bir");
    assert!(fs::read_to_string(folder.join("long.bir")).expect("it is there") == text, "the model is lost");
    assert_eq!(names(&folder), ["long.bir"], "nothing is left behind");
}

#[test]
fn a_full_disk_leaves_reports_and_traces_as_they_were() {
    let folder = folder("files_full_reports");
    untidy(&folder);
    for name in ["report.html", "trace.itf.json"] {
        fs::write(folder.join(name), "of yesterday").expect("writable");
    }
    for (option, name) in [("--report", "report.html"), ("--trace", "trace.itf.json")] {
        let answer = limited(&folder, FULL, &["check", "long.bir", option, name]).exits(4);
        answer.says(&format!("cannot write {name}"));
        assert_eq!(fs::read_to_string(folder.join(name)).expect("it is there"), "of yesterday");
    }
    limited(&folder, FULL, &["simulate", "long.bir", "--trace", "trace.itf.json"]).exits(4);
    assert_eq!(fs::read_to_string(folder.join("trace.itf.json")).expect("it is there"), "of yesterday");
    assert_eq!(names(&folder), ["long.bir", "report.html", "trace.itf.json"], "nothing is left behind");
}

#[test]
fn permissions_and_links_stay() {
    let folder = folder("files_links");
    untidy(&folder);
    let file = folder.join("long.bir");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("they can be set");
    fs::create_dir(folder.join("elsewhere")).expect("writable");
    symlink("../long.bir", folder.join("elsewhere/link.bir")).expect("writable");
    limited(&folder, "true", &["fmt", "elsewhere/link.bir"]).exits(0).quietly();
    limited(&folder, "true", &["fmt", "--check", "long.bir"]).exits(0).quietly();
    assert!(fs::symlink_metadata(folder.join("elsewhere/link.bir")).expect("it is there").is_symlink());
    assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o640);
    assert_eq!(names(&folder.join("elsewhere")), ["link.bir"]);
    // A device is written to, not replaced; a link that leads nowhere yet is followed.
    symlink("new.html", folder.join("report.html")).expect("writable");
    symlink("/dev/null", folder.join("null")).expect("writable");
    limited(&folder, "true", &["check", "long.bir", "--report", "report.html", "--trace", "null"]).exits(0);
    assert!(fs::symlink_metadata(folder.join("report.html")).expect("it is there").is_symlink());
    symlink("circle", folder.join("circle")).expect("writable");
    limited(&folder, "true", &["check", "long.bir", "--report", "circle"]).exits(4).says("cannot write circle");
    assert!(fs::read_to_string(folder.join("new.html")).expect("it was written").starts_with("<!doctype html>"));
    assert!(fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());
}
