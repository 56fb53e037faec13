//! `birk graph`: pictures of the state graph and of the threads, and the same for programs.

use std::fs;

use serde_json::Value;

use crate::binary::{Answer, BIRK, birk, command, folder, run, schemas};

/// What was printed, read; it is as its schema says.
fn json(answer: &Answer) -> Value {
    let value: Value = serde_json::from_str(&answer.out).expect("it is JSON");
    let kind = if value.get("threads").is_some() { "graph --threads" } else { "graph" };
    let schema = jsonschema::draft202012::new(&schemas()[kind]).expect("a schema");
    if let Err(error) = schema.validate(&value) {
        panic!("{error} at {}", error.instance_path);
    }
    value
}

#[test]
fn small_graphs_are_drawn() {
    let picture = birk("graph models/philosophers2.bir --format svg").exits(0).quietly().out;
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert_eq!(picture.matches("<g class=\"box").count(), 10);
    assert_eq!(picture.matches("<g class=\"edge").count(), 14);
    assert_eq!(picture.matches(">✗ deadlock</text>").count(), 1);
    assert!(picture.contains("@media (prefers-color-scheme: dark)") && !picture.contains("href"));
    assert!(picture.contains(">TwoDiningPhilosophers: 10 states, 14 steps</text>"));
    // The initial state with all its values; of the others what changed.
    assert_eq!(picture.matches(">fork1 = false</text>").count(), 2, "{picture}");
    assert_eq!(birk("graph models/sum_to_n.bir --format svg --max-states 20000").exits(2).out, "");
    birk("graph models/counters_mod8.bir --format svg").exits(2).says("more than a picture of 400 shows");
}

