//! The HTML report and the charts for other tools: complete, self-contained, of bounded size.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{BIRK, birk, command, folder, run};

/// Checks a model of the corpus and reads the report it writes.
fn report(name: &str, arguments: &str) -> String {
    let file = folder(&format!("report_{name}")).join("out.html");
    let answer = run(command(BIRK).args(["check", "--report"]).arg(&file).args(arguments.split_whitespace()));
    assert!(matches!(answer.code, Some(0 | 1 | 3)), "{}", answer.err);
    fs::read_to_string(&file).expect("it was written")
}

/// What the page's script reads.
fn data(page: &str) -> Value {
    let text = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(text.expect("the page has its data")).expect("it is JSON")
}

#[test]
fn a_report_says_everything() {
    let page = report("forks", "models/philosophers2.bir");
    for text in [
        "<span class=\"verdict violated\">violated</span>",
        "<h1>TwoDiningPhilosophers</h1>",
        "<code>deadlock</code> (2 steps, shortest)",
        "<td class=\"mono\">deadlock</td>",
        "id=\"slider\"",
        "when !fork1 do { fork1 := true; }",
        "were not reached so far",
        "<h3 class=\"mono\">Philosopher1</h3><table class=\"unreached\"><tbody>\n\
         <tr><td>line 23</td><td class=\"mono\">loc3</td><td>not enabled</td></tr>",
        "States per depth",
        "birk check models/philosophers2.bir --search bfs --seed 0",
        "Philosopher1  loc0 → loc1  fork1: false → true",
    ] {
        assert!(page.contains(text), "the report does not contain `{text}`");
    }
    let data = data(&page);
    let trace = &data["traces"][0];
    assert_eq!(trace["steps"].as_array().map(Vec::len), Some(2));
    assert_eq!(trace["loop"], Value::Null);
    assert!(trace["ending"].as_str().is_some_and(|text| text.contains("Philosopher1 at loc1 waits for `!fork2`")));
    // Lines that no step of the search came to are marked.
    let is_marked = |line: u32| page.contains(&format!("data-line=\"0:{line}\" class=\"never\""));
    assert!(is_marked(23) && !is_marked(11));
}

/// What the page says of the first trace of a model.
fn ending(name: &str, model: &str, options: &str) -> String {
    let folder = folder(&format!("report_ending_{name}"));
    fs::write(folder.join("m.bir"), model).expect("writable");
    let page = report(&format!("ending_{name}_page"), &format!("{} {options}", folder.join("m.bir").display()));
    data(&page)["traces"][0]["ending"].as_str().expect("a text").to_owned()
}

#[test]
fn the_page_says_why_of_every_kind_of_property() {
    let counter = |property: &str| {
        format!(
            "system S {{ int (0, 9) x; boolean on;
               active thread T() {{ loc l: when x < 3 do {{ x := x + 1; on := x == 2; }} goto l;
                                          when x == 3 do {{ x := 2; on := false; }} goto l; }}
               {property} }}"
        )
    };
    let invariant = ending("invariant", &counter("invariant low: x < 2 || !on && x != 7;"), "");
    assert!(invariant.contains("invariant `low` is false in the last state"), "{invariant}");
    let parts = "  in the last state:
    x < 2 || !on && x != 7   false
      x < 2                  false
        x                    2
      !on && x != 7          false
        !on                  false
          on                 true
        x != 7               true
          x                  2
";
    assert!(invariant.contains(parts) && invariant.ends_with("every execution leads there, whatever is done\n"));
    let reached = ending("reachable", &counter("reachable there: x == 2;"), "");
    assert_eq!(reached, "  reached with x = 2\n  in the last state:\n    x == 2   true\n      x      2\n");
    let asserted = counter("").replace("x := 2; on := false;", "assert x < 3 || on; x := 2;");
    let asserted = ending("assert", &asserted, "");
    // At `x == 3`, nothing is left of the first part.
    assert!(asserted.contains("assertion `x < 3 || on` failed") && asserted.contains("on = false"), "{asserted}");
    assert!(asserted.contains("  in the last state:\n    on   false\n"), "{asserted}");
    let stuck = ending("deadlock", &counter("").replace("x == 3", "x == 4"), "");
    assert_eq!(stuck, "  no step is possible:\n    T at l waits for `x < 3` (x = 3) or `x == 4` (x = 3)\n");
    let branching = ending("ctl", &counter("ctl low: AG (x != 3);"), "");
    assert_eq!(branching, "  in the first state: `x != 3` is true\n  in the last state: `x != 3` is false\n");
}

