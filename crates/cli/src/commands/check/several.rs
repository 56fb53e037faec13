//! Several models in one call: each is checked by a process of its own, as if it had been named alone, and gets one line.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use birk::process_memory::Memory;
use birk_ir::{Stop, Verdict};
use serde_json::{Value, json};

use crate::cli::{CheckArgs, ProgressMode, ReportFormat};
use crate::commands::test::collect;
use crate::numbers::{count, grouped};
use crate::progress::{Pulse, Watcher};
use crate::terminal::{Paint, print, uses_color, visible};
use crate::{Exit, Failure, say};

/// A check that was interrupted has so long to report.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is examined whether a check has ended.
const PERIOD: Duration = Duration::from_millis(2);

/// The models, if there is not just one: those of a folder, and those below it.
pub(super) fn models(args: &CheckArgs) -> Result<Option<Vec<PathBuf>>, Failure> {
    if args.more.is_empty() && !args.model.model.is_dir() {
        return Ok(None);
    }
    let mut paths = Vec::new();
    for path in std::iter::once(&args.model.model).chain(&args.more) {
        let mut found = Vec::new();
        collect(path, &mut found, true)?;
        found.sort();
        paths.extend(found);
    }
    match paths.is_empty() {
        true => Err(Failure::usage(format!("no model in {}", args.model.model.display()))),
        false => Ok(Some(paths)),
    }
}

/// Checks all of them, some at a time, and says what became of each, in their order.
pub(super) fn run(args: &CheckArgs, paths: &[PathBuf]) -> Result<Exit, Failure> {
    refuse(args)?;
    let watcher = Watcher::start(ProgressMode::Off, None)?;
    let (pulse, started) = (watcher.pulse(), Instant::now());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or_else(cores, |jobs| jobs as usize).min(paths.len());
    let program = std::env::current_exe().map_err(|error| Failure::io("find this program", &error))?;
    let words = words(args, jobs);
    let paint = Paint(args.format == ReportFormat::Human && uses_color(args.model.color, &std::io::stdout()));
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let all = thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next, program, words, pulse) = (sender.clone(), &next, &program, &words, &pulse);
            scope.spawn(move || {
                while pulse.stop().is_none()
                    && let number = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(path) = paths.get(number)
                    && sender.send((number, checked(program, path, words, pulse))).is_ok()
                {}
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<Checked>> = paths.iter().map(|_| None).collect();
        let mut all = Vec::new();
        for (number, one) in results {
            waiting[number] = Some(one?);
            while let Some(one) = waiting.get_mut(all.len()).and_then(Option::take) {
                tell(args, &paths[all.len()], &one, paint)?;
                all.push(one);
            }
        }
        Ok::<_, Failure>(all)
    })?;
    if args.format == ReportFormat::Sarif {
        print(&joined(&all))?;
    }
    if args.format == ReportFormat::Human {
        print(&summary(&all, paths.len(), started.elapsed().as_secs_f64()))?;
    }
    match pulse.stop() {
        Some(Stop::Interrupt) => Ok(Exit::Interrupted),
        _ => Ok(worst(&all)),
    }
}

/// What is about one model only.
fn refuse(args: &CheckArgs) -> Result<(), Failure> {
    let given = [
        ("--trace", args.trace.is_some()),
        ("--report", args.report.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--disk", args.disk.is_some()),
        ("--campaign", args.campaign.is_some()),
        #[cfg(feature = "cluster")]
        ("--cluster", args.together.cluster.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} is for one model, and there are several; check that one alone")))
        }
        None => Ok(()),
    }
}

/// The options of each check: those that were typed, and, where several run at once, its share of the machine.
fn words(args: &CheckArgs, jobs: usize) -> Vec<OsString> {
    let format = match args.format {
        ReportFormat::Human | ReportFormat::Json => "json",
        ReportFormat::Sarif => "sarif",
        ReportFormat::Github => "github",
    };
    let mut words = args.given.clone();
    words.extend(["--format", format, "--progress", "off"].map(str::to_owned));
    words.extend(args.model.profile.iter().flat_map(|profile| ["--profile".to_owned(), profile.clone()]));
    let is_given = |option: &str| args.given.iter().any(|word| word == option);
    if jobs > 1 && !is_given("--threads") {
        words.extend(["--threads", "1"].map(str::to_owned));
    }
    if jobs > 1 && !is_given("--memory") {
        let share = Memory::new(None).search / jobs as u64;
        words.extend(["--memory".to_owned(), format!("{}M", (share >> 20).max(64))]);
    }
    words.into_iter().map(OsString::from).collect()
}

/// What one process has said.
struct Checked {
    output: Output,
    /// Its report, where it is JSON.
    report: Option<Value>,
}