/// The frames of a kind in a picture: left, top, right, bottom.
fn frames(picture: &str, kind: &str) -> Vec<[f64; 4]> {
    let groups = picture.split("<g class=\"").filter(|group| group.starts_with(kind));
    let number = |text: &str, name: &str| -> f64 {
        let rest = text.split(&format!(" {name}=\"")).nth(1).expect("an attribute");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let frame = |group: &str| {
        let rect = group.split("<rect").nth(1).expect("a frame");
        let [x, y, wide, high] = ["x", "y", "width", "height"].map(|name| number(rect, name));
        [x, y, x + wide, y + high]
    };
    groups.map(frame).collect()
}

#[test]
fn no_label_of_a_picture_overlaps_anything() {
    for (model, boxes) in [("philosophers_ring.bir -D N=3", 35), ("peterson2.bir", 20), ("hyman.bir", 30)] {
        let picture = birk(&format!("graph models/{model} --format svg")).exits(0).out;
        let labels = frames(&picture, "label");
        let states = frames(&picture, "box");
        assert_eq!(states.len(), boxes, "{model}");
        assert!(labels.len() >= boxes, "{model}: {} labels", labels.len());
        let all: Vec<[f64; 4]> = states.into_iter().chain(labels).collect();
        for (index, a) in all.iter().enumerate() {
            for b in &all[..index] {
                let overlaps = a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
                assert!(!overlaps, "{model}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn what_is_too_much_for_a_slide_is_said() {
    let large = birk("graph models/philosophers_ring.bir -D N=4 --format svg").exits(0);
    assert!(large.out.ends_with("</svg>\n"), "it is drawn all the same");
    large.says("118 states are more than 60").says("--search highway --width N").says("`birk explore`");
    birk("graph models/philosophers_ring.bir -D N=3 --format svg").exits(0).quietly();
}

#[test]
fn graphs_for_programs_have_values_and_verdicts() {
    let graph = json(&birk("graph models/philosophers2.bir --format json").exits(0).quietly());
    assert_eq!(graph["states"].as_array().map(Vec::len), Some(10));
    assert_eq!(graph["edges"].as_array().map(Vec::len), Some(14));
    assert_eq!(graph["states"][0]["values"]["Philosopher1@"], "loc0");
    let bad = graph["states"].as_array().into_iter().flatten().filter(|state| state["violated"][0] == "deadlock");
    assert_eq!(bad.count(), 1);
    assert_eq!(graph["edges"][0]["transition"], "Philosopher1.loc0");
}

#[test]
fn threads_are_printed_as_automata() {
    let dot = birk("graph models/philosophers2.bir --threads").exits(0).quietly().out;
    assert!(dot.starts_with("digraph ") && dot.contains("label=\"Philosopher2\""));
    assert!(dot.contains("t0_0 -> t0_1 [label=\"[!fork1]\\nfork1 := true\"]"), "{dot}");
    let one = json(&birk("graph models/philosophers2.bir --threads=Philosopher2 --format json").exits(0));
    assert_eq!(one["threads"].as_array().map(Vec::len), Some(1));
    let thread = &one["threads"][0];
    assert_eq!((&thread["name"], &thread["locations"][3]["name"]), (&"Philosopher2".into(), &"loc3".into()));
    assert_eq!(thread["edges"][0]["guard"], "!fork2");
    assert_eq!(thread["edges"][3]["actions"], serde_json::json!(["fork2 := false"]));
    assert_eq!(thread["edges"][3]["line"], 41);

    // The instances of a thread have one automaton in common, found by the name of any of them.
    let ring = "graph models/philosophers_ring.bir -D N=3 --format json";
    let ring = json(&birk(&format!("{ring} --threads=Philosopher[2]")).exits(0));
    assert_eq!(
        ring["threads"][0]["instances"],
        serde_json::json!(["Philosopher[0]", "Philosopher[1]", "Philosopher[2]"])
    );
    let edge = &ring["threads"][0]["edges"][1];
    assert_eq!(edge["guard"], "!taken[(index + 1) % N]");
    assert_eq!(edge["transitions"].as_array().map(Vec::len), Some(3));

    let picture = birk("graph models/philosophers2.bir --threads --format svg").exits(0).quietly().out;
    assert_eq!((frames(&picture, "box").len(), frames(&picture, "label").len()), (8, 8));
    assert!(picture.contains(">[!fork1]</text>") && !picture.contains("never taken"));
    let unknown = birk("graph models/philosophers2.bir --threads=Plato").exits(2);
    unknown.says("there is no thread `Plato`; the model has Philosopher1, Philosopher2");
    birk("graph models/philosophers2.bir --threads --format aut").exits(2).says("use dot, json or svg");
    birk("graph models/philosophers2.bir --threads --search highway").exits(2).says("about the state graph");
}

/// At a rendezvous one step is of two threads, and both automata have an edge for it.
#[test]
fn receivers_at_a_rendezvous_have_edges() {
    let folder = folder("automata_rendezvous");
    let text = "system S { const N = 2; channel of byte [0] c; byte [N] got; boolean open;
      active [N] thread Sender(int me) { loc idle: when !open do { send c (me); } return; }
      active thread Receiver() { byte x;
        loc wait: when got[0] == 0 do { receive c (?x); got[0] := x + 1; } goto wait;
                  do { receive c (?x); open := true; } return; } }";
    fs::write(folder.join("s.bir"), text).expect("writable");
    let answer =
        run(command(BIRK).args(["graph", "s.bir", "--threads", "--format", "json"]).current_dir(&folder)).exits(0);
    let threads = json(&answer)["threads"].clone();
    let edges = |thread: usize| threads[thread]["edges"].as_array().cloned().unwrap_or_default();
    assert_eq!(edges(0).len(), 1, "a sender has one edge, whoever receives");
    let received = edges(1);
    assert_eq!(received.len(), 2);
    assert_eq!(
        (&received[0]["guard"], &received[0]["from"], &received[0]["to"]),
        (&"got[0] == 0".into(), &0.into(), &0.into())
    );
    assert_eq!(received[0]["actions"], serde_json::json!(["receive c (?x)", "got[0] := x + 1"]));
    assert_eq!((&received[0]["line"], &received[1]["line"]), (&4.into(), &5.into()));
    assert_eq!((&received[1]["guard"], &received[1]["to"]), (&Value::Null, &1.into()));
    assert_eq!(threads[1]["locations"][1]["name"], "terminated");
    // It stands for the steps of the senders, of each.
    let from = |edge: &Value| {
        edge["transitions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(from(&received[0]).len(), 2, "{:?}", from(&received[0]));
    assert!(from(&received[0]).iter().all(|name| name.starts_with("Sender[")), "{:?}", from(&received[0]));
}

/// A process that is started and receives in one step did not wait anywhere before it: no edge of it stands for that step.
#[test]
fn who_is_started_in_the_same_step_does_not_receive_from_a_place() {
    let folder = folder("automata_started");
    let text = "chan c = [0] of { byte }; byte x;
      proctype P(byte k) { byte a; c?a; x = a + k }
      init { byte b = 3; atomic { run P(b); c!1 }; b = 7; assert(b == 7) }";
    fs::write(folder.join("s.pml"), text).expect("writable");
    let answer =
        run(command(BIRK).args(["graph", "s.pml", "--threads", "--format", "json"]).current_dir(&folder)).exits(0);
    let threads = json(&answer)["threads"].clone();
    // One step that starts and sends, and one that sends to the process that waits after the other alternative.
    let names = |thread: usize, edge: usize| threads[thread]["edges"][edge]["transitions"].clone();
    let (both, sends) = (names(0, 0), names(0, 2));
    assert_eq!(threads[0]["edges"][0]["actions"], serde_json::json!(["run P(b)", "c!1", "c?a"]));
    assert_eq!(threads[1]["edges"][0]["actions"], serde_json::json!(["c?a"]));
    assert_eq!((names(1, 0), both == sends), (sends, false));
}

/// Guards and actions are the user's words also where a thread is written in statements.
#[test]
fn statements_become_edges_in_the_users_words() {
    let folder = folder("automata");
    let text = "system S { int (0, 9) x; channel of byte [1] c; byte got;
      active thread T() {
        x := 1; // a comment
        while (x < 3) { x := x + 1; }
        if (x == 3) { atomic { x := 0; /* another */ got := 2; } } else { send c (4); }
        await got == 2;
        receive c (?got);
      } }";
    fs::write(folder.join("s.bir"), text).expect("writable");
    let answer =
        run(command(BIRK).args(["graph", "s.bir", "--threads", "--format", "json"]).current_dir(&folder)).exits(0);
    let thread = json(&answer)["threads"][0].clone();
    let edge = |edge: &Value| {
        let actions: Vec<&str> = edge["actions"].as_array().into_iter().flatten().filter_map(|a| a.as_str()).collect();
        format!("{} / {}", edge["guard"].as_str().unwrap_or("-"), actions.join("; "))
    };
    let edges: Vec<String> = thread["edges"].as_array().into_iter().flatten().map(edge).collect();
    let wanted = [
        "- / x := 1",
        "x < 3 / ",
        "!(x < 3) / ",
        "- / x := x + 1",
        "x == 3 / ",
        "!(x == 3) / ",
        "- / x := 0; got := 2",
        "- / send c (4)",
        "got == 2 / ",
        "- / receive c (?got)",
    ];
    assert_eq!(edges, wanted);
}
