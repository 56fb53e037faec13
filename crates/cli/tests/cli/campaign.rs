//! Campaigns through the real binary: nights that go on, changed models, known counterexamples, and processes that are killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::binary::{Answer, BIRK, birk, command, folder, run};

/// Counters that step in any order, and a sum that is always a multiple of 3: so many states that no night visits all of them, and
/// nothing that is proved at once.
const LARGE: &str = "system Large { const K = 9; int (0, 531440) sum;
  active [K] thread Counter(int me) { int wrap (0, 7) x;
    while (true) { atomic { x := x + 1; sum := (sum + 3 * (me + 1)) % 531441; } } }
  invariant small: sum != 1;
  ltl first: [] (Counter[0].x == 7 -> <> (Counter[0].x == 0)); }";

/// One night.
fn night(folder: &Path, options: &[&str]) -> Answer {
    run(command(BIRK).args(["check", "m.bir", "--campaign", "nights"]).args(options).current_dir(folder))
}

fn known(folder: &Path) -> Value {
    run(command(BIRK).args(["campaign", "nights", "--format", "json"]).current_dir(folder)).exits(0).json()
}

fn write(folder: &Path, text: &str) {
    fs::write(folder.join("m.bir"), text).expect("writable");
}

fn depth(campaign: &Value, night: usize) -> u64 {
    campaign["nights"][night]["depth"].as_u64().unwrap_or(0)
}

#[test]
fn a_night_goes_on_where_the_last_one_ended() {
    let folder = folder("campaign_nights");
    write(&folder, LARGE);
    let options = ["--time", "2s", "--property", "small", "--property", "deadlock", "--memory", "512M"];
    night(&folder, &options).exits(3).prints("next: the search on disk goes on behind depth");
    for _ in 0..3 {
        night(&folder, &options).exits(3).says("it goes on where it was");
    }
    let campaign = known(&folder);
    assert_eq!(campaign["nights"].as_array().map(Vec::len), Some(4));
    assert!(depth(&campaign, 3) > depth(&campaign, 0), "{campaign:#}");
    assert!((1..4).all(|night| depth(&campaign, night) >= depth(&campaign, night - 1)), "{campaign:#}");
    let seeds: Vec<u64> = (0..4).filter_map(|night| campaign["nights"][night]["seed"].as_u64()).collect();
    assert_eq!(seeds, [0, 1, 2, 3]);
    // Hunts go on, too.
    let turns = |night: usize| {
        let hunts = campaign["nights"][night]["hunts"].as_array().expect("they hunted");
        hunts.iter().filter_map(|one| one["turns"].as_u64()).sum::<u64>()
    };
    assert!(turns(1) > turns(0) && (1..4).all(|night| turns(night) >= turns(night - 1)), "{campaign:#}");
    // As deep as a search without interruption says: all of these states are there.
    is_of_its_own_model(&folder, 3, "--property small --property deadlock");
    // Both ways of showing it.
    let page = folder.join("page.html").display().to_string();
    let shown = run(command(BIRK).args(["campaign", "nights", "--report", &page]).current_dir(&folder)).exits(0);
    assert!(shown.out.contains("no violation within"), "{}", shown.out);
    let page = fs::read_to_string(page).expect("written");
    assert!(page.contains("Campaign for m.bir") && page.contains("<svg"), "a page with plots");
    let schema: Value = serde_json::from_str(&birk("schema").exits(0).out).expect("JSON");
    jsonschema::draft202012::new(&schema["campaign"])
        .expect("a schema")
        .validate(&campaign)
        .expect("as the schema says");
}

#[test]
fn a_changed_model_inherits_nothing() {
    let folder = folder("campaign_changed");
    let options = ["--time", "1500ms", "--property", "small", "--memory", "512M"];
    write(&folder, LARGE);
    night(&folder, &options).exits(3);
    // Spaces and comments do not matter.
    write(&folder, &LARGE.replace("while (true) {", "// forever\n    while (true) {   "));
    let again = night(&folder, &options).exits(3);
    assert!(again.err.contains("it goes on where it was"), "{}", again.err);
    let campaign = known(&folder);
    assert_eq!(campaign["nights"][0]["meaning"], campaign["nights"][1]["meaning"]);
    assert!(depth(&campaign, 1) >= depth(&campaign, 0));
    // Each of these changes what it means, or what is promised.
    let mut meanings = vec![campaign["nights"][0]["meaning"].clone()];
    for (from, to) in [
        ("x := x + 1;", "x := x + 3;"),
        ("const K = 9", "const K = 8"),
        ("(0, 7) x;", "(0, 7) x := 1;"),
        ("active [K]", "fair active [K]"),
        ("% 531441", "% 531438"),
    ] {
        write(&folder, &LARGE.replace(from, to));
        let changed = night(&folder, &["--time", "400ms", "--property", "small", "--memory", "512M"]);
        assert!(changed.err.contains("nothing that was claimed holds"), "{from}: {}", changed.err);
        let campaign = known(&folder);
        let last = campaign["nights"].as_array().and_then(|nights| nights.last()).expect("a night").clone();
        assert!(!meanings.contains(&last["meaning"]), "{from}");
        meanings.push(last["meaning"].clone());
    }
    // Another property of states: the model is the same, the search is another.
    write(&folder, LARGE);
    night(&folder, &options).exits(3);
    write(&folder, &LARGE.replace("sum != 1;", "sum != 30;"));
    let asked = night(&folder, &options);
    assert!(asked.err.contains("their search begins anew"), "{}", asked.err);
    asked.exits(1);
}

