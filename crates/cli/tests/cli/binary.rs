//! Runs the real command as a user does, in a clean environment, and keeps what it said.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use birk_exec::Random;
use serde_json::{Value, json};

/// The command under test.
pub(crate) const BIRK: &str = env!("CARGO_BIN_EXE_birk");

/// How a run ended, and what it said.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    /// Ended as expected, or shows all it said.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    /// Said this on standard error.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "`{text}` is not in:\n{}", self.err);
        self
    }

    /// Printed this on standard output.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(self.out.contains(text), "`{text}` is not in:\n{}", self.out);
        self
    }

    /// Said nothing on standard error.
    #[track_caller]
    pub(crate) fn quietly(self) -> Self {
        assert_eq!(self.err, "");
        self
    }

    /// The one object on standard output: a report that is as its schema says.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let report: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.out, self.err));
        let marks = [
            ("nights", "campaign"),
            ("choose", "simulate"),
            ("certificate", "certify"),
            ("invariants", "prove"),
            ("specification", "refine"),
            ("repairs", "repair"),
            ("assumed", "plan"),
        ];
        let command = marks.iter().find(|(field, _)| report.get(field).is_some()).map_or("check", |(_, name)| name);
        if let Err(error) = jsonschema::draft202012::new(&schemas()[command]).expect("a schema").validate(&report) {
            panic!("{}: {error}\n{report:#}", error.instance_path);
        }
        report
    }
}

/// Acts until it is said to be in time, at most three times. A machine that stands still for a moment says nothing about the command;
/// but if the command is slow, it is slow each time.
#[track_caller]
pub(crate) fn timely<T>(mut act: impl FnMut() -> Result<T, String>) -> T {
    act().or_else(|_| act()).or_else(|_| act()).unwrap_or_else(|late| panic!("three times late: {late}"))
}

/// What was done in a time that must be within these milliseconds.
pub(crate) fn timed<T>(milliseconds: Range<u128>, act: impl FnOnce() -> T) -> Result<T, String> {
    let began = Instant::now();
    let done = act();
    let elapsed = began.elapsed();
    assert!(elapsed.as_millis() >= milliseconds.start, "it ended after {elapsed:?}, before its time");
    if elapsed.as_millis() < milliseconds.end {
        Ok(done)
    } else {
        Err(format!("{elapsed:?}, not in {milliseconds:?} ms"))
    }
}

/// Runs a check that keeps its work in a folder and kills it twice, as it begins and as it goes on, each time at a random moment of
/// the time that the whole check takes; whether something was saved by then.
pub(crate) fn killed_twice(check: &str, folder: &Path, time: Duration, random: &mut Random) -> bool {
    let is_saved = || folder.join("search.birk").exists();
    for _ in 0..2 {
        let kept = folder.display();
        let arguments =
            if is_saved() { format!("resume {kept}") } else { format!("check {check} --checkpoint {kept}") };
        let mut child = command(BIRK);
        child.args(arguments.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().expect("the command can be run");
        std::thread::sleep(time.mul_f64(random.below(1000) as f64 / 1000.0));
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
    }
    is_saved()
}

/// What must not depend on where a search was interrupted, on the engine, nor on the number of processes.
#[track_caller]
pub(crate) fn essence(report: &Value) -> Value {
    let steps = |p: &Value| Some(report["traces"][p["trace"].as_u64()? as usize]["steps"].as_array()?.len());
    let property = |p: &Value| json!([p["verdict"], steps(p)]);
    let properties: Vec<Value> = report["properties"].as_array().expect("a list").iter().map(property).collect();
    let counts = ["states", "transitions", "max_depth", "pruned_by_assume"].map(|count| &report["stats"][count]);
    json!([report["verdict"], report["coverage"], report["stopped_by"], properties, report["unreached"], counts])
}

/// The schemas of reports, as they are documented.
pub(crate) fn schemas() -> Value {
    let text = fs::read_to_string(root().join("docs/src/report.schema.json")).expect("the schemas are there");
    serde_json::from_str(&text).expect("JSON")
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is there")
}

/// The command, ready to run in the repository, with nothing inherited that could change what it says.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let ours = std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("BIRK_"));
    ours.for_each(|name| {
        command.env_remove(name);
    });
    for name in ["NO_COLOR", "COLUMNS", "LINES", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.current_dir(root()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Answer {
    let output = command.output().expect("the command can be run");
    Answer {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
    }
}

/// Runs `birk` in the repository; arguments are separated by blanks.
pub(crate) fn birk(arguments: &str) -> Answer {
    run(command(BIRK).args(arguments.split_whitespace()))
}

/// An empty folder of this test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder for the test can be made");
    path
}

/// A folder with a copy of a model.
pub(crate) fn folder_with(name: &str, model: &str) -> PathBuf {
    let folder = folder(name);
    fs::copy(root().join("models").join(model), folder.join(model)).expect("the model can be copied");
    folder
}

/// A copy in which what differs from run to run is replaced, after a look at its type.
#[track_caller]
pub(crate) fn steady(report: &Value) -> Value {
    let mut report = report.clone();
    for key in ["seconds", "states_per_second", "peak_memory_bytes", "store_bytes_per_state"] {
        let value = &mut report["stats"][key];
        assert!(value.is_number() || key == "peak_memory_bytes" && value.is_null(), "{key}: {value}");
        *value = format!("[{key}]").into();
    }
    for key in ["seconds", "memory_bytes"] {
        if report["next"]["depth"].is_number() {
            report["next"][key] = format!("[{key}]").into();
        }
    }
    let threads = &mut report["threads"];
    assert!(threads.as_u64().is_some_and(|threads| threads > 0), "threads: {threads}");
    *threads = "[threads]".into();
    report
}
