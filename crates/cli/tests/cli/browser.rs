//! The report in a real browser: open, click through a run, see the violation.
//! Charts for Mermaid are read by Mermaid's own parser, in the same browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use birk_agreement::tools;
use serde_json::json;

use crate::binary::{BIRK, birk, command, folder, run};
use crate::driver::Browser;

/// Opens the report of a search.
fn report(folder: &Path, arguments: &str) -> String {
    let file = folder.join("out.html");
    let answer = run(command(BIRK).args(["check", "--report"]).arg(&file).args(arguments.split_whitespace()));
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.err);
    format!("file://{}", file.display())
}

#[test]
fn a_run_is_clicked_through() {
    let folder = folder("browser_report");
    let Some(browser) = Browser::open(&folder, (1400, 1200)) else { return };
    browser.go(&report(&folder, "models/philosophers2.bir"));
    assert_eq!(browser.text(".verdict"), "violated");
    let last = "Step 2 of 2: Philosopher2, loc0 → loc1; it matters";
    assert_eq!(browser.text("#where"), last, "it opens at the violation");

    browser.click("#first");
    assert_eq!(browser.text("#where"), "Start of 2 steps");
    browser.click("#next");
    let first = "Step 1 of 2: Philosopher1, loc0 → loc1; it does not matter: another one in its place leads there, too";
    assert_eq!(browser.text("#where"), first);
    assert!(browser.text("#values tr.changed").starts_with("fork1 true was false"));
    assert_eq!(browser.run("return document.querySelector('.source .now').dataset.line"), "0:11");
    browser.click("#next");
    assert_eq!(browser.text("#where"), last);
    assert_eq!(browser.run("return document.querySelectorAll('.source .ran').length"), 4, "two steps of two lines");
    assert_eq!(browser.run("return document.querySelector('#chart .last').classList.contains('now')"), true);
    browser.click("#next");
    assert!(browser.text("#where").starts_with("Step 2 of 2"), "there is no further step");

    // The chart, the table, the slider and the keyboard go there as well.
    browser.click("#chart [data-step='1']");
    assert!(browser.text("#where").starts_with("Step 1 of 2"));
    browser.click("#steps [data-step='0']");
    assert!(browser.text("#where").starts_with("Start"));
    browser.type_into("#slider", "\u{E014}");
    assert!(browser.text("#where").starts_with("Step 1 of 2"), "the arrow key moves the slider");
    browser.type_into("body", "\u{E010}");
    assert!(browser.text("#where").starts_with("Step 2 of 2"), "End goes to the end");
    browser.click("#first");
    browser.click("#only");
    assert_eq!(browser.text("#values"), "values after the step\nno value changed");
    assert!(browser.text("#ending").contains("Philosopher1 at loc1 waits for `!fork2`"));

    // Dark, light, and back to what the system says.
    let ground = || browser.run("return getComputedStyle(document.body).backgroundColor");
    let light = ground();
    browser.click("#theme");
    assert_ne!(ground(), light);
    browser.click("#theme");
    assert_eq!(ground(), light);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn messages_loops_and_long_runs_are_drawn() {
    let folder = folder("browser_long");
    let Some(browser) = Browser::open(&folder, (1400, 1200)) else { return };
    browser.go(&report(&folder, "models/german.bir --property all_share"));
    assert_eq!(browser.run("return document.querySelectorAll('#chart .message').length"), 6);
    let label = browser.text("#chart .label");
    assert!(label.starts_with("requests[") && label.ends_with("](share)"), "{label}");

    // A run that repeats, as a formula gives one; here the page is told.
    let page = fs::read_to_string(folder.join("out.html")).expect("it was written");
    fs::write(folder.join("loop.html"), page.replace("\"loop\":null", "\"loop\":4")).expect("writable");
    browser.go(&format!("file://{}", folder.join("loop.html").display()));
    assert_eq!(browser.text("#chart .loop-label"), "loop, forever");
    assert_eq!(browser.run("return document.querySelectorAll('#steps tr.loops').length"), 8);
    browser.click("#end");
    assert!(browser.text("#where").starts_with("Step 12 of 12 (in the loop)"));

    // Ten thousand steps: opened in under two seconds, and every step can be reached.
    let text = "system Long { int (0, 5000) x; channel of int (0, 7) [1] c; int (0, 7) got;
        active thread Producer() { loc l: when x < 5000 do { send c (x % 8); x := x + 1; } goto l; }
        active thread Consumer() { loc l: do { receive c (?got); } goto l; }
        invariant never: !(x == 5000 && empty(c)); }";
    fs::write(folder.join("long.bir"), text).expect("writable");
    let address = report(&folder, &folder.join("long.bir").display().to_string());
    let opened = || {
        let start = Instant::now();
        browser.go(&address);
        assert!(browser.text("#where").starts_with("Step 10000 of 10000"));
        start.elapsed().as_secs_f64()
    };
    // The best of three: other work on the machine is not the page's.
    let seconds = (0..3).map(|_| opened()).fold(f64::INFINITY, f64::min);
    eprintln!("the report of 10,000 steps opens in {seconds:.2} s");
    assert!(seconds < 2.0, "{seconds} s");
    browser.click("#first");
    assert_eq!(browser.text("#where"), "Start of 10000 steps");
    browser.click("#end");
    assert!(browser.text("#where").starts_with("Step 10000 of 10000"));
    assert!(browser.text("#values").contains("x 5000"));
    assert_eq!(browser.complaints(), [""; 0]);
}

