//! A step with millions of outcomes, and a condition that takes minutes to evaluate: memory, time and states are limited all
//! the same, with every engine that looks at states one by one.

use std::time::Duration;

use crate::binary::{Answer, BIRK, birk, command, folder, run, timed, timely};

/// One step has nearly twenty million outcomes.
const WIDE: &str = "system Wide {
  int x;
  int y;
  active thread T() {
    loc a:
      do { x := choose(0, 65535); y := choose(0, 300); } goto a;
  }
  invariant never: x < 65536;
  ltl back: [] <> (x == 0);
  ctl home: AG EF (x == 0);
}
";

/// The invariant is true, and looks at four thousand million values to find that out.
const LONG: &str = "system Long {
  int (0, 1) x;
  active thread T() {
    loc a:
      do { x := 1 - x; } goto a;
  }
  invariant all: forall (i : -2147483647 .. 2147483647) (i % 99 != x + 200);
  ltl often: [] <> (forall (i : -2147483647 .. 2147483647) (i % 99 != x + 200));
}
";

/// Every engine that looks at states one by one, with the property it is asked about.
const ENGINES: [&str; 14] = [
    "--property never --search bfs --threads 1",
    "--property never --search bfs --threads 2",
    "--property never --search bfs --threads 2 --store compact",
    "--property never --search dfs",
    "--property never --search dfs --store bitstate",
    "--property never --search depth --threads 1",
    "--property never --search depth --threads 2",
    "--property never --search highway --threads 2",
    "--property never --search astar",
    "--property back --search bfs --threads 1",
    "--property back --search bfs --threads 2",
    "--property back --search bfs --threads 1 --fairness weak",
    "--property back --search bfs --store bitstate",
    "--property home --search bfs",
];

/// Writes a model, and gives its path.
fn model(name: &str, text: &str) -> String {
    let path = folder(&format!("outcomes_{name}")).join("model.bir");
    std::fs::write(&path, text).expect("a file can be written");
    path.to_str().expect("UTF-8").to_owned()
}

fn check(options: &str) -> Answer {
    birk(&format!("check {options} --progress off --format json"))
}

#[test]
fn memory_ends_a_step_with_millions_of_outcomes() {
    const LIMIT: u64 = 100 << 20;
    let wide = model("memory", WIDE);
    for engine in ENGINES {
        let answer = check(&format!("{wide} {engine} --memory 100M"));
        let report = answer.exits(3).json();
        assert_eq!((&report["verdict"], &report["stopped_by"]), (&"inconclusive".into(), &"memory".into()), "{engine}");
        let Some(peak) = report["stats"]["peak_memory_bytes"].as_u64() else { continue };
        let share = peak as f64 / LIMIT as f64;
        assert!(share < 1.05, "{engine}: {share:.3} of the limit");
    }
}

#[test]
fn time_ends_a_step_with_millions_of_outcomes() {
    let wide = model("time", WIDE);
    for engine in ENGINES {
        let options = format!("{wide} {engine} --memory 4G --time 300ms");
        let answer = timely(|| timed(0..800, || check(&options)));
        let report = answer.exits(3).json();
        assert_eq!((&report["verdict"], &report["stopped_by"]), (&"inconclusive".into(), &"time".into()), "{engine}");
    }
}

#[test]
fn states_end_a_step_with_millions_of_outcomes() {
    const PART: u64 = 1 << 16;
    let wide = model("states", WIDE);
    for engine in ["--threads 1", "--threads 2", "--search dfs", "--search astar"] {
        let answer = check(&format!("{wide} --property never {engine} --max-states 100_000"));
        let report = answer.exits(3).json();
        assert_eq!(report["stopped_by"], "states", "{engine}");
        let states = report["stats"]["states"].as_u64().expect("a number");
        assert!((100_000..=100_000 + PART + 2).contains(&states), "{engine}: {states}");
    }
}

/// The trace goes through an outcome far behind the first part, and is walked again.
#[test]
fn the_last_of_many_outcomes_is_found() {
    let text = "system Last {
  int (0, 511) x;
  int (0, 511) y;
  active thread T() {
    loc a:
      do { x := choose(0, 511); y := choose(0, 511); } goto b;
    loc b:
      do { } goto b;
  }
  invariant inside: !(x == 511 && y == 510);
  ltl leaves: [] !(x == 511 && y == 510);
  ctl never: AG !(x == 511 && y == 510);
}
";
    let last = model("last", text);
    for engine in ENGINES {
        let engine = engine.replace("never", "inside").replace("back", "leaves").replace("home", "never");
        if engine.contains("highway") {
            continue;
        }
        let report = check(&format!("{last} {engine}")).exits(1).json();
        let trace = &report["traces"][0];
        let steps = trace["steps"].as_array().expect("a list");
        // A lasso goes round once.
        let expected = if engine.contains("leaves") { 1..=3 } else { 1..=1 };
        assert!(expected.contains(&steps.len()), "{engine}: {} steps", steps.len());
    }
    let report = check(&format!("{last} --keep-going --property inside")).exits(1).json();
    assert_eq!((&report["stats"]["states"], &report["stats"]["transitions"]), (&262_145.into(), &524_288.into()));
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_ends_a_long_evaluation() {
    let long = model("interrupt", LONG);
    let options = format!("check {long} --property all --threads 1 --progress off --format json");
    let output = timely(|| {
        let child = command(BIRK).args(options.split(' ')).spawn().expect("birk can be run");
        std::thread::sleep(Duration::from_secs(1));
        let sent = run(std::process::Command::new("kill").args(["-s", "INT", &child.id().to_string()]));
        assert_eq!(sent.code, Some(0), "{}", sent.err);
        timed(0..500, || child.wait_with_output().expect("it ends"))
    });
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!((output.status.code(), &report["stopped_by"]), (Some(130), &"interrupt".into()));
    assert_eq!(report["properties"][0]["verdict"], "inconclusive");
}

#[test]
fn time_ends_a_long_evaluation() {
    let long = model("long", LONG);
    for options in [
        "--property all --threads 1",
        "--property all --search dfs",
        "--property all --search depth --threads 1",
        "--property all --search highway --threads 1",
        "--property all --search astar",
        "--property often --threads 1",
    ] {
        let line = format!("{long} {options} --time 1s");
        let report = timely(|| timed(0..1500, || check(&line))).exits(3).json();
        assert_eq!((&report["verdict"], &report["stopped_by"]), (&"inconclusive".into(), &"time".into()), "{options}");
        // What the search met is lost: so nothing is said of what it did not meet.
        assert_eq!(report["unreached"], serde_json::Value::Null, "{options}");
    }
    // One of two threads has heard of it; the other computes.
    let line = format!("{long} --property often --threads 2 --time 1s");
    let answer = timely(|| timed(0..3500, || check(&line)));
    assert_eq!(answer.exits(3).json()["stopped_by"], "time");
}
