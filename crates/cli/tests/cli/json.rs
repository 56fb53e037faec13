//! What programs read: the JSON report, progress as lines of JSON, traces as ITF files, and the two lines of a report
//! that are meant to be run again.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{self, Answer, BIRK, birk, command, folder, folder_with, root, run, steady};

fn check(options: &str) -> Answer {
    birk(&format!("check {options} --format json"))
}

/// The fields of an object, in order.
fn fields(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Lamps that are lit in any order: of `n` lamps the states at depth k are the ways to choose k of them.
fn lamps(folder: &Path, n: u32) -> std::path::PathBuf {
    let path = folder.join("lamps.bir");
    let text = format!(
        "system Lamps {{\n  boolean[{n}] lit;\n  active [{n}] thread Lamp(int index) {{\n    loc here:\n      \
         when !lit[index] do {{ lit[index] := true; }} goto here;\n  }}\n  \
         invariant dark: exists (i : 0 .. {last}) !lit[i];\n}}\n",
        last = n - 1
    );
    fs::write(&path, text).expect("the model can be written");
    path
}

#[test]
fn a_symbolic_search_that_is_cut_short_knows_how_many_states_it_has_beyond_64_bits() {
    let folder = folder("beyond_64_bits");
    let model = lamps(&folder, 80);
    let search = |options: &str| birk(&format!("check {} --property dark {options}", model.display()));
    let mut choices = vec![1u128];
    for k in 0..80 {
        choices.push(choices[k] * (80 - k as u128) / (k as u128 + 1));
    }
    let within: u128 = choices[..=60].iter().sum();
    assert!(choices[40] > u128::from(u64::MAX), "a single level has more");
    for engine in ["bdd", "bdd-astar"] {
        let report = search(&format!("--search {engine} --max-depth 60 --format json")).exits(3).json();
        assert_eq!(report["stats"]["states"], within.to_string(), "{engine}");
        assert_eq!(report["coverage"]["depth"], 60);
        assert_eq!(report["next"]["reason"], "there are more states than 64 bits hold");
    }
    // Stopped where the depth does not tell what was explored.
    for engine in ["bdd-chain", "bdd-astar"] {
        let options = format!("--search {engine} --max-states 18446744073709551614");
        let report = search(&format!("{options} --format json")).exits(3).json();
        let (covered, states) = (&report["coverage"]["states"], &report["stats"]["states"]);
        assert_eq!((&report["coverage"]["kind"], covered), (&"partial".into(), states), "{engine}");
        let digits = states.as_str().unwrap_or_else(|| panic!("{states} is text"));
        let counted: u128 = digits.parse().expect("digits");
        assert!((u128::from(u64::MAX)..1 << 80).contains(&counted), "{engine}: {counted}");
        let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
        let (told, text) = (groups.join(","), search(&options).exits(3));
        text.prints(&format!("partial: {told} states")).prints(&format!("in the {told} states explored"));
    }
    let page = folder.join("report.html");
    search(&format!("--search bdd --max-depth 60 --report {}", page.display())).exits(3);
    let page = fs::read_to_string(page).expect("there is a report");
    assert!(page.contains("more than 64 bits hold") && !page.contains("18,446,744,073,709,551,615"));
}

// The report.

#[test]
fn a_violation_as_json() {
    let answer = check("models/philosophers2.bir").exits(1).quietly();
    insta::assert_snapshot!("violated", pretty(&steady(&answer.json())));
}

#[test]
fn a_model_that_holds_as_json() {
    let answer = check("models/readers_writers_invariant.bir -D Param.NUM_READERS=3").exits(0).quietly();
    insta::assert_snapshot!("holds", pretty(&steady(&answer.json())));
}

#[test]
fn a_search_that_was_cut_short_as_json() {
    let answer = check("models/philosophers_swapped.bir --max-depth 4 --seed 7").exits(3).quietly();
    insta::assert_snapshot!("budget", pretty(&steady(&answer.json())));
}

#[test]
fn a_fault_as_json() {
    let answer = check("models/division_by_zero.bir").exits(1);
    let report = answer.json();
    let trace = &report["traces"][0];
    assert_eq!(trace["fault"]["kind"], "division-by-zero", "{trace:#}");
    assert_eq!(trace["fault"]["source"]["line"].as_u64().map(|line| line > 1), Some(true));
    assert_eq!(trace["steps"].as_array().and_then(|steps| steps.last()).expect("a step")["to"], Value::Null);
}

fn pretty(report: &Value) -> String {
    serde_json::to_string_pretty(report).expect("JSON")
}

/// What a frontier costs is told, and is as it is promised: large states wait in few bytes, and near each other.
#[test]
fn the_frontier_of_a_depth_bound_is_measured() {
    let frontier = |options: &str| {
        let model =
            "models/usb_stack.bir -D BUG=1 -D ADDRESSES=900 -D EVENTS=2 --max-depth 100 --search depth --increment 50";
        let report = check(&format!("{model} {options}")).json();
        assert!(report["stats"]["state_bits"].as_u64() > Some(8 * 1024));
        let frontier = report["stats"]["frontier"].clone();
        let expected =
            ["kept_as", "peak_states", "bytes_per_state", "peak_bytes", "replays", "steps_per_replay", "relief"];
        assert_eq!(fields(&frontier), expected);
        let number = |field: &str| frontier[field].as_f64().expect("a number");
        assert!(number("peak_states") > 100.0 && number("replays") > 100.0, "{frontier}");
        let kept_as = frontier["kept_as"].as_str().expect("a word").to_owned();
        (kept_as, number("bytes_per_state"), number("steps_per_replay"))
    };
    let (kept_as, bytes, steps) = frontier("--store compact");
    assert!(kept_as == "tree" && bytes < 40.0 && steps > 0.0 && steps < 100.0, "{kept_as} {bytes} {steps}");
    let (kept_as, bytes, steps) = frontier("");
    assert!(kept_as == "states" && bytes < 40.0 && steps == 0.0, "{kept_as} {bytes} {steps}");
    let (kept_as, bytes, steps) = frontier("--store compact --frontier states");
    assert!(kept_as == "states" && bytes > 1024.0 && steps == 0.0, "{kept_as} {bytes} {steps}");
    let (kept_as, _, steps) = frontier("--frontier traces");
    assert!(kept_as == "traces" && steps > 40.0, "{kept_as} {steps}");
}

/// However early the traces part: to go from one state at a bound to the next takes fewer steps than from bound to bound,
/// with anchors that need little memory.
#[test]
fn states_at_a_bound_are_near_each_other() {
    let model = "models/usb_firmware.bir -D REQUESTS=3 -D RING=512 -D BLOCK=1024 -D FRAMES=20001 --deadlock off";
    for (increment, most) in [(10, 8_000.0), (50, 12_000.0)] {
        for threads in [1, 2] {
            let options = format!("--search depth --store compact --max-depth 400 --increment {increment}");
            let report = check(&format!("{model} {options} --threads {threads}")).json();
            let frontier = &report["stats"]["frontier"];
            let number = |field: &str| frontier[field].as_f64().expect("a number");
            assert!(number("replays") > 300.0 && number("steps_per_replay") < f64::from(increment), "{frontier}");
            assert!(frontier["kept_as"] == "tree" && number("peak_bytes") < most, "{frontier}");
        }
    }
}

#[test]
fn fields_are_those_of_the_manual_in_its_order() {
    let options = ["models/philosophers2.bir", "models/peterson2.bir", "models/hanoi.bir --max-states 9 --search dfs"];
    for options in options {
        let report = check(options).json();
        let expected = "schema birk model system constants engine store threads seed verdict coverage stopped_by \
                        properties stats unreached unexplored next traces reproduce continue";
        assert_eq!(fields(&report), expected.split_whitespace().collect::<Vec<_>>());
        let expected = "states transitions max_depth revisits pruned_by_assume seconds states_per_second \
                        peak_memory_bytes store_bytes_per_state state_bits";
        assert_eq!(fields(&report["stats"]), expected.split_whitespace().collect::<Vec<_>>());
        assert_eq!(fields(&report["unreached"]), ["transitions", "locations", "not_enabled", "unexplored", "pruned"]);
        for property in report["properties"].as_array().expect("a list") {
            assert_eq!(fields(property), ["name", "kind", "verdict", "grade", "source", "trace"]);
        }
        for trace in report["traces"].as_array().expect("a list") {
            let expected = ["property", "length", "loop", "steps", "states", "replay", "why", "explanation"];
            // Witnesses are explained only where that is asked for.
            assert_eq!(fields(trace), expected[..7 + usize::from(report["verdict"] == "violated")]);
            let (steps, states) = (trace["steps"].as_array(), trace["states"].as_array());
            assert_eq!(steps.map(Vec::len).zip(Some(1)).map(|(a, b)| a + b), states.map(Vec::len));
            for step in steps.expect("a list") {
                assert_eq!(fields(step), ["thread", "from", "to", "source", "changes"]);
                assert_eq!(fields(&step["source"]), ["line", "column"]);
            }
        }
        assert_eq!((&report["schema"], &report["birk"]), (&1.into(), &env!("CARGO_PKG_VERSION").into()));
    }
}

#[test]
fn the_documented_schema_is_that_of_the_types() {
    let path = root().join("docs/src/report.schema.json");
    let schemas = birk("schema").exits(0).quietly().out;
    if std::env::var_os("BIRK_BLESS").is_some() {
        fs::write(&path, &schemas).expect("writable");
    }
    assert_eq!(fs::read_to_string(path).expect("readable"), schemas, "run this test with BIRK_BLESS=1");
    // A report with a field too many, one too few, or a wrong type is not as the schema says.
    let schema = jsonschema::draft202012::new(&binary::schemas()["check"]).expect("a schema");
    let report = check("models/philosophers2.bir").json();
    assert!(schema.is_valid(&report));
    let changed = |change: fn(&mut Value)| {
        let mut report = report.clone();
        change(&mut report);
        schema.is_valid(&report)
    };
    assert!(!changed(|report| report["more"] = 1.into()));
    assert!(!changed(|report| drop(report.as_object_mut().expect("an object").remove("verdict"))));
    assert!(!changed(|report| report["stats"]["revisits"] = "none".into()));
    assert!(!changed(|report| report["traces"][0]["steps"][0]["to"] = 5.into()));
}

#[test]
fn coverage_has_the_fields_of_its_kind() {
    let coverage = |options: &str| check(options).json()["coverage"].to_string();
    assert_eq!(
        coverage("models/peterson2.bir"),
        r#"{"kind":"complete","grade":"A","statement":"A, exhaustive: every reachable state"}"#
    );
    assert_eq!(
        coverage("models/hanoi.bir --max-depth 3"),
        r#"{"kind":"depth","depth":3,"grade":"B","statement":"B, complete to depth 3: every state within 3 steps of the start; the depth limit was reached"}"#
    );
    assert_eq!(
        coverage("models/hanoi.bir --max-states 9 --search dfs"),
        r#"{"kind":"partial","states":10,"grade":"D","statement":"D, partial: 10 states, with no claim about others; the state limit was reached"}"#
    );
}

/// Whatever the search was, the statement has the words of the report for people.
#[test]
fn the_coverage_statement_is_that_of_the_report_for_people() {
    let searches = [
        "philosophers2.bir",
        "philosophers_swapped.bir --max-depth 4",
        "philosophers_swapped.bir --search dfs --max-states 100",
        "philosophers_swapped.bir --search dfs --store bitstate --memory 64M",
        "philosophers_swapped.bir --search highway --width 3",
        "philosophers_swapped.bir --store compact",
        "philosophers_swapped.bir --reduce auto",
        "philosophers_swapped.bir --reduce auto --max-depth 3",
        "philosophers_swapped.bir --symmetry auto",
        "philosophers_swapped.bir --search ic3",
        "german_liveness.bir",
        "german_liveness.bir --property served",
        "german_liveness.bir --max-states 50",
        "hanoi.bir --search bdd --max-depth 4",
        "branching_lock.bir --max-states 5",
        "branching_lock.bir --max-states 5 --property can_be_served",
        "promela/peterson.pml --property exclusion",
        "promela/retransmit.pml",
        "dve/request.dve",
    ];
    for options in searches {
        let words = format!("check models/{options} --threads 1 --seed 0");
        let (text, report) = (birk(&words).out, birk(&format!("{words} --format json")).json());
        let line = text.lines().find_map(|line| line.strip_prefix("covered: ")).expect("a line");
        assert_eq!(report["coverage"]["statement"], line, "{options}");
    }
}

/// Where a property is stated: in its own file, from its first letter to behind its last, in letters, not in bytes.
#[test]
fn properties_have_their_place_in_the_source() {
    let folder = folder("property_places");
    let text = "system S {\n  boolean b;\n  active thread T() { loc l: do { b := !b; } goto l; }\n  \
                /* ä🙂 */ invariant one: b ||\n    !b; reachable two: b;\n}\n";
    fs::write(folder.join("s.bir"), text).expect("writable");
    let places = |model: &str| -> Vec<Value> {
        let report = run(command(BIRK).current_dir(&folder).args(["check", model, "--format", "json"])).json();
        report["properties"].as_array().expect("a list").iter().map(|p| p["source"].clone()).collect()
    };
    let place = |file: &str, [line, column, end_line, end_column]: [u32; 4]| {
        serde_json::json!({
            "file": file, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        })
    };
    let expected = [Value::Null, Value::Null, place("s.bir", [4, 12, 5, 8]), place("s.bir", [5, 9, 5, 26])];
    assert_eq!(places("s.bir"), expected);
    fs::write(folder.join("claims.inc"), "\nltl one { [] (x < 2) }\n").expect("writable");
    fs::write(folder.join("s.pml"), "byte x;\nactive proctype P() { x = 1 }\n#include \"claims.inc\"\n")
        .expect("writable");
    assert_eq!(places("s.pml").last(), Some(&place("claims.inc", [2, 5, 2, 8])));
}

/// A formula is searched in a product, which has states of its own.
#[test]
fn coverage_counts_the_states_of_the_model() {
    let check = "check models/german_liveness.bir --max-states 50 --threads 1";
    let report = birk(&format!("{check} --format json")).json();
    assert_eq!(report["coverage"]["kind"], "partial");
    assert_eq!(report["coverage"]["states"], report["stats"]["states"]);
    birk(check).prints(&format!("D, partial: {} states, with no claim about others", report["stats"]["states"]));
}

#[test]
fn standard_output_holds_one_object_and_people_are_told_on_standard_error() {
    let answer = check("models/rejected/warnings.bir");
    assert!(answer.json().is_object());
    answer.says("warning[W");
    let answer = check("models/rejected/unknown_name.bir").exits(2);
    assert_eq!(answer.out, "");
    let answer = check("models/philosophers2.bir --trace").exits(2);
    assert_eq!(answer.out, "");
}

// Progress.

#[test]
fn progress_is_one_object_a_line_on_standard_error() {
    let answer = check("models/counters_mod8.bir -D K=9 --search bfs --time 400ms --progress json").exits(3);
    assert_eq!(answer.json()["stopped_by"], "time");
    let lines: Vec<Value> = answer.err.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(!lines.is_empty());
    for line in &lines {
        let expected = ["seconds", "states", "transitions", "depth", "frontier", "states_per_second", "memory_bytes"];
        assert_eq!(fields(line), expected);
        assert!(expected.iter().all(|field| line[field].is_number()), "{line}");
    }
    check("models/counters_mod8.bir -D K=9 --search bfs --time 300ms --progress off").exits(3).quietly();
}

// Traces.

/// A folder with a model and a trace of its first violation.
fn traced(name: &str, model: &str, options: &str) -> (std::path::PathBuf, Value) {
    let folder = folder_with(name, model);
    let line = format!("check {model} {options} --trace trace.json");
    run(command(BIRK).current_dir(&folder).args(line.split_whitespace())).exits(1);
    let trace = serde_json::from_str(&fs::read_to_string(folder.join("trace.json")).expect("readable"));
    (folder, trace.expect("JSON"))
}

fn replay(folder: &Path, model: &str, trace: &Value, options: &[&str]) -> Answer {
    fs::write(folder.join("given.json"), trace.to_string()).expect("writable");
    run(command(BIRK).current_dir(folder).args(["replay", model, "given.json"]).args(options))
}

#[test]
fn traces_are_itf_files_that_replay() {
    let cases = [
        ("philosophers2.bir", "", "`deadlock`"),
        ("sum_to_n.bir", "-D N=7", "`fault`"),
        ("pathfinder.bir", "", "`fault`"),
        ("philosophers_ring.bir", "-D N=4", "`deadlock`"),
        ("lost_wakeup.bir", "", "decides `"),
        ("workers_overstart.bir", "", "decides `"),
        ("bakery_overflow.bir", "--search dfs", "decides `"),
    ];
    for (model, options, decided) in cases {
        let (folder, trace) = traced(&format!("itf_{model}"), model, options);
        let defines: Vec<&str> = options.split(' ').filter(|_| options.starts_with("-D")).collect();
        assert_eq!(trace["#meta"]["format"], "ITF", "{model}");
        let is_named = |state: &Value| state.get("Philosopher2@").is_none_or(Value::is_string);
        assert!(is_named(&trace["states"][0]), "a thread that exists once is not a list");
        let vars: Vec<&str> = trace["vars"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        for (index, state) in trace["states"].as_array().expect("a list").iter().enumerate() {
            assert_eq!(state["#meta"]["index"], index);
            let names: Vec<&str> = fields(state).into_iter().filter(|name| *name != "#meta").collect();
            assert_eq!(names, vars, "{model}");
        }
        replay(&folder, model, &trace, &defines).exits(0).quietly().prints("the trace fits the model").prints(decided);

        // Other tools write no steps of ours: the states alone are enough.
        let mut bare = trace.clone();
        bare["#meta"] = Value::Null;
        for state in bare["states"].as_array_mut().expect("a list") {
            state.as_object_mut().expect("an object").remove("#meta");
        }
        replay(&folder, model, &bare, &defines).exits(0).prints("the trace fits the model").prints(decided);
    }
}

#[test]
fn numbers_of_other_tools_are_read() {
    let (folder, trace) = traced("bigint", "sum_to_n.bir", "");
    let text = trace.to_string().replace("\"x\":2", "\"x\":{\"#bigint\":\"2\"}");
    assert!(text.contains("#bigint"));
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    replay(&folder, "sum_to_n.bir", &trace, &[]).exits(0).prints("decides `fault`");
}

#[test]
fn a_trace_that_was_tampered_with_is_refused() {
    let (folder, trace) = traced("tampered", "philosophers2.bir", "");
    let refused = |change: &dyn Fn(&mut Value), reason: &str| {
        for steps_too in [false, true] {
            let mut changed = trace.clone();
            change(&mut changed);
            if steps_too && changed["#meta"].is_object() {
                changed["#meta"]["replay"].take();
            }
            replay(&folder, "philosophers2.bir", &changed, &[]).exits(2).says("birk: ").says(reason);
        }
    };
    let misfit = "the trace does not fit the model: step ";
    refused(&|trace| trace["states"][2]["fork1"] = false.into(), misfit);
    refused(&|trace| trace["states"][0]["fork1"] = true.into(), misfit);
    refused(&|trace| trace["states"][1]["Philosopher1@"] = "loc2".into(), misfit);
    refused(&|trace| trace["states"][1]["Philosopher1@"] = 1.into(), misfit);
    refused(&|trace| trace["states"][1]["fork2"] = Value::Null, misfit);
    refused(&|trace| trace["states"][1] = 5.into(), misfit);
    refused(&|trace| drop(trace["states"].as_array_mut().expect("a list").remove(1)), misfit);
    refused(&|trace| drop(trace["states"][1].as_object_mut().expect("an object").remove("fork2")), "missing");
    refused(&|trace| trace["states"] = Value::Array(Vec::new()), "it has no `states`");
    refused(&|trace| *trace = 3.into(), "it has no `states`");
    let mut steps = trace.clone();
    steps["#meta"]["replay"] = "0:0,9".into();
    replay(&folder, "philosophers2.bir", &steps, &[]).exits(2).says("step 2: no successor 9, there are 2");
    fs::write(folder.join("text.json"), "not JSON").expect("writable");
    let text = run(command(BIRK).current_dir(&folder).args(["replay", "philosophers2.bir", "text.json"]));
    text.exits(2).says("text.json: not JSON");
}

#[test]
fn a_trace_of_another_model_is_refused() {
    let (folder, trace) = traced("another", "philosophers2.bir", "");
    let other = root().join("models/peterson2.bir");
    replay(&folder, &other.display().to_string(), &trace, &[]).exits(2).says("the trace does not fit the model");
    let (folder, trace) = traced("constants", "sum_to_n.bir", "-D N=5");
    replay(&folder, "sum_to_n.bir", &trace, &[]).exits(2).says("the trace does not fit the model");
    replay(&folder, "sum_to_n.bir", &trace, &["-D", "N=5"]).exits(0);
}

/// By its values alone, the stuttering step could be taken for the failing one, and then nothing could follow.
#[test]
fn a_fault_does_not_hide_a_step_that_goes_on() {
    let folder = folder("stutter");
    let text = "system S { boolean b; boolean c;
        active thread Fails() { loc l: when !c do { assert b; } goto l; }
        active thread Idles() { loc l: do { skip; } goto l; }
        active thread Ends() { loc l: when !c do { c := true; } return; }
        invariant open: !c; }";
    fs::write(folder.join("s.bir"), text).expect("writable");
    let at = |c: bool, end: &str| {
        let names = ["Fails@", "Idles@"].map(|name| format!("\"{name}\":\"l\"")).join(",");
        format!("{{\"b\":false,\"c\":{c},{names},\"Ends@\":\"{end}\"}}")
    };
    let states = [at(false, "l"), at(false, "l"), at(true, "terminated")].join(",");
    let trace: Value = serde_json::from_str(&format!("{{\"states\":[{states}]}}")).expect("JSON");
    replay(&folder, "s.bir", &trace, &[]).exits(0).prints("decides `open`");
}

#[test]
fn a_search_without_a_trace_writes_no_file_and_says_so() {
    let folder = folder_with("traceless", "peterson2.bir");
    let answer = run(command(BIRK).current_dir(&folder).args(["check", "peterson2.bir", "--trace", "trace.json"]));
    answer.exits(0).says("there is no trace, so trace.json was not written");
    assert!(!folder.join("trace.json").exists());
}

#[test]
fn the_replay_line_of_a_report_walks_the_same_way() {
    let report = birk("check models/philosophers2.bir").exits(1).prints("  replay: 0:0,1\n").out;
    let table = report.split("deadlock in 2 steps:\n\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let replayed = birk("replay models/philosophers2.bir 0:0,1").exits(0).quietly();
    // Marks are of reports.
    replayed
        .prints(&table.expect("a table").replace('·', " "))
        .prints("its last state, after 2 steps, decides `deadlock`");
    birk("replay models/philosophers2.bir 0:0").exits(0).prints("after 1 step, decides no property");
    birk("replay models/philosophers2.bir 0:").exits(0).prints("after 0 steps, decides no property");
    birk("replay models/philosophers2.bir 0:0,1,0").exits(2).says("step 3: no successor 0, there are 0");
    birk("replay models/philosophers2.bir 1:0").exits(2).says("there is no initial state 1");
}

// The line that repeats a search.

#[test]
fn the_reproduce_line_gives_the_same_answer() {
    let lines = [
        "models/philosophers2.bir",
        "models/sum_to_n.bir -D N=5 --search dfs --seed 3",
        "models/philosophers_swapped.bir -D N=6 --max-depth 7 --accept depth:7",
        "models/philosophers_ring.bir --keep-going --deadlock off",
        "models/workers.bir --define SLOTS=3 --property overtaken --property fault --max-states 100",
        "models/hanoi.bir --memory 256M --time 1h",
    ];
    for options in lines {
        let first = check(options);
        let again = repeat(&root(), &first.json());
        assert_eq!((again.code, comparable(&again)), (first.code, comparable(&first)), "{options}");
    }
}

#[test]
fn the_reproduce_line_is_quoted_for_the_shell() {
    let folder = folder("quoted");
    let model = "it's a $model & more.bir";
    fs::copy(root().join("models/philosophers2.bir"), folder.join(model)).expect("the model can be copied");
    let first = run(command(BIRK).current_dir(&folder).args(["check", model, "--format", "json"]));
    let again = repeat(&folder, &first.json());
    assert_eq!(comparable(&again), comparable(&first));
}

#[test]
fn the_reproduce_line_needs_neither_environment_nor_file() {
    let folder = folder_with("elsewhere", "sum_to_n.bir");
    let file = "keep-going = true\nmax-depth = 30\ndefine = { N = 9 }\n[profile.p]\nkeep-going = false\nseed = 4\n";
    fs::write(folder.join("birk.toml"), file).expect("writable");
    let mut first = command(BIRK);
    first.current_dir(&folder).env("BIRK_SEARCH", "dfs").env("BIRK_PROFILE", "p").env("BIRK_FORMAT", "json");
    let first = run(first.args(["check", "sum_to_n.bir"]));
    let report = first.json();
    let expected = "birk check sum_to_n.bir -D N=9 --search dfs --max-depth 30 --seed 4 --keep-going=false";
    assert_eq!(report["reproduce"], expected);
    // With the file but without profile and environment, and then without any of them.
    assert_eq!(comparable(&repeat(&folder, &report)), comparable(&first));
    fs::remove_file(folder.join("birk.toml")).expect("it was there");
    assert_eq!(comparable(&repeat(&folder, &report)), comparable(&first));
}

/// Runs the line of a report in a shell.
fn repeat(folder: &Path, report: &Value) -> Answer {
    let line = format!("{} --format json", report["reproduce"].as_str().expect("a line"));
    let bin = Path::new(BIRK).parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    run(command("sh").current_dir(folder).env("PATH", path).args(["-c", &line]))
}

fn comparable(answer: &Answer) -> Value {
    let mut report = answer.json();
    report["stats"] = ["states", "transitions", "max_depth"].map(|key| report["stats"][key].clone()).to_vec().into();
    if report["next"]["depth"].is_number() {
        report["next"] = ["depth", "states"].map(|key| report["next"][key].clone()).to_vec().into();
    }
    report
}

/// Each of `Worker`'s transitions is never taken for another reason.
const REASONS: &str = "system Reasons {
  int (0, 9) n := 0;
  active thread Worker() {
    loc idle:
      when n < 3 do { n := n + 1; } goto idle;
      when n == 7 do { } goto idle;
      when n == 1 do { assume n == 2; } goto idle;
      when n == 3 do { } goto away;
    loc away:
      when true do { } goto idle;
  }
}
";

#[test]
fn what_was_never_taken_is_told_apart() {
    let folder = folder("reasons");
    fs::write(folder.join("reasons.bir"), REASONS).expect("writable");
    let check = |options: &str| {
        let words = format!("check reasons.bir --format json {options}");
        run(command(BIRK).current_dir(&folder).args(words.split_whitespace())).json()
    };
    let whole = check("");
    assert_eq!(whole["coverage"]["grade"], "A");
    let unreached = &whole["unreached"];
    assert_eq!(unreached["transitions"], serde_json::json!(["Worker.idle #2", "Worker.idle #3"]));
    assert_eq!(unreached["not_enabled"][0]["transition"], "Worker.idle #2");
    assert_eq!(unreached["not_enabled"][0]["guard"], "n == 7");
    assert_eq!(unreached["not_enabled"].as_array().map(Vec::len), Some(1));
    assert_eq!(unreached["pruned"], serde_json::json!(["Worker.idle #3"]));
    assert_eq!(
        (&unreached["unexplored"], &whole["unexplored"], &whole["next"]),
        (&serde_json::json!([]), &Value::Null, &Value::Null)
    );
    // The state with n = 3 lies at the limit, and from it a new location can be reached.
    for engine in ["bfs", "dfs", "depth", "highway", "dfs --store bitstate"] {
        let part = check(&format!("--max-depth 3 --search {engine}"));
        assert_eq!(part["unreached"]["unexplored"], serde_json::json!(["Worker.idle #4"]), "{engine}");
        assert_eq!(part["unreached"]["locations"], serde_json::json!(["Worker.away"]), "{engine}");
        let at = serde_json::json!([{"thread": "Worker", "location": "idle", "steps": 1}]);
        let unexplored = serde_json::json!({"states": 1, "examined": 1, "estimated": false, "at": at});
        assert_eq!(part["unexplored"], unexplored, "{engine}");
        let grade = if ["bfs", "depth"].contains(&engine) { "B" } else { "D" };
        assert_eq!((&part["coverage"]["grade"], &part["properties"][0]["grade"]), (&grade.into(), &grade.into()));
    }
}

/// Only some copies of each kind of thread go on.
const COPIES: &str = "system Copies {
  active [3] thread Left(int i) {
    loc here: when i != 1 do { } goto away;
    loc away: when true do { } goto away;
  }
  active [2] thread Right(int i) {
    loc here: when i == 1 do { } goto away;
    loc away: when true do { } goto away;
  }
}
";

