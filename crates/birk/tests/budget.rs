//! Budgets end a search in time, with a full report that says truthfully what was covered; so does Ctrl-C.

mod binary;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;
use std::time::{Duration, Instant};

use binary::{Answer, BIRK, birk, command, run};
use serde_json::Value;

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

#[test]
fn time_ends_a_search_with_a_full_report() {
    let started = Instant::now();
    let report = undecided(check("--time 300ms --format json"), "time");
    let elapsed = started.elapsed();
    assert!((300..1300).contains(&elapsed.as_millis()), "{elapsed:?}");
    assert!(covered(&report) > 0);

    let answer = birk("check models/philosophers_ring.bir -D N=14 --time 0.2s").exits(3).quietly();
    let answer = answer.prints("inconclusive: models/philosophers_ring.bir (DiningPhilosophers): no violation within ");
    answer.prints("; the time was up\n").prints("\nsearched: ").prints(" --time 0.2s ");
}

#[test]
fn depth_ends_a_search() {
    for depth in [0, 1, 5] {
        let report = undecided(check(&format!("--max-depth {depth} --format json")), "depth");
        assert_eq!(report["coverage"], serde_json::json!({"kind": "depth", "depth": depth, "grade": "B"}));
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
    assert_eq!(
        report["coverage"],
        serde_json::json!({"kind": "sampled", "states": report["stats"]["states"], "grade": "D"})
    );
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

/// The whole process, not only what a search counts, stays within 5 % of the limit.
#[test]
fn memory_of_the_process_is_limited() {
    const LIMIT: u64 = 100 << 20;
    let counters = "models/counters_mod8.bir -D K=14 --property deadlock";
    let frames = "models/frames.bir -D N=6 -D W=40";
    for (model, options, coverage) in [
        (counters, "--threads 1", "depth"),
        (counters, "--threads 2", "depth"),
        (frames, "--threads 2", "depth"),
        (frames, "--threads 2 --store compact", "hashed"),
        (frames, "--search depth --threads 2", "depth"),
        (frames, "--search depth --threads 1 --store compact", "hashed"),
        (counters, "--search highway --width 100_000 --threads 1", "sampled"),
        (frames, "--search highway --threads 2", "sampled"),
        (counters, "--search dfs", "sampled"),
        (frames, "--search dfs", "sampled"),
    ] {
        let report =
            undecided(birk(&format!("check {model} {options} --memory 100M --progress off --format json")), "memory");
        assert_eq!(report["coverage"]["kind"], coverage, "{model} {options}");
        let Some(peak) = report["stats"]["peak_memory_bytes"].as_u64() else { continue };
        let share = peak as f64 / LIMIT as f64;
        assert!(share < 1.05, "{model} {options}: {share:.3} of the limit");
        assert!(share > 0.5, "{model} {options}: it gave up at {share:.3} of the limit");
    }
}

#[test]
fn an_interrupt_ends_a_search_with_a_full_report() {
    for (signal, format) in [("INT", "json"), ("INT", "human"), ("TERM", "json")] {
        let options = format!("models/counters_mod8.bir -D K={COUNTERS} --progress json --format {format}");
        let (answer, elapsed) = interrupted(&options, signal);
        assert!(elapsed < Duration::from_secs(1), "SIG{signal}, {format}: {elapsed:?}");
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