#[test]
fn the_page_says_what_a_lasso_does_forever() {
    let model = |formula: &str| {
        format!(
            "system S {{ int (0, 9) x; boolean asked;
               active thread T() {{ loc l: when x < 3 do {{ x := x + 1; }} goto l; when x == 3 do {{ x := 2; }} goto l; }}
               active thread Asks() {{ loc l: when !asked do {{ asked := true; }} goto l; }}
               ltl f: {formula}; }}"
        )
    };
    let answer = ending("lasso", &model("[] (x == 1 -> <> asked)"), "--property f");
    let expected = "  `[] (x == 1 -> <> asked)` is false at the start
    `x == 1 -> <> asked` is false after step 1
      `x == 1` is true there
      `<> asked` is false there: `asked` is never true from there on
  the cycle begins after step 2 and has 2 steps: T 2
  values on the cycle: x = 2, 3; asked = false
    Asks stays at l, continuously enabled but never scheduled
";
    assert_eq!(answer, expected);
    let answer = ending("stutter", &model("<> (x == 9)").replace("x == 3 do", "x == 3 && !asked do"), "--property f");
    assert!(answer.contains("`<> (x == 9)` is false at the start: `x == 9` is never true from there on"), "{answer}");
}

/// Of an `atomic` with branches, those that were not taken are not executed; those that no step takes are never reached.
#[test]
fn branches_that_were_not_taken_are_not_marked() {
    let folder = folder("branches_model");
    let text = "system B { int (0, 9) x; boolean up;
active thread T() {
  atomic {
    if (up) {
      x := 7;
    } else {
      x := 1;
    }
    up := true;
  }
  assert !up;
}}";
    fs::write(folder.join("m.bir"), text).expect("writable");
    let page = report("branches", &folder.join("m.bir").display().to_string());
    let data = data(&page);
    let first = data["traces"][0]["steps"][0]["p"].as_u64().expect("a transition") as usize;
    assert_eq!(data["places"][first], serde_json::json!([[0, 3, 4], [0, 6, 10]]), "line 5 is another branch");
    let is_marked = |line: u32| page.contains(&format!("data-line=\"0:{line}\" class=\"never\""));
    let marked: Vec<u32> = (1..=12).filter(|&line| is_marked(line)).collect();
    assert_eq!(marked, [5]);
}

/// What was not reached is said once for all instances, with its line, below its thread.
#[test]
fn what_was_not_reached_stands_below_its_thread() {
    let folder = folder("missed_model");
    let text = "system Missed { byte x;
      active [3] thread T(int i) {
        loc a: when i > 0 do { x := 1; } goto b;
               when i > 7 do { x := 2; } goto a;
        loc b: when x == 9 do { skip; } goto a;
      }
      active thread U() { loc c: when x == 9 do { skip; } goto c; } }";
    fs::write(folder.join("missed.bir"), text).expect("writable");
    let page = report("missed", &format!("{} --deadlock off", folder.join("missed.bir").display()));
    let missed = page.split("these cannot be reached.</p>").nth(1).expect("a list");
    let row = |line: u32, what: &str, why: &str| {
        format!("<tr><td>line {line}</td><td class=\"mono\">{what}</td><td>{why}</td></tr>\n")
    };
    let thread = |name: &str| format!("<h3 class=\"mono\">{name}</h3><table class=\"unreached\"><tbody>\n");
    let expected = thread("T")
        + &row(3, "a (instance 0)", "not enabled: i &gt; 0")
        + &row(4, "a", "not enabled: i &gt; 7")
        + &row(5, "b (instance 0)", "location never entered")
        + &row(5, "b (instances 1, 2)", "not enabled: x == 9")
        + "</tbody></table>\n"
        + &thread("U")
        + &row(7, "c", "not enabled: x == 9");
    assert!(missed.trim_start().starts_with(&expected), "{missed:.1500}\n{expected}");
}

#[test]
fn a_report_needs_no_network_and_no_other_file() {
    for (name, arguments) in
        [("none", "models/peterson2.bir"), ("one", "models/german.bir"), ("faulty", "models/sum_to_n.bir")]
    {
        let page = report(name, arguments);
        for foreign in ["src=", "href=", "@import", "url(http", "fetch(", "XMLHttpRequest", "WebSocket", "import("] {
            assert!(!page.contains(foreign), "{arguments}: {foreign}");
        }
        assert!(page.contains("default-src 'none'"), "the page itself forbids loading anything");
        let without_names = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!without_names.contains("http://") && !without_names.contains("https://"), "{arguments}");
    }
}

#[test]
fn what_holds_is_reported_too() {
    let page = report("holds", "models/workers.bir");
    assert!(page.contains("<span class=\"verdict holds\">holds</span>"));
    let page = report("plain", "models/counters_mod8.bir");
    assert!(page.contains("Every location was entered and every transition was taken."));
    let page = report("silent", "models/peterson2.bir");
    assert_eq!(data(&page)["traces"], serde_json::json!([]), "nothing was asked to be reached");
    let page = report("cut", "models/philosophers_swapped.bir --max-depth 6");
    assert!(page.contains("<span class=\"verdict inconclusive\">inconclusive</span>"));
}