#[test]
fn locations_are_entered_by_the_copy_that_goes_there() {
    let folder = folder("copies");
    fs::write(folder.join("copies.bir"), COPIES).expect("writable");
    for engine in ["bfs", "bdd-chain"] {
        let words = ["check", "copies.bir", "--format", "json", "--property", "fault", "--search", engine];
        let report = run(command(BIRK).current_dir(&folder).args(words)).json();
        assert_eq!(report["unreached"]["locations"], serde_json::json!(["Left[1].away", "Right[0].away"]), "{engine}");
    }
}

/// What was not checked has an E, and so has the whole; what a run decides has no grade.
#[test]
fn grades_of_what_was_not_checked() {
    let grades = |options: &str| {
        let report = check(options).json();
        let each: Vec<String> =
            report["properties"].as_array().expect("a list").iter().map(|p| p["grade"].to_string()).collect();
        (each.join(" "), report["coverage"]["grade"].to_string())
    };
    let folder = folder("unchecked");
    let formula =
        REASONS.replace("system Reasons {", "system Reasons {\n  ltl comes: <> (n == 3);\n  invariant small: n < 2;");
    fs::write(folder.join("unchecked.bir"), formula).expect("writable");
    let model = folder.join("unchecked.bir").display().to_string();
    assert_eq!(grades(&model), ("\"B\" \"A\" \"E\" null".into(), "\"E\"".into()));
    assert_eq!(grades(&format!("{model} --keep-going")), ("\"A\" \"A\" \"A\" null".into(), "\"A\"".into()));
    assert_eq!(grades(&format!("{model} --property comes")), ("\"A\"".into(), "\"A\"".into()));
    // Enough for partial coverage is not enough for what was not checked.
    birk("check models/counters_mod8.bir -D K=9 --time 100ms --accept partial").exits(0);
}

