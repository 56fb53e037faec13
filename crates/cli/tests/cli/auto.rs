//! `--search auto`, the default: what breadth-first search finishes is its own; what it cannot is hunted within the budget.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::{birk, folder};

/// A violation far away, among very many states.
const DEEP: &str = "benches/models/deep.bir";

/// What nobody decides in a few seconds.
const HARD: &str = "benches/models/numbers.bir --property low";

#[test]
fn what_breadth_first_search_finishes_is_its_own() {
    for check in ["models/peterson2.bir", "models/philosophers_ring.bir -D N=4", "models/german.bir --time 60s"] {
        let [mut alone, mut auto] =
            ["--search bfs ", ""].map(|search| birk(&format!("check {check} {search}--format json")).json());
        for report in [&mut alone, &mut auto] {
            let stats = report["stats"].as_object_mut().expect("figures");
            stats.retain(|name, _| !name.contains("second") && !name.contains("memory"));
        }
        assert_eq!(alone, auto, "{check}");
    }
}

#[test]
fn what_it_cannot_finish_is_hunted_within_the_time() {
    let began = Instant::now();
    let answer = birk(&format!("check {DEEP} --time 8s --memory 200M --property low --format json")).exits(1);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let report = answer.json();
    let hunt = report["hunt"]["members"].as_array().expect("there was a hunt");
    let decided: Vec<&Value> = hunt.iter().filter(|one| one["decided"] == serde_json::json!(["low"])).collect();
    assert_eq!(decided.len(), 1, "{report:#}");
    assert_eq!(report["properties"][0]["by"], decided[0]["name"]);
    let after = report["properties"][0]["found_after"].as_f64().expect("it is told when");
    assert!((0.01..report["stats"]["seconds"].as_f64().expect("it took some time")).contains(&after), "{report:#}");
    assert_eq!(report["coverage"]["kind"], "depth", "the first search says what it covered");
    assert!(report["reproduce"].as_str().is_some_and(|line| line.contains("--search auto")));
}

#[test]
fn the_report_says_who_hunted() {
    let page = folder("told_page").join("page.html");
    let check = format!("check {DEEP} --time 8s --memory 200M --property low --report {}", page.display());
    let answer = birk(&check).exits(1);
    let lines: Vec<&str> = answer.out.lines().collect();
    let hunt = lines.iter().position(|line| line.starts_with("hunt: ")).expect("it is told");
    assert!(lines[hunt + 1].contains(" turn"), "{}", answer.out);
    assert!(answer.out.contains("; decided `low`: --search "), "{}", answer.out);
    let after =
        lines[hunt].split_once("; violation of `low` found after ").unwrap_or_else(|| panic!("{}", answer.out)).1;
    assert!(after.trim_end_matches(" s").parse::<f64>().is_ok(), "{}", answer.out);
    assert!(answer.out.contains(" with bfs"), "{}", answer.out);
    let page = std::fs::read_to_string(page).expect("it was written");
    let told = page.split_once("the hunt by other engines, ").and_then(|(_, rest)| rest.split_once("</caption>"));
    assert!(told.is_some_and(|(told, _)| told.contains(" s; violation of low found after ")), "{told:?}");
}

#[test]
fn a_hunt_that_finds_nothing_claims_nothing_more() {
    let report = birk(&format!("check {HARD} --time 2s --memory 200M --format json")).exits(3).json();
    assert_eq!((&report["verdict"], &report["stopped_by"]), (&"inconclusive".into(), &"time".into()));
    assert!(report["hunt"]["seconds"].as_f64().is_some_and(|seconds| seconds > 0.5), "{report:#}");
    assert_eq!(report["properties"][0]["verdict"], "inconclusive");
    assert_ne!(report["properties"][0]["grade"], "A");
}

/// The first search has used up the memory; what it leaves behind is given back, so that the others have it.
#[test]
fn a_hunt_has_the_memory_and_keeps_to_it() {
    const LIMIT: f64 = (64 << 20) as f64;
    let kept_to = |check: &str, code| {
        let report = birk(&format!("check {check} --memory 64M --format json")).exits(code).json();
        if let Some(peak) = report["stats"]["peak_memory_bytes"].as_f64() {
            assert!(peak < 1.05 * LIMIT, "{check}: {:.3} of the limit", peak / LIMIT);
        }
        report
    };
    for _ in 0..3 {
        let report = kept_to("models/peers/phil.bir -D N=50 --property deadlock --time 30s", 0);
        assert!(report["properties"][0]["by"].is_string(), "{report:#}");
    }
    kept_to(&format!("{HARD} --time 2s"), 3);
}

#[test]
fn without_a_limit_on_time_a_hunt_takes_as_long_as_the_search() {
    let began = Instant::now();
    birk(&format!("check {HARD} --memory 60M")).exits(3);
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_grid_of_constants_is_swept() {
    let answer = birk("sweep models/philosophers_ring.bir -D N=2..4").exits(1);
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", answer.out);
    assert!(lines[0].trim_start().starts_with("N  verdict"), "{}", answer.out);
    assert!(lines[1].contains("violated") && lines[1].contains("`deadlock` in "), "{}", answer.out);
}

#[test]
fn a_sweep_that_does_not_finish_forecasts_the_rest() {
    let path = folder("swept");
    let (model, page) = (path.join("model.bir"), path.join("page.html"));
    let text = "system Grow { const N = 1; int (0, 9)[N] x;
      active [N] thread T(int me) { while (true) { x[me] := (x[me] + 1) % 10; } } }";
    std::fs::write(&model, text).expect("it can be written");
    let (model, page) = (model.display(), page.display());
    let answer = birk(&format!("sweep {model} -D N=1..40 --time 800ms --format json --report {page}")).exits(3);
    let report: Value = serde_json::from_str(&answer.out).expect("an object");
    let schema: Value = serde_json::from_str(&birk("schema").out).expect("schemas");
    jsonschema::draft202012::new(&schema["sweep"]).expect("a schema").validate(&report).expect("as the schema says");
    let points = report["points"].as_array().expect("points");
    assert_eq!(points.len(), 40);
    let counts: Vec<(Option<u64>, bool)> =
        points.iter().map(|point| (point["states"].as_u64(), point["complete"] == true)).collect();
    assert_eq!(counts[..3], [10, 100, 1_000].map(|states| (Some(states), true)), "{counts:?}");
    assert_eq!(points[2]["constants"], serde_json::json!({"N": "3"}));
    let skipped: Vec<&Value> = points.iter().filter(|point| point["verdict"].is_null()).collect();
    assert!(skipped.len() > 10 && skipped.iter().all(|point| point["states"].is_null()), "{skipped:?}");
    let page = std::fs::read_to_string(page.to_string()).expect("it was written");
    assert!(page.contains("<svg") && page.contains("not checked"));
    birk(&format!("sweep {model} -D N=3..1")).exits(2).says("write the smaller number first");
}