#[test]
fn names_of_models_cannot_break_the_page() {
    let folder = folder("report_names");
    let model = "// </script><b>\nsystem S { boolean b; active thread T() { loc l: do { b := true; } return; } reachable t: b; }";
    fs::write(folder.join("a<b>&.bir"), model).expect("writable");
    run(command(BIRK).current_dir(&folder).args(["check", "a<b>&.bir", "--report", "out.html"])).exits(0);
    let page = fs::read_to_string(folder.join("out.html")).expect("it was written");
    assert!(page.contains("a&lt;b&gt;&amp;.bir") && page.contains("// &lt;/script&gt;&lt;b&gt;"));
    assert!(!page.contains("<b>"));
    assert_eq!(page.matches("</script>").count(), 2, "the two scripts of the page");
}

/// A model whose shortest run to its violation has this many steps, with messages between two threads.
fn long_model(folder: &Path, steps: u32) -> PathBuf {
    let rounds = steps / 2;
    let text = format!(
        "system Long {{ int (0, {rounds}) x; channel of int (0, 7) [1] c; int (0, 7) got;
           active thread Producer() {{ loc l: when x < {rounds} do {{ send c (x % 8); x := x + 1; }} goto l; }}
           active thread Consumer() {{ loc l: do {{ receive c (?got); }} goto l; }}
           invariant never: !(x == {rounds} && empty(c)); }}"
    );
    let file = folder.join("long.bir");
    fs::write(&file, text).expect("writable");
    file
}

#[test]
fn a_report_of_ten_thousand_steps_stays_small() {
    let folder = folder("report_long");
    let model = long_model(&folder, 10_000);
    let file = folder.join("out.html");
    run(command(BIRK).arg("check").arg(&model).arg("--report").arg(&file)).exits(1).prints("10,000 steps");
    let size = fs::metadata(&file).expect("it was written").len();
    assert!(size < 10_000_000, "{size} bytes");
    let page = fs::read_to_string(&file).expect("readable");
    assert_eq!(data(&page)["traces"][0]["messages"].as_array().map(Vec::len), Some(5_000));
}

#[test]
fn reports_that_cannot_be_written_cost_only_the_file() {
    let answer = birk("check models/philosophers2.bir --report nowhere/out.html").exits(4);
    answer.says("cannot write nowhere/out.html").prints("reproduce: birk check");
}

/// A PlantUML chart, read back: lanes, arrows as `from>to:label`, and the number of notes.
fn read_plantuml(text: &str) -> (Vec<String>, Vec<String>, usize) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.first(), lines.last()), (Some(&"@startuml"), Some(&"@enduml")));
    let (mut lanes, mut arrows, mut notes, mut open) = (Vec::new(), Vec::new(), 0, 0);
    for line in &lines[1..lines.len() - 1] {
        if let Some(rest) = line.strip_prefix("participant \"") {
            let (name, alias) = rest.split_once("\" as ").expect("an alias");
            assert_eq!(alias, format!("T{}", lanes.len()));
            lanes.push(name.to_owned());
        } else if line.starts_with("note over T") && line.contains(" : ") {
            notes += 1;
        } else if let Some((from, rest)) = line.split_once(" ->") {
            let (to, label) = rest.trim_start_matches('>').trim().split_once(" : ").expect("a label");
            arrows.push(format!("{from}>{to}:{label}"));
        } else {
            match *line {
                "hide footbox" => {}
                "loop forever" => open += 1,
                "end" => open -= 1,
                other => panic!("not a line of a chart: {other}"),
            }
        }
    }
    assert_eq!(open, 0, "every loop is closed");
    (lanes, arrows, notes)
}

/// Also where a target was reached before the violation was found; and a run that repeats says where.
#[test]
fn the_page_opens_on_a_violation() {
    let page = folder("report_first").join("out.html");
    birk(&format!("check models/german_liveness.bir --report {}", page.display())).exits(1);
    let text = fs::read_to_string(page).expect("it was written");
    assert!(text.contains("<option value=\"0\">served ("), "the violated formula comes first");
    assert!(text.contains("<option value=\"1\">passed_over ("), "the target that was reached comes last");
    let back = text.split("\"loop\":").nth(1).and_then(|rest| rest.chars().next());
    assert!(back.is_some_and(|digit| digit.is_ascii_digit()), "the first run repeats: {back:?}");
}