/// The line that goes on.
#[test]
fn the_continue_line_goes_on_where_the_search_ended() {
    let lines = [
        ("models/philosophers_swapped.bir -D N=6 --max-depth 7", "depth", "--max-depth 8"),
        ("models/philosophers_swapped.bir --max-depth 1", "depth", "--max-depth 2"),
        ("models/philosophers_swapped.bir --max-states 100 --search dfs", "states", "--max-states 200"),
        ("models/counters_mod8.bir -D K=9 --time 100ms", "time", "--time 200ms"),
        ("models/counters_mod8.bir -D K=6 --memory 500K", "memory", "--memory 1000K"),
        ("models/philosophers_ring.bir --keep-going=false", "violation", "--keep-going"),
        ("models/philosophers_swapped.bir --search highway --width 2", "exhausted", "--seed 1"),
        ("models/paxos.bir --store compact", "exhausted", "--store exact"),
        ("models/philosophers_swapped.bir --store bitstate --search dfs --memory 64M", "exhausted", "--swarm 4"),
    ];
    let place = |report: &Value| report["coverage"]["depth"].as_u64().or(report["stats"]["states"].as_u64());
    for (options, stop, more) in lines {
        let first = check(options).json();
        assert_eq!(first["stopped_by"], stop, "{options}");
        let line = first["continue"].as_str().expect("a line");
        assert!(line.contains(more), "{options}: {line}");
        let mut again = first.clone();
        again["reproduce"] = line.into();
        let second = repeat(&root(), &again).json();
        let is_other = stop == "exhausted" && more.starts_with("--seed");
        let is_better = is_other || second["coverage"]["kind"] == "complete" || place(&second) >= place(&first);
        assert!(is_better, "{options}: {} after {}", second["coverage"], first["coverage"]);
    }
    assert_eq!(check("models/peterson2.bir").json()["continue"], Value::Null);
}

