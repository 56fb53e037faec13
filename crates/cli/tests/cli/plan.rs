//! `birk plan`: what is measured is of this model, what is assumed is what was said, and the rest follows.

use crate::binary::birk;

#[test]
fn every_number_is_measured_assumed_or_computed() {
    let plan = "plan models/philosophers_ring.bir -D N=5 --states 1e12 --machine-memory 1G --cores 4 --network 10";
    let report = birk(&format!("{plan} --format json")).exits(0).quietly().json();
    let searched = birk("check models/philosophers_ring.bir -D N=5 --search bfs --keep-going --format json").json();
    let (measured, assumed, plan) = (&report["measured"], &report["assumed"], &report["plan"]);
    assert_eq!((&measured["states"], &measured["is_complete"]), (&searched["stats"]["states"], &true.into()));
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let branching = number(&searched["stats"]["transitions"]) / number(&searched["stats"]["states"]);
    assert!((number(&measured["transitions_per_state"]) - branching).abs() < 1e-9);
    assert_eq!((number(&assumed["states"]), number(&assumed["memory_bytes"])), (1e12, f64::from(1 << 30)));
    assert_eq!((number(&assumed["network_bytes_per_second"]), &assumed["cores"]), (1.25e9, &4.into()));
    let memory = number(&plan["memory_bytes"]);
    assert!((memory / (1e12 * number(&measured["bytes_per_state"])) - 1.0).abs() < 1e-9);
    assert_eq!(number(&plan["machines"]), (memory / (0.8 * f64::from(1 << 30))).ceil());
    let processors = 1e12 * branching * number(&measured["nanoseconds_per_transition"]) * 1e-9;
    let least = processors / (number(&plan["machines"]) * 4.0 * 0.5);
    assert!(number(&plan["seconds"]) >= least * (1.0 - 1e-9), "{report:#}");
}

#[test]
fn people_read_what_is_assumed() {
    let answer =
        birk("plan models/counters_mod8.bir -D K=9 --states 1e12 --time 300ms --machines 3").exits(0).quietly();
    let answer = answer
        .prints("\nmeasured, with one thread of this machine:\n")
        .prints("\nassumed:\n  states                  1e12\n");
    answer.prints("\ncomputed from both:\n").prints("  machines                3\n").prints("\nnot measured: ");
    birk("plan models/counters_mod8.bir").exits(2).says("--states");
    birk("plan models/counters_mod8.bir --states many").exits(2).says("write a number from 1 to 1e18");
}
