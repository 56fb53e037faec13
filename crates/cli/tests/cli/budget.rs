//! Budgets end a search in time, with a full report that says truthfully what was covered; so does Ctrl-C.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::{self, Answer, BIRK, birk, command, folder, run, timed, timely};

/// Counters modulo 8: large, regular, and with levels that can be counted without a search.
const COUNTERS: usize = 9;

fn check(options: &str) -> Answer {
    birk(&format!("check models/counters_mod8.bir -D K={COUNTERS} {options}"))
}

/// How many states of the counters are at most `depth` steps away.
fn within(depth: u64) -> u64 {
    let mut ways = vec![1];
    for _ in 0..COUNTERS {
        let mut next = vec![0; ways.len() + 7];
        for (sum, count) in ways.iter().enumerate() {
            next[sum..sum + 8].iter_mut().for_each(|ways| *ways += count);
        }
        ways = next;
    }
    ways.iter().take(depth as usize + 1).sum()
}

/// The report of a search that a budget ended: undecided, with every part in its place.
#[track_caller]
fn undecided(answer: Answer, stopped_by: &str) -> Value {
    let report = answer.exits(3).quietly().json();
    assert_eq!((&report["verdict"], &report["stopped_by"]), (&"inconclusive".into(), &stopped_by.into()));
    assert_eq!(report["properties"][0]["verdict"], "inconclusive");
    assert!(report["reproduce"].as_str().is_some_and(|line| line.starts_with("birk check ")));
    report
}

/// The depth that was covered: all of it, but not a second level beyond it, was reached.
#[track_caller]
fn covered(report: &Value) -> u64 {
    assert_eq!(report["coverage"]["kind"], "depth");
    let depth = report["coverage"]["depth"].as_u64().expect("a depth");
    let states = report["stats"]["states"].as_u64().expect("a number");
    let bounds = within(depth)..=within(depth + 2);
    assert!(bounds.contains(&states), "depth {depth} has {bounds:?} states, but {states} were reached");
    depth
}

/// The report of the search itself: one that does not answer in time is reported without it, and with no claim about any depth.
fn is_own(answer: Answer) -> Result<Answer, String> {
    if answer.out.contains("partial") { Err(answer.out) } else { Ok(answer) }
}

#[test]
fn time_ends_a_search_with_a_full_report() {
    let answer = timely(|| {
        let answer = timed(300..1300, || check("--search bfs --time 300ms --format json"))?;
        is_own(answer)
    });
    let report = undecided(answer, "time");
    assert!(covered(&report) > 0);

    let answer = birk("check models/philosophers_ring.bir -D N=14 --search bfs --time 0.2s").exits(3).quietly();
    let answer = answer.prints("inconclusive: models/philosophers_ring.bir (DiningPhilosophers): no violation within ");
    answer.prints("; the time limit was reached\n").prints("\nsearched: ").prints(" --time 0.2s ");
}

#[test]
fn time_ends_a_depth_bounded_search() {
    let model = "models/usb_firmware.bir -D REQUESTS=3 -D RING=512 -D BLOCK=1024 -D FRAMES=20001 --deadlock off";
    let line = format!("check {model} --search depth --store compact --time 1s --format json");
    let report = undecided(timely(|| timed(1000..2000, || birk(&line))), "time");
    assert!(report["coverage"]["depth"].as_u64() > Some(10), "{}", report["coverage"]);
}

/// Some of the time is left for what the states that were found can tell.
#[test]
fn time_ends_what_is_said_of_branching() {
    let folder = folder("budget_branching");
    let model = folder.join("branching.bir");
    let text = "system Large { int wrap (0, 1048575) x; int wrap (0, 1048575) y; active thread P() { loc l:
        do { x := x * 37 + y % 1009 + 1; } goto l; do { y := y * 11 + x / 3; } goto l; do { x := x + 1; } goto l; }
        ctl small: AG (x < 1000); ctl again: AG EF (x == 0); }";
    std::fs::write(&model, text).expect("it can be written");
    for (property, code) in [("small", 1), ("again", 3)] {
        let line = format!("check {} --property {property} --time 1s --progress off", model.display());
        // What the part of the graph says that was explored is told in time.
        let told = timely(|| match timed(400..1500, || birk(&line))? {
            answer if answer.code == Some(code) => Ok(answer),
            answer => Err(format!("{:?}: {}", answer.code, answer.out)),
        });
        told.exits(code).quietly();
    }
}

