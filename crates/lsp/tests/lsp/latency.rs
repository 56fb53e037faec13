//! How long an editor waits for diagnostics after a key was pressed, in a model of a thousand lines.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Client;

/// A model of this many lines, without errors.
fn model(lines: usize) -> String {
    let threads = (lines - 6) / 9;
    let mut text = String::from("system Large {\n  const N = 3;\n  int (0, N) x;\n");
    for thread in 0..threads {
        write!(
            text,
            "  int (0, N) v{thread};\n\
             \n\
             \x20 active thread T{thread}() {{\n\
             \x20   int (0, N) own;\n\
             \x20   loc a:\n\
             \x20     when x < N && v{thread} < N do {{ x := x + 1; v{thread} := v{thread} + 1; own := x; }} goto b;\n\
             \x20   loc b:\n\
             \x20     when x > 0 && own >= 0 do {{ x := x - 1; v{thread} := 0; }} goto a;\n\
             \x20 }}\n"
        )
        .expect("a string can be written to");
    }
    text.push_str("\n  invariant small: x <= N;\n}\n");
    text
}

#[test]
fn diagnostics_follow_a_key_soon() {
    let text = model(1000);
    let count = text.lines().count();
    assert!((990..=1000).contains(&count), "{count}");
    let mut client = Client::start();
    let uri = "file:///large.bir";
    client.open(uri, &text);
    assert_eq!(client.diagnostics(uri, 0), []);
    let line = text.lines().position(|line| line.contains("loc a:")).expect("there is one") as u32 + 1;
    let mut times: Vec<Duration> = Vec::new();
    for version in 1..=100 {
        // A character is typed, and taken back.
        let end = if version % 2 == 0 { 7 } else { 6 };
        let range = json!({ "start": { "line": line, "character": 6 }, "end": { "line": line, "character": end } });
        let begin = Instant::now();
        client.change(uri, version, &json!([{ "range": range, "text": if version % 2 == 0 { "" } else { "x" } }]));
        let sent = client.diagnostics(uri, version);
        times.push(begin.elapsed());
        assert_eq!(sent.is_empty(), version % 2 == 0, "{sent:?}");
    }
    times.sort_unstable();
    let (median, late) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    println!("{count} lines: median {median:?}, 95th percentile {late:?}");
    // Only where it cannot depend on what else the machine does, or on missing optimisation.
    if !cfg!(debug_assertions) {
        assert!(median < Duration::from_millis(100), "{median:?}");
    }
    client.stop();
}