/// On the page: where two rectangles of the chart overlap that should not, in words.
const OVERLAPS: &str = "
    const boxes = [...document.querySelectorAll('#chart .box')].map((box) => box.getBoundingClientRect());
    const found = [];
    for (const path of document.querySelectorAll('#chart .message')) {
      const length = path.getTotalLength(), matrix = path.getScreenCTM();
      for (let at = 3; at < length - 3; at += 2) {
        const point = path.getPointAtLength(at).matrixTransform(matrix);
        const hit = boxes.find((box) => point.x > box.left + 1 && point.x < box.right - 1 && point.y > box.top + 1 && point.y < box.bottom - 1);
        if (hit) { found.push('an arrow crosses a box'); break; }
      }
    }
    const labels = [...document.querySelectorAll('#chart .label')].map((label) => label.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    for (const label of labels) if (boxes.some((box) => meet(label, box))) found.push('a label lies on a box');
    labels.forEach((label, i) => { if (labels.slice(i + 1).some((other) => meet(label, other))) found.push('two labels overlap'); });
    return found;";

/// Four threads fit a page of 1280 pixels; labels are whole, and arrows go around boxes.
#[test]
fn the_chart_is_whole_and_can_be_folded_and_scaled() {
    let folder = folder("browser_chart");
    let Some(browser) = Browser::open(&folder, (1280, 1000)) else { return };
    browser.go(&report(&folder, "models/german.bir --property all_share"));
    let sizes = || {
        browser.run("const c = document.getElementById('chart'); return [c.scrollWidth, c.clientWidth, document.body.scrollWidth, innerWidth]")
    };
    let is_whole = || {
        let sizes = sizes();
        sizes[0].as_u64() <= sizes[1].as_u64() && sizes[2].as_u64() <= sizes[3].as_u64()
    };
    assert_eq!(browser.run("return document.querySelectorAll('#chart .head').length"), 4);
    assert!(is_whole(), "{}", sizes());
    assert_eq!(browser.run(OVERLAPS), json!([]));
    let labels = "return [...document.querySelectorAll('#chart .label')].map((label) => label.textContent)";
    let labels = browser.run(labels).as_array().cloned().unwrap_or_default();
    assert!(labels.len() == 6 && labels.iter().all(|label| label.as_str().is_some_and(|text| text.ends_with(')'))));

    // A thread is folded by a click on its head, and unfolded by another.
    let width = || browser.run("return document.querySelector('#chart .rows').clientWidth").as_u64().unwrap_or(0);
    let wide = width();
    browser.click("#chart [data-lane='Client[1]'] .handle");
    assert!(width() + 60 < wide, "{} of {wide}", width());
    assert_eq!(browser.run("return document.querySelectorAll('#chart .label').length"), 4, "its messages have no text");
    assert_eq!(browser.run(OVERLAPS), json!([]));
    let folded = "return document.querySelector(\"#chart [data-lane='Client[1]']\").getAttribute('aria-expanded')";
    assert_eq!(browser.run(folded), "false");
    browser.click("#chart [data-lane='Client[1]'] .handle");
    assert_eq!((width(), browser.run(folded)), (wide, json!("true")));

    // What is larger than its place is scrolled there, not the page.
    for _ in 0..4 {
        browser.click("#zoom-in");
    }
    assert!(width() > 2 * wide, "{} of {wide}", width());
    let sizes = sizes();
    assert!(sizes[0].as_u64() > sizes[1].as_u64() && sizes[2].as_u64() <= sizes[3].as_u64(), "{sizes}");
    browser.click("#zoom");
    assert_eq!(width(), wide, "it fits again");
    let wheel = "document.getElementById('chart').dispatchEvent(new WheelEvent('wheel', {deltaY: 300, ctrlKey: true, cancelable: true}))";
    browser.run(wheel);
    assert!(width() < wide);
    browser.run(&wheel.replace("ctrlKey: true", "ctrlKey: false"));
    browser.click("#zoom");
    assert_eq!(width(), wide);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// However many messages are on their way, and whoever sends to itself: nothing is drawn over anything.
#[test]
fn arrows_go_around_boxes() {
    let folder = folder("browser_arrows");
    let Some(browser) = Browser::open(&folder, (1280, 1000)) else { return };
    let text = "system Busy { enum Kind { question, answer_with_a_long_name } record Letter { Kind kind; byte number; }
        channel of Letter [2][3] post; byte total;
        active [3] thread T(int me) { Kind kind; byte number;
          while (true) { either { send post[(me + 1) % 3] (Kind.question, total); }
                         or { send post[me] (Kind.answer_with_a_long_name, 7); }
                         or { atomic { receive post[me] (?kind, ?number); send post[(me + 2) % 3] (kind, number); total := total + 1; } } } }
        invariant few: total < 5; }";
    fs::write(folder.join("busy.bir"), text).expect("writable");
    browser.go(&report(&folder, &format!("{} --property few", folder.join("busy.bir").display())));
    assert!(browser.run("return document.querySelectorAll('#chart .message').length").as_u64() > Some(1));
    assert_eq!(browser.run(OVERLAPS), json!([]));
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The threads as automata, in a tab: lit is where they are and what the step took, dotted what the search never took.
#[test]
fn automata_follow_the_trace() {
    let folder = folder("browser_automata");
    let Some(browser) = Browser::open(&folder, (1280, 1000)) else { return };
    let text = "system Meet { channel of byte [0] c; byte sum;
        active [2] thread Sender(int me) { loc idle: do { send c (me + 1); } return; }
        active thread Receiver() { byte x; loc wait: do { receive c (?x); sum := sum + x; } goto wait;
                                                     when sum > 200 do { sum := 0; } goto wait; }
        invariant small: sum < 3; }";
    fs::write(folder.join("meet.bir"), text).expect("writable");
    browser.go(&report(&folder, &format!("{} --property small", folder.join("meet.bir").display())));
    assert_eq!(browser.run("return document.getElementById('of-automata').hidden"), true);
    browser.click("#tab-automata");
    assert_eq!(browser.run("return document.getElementById('chart').hidden"), true);
    let texts = |selector: &str| {
        let script = format!(
            "return [...document.querySelectorAll('#automata {selector}')].map((found) => found.textContent.trim().replace(/\\s+/g, ' '))"
        );
        browser.run(&script)
    };
    let here = || texts(".box.lit text:first-of-type");
    assert_eq!(here(), json!(["terminated", "wait"]), "it opens at the violation");
    // Both sides of the rendezvous are lit.
    assert_eq!(texts(".label.lit text"), json!(["send c (me + 1)", "receive c (?x)", "sum := sum + x"]));
    assert_eq!(texts(".label.never text"), json!(["[sum > 200]", "sum := 0", "never taken"]));
    browser.click("#first");
    assert_eq!((here(), texts(".label.lit text")), (json!(["idle", "wait"]), json!([])));
    assert_eq!(texts(".box.lit .here"), json!(["[0] [1]"]));
    browser.click("#next");
    assert_eq!(here(), json!(["idle", "terminated", "wait"]));
    let fits = "const c = document.getElementById('automata'); return [c.scrollWidth <= c.clientWidth, document.body.scrollWidth <= innerWidth]";
    assert_eq!(browser.run(fits), json!([true, true]));
    browser.click("#tab-chart");
    assert_eq!(browser.run("return document.getElementById('of-automata').hidden"), true);
    assert_eq!(browser.complaints(), [""; 0]);

    // Without a trace they have a section of their own.
    browser.go(&report(&folder, "models/peterson2.bir"));
    assert_eq!(browser.text("#h-threads"), "Threads");
    assert!(browser.run("return document.querySelectorAll('.automaton svg .box').length").as_u64() > Some(3));
    assert_eq!(browser.run("return document.querySelectorAll('.automaton .lit').length"), 0);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Changed values come first; below them is everything, in groups that can be opened and closed.
#[test]
fn the_state_is_a_tree() {
    let folder = folder("browser_tree");
    let Some(browser) = Browser::open(&folder, (1400, 1200)) else { return };
    let text = "system Tree { record Point { byte x; byte y; } Point[6] points; boolean[2] lit; channel of Point [2] c;
        active thread T() { byte own; send c (points[0]); points[3].y := 7; lit[1] := true; own := 5; }
        invariant dark: !lit[1]; }";
    fs::write(folder.join("tree.bir"), text).expect("writable");
    browser.go(&report(&folder, &folder.join("tree.bir").display().to_string()));
    let rows = || {
        let rows =
            browser.run("return [...document.querySelectorAll('#values tr')].map((row) => row.innerText.trim())");
        let rows = rows.as_array().expect("rows").iter().map(|row| row.as_str().expect("a text").replace('\t', " "));
        rows.collect::<Vec<String>>()
    };
    let changed = ["lit[1] true was false", "T@ line 2 (4) was line 2 (3)", "all values"];
    let closed = ["▸ points 12 values"];
    let rest = ["▾ lit 2 values", "[0] false", "[1] true was false", "c [(0, 0)]"];
    let thread = ["▾ T 2 values", "@ line 2 (4) was line 2 (3)", "own 0"];
    let all: Vec<&str> = changed.into_iter().chain(closed).chain(rest).chain(thread).collect();
    assert_eq!(rows(), all);
    browser.click("[data-group='points'] button");
    assert_eq!(rows()[3..6], ["▾ points 12 values", "▾ [0] 2 values", "x 0"]);
    browser.click("#back");
    assert_eq!(rows()[0], "points[3].y 7 was 0");
    assert_eq!(rows()[3], "▾ points 12 values", "what was opened stays open");
    browser.click("[data-group='points'] button");
    browser.click("[data-group='lit'] button");
    assert_eq!(rows()[3..6], ["▸ points 12 values", "▸ lit 2 values", "c [(0, 0)]"]);

    // Whoever has scrolled sees what a step changes all the same.
    let many = "system Many { byte [120] v; active thread T() { int (0, 120) i; while (i < 120) { atomic { v[i] := 1; i := i + 1; } } }
        invariant last: v[119] == 0; }";
    fs::write(folder.join("many.bir"), many).expect("writable");
    browser.go(&report(&folder, &folder.join("many.bir").display().to_string()));
    let pane = "document.querySelector('.of-state .scroll')";
    // The condition of the loop is a step, too.
    browser.click("#back");
    browser.run(&format!("{pane}.scrollTop = 900"));
    browser.click("#back");
    let is_seen = format!(
        "const row = document.querySelector('#values tr.changed').getBoundingClientRect(), pane = {pane}.getBoundingClientRect(); return row.top >= pane.top && row.bottom <= pane.bottom"
    );
    assert_eq!(browser.run(&is_seen), true);
    assert_eq!(rows()[0], "v[118] 1 was 0");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn mermaid_reads_its_charts() {
    if !tools::are_installed(&["npm", "tar"]) {
        return;
    }
    let script = mermaid();
    let folder = folder("browser_mermaid");
    let address = folder.join("mermaid.html");
    fs::write(&address, format!("<!doctype html><script src=\"file://{}\"></script>", script.display()))
        .expect("writable");
    let Some(browser) = Browser::open(&folder, (800, 600)) else { return };
    browser.go(&format!("file://{}", address.display()));
    browser.wait_for("typeof mermaid !== 'undefined'");
    let parse = |text: &str| {
        let script =
            format!("return mermaid.parse({}).then((found) => found.diagramType, () => 'refused')", json!(text));
        browser.run(&script).as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(parse("sequenceDiagram\n    Note over: nobody"), "refused", "the parser can refuse");
    let mut read = 0;
    for (model, options) in [
        ("philosophers2", ""),
        ("sum_to_n", "-D N=5"),
        ("german", "--property all_share"),
        ("abp", "--property second_delivery"),
        ("chang_roberts", "--property worst"),
        ("sliding_window", ""),
        ("usb_stack", ""),
        ("raft_election", ""),
    ] {
        let file = folder.join("run.json").display().to_string();
        let _ = fs::remove_file(&file);
        birk(&format!("check models/{model}.bir {options} --trace {file}"));
        if !Path::new(&file).exists() {
            continue;
        }
        let constants = if model == "sum_to_n" { options } else { "" };
        let chart = birk(&format!("replay models/{model}.bir {constants} {file} --format mermaid")).exits(0).out;
        assert_eq!(parse(&chart), "sequence", "{model}:\n{chart}");
        read += 1;
    }
    assert!(read >= 5, "only {read} models gave a run");
    // What the lowering and users may put into names, and loops.
    let odd = "sequenceDiagram\n    participant T0 as (c)\n    participant T1 as A[0]\n    loop forever\n    \
               T0-)T1: c(a#59; #35;1 #lt;b#gt;)\n    Note over T1: 1. not started → x<br/>s = {0, 1}\n    end\n";
    assert_eq!(parse(odd), "sequence");
}

/// Mermaid in one file, fetched once from npm.
fn mermaid() -> PathBuf {
    const VERSION: &str = "11.12.0";
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mermaid-{VERSION}"));
    let script = place.join("package/dist/mermaid.min.js");
    if script.exists() {
        return script;
    }
    fs::create_dir_all(&place).expect("a folder can be made");
    let pack = Command::new("npm")
        .args(["pack", "--silent", &format!("mermaid@{VERSION}")])
        .current_dir(&place)
        .stdin(Stdio::null())
        .output()
        .expect("npm can be run");
    assert!(pack.status.success(), "npm cannot fetch mermaid: {}", String::from_utf8_lossy(&pack.stderr));
    let unpacked = Command::new("tar")
        .args(["xzf", &format!("mermaid-{VERSION}.tgz"), "package/dist/mermaid.min.js"])
        .current_dir(&place)
        .status();
    assert!(unpacked.is_ok_and(|status| status.success()), "what npm fetched can be unpacked");
    script
}