/// A night that is killed when its search is saved for the first time.
fn killed(folder: &Path, options: &[&str]) {
    let mut long = command(BIRK);
    long.args(["check", "m.bir", "--campaign", "nights", "--time", "1h", "--memory", "512M"]).args(options);
    let mut child = long.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("birk runs");
    let is_saved = || {
        let levels = fs::read_dir(folder.join("nights")).into_iter().flatten().flatten();
        levels
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("levels"))
            .any(|entry| entry.path().join("search.birk").exists())
    };
    for _ in 0..600 {
        if is_saved() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(is_saved(), "nothing was saved in 30 s");
    child.kill().expect("it runs");
    let _ = child.wait();
}

/// That the search that is kept has the states of one without interruption of the model as it is; those that wait may be among them.
fn is_of_its_own_model(folder: &Path, night: usize, options: &str) {
    let campaign = known(folder);
    let path = folder.join("m.bir").display().to_string();
    let alone = |depth: u64| {
        birk(&format!("check {path} --search bfs --max-depth {depth} {options} --format json")).json()["stats"]["states"]
            .clone()
    };
    let (depth, states) = (depth(&campaign, night), &campaign["nights"][night]["states"]);
    assert!(depth > 3 && [alone(depth), alone(depth + 1)].contains(states), "{campaign:#}");
}

#[test]
fn the_search_of_another_model_is_not_gone_on_with() {
    let folder = folder("campaign_other");
    let (small, tonight) = (["--property", "small"], ["--time", "1500ms", "--property", "small", "--memory", "512M"]);
    let other = LARGE.replace("const K = 9", "const K = 7");
    // The first night is killed: nothing is written of it but its search.
    write(&folder, LARGE);
    killed(&folder, &small);
    write(&folder, &other);
    night(&folder, &tonight).exits(3);
    is_of_its_own_model(&folder, 0, "--property small");
    // A night of another version is killed, and the version before comes back.
    write(&folder, LARGE);
    killed(&folder, &small);
    write(&folder, &other);
    night(&folder, &tonight).exits(3);
    is_of_its_own_model(&folder, 1, "--property small");
    // Other options, where no night has said yet which they are.
    fs::remove_dir_all(folder.join("nights")).expect("it is there");
    killed(&folder, &small);
    let both = ["--time", "1500ms", "--property", "small", "--property", "deadlock", "--memory", "512M"];
    night(&folder, &both).exits(3);
    is_of_its_own_model(&folder, 0, "--property small --property deadlock");
}

#[test]
fn what_is_decided_is_not_hunted_again() {
    let folder = folder("campaign_decided");
    write(
        &folder,
        "system S { int (0, 9) x; active thread A() { while (true) { x := (x + 2) % 10; } }
           invariant even: x % 2 == 0; reachable six: x == 6; ltl again: [] <> (x == 0); }",
    );
    let first = night(&folder, &["--time", "1m"]).exits(0);
    assert!(first.out.contains("next: nothing is open"), "{}", first.out);
    let second = night(&folder, &["--time", "1m"]).exits(0);
    assert!(second.out.contains("every property is decided, by"), "{}", second.out);
    assert!(second.out.contains("an earlier run"), "{}", second.out);
    let campaign = known(&folder);
    assert_eq!(campaign["nights"][1]["hunted"], 0, "{campaign:#}");
    assert_eq!(campaign["nights"][1]["states"], campaign["nights"][0]["states"]);
    assert_eq!(campaign["nights"][1]["is_complete"], true);
    // A property that is never reached, as well; and one that is added is asked alone.
    let none =
        "system S { int (0, 9) x; active thread A() { while (true) { x := (x + 2) % 10; } } reachable odd: x == 5; }";
    write(&folder, none);
    night(&folder, &["--time", "1m"]).exits(1);
    night(&folder, &["--time", "1m"]).exits(1).prints("no witness exists, by an earlier run");
}