fn checked(program: &Path, path: &Path, words: &[OsString], pulse: &Pulse) -> Result<Checked, Failure> {
    let mut command = Command::new(program);
    command.arg("check").args(words).arg("--").arg(path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error| Failure::io("run a check", &error);
    let mut child = command.spawn().map_err(failed)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (status, stdout, stderr) = thread::scope(|scope| {
        let (stdout, stderr) = (scope.spawn(|| read(stdout)), scope.spawn(|| read(stderr)));
        let status = ended(&mut child, pulse);
        (status, stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default())
    });
    let output = Output { status: status.map_err(failed)?, stdout, stderr };
    let report = serde_json::from_slice(&output.stdout).ok();
    Ok(Checked { output, report })
}

fn read(stream: Option<impl Read>) -> Vec<u8> {
    let mut all = Vec::new();
    // What comes before an error is as much as there is.
    let _ = stream.map(|mut stream| stream.read_to_end(&mut all));
    all
}

/// Waits for a check. A terminal interrupts it as well; if it has not heard of it, it is ended.
fn ended(child: &mut Child, pulse: &Pulse) -> io::Result<ExitStatus> {
    let mut interrupted = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if pulse.stop().is_some() && interrupted.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            child.kill()?;
        }
        thread::sleep(PERIOD);
    }
}

/// Says what became of a model.
fn tell(args: &CheckArgs, path: &Path, one: &Checked, paint: Paint) -> Result<(), Failure> {
    let errors = String::from_utf8_lossy(&one.output.stderr);
    if one.report.is_none() && !errors.is_empty() {
        say(errors.trim_end());
    }
    match args.format {
        ReportFormat::Human => print(&line(path, one, paint)).map(|_| ()),
        ReportFormat::Json => match &one.report {
            Some(report) => print(&format!("{report}\n")).map(|_| ()),
            None => Ok(()),
        },
        ReportFormat::Github => print(&String::from_utf8_lossy(&one.output.stdout)).map(|_| ()),
        ReportFormat::Sarif => Ok(()),
    }
}

fn line(path: &Path, one: &Checked, paint: Paint) -> String {
    let path = path.display().to_string();
    let path = visible(&path);
    let Some(report) = &one.report else { return format!("{:<12}  {path}\n", "error") };
    let verdict = match report["verdict"].as_str() {
        Some("holds") => Verdict::Holds,
        Some("violated") => Verdict::Violated,
        _ => Verdict::Inconclusive,
    };
    let word = paint.verdict(verdict, &format!("{:<12}", verdict.word()));
    let detail = match verdict {
        Verdict::Violated => violations(report).join(", "),
        Verdict::Holds | Verdict::Inconclusive => {
            let grade = report["coverage"]["grade"].as_str().unwrap_or("E");
            let states = report["stats"]["states"].as_u64();
            let states = states.map(|states| format!(", {}", count(states, "state"))).unwrap_or_default();
            let depth = report["coverage"]["depth"].as_u64();
            let depth = depth.map(|depth| format!(", complete to depth {}", grouped(depth))).unwrap_or_default();
            format!("{grade}{states}{depth}")
        }
    };
    format!("{word}  {path}: {detail}\n")
}

/// Each property that is violated, with the length of its trace.
fn violations(report: &Value) -> Vec<String> {
    let properties = report["properties"].as_array().into_iter().flatten();
    let violated = properties.filter(|property| property["verdict"] == "violated").map(|property| {
        let name = property["name"].as_str().unwrap_or_default();
        let trace = property["trace"].as_u64().and_then(|trace| report["traces"].get(trace as usize));
        match trace.and_then(|trace| trace["steps"].as_array()) {
            Some(steps) => format!("`{name}` ({})", count(steps.len() as u64, "step")),
            None => format!("`{name}`"),
        }
    });
    violated.collect()
}

/// One SARIF log with the runs of all.
fn joined(all: &[Checked]) -> String {
    let logs: Vec<&Value> = all.iter().filter_map(|one| one.report.as_ref()).collect();
    let runs: Vec<&Value> = logs.iter().filter_map(|log| log["runs"].as_array()).flatten().collect();
    let schema = logs.first().map_or(&Value::Null, |log| &log["$schema"]);
    let log = json!({ "version": "2.1.0", "$schema": schema, "runs": runs });
    serde_json::to_string_pretty(&log).expect("a log has only string keys") + "\n"
}

/// How many of each kind there are.
fn summary(all: &[Checked], asked: usize, seconds: f64) -> String {
    let number = |exit: Exit| all.iter().filter(|one| one.output.status.code() == Some(exit as i32)).count();
    let (passed, violated, open) = (number(Exit::Success), number(Exit::Violated), number(Exit::Inconclusive));
    let failed = all.len() - passed - violated - open;
    let parts = [(passed, "passed"), (violated, "violated"), (open, "inconclusive"), (failed, "not checked")];
    let parts = parts.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}"));
    let left = asked - all.len();
    let left = if left > 0 { format!("; {left} not begun") } else { String::new() };
    let (models, parts) = (count(asked as u64, "model"), parts.collect::<Vec<_>>().join(", "));
    format!("\n{models}: {parts}{left} ({seconds:.1} s)\n")
}

/// The most serious end of all: a fault of Birk's own, a violation, an error, something that is not known.
fn worst(all: &[Checked]) -> Exit {
    let is_there = |exit: &Exit| all.iter().any(|one| one.output.status.code() == Some(*exit as i32));
    let order = [Exit::Violated, Exit::Usage, Exit::Io, Exit::Inconclusive];
    let known = |one: &Checked| matches!(one.output.status.code(), Some(0..=4));
    match all.iter().all(known) {
        true => order.into_iter().find(is_there).unwrap_or(Exit::Success),
        false => Exit::Internal,
    }
}
