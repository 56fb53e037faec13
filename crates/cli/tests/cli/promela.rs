//! What a report says about a model in Promela: its statements, its processes, and what was not checked.

use std::path::PathBuf;

use crate::binary::{birk, folder};

fn model(name: &str, text: &str) -> PathBuf {
    let path = folder(&format!("promela_{name}")).join("model.pml");
    std::fs::write(&path, text).expect("it can be written");
    path
}

const SEMAPHORE: &str = "mtype = { p, v }\nchan sema = [0] of { mtype };
proctype dijkstra() { do :: sema!p -> sema?v od }
proctype user() { sema?p; sema!v }
init { atomic { run dijkstra(); run user(); run user() } }
";

#[test]
fn a_trace_shows_statements_and_who_starts_whom() {
    let path = model("statements", SEMAPHORE);
    let found = birk(&format!("check {} --property deadlock", path.display())).exits(1);
    let table: Vec<&str> = found.out.lines().filter(|line| line.contains("sema") || line.contains("run ")).collect();
    assert!(table[0].contains("init         run dijkstra(); run user(); run…"), "{}", found.out);
    assert!(table[1].contains("dijkstra[1]  sema!p; sema?p"), "{}", found.out);
    assert!(found.out.contains("waits for `sema!p` (no process is ready to receive)"), "{}", found.out);
    assert!(found.out.contains("(a valid end state)"), "{}", found.out);
    assert!(!found.out.contains("_nr_pr="), "the model does not read it: {}", found.out);
    let replay = found.out.lines().find_map(|line| line.trim().strip_prefix("replay: ")).expect("it can be replayed");
    let chart = birk(&format!("replay {} {replay} --format mermaid", path.display())).exits(0).out;
    for arrow in ["T0->>T1: run dijkstra()", "T0->>T2: run user()", "T0->>T3: run user()", "T1->>T3: sema!p"] {
        assert!(chart.contains(arrow), "{arrow} is not in\n{chart}");
    }
}

#[test]
fn who_waits_at_a_buffer_is_told_with_its_contents() {
    let text = "mtype = { req, ack }\nchan q[2] = [2] of { mtype, byte };\n\
                active proctype A() { q[1]!req(1); q[1]!req(2); q[1]!req(3) }\n\
                active proctype B() { byte x; q[1]?ack(x) }\n";
    let found = birk(&format!("check {} --property deadlock", model("buffer", text).display())).exits(1).out;
    for wait in ["`q[1]!req(3)` (q[1] = [(req, 1), (req, 2)])", "`q[1]?ack(x)` (q[1] = [(req, 1), (req, 2)])"] {
        assert!(found.contains(wait), "{wait} is not in\n{found}");
    }
}

#[test]
fn automata_have_both_halves_of_a_rendezvous() {
    let path = model("automata", SEMAPHORE);
    let graph = birk(&format!("graph {} --threads=dijkstra[1]", path.display())).exits(0).out;
    for edge in ["t0_0 -> t0_1 [label=\"sema!p\"]", "t0_1 -> t0_0 [label=\"sema?v\"]"] {
        assert!(graph.contains(edge), "{edge} is not in\n{graph}");
    }
    let graph = birk(&format!("graph {} --threads=init", path.display())).exits(0).out;
    assert!(graph.contains("run dijkstra()\\nrun user()\\nrun user()"), "{graph}");
    // One process may go on in its `atomic` sequence after the other has sent.
    let text = "chan c = [0] of { byte }; byte n;\nactive proctype P() { c!1 }\n\
                active proctype Q() { byte x; atomic { c?x; n = x } }\n";
    let graph = birk(&format!("graph {} --threads", model("goes_on", text).display())).exits(0).out;
    assert!(graph.contains("[label=\"c!1\"]") && graph.contains("[label=\"c?x"), "{graph}");
}

/// A condition about the place of another process is no rendezvous.
#[test]
fn waiting_for_a_place_is_not_waiting_for_a_receiver() {
    let text = "active proctype P() { skip; done: skip; false }\nactive proctype Q() { P@done; skip }\n";
    let found = birk(&format!("check {} --property deadlock", model("place", text).display())).exits(1).out;
    assert!(found.contains("waits for `P@done` (P@ = "), "{found}");
    assert!(!found.contains("ready to receive"), "{found}");
}

#[test]
fn a_statement_is_reached_in_whichever_process_and_step() {
    let path = model("reached", &SEMAPHORE.replace("sema?p; sema!v", "sema?p; sema!v; assert(true); false; skip"));
    let found = birk(&format!("check {} --keep-going", path.display())).exits(1).out;
    let unreached =
        found.split("never reached:").nth(1).expect("something is").split("\n\n").next().unwrap_or_default();
    assert!(unreached.contains("user.line 4"), "{found}");
    for reached in ["dijkstra", "user[", "sema"] {
        assert!(!unreached.contains(reached), "`{reached}` in{unreached}\n{found}");
    }
    // Everything is reached but the end of `init`, which waits for the others.
    let whole = birk(&format!("check {} --keep-going", model("whole", SEMAPHORE).display())).exits(1).out;
    assert!(whole.contains("never reached:\n  not enabled  init.end (line 5)\n"), "{whole}");
}

#[test]
fn labels_that_are_not_asked_for_are_said_to_be_unchecked() {
    let text = "byte x; active proctype P() { do :: x = 1 - x :: accept: x = x od }";
    let path = model("labels", text);
    let quiet = birk(&format!("check {}", path.display())).exits(0);
    quiet.prints("  not checked  -  accept    labels; check them with --property accept");
    let json = birk(&format!("check {} --format json", path.display())).exits(0).json();
    assert_eq!(json["coverage"]["unchecked"], serde_json::json!(["accept"]));
    let asked = birk(&format!("check {} --property accept", path.display())).exits(1);
    assert!(!asked.out.contains("not checked"), "{}", asked.out);
    let other = birk(&format!("check {} --property fault", path.display())).exits(0);
    assert!(!other.out.contains("not checked"), "who names properties knows what is not among them: {}", other.out);
}

#[test]
fn formulas_name_labels_and_fairness_is_offered_where_it_matters() {
    let text = "byte x; active proctype P() { x = 1; done: x = 2; do :: skip od }
active proctype Q() { do :: skip od }
ltl safe { [] !P@done }
ltl live { <> (x == 2) }
";
    let path = model("formulas", text);
    let safe = birk(&format!("check {} --property safe", path.display())).exits(1).out;
    assert!(safe.contains("P@ == done"), "{safe}");
    assert!(!safe.contains("--fairness weak excludes"), "a finite prefix violates it: {safe}");
    let live = birk(&format!("check {} --property live", path.display())).exits(1).out;
    assert!(live.contains("--fairness weak excludes"), "{live}");
    birk(&format!("check {} --property live --fairness weak", path.display())).exits(0);
    birk(&format!("check {} --property safe --fairness weak", path.display())).exits(1);
}