#[test]
fn another_automaton_is_another_question() {
    let folder = folder("campaign_automaton");
    write(&folder, "system S { int (0, 3) x; active thread A() { while (true) { x := (x + 1) % 4; } } }");
    let never = |condition: &str| {
        let text = format!(
            "never {{ T0_init: do :: ({condition}) -> goto accept_all :: (1) -> goto T0_init od; accept_all: skip }}"
        );
        fs::write(folder.join("a.never"), text).expect("writable");
    };
    let options = ["--time", "20s", "--automaton", "a.never"];
    never("x > 3");
    night(&folder, &options).exits(0);
    never("x == 3");
    night(&folder, &options).exits(1).says("nothing that was claimed holds");
}

#[test]
fn former_counterexamples_are_replayed_first() {
    let folder = folder("campaign_found");
    let broken =
        "system S { int (0, 9) x; active thread A() { while (x < 9) { x := x + 1; } } invariant small: x < 5; }";
    write(&folder, broken);
    night(&folder, &["--time", "5s"]).exits(1);
    let again = night(&folder, &["--time", "5s"]).exits(1);
    assert!(
        again.err.contains("1 counterexample of earlier nights replayed: still violated: `small`"),
        "{}",
        again.err
    );
    assert!(again.out.contains("by a trace of 10 steps, since night 1"), "{}", again.out);
    assert_eq!(known(&folder)["found"].as_array().map(Vec::len), Some(1));
    // Elsewhere it is changed, and is still wrong; then it is repaired.
    write(&folder, &broken.replace("x < 9", "x < 8"));
    let still = night(&folder, &["--time", "5s"]).exits(1);
    assert!(
        still.err.contains("nothing that was claimed holds") && still.err.contains("still violated: `small`"),
        "{}",
        still.err
    );
    write(&folder, &broken.replace("x < 9", "x < 4"));
    let repaired = night(&folder, &["--time", "5s"]).exits(0);
    assert!(repaired.err.contains("none is one any more"), "{}", repaired.err);
    assert!(repaired.out.contains("next: nothing is open"), "{}", repaired.out);
}

#[test]
fn a_former_lasso_that_is_not_fair_any_more_is_none() {
    let folder = folder("campaign_lasso");
    let blocked = "system S { boolean done, gate; active thread A() { while (true) { skip; } }
      active thread B() { await gate; done := true; } ltl comes: <> done; }";
    let options = ["--time", "5s", "--fairness", "weak", "--property", "comes"];
    write(&folder, blocked);
    night(&folder, &options).exits(1);
    night(&folder, &options).exits(1).says("still violated: `comes`");
    write(&folder, &blocked.replace("done, gate;", "done; boolean gate := true;"));
    night(&folder, &options).exits(0).says("none is one any more");
}

#[test]
fn a_night_that_is_killed_loses_nothing_that_was_claimed() {
    let folder = folder("campaign_killed");
    write(&folder, LARGE);
    let options = ["--time", "1500ms", "--property", "small", "--memory", "512M"];
    night(&folder, &options).exits(3);
    let before = known(&folder);
    for wait in [50, 300, 700] {
        let mut long = command(BIRK);
        long.args([
            "check",
            "m.bir",
            "--campaign",
            "nights",
            "--time",
            "1h",
            "--property",
            "small",
            "--memory",
            "512M",
        ]);
        let mut child =
            long.current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("birk runs");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("it runs");
        let _ = child.wait();
        assert_eq!(known(&folder), before, "after {wait} ms");
    }
    night(&folder, &options).exits(3);
    let after = known(&folder);
    assert!(depth(&after, 1) >= depth(&before, 0), "{after:#}");
    assert_eq!(after["nights"][0], before["nights"][0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = folder("campaign_refused");
    write(&folder, LARGE);
    night(&folder, &[]).exits(2).says("--campaign needs the time of one run");
    night(&folder, &["--time", "1s", "--search", "bfs"]).exits(2).says("leave --search bfs out");
    night(&folder, &["--time", "1s", "--max-depth", "3"]).exits(2).says("--max-depth is about one search");
    run(command(BIRK).args(["campaign", "nights"]).current_dir(&folder))
        .exits(2)
        .says("there is no campaign in nights");
    night(&folder, &["--time", "400ms", "--property", "small"]).exits(3);
    night(&folder, &["--time", "400ms"]).exits(2).says("was begun with other options");
    fs::write(folder.join("nights/campaign.json"), "{}").expect("writable");
    night(&folder, &["--time", "400ms"]).exits(2).says("is damaged");
}