/// The points of each curve of a plot.
fn curves(page: &str, title: &str) -> Vec<Vec<(f64, f64)>> {
    let figure = page.split("<figure>").find(|figure| figure.contains(&format!("<strong>{title}</strong>")));
    let paths = figure.into_iter().flat_map(|figure| figure.split("class=\"curve\" d=\"M").skip(1));
    let point = |text: &str| {
        let (x, y) = text.split_once(' ').expect("two numbers");
        (x.parse().expect("a number"), y.parse().expect("a number"))
    };
    paths.map(|path| path.split('"').next().unwrap_or_default().split('L').map(point).collect()).collect()
}

/// Each search has plots of its own, in which no curve goes down; what never waited is not drawn.
#[test]
fn each_search_has_a_plot() {
    let folder = folder("report_searches");
    let text = "system Live { boolean on; int (0, 200) x;
      active thread Switch() { loc l: do { on := !on; } goto l; }
      active thread Count() { loc l: do { x := (x + 1) % 201; } goto l; }
      ltl often: [] <> on; ltl at_last: <> [] on; ltl small: [] <> (x == 7 || on); }";
    fs::write(folder.join("live.bir"), text).expect("writable");
    let check = |options: &[&str]| {
        let mut check = command(BIRK);
        check.current_dir(&folder).args(["check", "live.bir", "--report", "out.html", "--threads", "1"]).args(options);
        run(&mut check).exits(1);
        fs::read_to_string(folder.join("out.html")).expect("it was written")
    };
    // A search that is over at once has no curve.
    for (options, phases, least) in [
        (&["--keep-going"][..], &[": properties of states", ": often", ": at_last", ": small"][..], 2),
        (&["--property", "at_last"], &[""], 0),
    ] {
        let page = check(options);
        for title in ["States over time", "Revisited states"] {
            let drawn: Vec<_> = phases.iter().map(|phase| curves(&page, &format!("{title}{phase}"))).collect();
            assert!(drawn.iter().all(|curves| curves.len() <= 1), "{options:?}: {drawn:?}");
            assert!(drawn.iter().flatten().count() >= least, "{options:?}: {drawn:?}");
            for curve in drawn.iter().flatten() {
                // On the page, higher is less.
                assert!(curve.is_sorted_by(|a, b| a.0 <= b.0 && a.1 >= b.1), "{options:?}, {title}: {curve:?}");
            }
        }
        let frontier = page.split("<figure>").find(|figure| figure.contains("<strong>Frontier per depth"));
        let is_empty = |figure: &&str| !figure.split("<rect").skip(1).any(|bar| !bar.contains("height=\"0.0\""));
        assert!(!frontier.as_ref().is_some_and(is_empty), "{options:?}: a plot without bars");
        for trace in data(&page)["traces"].as_array().expect("runs") {
            let ending = trace["ending"].as_str().unwrap_or_default();
            assert!(!ending.trim().is_empty(), "{options:?}: a trace that shows nothing");
        }
    }
    // Where no thread stands still, there is still something to say.
    let alone =
        "system One { boolean on; active thread S() { loc l: do { on := !on; } goto l; } ltl at_last: <> [] on; }";
    fs::write(folder.join("live.bir"), alone).expect("writable");
    assert!(check(&[]).contains("every running thread takes a step in the loop"));
}

#[test]
fn charts_for_other_tools_have_every_step_and_message() {
    let folder = folder("report_charts");
    let file = folder.join("run.json").display().to_string();
    birk(&format!("check models/german.bir --property all_share --threads 1 --trace {file}")).exits(0);
    let chart = birk(&format!("replay models/german.bir {file} --format plantuml")).exits(0).quietly().out;
    let (lanes, arrows, notes) = read_plantuml(&chart);
    assert_eq!(lanes, ["Home", "Client[0]", "Client[1]", "Client[2]"]);
    assert_eq!(notes, 12 + 1, "each step, and what the run shows");
    let expected = (0..3).flat_map(|client| {
        [
            format!("T{}>T0:requests[{client}](share)", client + 1),
            format!("T0>T{}:orders[{client}](grant_shared)", client + 1),
        ]
    });
    // Which of several shortest runs is shown is not the point here.
    let sorted = |mut arrows: Vec<String>| {
        arrows.sort();
        arrows
    };
    assert_eq!(sorted(arrows), sorted(expected.collect()));
    insta::assert_snapshot!("mermaid", birk(&format!("replay models/german.bir {file} --format mermaid")).out);

    // At a rendezvous one step is of two threads; a started thread moves, too.
    let rendezvous = birk("replay models/abp.bir 0:0,0,0 --format plantuml").exits(0).out;
    assert!(read_plantuml(&rendezvous).1.iter().any(|arrow| arrow.ends_with(":frame_in")), "{rendezvous}");
    let started = birk("replay models/chang_roberts.bir 0:0 --format mermaid").exits(0).out;
    assert_eq!(started.matches(": start\n").count(), 4, "{started}");
}