/// For editors: every message is an object as the schema says, and its edits repair the model.
#[test]
fn diagnostics_for_programs_carry_edits() {
    let folder = folder("diagnostics_json");
    let schema = jsonschema::draft202012::new(&binary::schemas()["diagnostics"]).expect("a schema");
    let mut text = fs::read_to_string(root().join("models/rejected/several_errors.bir")).expect("readable");
    fs::write(folder.join("m.bir"), &text).expect("writable");
    let check = || run(command(BIRK).current_dir(&folder).args(["check", "m.bir", "--diagnostics", "json"]));
    let answer = check().exits(2);
    let mut found: Vec<serde_json::Value> =
        answer.err.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    assert_eq!(found.len(), 4);
    for one in &found {
        assert!(schema.is_valid(one), "{one}");
        assert_eq!((&one["severity"], &one["place"]["file"]), (&"error".into(), &"m.bir".into()));
    }
    assert_eq!((&found[1]["place"]["line"], &found[1]["place"]["column"]), (&10.into(), &13.into()));
    // From the last to the first, so that places stay where they are.
    found.reverse();
    for fix in found.iter().map(|one| &one["fix"]) {
        let at = |name: &str| fix["place"][name].as_u64().expect("a number") as usize;
        text.replace_range(at("start")..at("end"), fix["replacement"].as_str().expect("a string"));
    }
    fs::write(folder.join("m.bir"), &text).expect("writable");
    let repaired = check();
    assert!(!repaired.err.contains("\"error\"") && repaired.code != Some(2), "{}{}", repaired.err, text);
}
