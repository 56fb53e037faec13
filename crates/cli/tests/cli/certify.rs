//! `--certificate` and `birk certify` as a user runs them: the round trip on models of the corpus, and files that are damaged, are about
//! something else, or prove nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::binary::{Answer, birk, folder, root};

/// Checks a model with options, which writes a certificate.
#[track_caller]
fn written(name: &str, check: &str) -> PathBuf {
    let path = folder(&format!("certify_{name}")).join("certificate");
    birk(&format!("check {check} --progress off --certificate {}", path.display())).exits(0);
    assert!(path.exists(), "{check}");
    path
}

fn certify(model: &str, path: &Path) -> Answer {
    birk(&format!("certify {model} {}", path.display()))
}

/// The number of states or clauses that a certificate has.
#[track_caller]
fn certified(model: &str, path: &Path, kind: &str, count: &str) -> u64 {
    let report = certify(&format!("{model} --format json"), path).exits(0).quietly().json();
    assert_eq!((&report["verdict"], &report["evidence"]["kind"]), (&"certified".into(), &kind.into()));
    report["evidence"][count].as_u64().expect("a number")
}

#[test]
fn visited_states_of_the_corpus_are_certified() {
    let models = [
        ("peterson", "models/peterson2.bir", ""),
        ("counters", "models/counters_mod8.bir -D K=4", "--search dfs"),
        ("abp", "models/abp.bir", "--search depth"),
        ("german", "models/german.bir -D N=2", "--search bfs --threads 2"),
        ("dekker", "models/dekker.bir", "--search astar --property deadlock --property fault"),
        ("waiter", "models/philosophers_waiter.bir", "--search disk"),
    ];
    for (name, model, options) in models {
        let path = written(name, &format!("{model} {options}"));
        let report = birk(&format!("check {model} --format json --progress off --search bfs")).exits(0).json();
        assert_eq!(certified(model, &path, "states", "states"), report["stats"]["states"].as_u64().expect("a number"));
        assert_eq!(certified(model, &path, "states", "transitions"), report["stats"]["transitions"]);
    }
}

#[test]
fn promela_and_dve_are_certified() {
    let mut tried = 0;
    for folder in ["models/promela", "models/dve"] {
        for entry in fs::read_dir(root().join(folder)).expect("it is there") {
            let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
            let model = format!("{folder}/{name}");
            let is_model = name.ends_with(".pml") || name.ends_with(".dve");
            let check = format!("check {model} --progress off --search bfs --max-states 20000");
            if is_model && birk(&check).code == Some(0) {
                let path = written(&name, &format!("{model} --search bfs"));
                certified(&model, &path, "states", "states");
                tried += 1;
            }
        }
    }
    assert!(tried >= 3, "{tried} models were tried");
}

#[test]
fn invariants_are_certified_and_readable() {
    let model = "models/peterson2.bir";
    let path = written("ic3", &format!("{model} --search ic3"));
    assert!(certified(model, &path, "invariants", "clauses") > 0);
    let text = fs::read_to_string(&path).expect("it is text");
    assert!(text.starts_with("birk certificate, version 1: inductive invariants\nsystem Peterson\n"), "{text}");
    assert!(
        text.contains("\nproperty invariant exclusion: ") && text.contains("\ninvariant of exclusion\nnever "),
        "{text}"
    );
    certify(model, &path).exits(0).quietly().prints("certified: invariant `exclusion` holds");
    for model in ["models/german.bir -D N=2 --property coherent", "models/dekker.bir"] {
        let path = written("ic3_more", &format!("{model} --search ic3"));
        certified(model.split(" --property").next().expect("a part"), &path, "invariants", "clauses");
    }
}

#[test]
fn what_is_not_covered_is_said() {
    let model = "models/german.bir -D N=2";
    let path = written("uncovered", &format!("{model} --property coherent"));
    let answer = certify(model, &path).exits(0).prints("certified: invariant `coherent` holds");
    answer.prints("not certified: `deadlock`, of which the certificate says nothing");
}

#[test]
fn without_a_proof_nothing_is_written() {
    let folder = folder("certify_nothing");
    let path = folder.join("certificate");
    let check = |options: &str| birk(&format!("check {options} --progress off --certificate {}", path.display()));
    check("models/broken_mutex.bir").exits(1).says("the search stopped at a violation, so");
    check("models/broken_mutex.bir --search ic3 --property fault")
        .exits(1)
        .says("the search stopped at a violation, so");
    check("models/hanoi.bir --max-depth 3 --search bfs").exits(3).says("the search is not complete, so");
    for refused in [
        "--reduce auto",
        "--symmetry auto",
        "--store compact",
        "--search dfs --store bitstate",
        "--search highway --width 10",
        "--search bdd-astar",
        "--search bmc",
        "--search bfs --checkpoint kept",
    ] {
        check(&format!("models/peterson2.bir {refused}"))
            .exits(2)
            .says("--certificate needs all states, or an invariant: ");
    }
    assert!(!path.exists());
}

#[test]
fn what_is_damaged_is_not_used() {
    let model = "models/peterson2.bir";
    let path = written("damaged", model);
    let whole = fs::read(&path).expect("it is there");
    let refused = |bytes: &[u8], why: &str| {
        fs::write(&path, bytes).expect("writable");
        certify(model, &path).exits(2).says("cannot be used: ").says(why);
    };
    refused(&whole[..whole.len() - 1], "as if it were cut off");
    refused(&whole[..whole.len() / 2], "as if it were cut off");
    refused(b"", "it is not a certificate");
    let mut bent = whole.clone();
    bent[whole.len() - 40] ^= 4;
    refused(&bent, "its checksum does not match");
    refused(&String::from_utf8_lossy(&whole).replace("version 1", "version 7").into_bytes(), "another version");
    certify(model, Path::new("nowhere")).exits(4).says("cannot read nowhere");
}