#[test]
fn depth_ends_a_search() {
    for depth in [0, 1, 5] {
        let report = undecided(check(&format!("--max-depth {depth} --format json")), "depth");
        let steps = if depth == 1 { "1 step".to_owned() } else { format!("{depth} steps") };
        let says = format!(
            "B, complete to depth {depth}: every state within {steps} of the start; the depth limit was reached"
        );
        let expected = serde_json::json!({"kind": "depth", "depth": depth, "grade": "B", "statement": says});
        assert_eq!(report["coverage"], expected);
        assert_eq!(report["stats"]["states"], within(depth));
        assert_eq!(report["stats"]["max_depth"], depth);
    }
    // A limit that nothing lies beyond is none.
    birk("check models/counters_mod8.bir --max-depth 20").exits(3);
    birk("check models/counters_mod8.bir --max-depth 21").exits(0).prints("every reachable state");
}

#[test]
fn a_depth_is_covered_up_to_its_last_step() {
    // The deadlock is five steps away.
    birk("check models/philosophers_ring.bir --max-depth 4").exits(3).prints("no violation within 4 steps");
    birk("check models/philosophers_ring.bir --max-depth 5").exits(1).prints("`deadlock` (5 steps, shortest)");
}

#[test]
fn states_end_a_search() {
    let report = undecided(check("--max-states 10_000 --format json"), "states");
    let states = report["stats"]["states"].as_u64().expect("a number");
    assert!((10_000..11_000).contains(&states), "{states}");
    covered(&report);
    let report = undecided(check("--max-states 10_000 --search dfs --format json"), "states");
    let states = report["stats"]["states"].as_u64().expect("a number");
    assert_eq!(states / 1000, 10, "{states}");
    let says =
        format!("D, partial: 10,{:03} states, with no claim about others; the state limit was reached", states % 1000);
    let expected = serde_json::json!({"kind": "partial", "states": states, "grade": "D", "statement": says});
    assert_eq!(report["coverage"], expected);
    // As many as there are is not too few.
    birk("check models/counters_mod8.bir --max-states 512").exits(0);
}

#[test]
fn memory_ends_a_search() {
    let mib = 1 << 20;
    for engine in ["bfs", "dfs"] {
        let report = undecided(check(&format!("--memory 20M --search {engine} --format json")), "memory");
        if engine == "bfs" {
            assert!(covered(&report) > 5);
        }
        let Some(peak) = report["stats"]["peak_memory_bytes"].as_u64() else { continue };
        assert!(peak < 35 * mib, "{engine}: {} MiB", peak / mib);
        let states = report["stats"]["states"].as_u64().expect("a number");
        assert!(states > 100_000, "{engine} gave up after {states} states");
    }
}

#[test]
fn memory_of_the_process_is_limited_0() {
    memory_of_the_process(0);
}

#[test]
fn memory_of_the_process_is_limited_1() {
    memory_of_the_process(1);
}

#[test]
fn memory_of_the_process_is_limited_2() {
    memory_of_the_process(2);
}

#[test]
fn memory_of_the_process_is_limited_3() {
    memory_of_the_process(3);
}

