//! Sequence charts in the languages of other tools: Mermaid and PlantUML.
//!
//! Neither can draw an arrow that takes its time. So a message is drawn where it is taken, and the sender's note
//! says that it was sent.

use std::fmt::Write as _;

use crate::report::chart::{Chart, Message};

/// A chart for Mermaid.
pub(crate) fn mermaid(chart: &Chart, ending: &str) -> String {
    let mut out = String::from("sequenceDiagram\n");
    for (lane, name) in chart.lanes.iter().enumerate() {
        let _ = writeln!(out, "    participant T{lane} as {}", entities(name));
    }
    for (at, row) in chart.rows.iter().enumerate() {
        if chart.loop_start == Some(at) {
            out.push_str("    loop forever\n");
        }
        for message in arrows(chart, at) {
            let arrow = if message.sent == message.taken { "->>" } else { "-)" };
            let label = entities(&message.label);
            let _ = writeln!(out, "    T{}{arrow}T{}: {label}", message.from, message.to);
        }
        let text = entities(&note(chart, at));
        let _ = writeln!(out, "    Note over T{}: {}. {}", row.lane, at + 1, text.replace('\n', "<br/>"));
    }
    if chart.loop_start.is_some_and(|start| start < chart.rows.len()) {
        out.push_str("    end\n");
    }
    if let Some(last) = chart.lanes.len().checked_sub(1) {
        let over = if last == 0 { "T0".to_owned() } else { format!("T0,T{last}") };
        let _ = writeln!(out, "    Note over {over}: {}", entities(ending));
    }
    out
}

/// A chart for PlantUML.
pub(crate) fn plantuml(chart: &Chart, ending: &str) -> String {
    let mut out = String::from("@startuml\nhide footbox\n");
    for (lane, name) in chart.lanes.iter().enumerate() {
        let _ = writeln!(out, "participant \"{}\" as T{lane}", name.replace('"', "'"));
    }
    for (at, row) in chart.rows.iter().enumerate() {
        if chart.loop_start == Some(at) {
            out.push_str("loop forever\n");
        }
        for message in arrows(chart, at) {
            let arrow = if message.sent == message.taken { "->" } else { "->>" };
            let _ = writeln!(out, "T{} {arrow} T{} : {}", message.from, message.to, message.label);
        }
        let _ = writeln!(out, "note over T{} : {}. {}", row.lane, at + 1, note(chart, at).replace('\n', "\\n"));
    }
    if chart.loop_start.is_some_and(|start| start < chart.rows.len()) {
        out.push_str("end\n");
    }
    if let Some(last) = chart.lanes.len().checked_sub(1) {
        let over = if last == 0 { "T0".to_owned() } else { format!("T0, T{last}") };
        let _ = writeln!(out, "note over {over} : {ending}");
    }
    out.push_str("@enduml\n");
    out
}

fn arrows(chart: &Chart, at: usize) -> impl Iterator<Item = &Message> {
    let first = chart.messages.partition_point(|message| message.taken < at);
    chart.messages[first..].iter().take_while(move |message| message.taken == at)
}

/// The lines of a step's note.
fn note(chart: &Chart, at: usize) -> String {
    let row = &chart.rows[at];
    let mut lines = vec![row.title.clone()];
    lines.extend(row.changes.iter().cloned());
    lines.join("\n")
}

/// Mermaid reads `#` and `;` as its own, and angle brackets as tags.
fn entities(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '#' => out.push_str("#35;"),
            ';' => out.push_str("#59;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::Row;

    /// Two threads, a message that waits for a step, and a loop from the second step on.
    fn lasso() -> Chart {
        let row = |lane, title: &str| Row { lane, title: title.into(), changes: vec!["x = 1".into()] };
        let message = Message { sent: 0, taken: 1, from: 0, to: 1, label: "c(a; #1 <b>)".into() };
        Chart {
            lanes: vec!["A".into(), "B".into()],
            rows: vec![row(0, "l → m"), row(1, "n → n"), row(0, "m → m")],
            messages: vec![message],
            loop_start: Some(1),
        }
    }

    #[test]
    fn stem_and_loop_are_told_apart() {
        let expected = "sequenceDiagram
    participant T0 as A
    participant T1 as B
    Note over T0: 1. l → m<br/>x = 1
    loop forever
    T0-)T1: c(a#59; #35;1 #lt;b#gt;)
    Note over T1: 2. n → n<br/>x = 1
    Note over T0: 3. m → m<br/>x = 1
    end
    Note over T0,T1: often violated
";
        assert_eq!(mermaid(&lasso(), "often violated"), expected);
        let text = plantuml(&lasso(), "often violated");
        assert!(text.contains("\nloop forever\nT0 ->> T1 : c(a; #1 <b>)\n"), "{text}");
        assert!(text.contains("\nend\nnote over T0, T1 : often violated\n@enduml\n"), "{text}");
    }
}
