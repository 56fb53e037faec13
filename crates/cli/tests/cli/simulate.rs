//! `birk simulate` as its users meet it: random runs, their statistics, and what the seed promises.

use serde_json::Value;

use crate::binary::{self, BIRK, birk, command, folder, root, run};

#[test]
fn a_random_run_is_shown_as_a_trace() {
    let shown = birk("simulate models/peterson2.bir --steps 8 --seed 3").exits(0).quietly();
    assert_eq!(shown, birk("simulate models/peterson2.bir --steps 8 --seed 3"));
    insta::assert_snapshot!("random_run", shown.out);
}

#[test]
fn a_violation_exits_1_and_is_explained() {
    let shown = birk("simulate models/philosophers2.bir --seed 0").exits(1).quietly();
    shown.prints("violated: models/philosophers2.bir").prints("Philosopher1 at loc1 waits for `!fork2`");
    birk("simulate models/philosophers2.bir --deadlock off --steps 50").exits(0).prints("it ended because no step");
    birk("simulate models/philosophers2.bir --property fault").exits(0).prints("not seen  fault");
}

/// Random simulation of SumToN meets N = 5 within this many runs of 30 steps, from seed 0 on.
const RUNS: u64 = 5_000;

#[test]
fn random_runs_find_five_in_sum_to_n() {
    for choose in ["transition", "thread"] {
        let options = format!("-D N=5 --steps 30 --choose {choose}");
        let many = birk(&format!("simulate models/sum_to_n.bir {options} --runs {RUNS} --format json")).exits(1).json();
        assert_eq!(many["coverage"]["runs"], RUNS);
        let fault = &many["properties"][1];
        assert_eq!((&fault["name"], &fault["verdict"]), (&Value::from("fault"), &Value::from("violated")));
        let seed = fault["first_seed"].as_u64().expect("a seed");
        assert!(seed < RUNS);

        // The seed alone gives the same run.
        let one = birk(&format!("simulate models/sum_to_n.bir {options} --seed {seed} --format json")).exits(1).json();
        assert_eq!(one["traces"], many["traces"]);
        let line = many["reproduce"].as_str().expect("a line").replacen("birk ", "", 1);
        assert_eq!(birk(&format!("{line} --format json")).json()["traces"], many["traces"]);
    }
}

#[test]
fn statistics_add_up() {
    let report = birk("simulate models/readers_writers.bir --runs 300 --steps 40 --format json").exits(0).json();
    let sum = |value: &Value| value.as_object().expect("an object").values().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!(sum(&report["ends"]), 300);
    let lengths = report["lengths"].as_array().expect("a list").iter();
    let (runs, steps) = lengths.fold((0, 0), |(runs, steps), row| {
        let number = |key: &str| row[key].as_u64().expect("a number");
        (runs + number("runs"), steps + number("runs") * number("steps"))
    });
    assert_eq!(runs, 300);
    assert_eq!(report["coverage"]["steps"], steps);
    assert_eq!(sum(&report["fired"]), steps);
    insta::assert_snapshot!("statistics", birk("simulate models/sum_to_n.bir --runs 20 --steps 12").out);
}

#[test]
fn a_saved_run_is_read_back() {
    let folder = folder("simulate_trace");
    for (model, options) in [
        ("philosophers2", "--seed 0"),
        ("peterson2", "--steps 200 --seed 9"),
        ("sum_to_n", "--runs 200 --steps 12"),
        ("abp", "--steps 60 --seed 4 --choose thread"),
    ] {
        let model = root().join(format!("models/{model}.bir"));
        let file = folder.join("run.itf.json");
        let simulated =
            run(command(BIRK).arg("simulate").arg(&model).args(options.split(' ')).arg("--trace").arg(&file));
        assert!(matches!(simulated.code, Some(0 | 1)), "{}", simulated.err);
        let replayed = run(command(BIRK).arg("replay").arg(&model).arg(&file)).exits(0).out;
        let rows = |text: &str| text.lines().filter(|line| line.contains(" → ")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows(&replayed), rows(&simulated.out));
    }
    // No run is shown, so none is saved.
    let file = folder.join("none.itf.json");
    let words = "simulate models/peterson2.bir --runs 5 --trace";
    run(command(BIRK).args(words.split(' ')).arg(&file)).exits(0).says("no run is shown, so ");
    assert!(!file.exists());
}

#[test]
fn errors_are_named() {
    birk("simulate models/peterson2.bir --runs 0").exits(2).says("--runs 0 asks for nothing");
    birk("simulate models/peterson2.bir --steps many").exits(2).says("write a whole number");
    birk("simulate models/peterson2.bir --choose fairly").exits(2).says("transition");
    birk("simulate models/peterson2.bir --property exclusoin").exits(2).says("did you mean `exclusion`?");
    birk("simulate models/peterson2.bir --deadlock off --property deadlock").exits(2).says("contradict each other");
    birk("simulate models/peterson2.bir --trace nowhere/run.json").exits(4).says("cannot write nowhere/run.json");
}

#[test]
fn settings_of_a_search_reach_simulations_too() {
    let folder = binary::folder_with("simulate_settings", "sum_to_n.bir");
    std::fs::write(folder.join("birk.toml"), "seed = 41\nmax-depth = 3\nkeep-going = true\n").expect("writable");
    let answer = run(command(BIRK).current_dir(&folder).args(["simulate", "sum_to_n.bir", "--steps", "2"]));
    answer.prints("reproduce: birk simulate sum_to_n.bir").prints("--seed 41").quietly();
}