#[test]
fn another_model_is_noticed() {
    let path = written("other", "models/counters_mod8.bir -D K=4");
    certify("models/counters_mod8.bir -D K=3", &path)
        .exits(2)
        .says("`constant K = 4`")
        .says("`constant K = 3`")
        .says("-D");
    certify("models/peterson2.bir", &path).exits(2).says("`system Peterson`");
    // Another step of the same model, and a comment more.
    let text = fs::read_to_string(root().join("models/peterson2.bir")).expect("it is there");
    let path = written("text", "models/peterson2.bir");
    let other = path.with_file_name("other.bir");
    let model = other.display().to_string();
    fs::write(&other, format!("// A comment.\n{text}")).expect("writable");
    certify(&model, &path).exits(0);
    let bent = text.replacen("turn := 1", "turn := 0", 1);
    assert_ne!(bent, text, "the model has such a step");
    fs::write(&other, bent).expect("writable");
    certify(&model, &path).exits(2).says("another text of this model");
}

#[test]
fn a_proof_that_is_none_is_an_internal_error() {
    let model = "models/peterson2.bir";
    let path = written("none", &format!("{model} --search ic3 --property exclusion"));
    let text = fs::read_to_string(&path).expect("it is text");
    let (whole, _) = text.rsplit_once("checksum ").expect("it ends with its checksum");
    // Without its first clause, and with a checksum that fits.
    let first = whole.lines().find(|line| line.starts_with("never ")).expect("it has a clause");
    let bent = whole.replace(&format!("{first}\n"), "");
    let sum =
        bent.bytes().fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    fs::write(&path, format!("{bent}checksum {sum:016x}\n")).expect("writable");
    let answer = certify(model, &path).exits(70).says("fails: the invariant of `exclusion` proves nothing: ");
    assert_eq!(answer.out, "");
    let report = certify(&format!("{model} --format json"), &path).exits(70).json();
    assert_eq!((&report["verdict"], &report["evidence"]), (&"fails".into(), &serde_json::Value::Null));
}

/// A circuit has a witness circuit, whose bad is excluded, too; nothing else has one.
#[test]
fn circuits_have_witness_circuits() {
    for name in ["witness.aag", "witness.aig"] {
        let path = folder("certify_witness").join(name);
        let certificate = format!("--search ic3 --progress off --certificate {}", path.display());
        birk(&format!("check models/aiger/fifo_broken.aag {certificate}"))
            .exits(1)
            .says("so ")
            .says(" was not written");
        assert!(!path.exists(), "the bad is reached");
        birk(&format!("check models/aiger/fifo.aag {certificate}")).exits(0).quietly();
        birk(&format!("check {} --search ic3 --progress off", path.display())).exits(0).prints("holds");
        let refused = birk(&format!("check models/peterson2.bir {certificate}"));
        refused.exits(2).says("this model is no circuit").says("such as .cert");
    }
}

/// A certificate of executions says how often they are accepted, beside what it says of states; with another bound it proves nothing.
#[test]
fn properties_of_executions_are_certified() {
    let folder = folder("certify_runs");
    let (model, path) = (folder.join("turns.bir"), folder.join("certificate"));
    let text = "system Turns { int (0, 1) turn; int (0, 3) inside;
        active thread A() { loc l: when turn == 0 do { turn := 1; inside := 1; } goto l; }
        active thread B() { loc l: when turn == 1 do { turn := 0; inside := 0; } goto l; }
        active thread Other() { boolean up; loc l: do { up := !up; } goto l; }
        invariant good: turn == inside;
        ltl alternates: [] <> (turn == 1) && [] <> (turn == 0); }";
    fs::write(&model, text).expect("it can be written");
    let asked = format!("{} --progress off --search ic3 --fairness weak", model.display());
    birk(&format!("check {asked} --certificate {}", path.display())).exits(0).quietly().prints("accepted at most");
    let model = model.display().to_string();
    let said = certify(&model, &path).exits(0).quietly();
    let said = said
        .prints("certified: invariant `good` holds\n")
        .prints("`alternates` holds, under weak fairness: accepted at most ");
    said.prints("by ");
    let report = certify(&format!("{model} --format json"), &path).exits(0).json();
    let of = &report["properties"][3];
    assert_eq!((&of["name"], &of["kind"], &of["fairness"]), (&"alternates".into(), &"ltl".into(), &"weak".into()));
    assert_eq!(report["uncovered"], serde_json::json!([]));
    let most = of["bound"].as_u64().expect("a number");
    let text = fs::read_to_string(&path).expect("it is text");
    let bent = text.replace(&format!("at most {most} times"), &format!("at most {} times", most + 1));
    assert_ne!(bent, text);
    fs::write(&path, bent).expect("it can be written");
    certify(&model, &path).exits(2).says("cannot be used");
    // Where the property is no more what it was, the file is about another program.
    fs::write(&path, &text).expect("it can be written");
    let changed = folder.join("changed.bir");
    let other = fs::read_to_string(&model).expect("it is there").replace("(turn == 0); }", "(turn != 1); }");
    fs::write(&changed, other).expect("it can be written");
    certify(&changed.display().to_string(), &path).exits(2).says("cannot be used");
}
