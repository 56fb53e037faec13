//! Several models in one call.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::binary::{BIRK, birk, command, folder};

#[test]
fn each_model_gets_a_line_and_the_most_serious_decides() {
    let all = "check models/philosophers2.bir models/dekker.bir models/szymanski.bir";
    for jobs in [1, 3] {
        let told = birk(&format!("{all} --jobs {jobs}")).exits(1);
        let lines: Vec<&str> = told.out.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "violated      models/philosophers2.bir: `deadlock` (2 steps)",
                "holds         models/dekker.bir: A, 56 states",
                "holds         models/szymanski.bir: A, 392 states",
            ]
        );
        assert!(lines[4].starts_with("3 models: 2 passed, 1 violated ("), "{}", told.out);
    }
    birk("check models/dekker.bir models/szymanski.bir").exits(0).prints("2 models: 2 passed (");
    let part = birk("check models/dekker.bir models/szymanski.bir --max-depth 3").exits(3);
    part.prints("inconclusive  models/szymanski.bir: B, ").prints("complete to depth 3").prints("2 inconclusive");
    birk("check models/dekker.bir models/szymanski.bir --max-depth 3 --accept depth:3").exits(0);
    // Options are those of each.
    birk("check models/dekker.bir models/peterson2.bir --reduce dead --search bdd --property deadlock").exits(0);
}

#[test]
fn a_folder_stands_for_its_models() {
    let folder = folder("several");
    let model = |name: &str| fs::copy(format!("../../models/{name}.bir"), folder.join(format!("{name}.bir")));
    model("dekker").and(model("philosophers2")).expect("models are there");
    fs::write(folder.join("broken.bir"), "system S { int x := ; }").expect("writable");
    fs::write(folder.join("birk.toml"), "max-depth = 1\n").expect("writable");
    let told = birk(&format!("check {}", folder.display())).exits(2);
    told.prints("error         ")
        .prints("dekker.bir: B, ")
        .prints("3 models: 2 inconclusive, 1 not checked")
        .says("error[E0");
    birk(&format!("check {} --max-depth 90", folder.display())).exits(1).prints("1 passed, 1 violated, 1 not checked");
    fs::create_dir_all(folder.join("empty")).expect("writable");
    birk(&format!("check {}", folder.join("empty").display())).exits(2).says("no model in ");
}

#[test]
fn programs_read_one_log_or_one_report_a_line() {
    let all = "check models/philosophers2.bir models/dekker.bir";
    let sarif = birk(&format!("{all} --format sarif")).exits(1);
    let log: serde_json::Value = serde_json::from_str(&sarif.out).expect("it is JSON");
    assert_eq!((&log["version"], log["runs"].as_array().map(Vec::len)), (&"2.1.0".into(), Some(2)));
    let json = birk(&format!("{all} --format json")).exits(1);
    let models: Vec<serde_json::Value> =
        json.out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let of = |at: usize| (models[at]["model"].as_str(), models[at]["verdict"].as_str());
    assert_eq!(of(0), (Some("models/philosophers2.bir"), Some("violated")));
    assert_eq!(of(1), (Some("models/dekker.bir"), Some("holds")));
    birk(&format!("{all} --format github")).exits(1).prints("::error file=models/philosophers2.bir");
}

#[test]
fn what_is_for_one_model_is_refused() {
    for option in ["--trace t.json", "--report r.html", "--certificate c.bir", "--checkpoint folder", "--disk folder"] {
        let refused = birk(&format!("check models/dekker.bir models/szymanski.bir {option}")).exits(2);
        refused.says("is for one model, and there are several; check that one alone");
    }
}

/// Also where the checks themselves have not heard of it.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_all_checks() {
    let folder = folder("several_interrupted");
    let text = "system Large { int wrap (0, 1048575) x; int wrap (0, 1048575) y; active thread P() { loc l:
        do { x := x + 1; } goto l; do { y := y + 1; } goto l; } }";
    for name in ["one.bir", "two.bir", "three.bir"] {
        fs::write(folder.join(name), text).expect("writable");
    }
    let child =
        command(BIRK).args(["check", "--jobs", "2", "--search", "bfs"]).arg(&folder).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    let started = Instant::now();
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it ends");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("3 models: 2 not checked; 1 not begun"), "{told}");
}
