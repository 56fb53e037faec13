//! Where a thread is and what it waits for, as reports name it: by the round of a `for`, by the arguments of a procedure.

use std::path::PathBuf;

use crate::binary::{birk, folder};

/// A file with this text.
fn model(name: &str, text: &str) -> PathBuf {
    let path = folder(&format!("names_{name}")).join("model.bir");
    std::fs::write(&path, text).expect("the file can be written");
    path
}

#[test]
fn a_thread_in_a_procedure_waits_for_the_arguments() {
    let text = "import \"std/mutex.bir\";
system S {
  boolean door;
  boolean[2] gates;
  procedure pass(boolean gate, int (0, 3) guests) { atomic { await gate && guests < 2; gate := false; } }
  active thread A() { lock(door); lock(door); }
  active [2] thread B(int me) { pass(gates[me], me); gates[me] := true; }
}
";
    let file = model("procedures", text);
    birk(&format!("check {}", file.display()))
        .exits(1)
        .prints("A    at line 6 (2) waits for `lock(door)` (door = true)")
        .prints("B[0] at line 7 waits for `pass(gates[me], me)` (gates[0] = false)")
        .prints("B[1] at line 7 waits for `pass(gates[me], me)` (gates[1] = false)")
        .prints("B.line 7 `pass(gates[me], me)`");
}

#[test]
fn locations_of_a_for_name_their_rounds() {
    let text = "system S {
  int (0, 9) total;
  active thread A() {
    for (i : 0 .. 1) {
      total := total + 1;
      for (k : 2 .. 3) { total := k; }
    }
    named: for (i : 0 .. 1) {
      total := 0;
    }
  }
  reachable done: A@named;
}
";
    let file = model("rounds", text);
    birk(&format!("simulate {}", file.display()))
        .exits(0)
        .prints("line 5 (i = 0) → line 6 (i = 0, k = 2)")
        .prints("line 6 (i = 0, k = 2) → line 6 (i = 0, k = 3)")
        .prints("line 6 (i = 1, k = 3) → named")
        .prints("named → line 9 (i = 1)")
        .prints("line 9 (i = 1) → terminated");
}

#[test]
fn what_waits_for_timeout_is_in_the_trace() {
    let retransmission = birk("check models/timeout/retransmission.bir -D BUG=1").exits(1);
    retransmission
        .prints("(items)  lossy → lossy")
        .prints("Sender   at waiting waits for `acks` (acks = [], Sender.bit = 0)");
    let text = "system S { boolean on; byte n;
  active thread T() { loc l: when timeout && on do { n := 1; } return; }
  active thread U() { loc l: when n == 2 do { } return; }
}
";
    let file = model("timeout", text);
    birk(&format!("check {}", file.display()))
        .exits(1)
        .prints("T at l waits for `timeout && on` (on = false, timeout = true)");
    birk("simulate models/timeout/token_loss.bir --steps 1").exits(0).prints("Monitor  watching → watching");
}