/// The whole process, not only what a search counts, stays within 5 % of the limit: every fourth search, from this one on.
fn memory_of_the_process(first: usize) {
    const LIMIT: u64 = 100 << 20;
    let counters = "models/counters_mod8.bir -D K=14 --property deadlock";
    let frames = "models/frames.bir -D N=6 -D W=40";
    let live = "benches/models/mixer.bir --property live";
    let never = "benches/models/mixer.bir --property never";
    // A state has thousands of successors, and they are long.
    let crowd = "benches/models/crowd.bir -D N=400 --property never";
    let crowds = "benches/models/crowd.bir --property never";
    let searches = [
        (counters, "--search bfs --threads 1", "depth"),
        (counters, "--search bfs --threads 2", "depth"),
        (frames, "--search bfs --threads 2", "depth"),
        (frames, "--search bfs --threads 2 --store compact", "hashed"),
        (frames, "--search depth --threads 2", "depth"),
        (frames, "--search depth --threads 1 --store compact", "hashed"),
        (counters, "--search highway --width 100_000 --threads 1", "partial"),
        (counters, "--search highway --width 100_000 --threads 2", "partial"),
        (counters, "--search highway --threads 2", "partial"),
        (frames, "--search highway --threads 2", "partial"),
        (frames, "--search highway --width 100_000 --threads 2", "partial"),
        (crowd, "--search highway --threads 1", "partial"),
        (crowd, "--search highway --threads 2", "partial"),
        (crowd, "--search astar --beam 10_000", "partial"),
        (crowd, "--search bfs --store compact --threads 1", "hashed"),
        (crowd, "--search bfs --store compact --threads 2", "hashed"),
        (crowds, "--search bfs --store compact --threads 2", "hashed"),
        (crowd, "--search dfs", "partial"),
        (crowd, "--search astar", "partial"),
        (never, "--search bmc", "depth"),
        (counters, "--search dfs", "partial"),
        (frames, "--search dfs", "partial"),
        (live, "--search bfs --threads 1", "partial"),
        (live, "--search bfs --threads 2", "partial"),
        (live, "--search bfs --fairness weak --threads 1", "partial"),
        (live, "--search bfs --fairness weak --threads 2", "partial"),
    ];
    for (model, options, coverage) in searches.into_iter().skip(first).step_by(4) {
        let report =
            undecided(birk(&format!("check {model} {options} --memory 100M --progress off --format json")), "memory");
        assert_eq!(report["coverage"]["kind"], coverage, "{model} {options}");
        let Some(peak) = report["stats"]["peak_memory_bytes"].as_u64() else { continue };
        let share = peak as f64 / LIMIT as f64;
        assert!(share < 1.05, "{model} {options}: {share:.3} of the limit");
        assert!(share > 0.5, "{model} {options}: it gave up at {share:.3} of the limit");
    }
}

/// A violation behind many wide states: breadth-first search has no room for them, and depth-first search with the same
/// bound meets what leads to it too late.
#[test]
fn a_deep_violation_is_found_where_others_fail() {
    let check = |options: &str| {
        let model = "models/usb_firmware.bir -D BUG=1 -D PORTS=3 -D REQUESTS=3 -D RING=512 -D BLOCK=512 -D FRAMES=21";
        birk(&format!("check {model} --property fault --progress off --format json {options}"))
    };
    let report = check("--search depth --store compact --memory 20M --max-depth 90").exits(1).json();
    let steps = report["traces"][0]["steps"].as_array().expect("a list").len();
    assert!((77..=80).contains(&steps), "{steps}");
    let report = check("--search bfs --store compact").exits(1).json();
    assert_eq!(report["traces"][0]["steps"].as_array().expect("a list").len(), 77);
    undecided(check("--search bfs --store compact --memory 20M"), "memory");
    undecided(check("--search bfs --memory 20M"), "memory");
    undecided(check("--search dfs --max-depth 90"), "depth");
}

/// Step by step a search needs less before it ends; it says so, and leaves nothing behind. (That it finds the same is tested
/// where memory can be counted exactly.)
#[test]
fn a_search_that_is_short_of_memory_goes_on_with_less() {
    let folder = binary::folder("budget_relief");
    let check = |options: &str| {
        let model = "models/counters_mod8.bir -D K=8 --search depth --increment 4 --threads 2 --memory 26M";
        let options = format!("check {model} {options}");
        run(command(BIRK).env("TMPDIR", &folder).args(options.split(' ')))
    };
    let answer = check("--format json").exits(3);
    let notes: Vec<&str> =
        answer.err.lines().filter(|line| line.starts_with("note: memory is short: after ")).collect();
    let report = answer.json();
    assert_eq!((&report["stopped_by"], &report["coverage"]["kind"]), (&"memory".into(), &"depth".into()));
    let relief = report["stats"]["frontier"]["relief"].as_array().expect("a list");
    let steps: Vec<&str> = relief.iter().map(|relief| relief["step"].as_str().expect("a word")).collect();
    assert_eq!((steps, notes.len()), (vec!["tree", "disk", "thread"], 3), "{}", answer.err);
    assert_eq!(report["stats"]["frontier"]["kept_as"], "tree");
    let answer = check("--progress off").exits(3).quietly();
    answer.prints("\nmemory was short: after ").prints("; after ").prints(" states, one thread continues alone\n");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0, "nothing is left behind");
}

