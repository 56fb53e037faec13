//! Experiments I, II and III of the paper, with the figures that it prints.

use std::path::Path;

use birk_search::highway::Highway;

use super::page::Page;
use super::subject::Subject;
use crate::plot::{self, Curve, Scale};

const SIZES: [u32; 4] = [2, 4, 8, 16];
const WIDTHS: std::ops::RangeInclusive<usize> = 1..=6;

/// What the paper's table 1 has, by protocol and property.
const PRINTED: [(&str, [&str; 6]); 4] = [
    ("ABP I", ["52–69", "80–91", "91–100", "97–100", "99–100", "99–100"]),
    ("ABP II", ["7–10", "16–35", "49–59", "66–72", "75–100", "85–100"]),
    ("CABP I", ["100", "100", "100", "100", "100", "100"]),
    ("CABP II", ["35–52", "91–94", "96–100", "99–100", "99–100", "100"]),
];

/// In how many of a hundred slices each question is answered, and the states of a slice on average.
type Measured = (Vec<f64>, f64);

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
    let (mut successes, mut ratios) = (Vec::new(), Vec::new());
    let over_widths = |name: String, values: &mut dyn Iterator<Item = f64>, is_dashed: bool| {
        let points = values.enumerate().map(|(place, value)| (place as f64, value)).collect();
        Curve { name, points, is_dashed }
    };
    for (protocol, model) in [("ABP", "abp.bir"), ("CABP", "cabp.bir")] {
        // By question; the third is the second, of slices by another rule.
        let mut found: [Vec<Vec<f64>>; 3] = [Vec::new(), Vec::new(), Vec::new()];
        for items in SIZES {
            let targets: String = (0..items)
                .map(|d| format!("reachable delivers_{d}: Receiver@delivering && Receiver.item == {d};\n"))
                .collect();
            let subject = Subject::load(root, model, &[("M", items)], &format!("{DELIVERED}\n{targets}"));
            let questions = [subject.question("delivered"), subject.again("delivers_")];
            let measured: Vec<Measured> = WIDTHS
                .map(|width| {
                    subject.rates(&questions, Highway { width, degrade_depth: None, seed: 0, is_beam: false }, runs)
                })
                .collect();
            let states = || measured.iter().map(|(_, states)| *states);
            let breadths = questions.each_ref().map(|question| subject.breadth(question) as f64);
            let cells = states().map(|states| format!("{states:.0}"));
            let cells = cells.chain(breadths.map(|breadth| format!("{breadth:.0}")));
            sizes.push(head(&format!("{protocol}, {items} items"), cells));
            let name = format!("{protocol}, {items} items");
            ratios.push(over_widths(name, &mut states().map(|states| states / breadths[1]), protocol == "CABP"));
            for (place, found) in found[..2].iter_mut().enumerate() {
                found.push(measured.iter().map(|(rates, _)| rates[place]).collect());
            }
            found[2].push(WIDTHS.map(|width| subject.lively_rate(&questions[1], width, runs)).collect());
        }
        let range = |place: usize, width: usize| {
            let rates = found[place].iter().map(|rates| rates[width]);
            let (least, most) = (rates.clone().fold(100.0, f64::min), rates.fold(0.0, f64::max));
            if least < most { format!("{least:.0}–{most:.0}") } else { format!("{most:.0}") }
        };
        for (place, number) in ["I", "II"].into_iter().enumerate() {
            let name = format!("{protocol} {number}");
            rates.push(head(&name, (0..6).map(|width| range(place, width))));
            let mean = |width: usize| found[place].iter().map(|rates| rates[width]).sum::<f64>() / SIZES.len() as f64;
            successes.push(over_widths(name.clone(), &mut (0..6).map(mean), false));
            let printed = PRINTED.iter().find(|(row, _)| *row == name).expect("the paper has this row").1;
            rates.push(head("the paper", printed.map(str::to_owned)));
            let middle = |text: &str| {
                let ends: Vec<f64> = text.split('–').map(|end| end.parse().expect("a number")).collect();
                ends.iter().sum::<f64>() / ends.len() as f64
            };
            successes.push(over_widths(format!("{name}, paper"), &mut printed.iter().map(|text| middle(text)), true));
        }
        rates.push(head(&format!("{protocol} II, lively"), (0..6).map(|width| range(2, width))));
    }
    page.table("success rates", &rates);
    page.table("states", &sizes);
    let widths: Vec<String> = WIDTHS.map(|width| format!("N = {width}")).collect();
    let picture =
        plot::curves("Alternating bits", "slices with the answer, %", &widths, &successes, &Scale::Linear(100.0), None);
    plot::save(root, "slices-bits-success.svg", &picture);
    let title = "Alternating bits, II";
    let picture =
        plot::curves(title, "states of a slice by those of bfs", &widths, &ratios, &Scale::Linear(2.0), Some(1.0));
    plot::save(root, "slices-bits-states.svg", &picture);
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
    let widths = [1, 2, 3, 4, 5, 7, 10, 15, 20];
    let (mut success, mut ratio) = (Vec::new(), Vec::new());
    for (place, width) in widths.into_iter().enumerate() {
        let (rates_here, states) =
            subject.rates(&questions, Highway { width, degrade_depth: None, seed: 0, is_beam: false }, runs);
        let rate = rates_here[0];
        let by_breadth = states / breadth as f64;
        success.push((place as f64, rate));
        ratio.push((place as f64, 100.0 * by_breadth));
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
    let names = widths.map(|width| format!("N = {width}"));
    let curve = |name: &str, points| Curve { name: name.to_owned(), points, is_dashed: false };
    let curves = [curve("with the answer", success), curve("states by bfs", ratio)];
    let picture = plot::curves(
        "Cache coherence",
        "slices with the answer; states by bfs, %",
        &names,
        &curves,
        &Scale::Linear(100.0),
        None,
    );
    plot::save(root, "slices-cache.svg", &picture);
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
        depths.map(|degrade_depth| {
            subject.rates(&questions, Highway { width, degrade_depth, seed: 0, is_beam: false }, runs)
        })
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
        let names = widths.map(|width| format!("N = {width}"));
        let over_widths = |value: &dyn Fn(&Measured) -> f64| -> Vec<Curve> {
            let of = |at: usize| (0..widths.len()).map(move |width| (width, at));
            let point = |(width, at): (usize, usize)| (width as f64, value(&measured[width][at]));
            let curve =
                |at: usize| Curve { name: name(depths[at]), points: of(at).map(point).collect(), is_dashed: false };
            (0..depths.len()).map(curve).collect()
        };
        let title = format!("Lifts, {number}");
        let success = over_widths(&|(rates, _)| rates[place]);
        let picture = plot::curves(&title, "slices with the answer, %", &names, &success, &Scale::Linear(100.0), None);
        plot::save(root, &format!("slices-lifts-{number}-success.svg"), &picture);
        let ratio = over_widths(&|(_, states)| states / breadth as f64);
        let top = if number == "I" { 1.0 } else { 4.0 };
        let picture =
            plot::curves(&title, "states of a slice by those of bfs", &names, &ratio, &Scale::Linear(top), Some(1.0));
        plot::save(root, &format!("slices-lifts-{number}-states.svg"), &picture);
    }
}

fn head(first: &str, rest: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(rest).collect()
}
