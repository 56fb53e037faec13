//! Experiments I, II and III of the paper, with the figures that it prints.

use std::path::Path;

use birk_search::highway::Highway;

use super::page::Page;
use super::subject::Subject;

const SIZES: [u32; 4] = [2, 4, 8, 16];
const WIDTHS: std::ops::RangeInclusive<usize> = 1..=6;

/// What the paper's table 1 has, by protocol and property.
const PRINTED: [(&str, [&str; 6]); 4] = [
    ("ABP I", ["52–69", "80–91", "91–100", "97–100", "99–100", "99–100"]),
    ("ABP II", ["7–10", "16–35", "49–59", "66–72", "75–100", "85–100"]),
    ("CABP I", ["100", "100", "100", "100", "100", "100"]),
    ("CABP II", ["35–52", "91–94", "96–100", "99–100", "99–100", "100"]),
];

/// A read item that is never delivered, as a formula that such a run violates.
const DELIVERED: &str = "ltl delivered: [] ((Sender@reading && <> !Sender@reading) -> <> Receiver@delivering);";

/// The alternating bit protocols, with more and more items.
pub(crate) fn one(root: &Path, page: &mut Page) {
    let runs = page.runs;
    let mut rates = vec![head("", WIDTHS.map(|width| format!("N = {width}")))];
    let mut sizes = vec![head(
        "",
        WIDTHS.map(|width| format!("N = {width}")).chain(["bfs for I".to_owned(), "bfs for II".to_owned()]),
    )];
    for (protocol, model) in [("ABP", "abp.bir"), ("CABP", "cabp.bir")] {
        let mut found: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
        for items in SIZES {
            let targets: String = (0..items)
                .map(|d| format!("reachable delivers_{d}: Receiver@delivering && Receiver.item == {d};\n"))
                .collect();
            let subject = Subject::load(root, model, &[("M", items)], &format!("{DELIVERED}\n{targets}"));
            let questions = [subject.question("delivered"), subject.again("delivers_")];
            let measured: Vec<(Vec<f64>, f64)> = WIDTHS
                .map(|width| subject.rates(&questions, Highway { width, degrade_depth: None, seed: 0 }, runs))
                .collect();
            let states = || measured.iter().map(|(_, states)| *states);
            let breadths = questions.each_ref().map(|question| subject.breadth(question) as f64);
            let cells = states().map(|states| format!("{states:.0}"));
            let cells = cells.chain(breadths.map(|breadth| format!("{breadth:.0}")));
            sizes.push(head(&format!("{protocol}, {items} items"), cells));
            for (place, found) in found.iter_mut().enumerate() {
                found.push(measured.iter().map(|(rates, _)| rates[place]).collect());
            }
        }
        for (place, number) in ["I", "II"].into_iter().enumerate() {
            let range = |width: usize| {
                let rates = found[place].iter().map(|rates| rates[width]);
                let (least, most) = (rates.clone().fold(100.0, f64::min), rates.fold(0.0, f64::max));
                if least < most { format!("{least:.0}–{most:.0}") } else { format!("{most:.0}") }
            };
            let name = format!("{protocol} {number}");
            rates.push(head(&name, (0..6).map(range)));
            let printed = PRINTED.iter().find(|(row, _)| *row == name).expect("the paper has this row").1;
            rates.push(head("the paper", printed.map(str::to_owned)));
        }
    }
    page.table("success rates", &rates);
    page.table("states", &sizes);
}

/// German's cache coherence with three clients: a request for an exclusive copy that is never granted.
pub(crate) fn two(root: &Path, page: &mut Page) {
    let runs = page.runs;
    let served: String = (0..3)
        .map(|i| {
            let waits = format!("(!empty(requests[{i}]) && peek(requests[{i}]) == Wish.own)");
            format!("ltl served_{i}: [] ({waits} -> <> !{waits});\n")
        })
        .collect();
    let subject = Subject::load(root, "german.bir", &[("N", 3)], &served);
    let questions = [subject.question("served_")];
    let breadth = subject.breadth(&questions[0]);
    let mut rows = vec![head("", ["success", "states", "of all states", "by bfs"].map(str::to_owned))];
    let all = 28_593.0;
    for width in [1, 2, 3, 4, 5, 7, 10, 15, 20] {
        let (rates_here, states) = subject.rates(&questions, Highway { width, degrade_depth: None, seed: 0 }, runs);
        let rate = rates_here[0];
        let by_breadth = states / breadth as f64;
        rows.push(head(
            &format!("N = {width}"),
            [
                format!("{rate:.0} %"),
                format!("{states:.0}"),
                format!("{:.2} %", 100.0 * states / all),
                format!("{by_breadth:.3}"),
            ],
        ));
    }
    rows.push(head(
        "bfs",
        ["100 %".into(), breadth.to_string(), format!("{:.2} %", 100.0 * breadth as f64 / all), "1".into()],
    ));
    page.table("cache coherence", &rows);
}

/// The lifts as they were first built, with degradation from several depths on.
pub(crate) fn three(root: &Path, page: &mut Page) {
    let runs = page.runs;
    let raised = "ltl raised: [] ((is_held(0) && Lift[0].state == Word.up) -> \
                  <> (!(is_held(0) && Lift[0].state == Word.up) \
                  || (forall (i : 1 .. N - 1) (Lift[i]@moving && Lift[i].state == Word.up))));";
    let subject = Subject::load(root, "lifts.bir", &[("N", 3)], raised);
    let depths = [Some(20), Some(30), Some(40), Some(50), Some(60), None];
    let name = |depth: Option<u32>| depth.map_or("no D".to_owned(), |depth| format!("D = {depth}"));
    let questions = [subject.question("somebody_leads"), subject.question("raised")];
    let widths = [5, 10, 15, 20, 25, 30];
    let measured = widths.map(|width| {
        depths.map(|degrade_depth| subject.rates(&questions, Highway { width, degrade_depth, seed: 0 }, runs))
    });
    for (place, number) in ["I", "II"].into_iter().enumerate() {
        let breadth = subject.breadth(&questions[place]);
        let mut rows = vec![head("", depths.map(name))];
        for (width, cells) in widths.into_iter().zip(&measured) {
            let cells = cells.iter().map(|(rates, states)| format!("{:.0} %, {states:.0}", rates[place]));
            rows.push(head(&format!("N = {width}"), cells));
        }
        rows.push(head("bfs", (0..depths.len()).map(|i| if i == 0 { breadth.to_string() } else { String::new() })));
        page.table(&format!("lifts {number}"), &rows);
    }
}

fn head(first: &str, rest: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rest).collect()
}