/// What waits on disk is gone with the process, whatever ends it: a signal that asks or one that does not, or a report
/// that cannot be written. (That a budget does is tested above.)
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_on_disk() {
    let folder = binary::folder("budget_scratch");
    for (signal, code) in [("INT", Some(130)), ("KILL", None), ("", Some(4))] {
        let options =
            "check models/counters_mod8.bir -D K=14 --property deadlock --search depth --threads 1 --memory 60M";
        let mut birk = command(BIRK);
        birk.env("TMPDIR", &folder).args(options.split(' ')).args(["--progress", "json", "--format", "json"]);
        if signal.is_empty() {
            birk.stdout(std::fs::File::options().write(true).open("/dev/full").expect("it is there"));
        }
        let mut child = birk.spawn().expect("birk can be run");
        let mut progress = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("\"relief\":\"disk\"") {
            line.clear();
            assert!(progress.read_line(&mut line).expect("progress can be read") > 0, "it ended before");
        }
        if !signal.is_empty() {
            let sent = run(Command::new("kill").args(["-s", signal, &child.id().to_string()]));
            assert_eq!((sent.code, sent.err.as_str()), (Some(0), ""));
        }
        let (mut out, mut err) = (String::new(), String::new());
        progress.read_to_string(&mut err).expect("UTF-8");
        if let Some(mut pipe) = child.stdout.take() {
            pipe.read_to_string(&mut out).expect("UTF-8");
        }
        assert_eq!(child.wait().expect("it ends").code(), code, "SIG{signal}: {err}");
        assert_eq!(out.contains("interrupt"), signal == "INT");
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0, "SIG{signal} leaves something behind");
    }
}

#[test]
fn an_interrupt_ends_a_search_with_a_full_report() {
    for (signal, format) in [("INT", "json"), ("INT", "human"), ("TERM", "json")] {
        let options = format!("models/counters_mod8.bir -D K={COUNTERS} --progress json --format {format}");
        let answer = timely(|| match interrupted(&options, signal) {
            (answer, elapsed) if elapsed < Duration::from_secs(1) => is_own(answer),
            (_, elapsed) => Err(format!("SIG{signal}, {format}: {elapsed:?}")),
        });
        let answer = answer.exits(130);
        if format == "json" {
            let report = answer.json();
            assert_eq!(report["stopped_by"], "interrupt");
            assert_eq!(report["verdict"], "inconclusive");
            covered(&report);
        } else {
            let answer = answer.prints("inconclusive: ").prints("; interrupted\n");
            answer.prints("\ncovered: B, complete to depth ").prints("\nreproduce: birk check ");
        }
    }
}

/// Lets a search run until it reports progress, and sends it a signal. How long does it take to end?
fn interrupted(options: &str, signal: &str) -> (Answer, Duration) {
    let mut child = command(BIRK).arg("check").args(options.split(' ')).spawn().expect("birk can be run");
    let mut progress = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    progress.read_line(&mut line).expect("progress can be read");
    let started = Instant::now();
    let sent = run(Command::new("kill").args(["-s", signal, &child.id().to_string()]));
    assert_eq!((sent.code, sent.err.as_str()), (Some(0), ""), "{line}");
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("UTF-8");
    progress.read_to_string(&mut err).expect("UTF-8");
    let code = child.wait().expect("it ends").code();
    (Answer { code, out, err }, started.elapsed())
}

/// A system that cannot start a thread makes the command panic while other threads search: it ends at once, and says so.
#[cfg(unix)]
#[test]
fn a_panic_ends_the_command_while_others_search() {
    let folder = folder("panic");
    let model = folder.join("large.bir");
    let text = "system Large { int wrap (0, 1048575) x; int wrap (0, 1048575) y; active thread P() { loc l:
        do { x := x * 37 + y % 1009; } goto l; do { y := y * 11 + x / 3; } goto l; do { x := x + 1; } goto l; }
        ltl live: [] <> (x < 900000); }";
    std::fs::write(&model, text).expect("it can be written");
    // Each thread has a stack of two megabytes.
    let script = format!("ulimit -v 800000; exec {BIRK} check {} --threads 400 --progress off", model.display());
    let started = Instant::now();
    // What a backtrace needs is not left by then.
    let mut bash = command("bash");
    let mut child = bash.env_remove("RUST_BACKTRACE").args(["-c", &script]).spawn().expect("the command can be run");
    while child.try_wait().expect("it can be asked").is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it can be killed");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("it has ended");
    let said = String::from_utf8(output.stderr).expect("standard error is UTF-8");
    assert_eq!(output.status.code(), Some(70), "{said}");
    assert!(said.contains(" worker ") && said.contains("this is a bug in Birk"), "{said}");
}
