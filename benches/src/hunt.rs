//! Which search finds a bug with how many states and in what time: `cargo run --release -p birk-bench -- --hunt [--quick]`.
//!
//! Models with seeded bugs, and searches as options of the command; each that draws at random is repeated with a
//! hundred seeds, with `--quick` ten. The tables and the plots go into the documentation. What a search looks at twice
//! counts twice. One command runs at a time, because it is timed.

use std::path::Path;

use crate::highway::page::Page;
use crate::plot::{self, Range};
use crate::run::{json_number, run};
use crate::table::grouped;

/// A name, and a model with what it is asked.
const SUBJECTS: [(&str, &str); 5] = [
    ("USB: an address is lost", "usb_stack.bir -D BUG=1 -D ADDRESSES=8 --property fault"),
    ("USB: a change is missed", "usb_stack.bir -D BUG=2 -D PORTS=2 --property changes_are_noticed"),
    ("Raft: votes are forgotten", "raft_election.bir -D BUG=1 -D N=4 -D T=1 --property one_leader"),
    ("Paxos: promises are forgotten", "paxos.bir -D BUG=1 -D B=3 --property agreement"),
    ("Paxos: votes are ignored", "paxos.bir -D BUG=2 -D B=3 --property agreement"),
];

/// A search that is compared. Another engine is another row.
struct Search {
    name: &'static str,
    options: &'static str,
    /// What its figure counts: the name of the number in the report.
    counts: &'static str,
    is_random: bool,
}

/// One that looks at states, and draws none at random.
const fn plain(name: &'static str, options: &'static str) -> Search {
    Search { name, options, counts: "states", is_random: false }
}

/// One that looks at states that it draws.
const fn drawn(name: &'static str, options: &'static str) -> Search {
    Search { name, options, counts: "states", is_random: true }
}

const SEARCHES: [Search; 14] = [
    plain("bfs", "--search bfs"),
    plain("depth-bounded", "--search depth"),
    plain("dfs", "--search dfs"),
    drawn("bit-state dfs", "--search dfs --store bitstate --memory 64M"),
    drawn("random walk", "--search highway --width 1 --runs 1000"),
    drawn("highway 10", "--search highway --width 10 --runs 300"),
    drawn("highway 100", "--search highway --width 100 --runs 100"),
    drawn("highway 1000", "--search highway --width 1000 --runs 100"),
    drawn("highway auto", "--search highway --width auto"),
    plain("astar", "--search astar"),
    plain("beam 100", "--search astar --beam 100"),
    Search { name: "bdd: nodes", options: "--search bdd", counts: "peak_nodes", is_random: false },
    Search { name: "bdd-astar: nodes", options: "--search bdd-astar", counts: "peak_nodes", is_random: false },
    Search { name: "bmc: clauses", options: "--search bmc", counts: "clauses", is_random: false },
];

/// States after which a search is given up; slices also when there were as many as the options say.
const BUDGET: u64 = 400_000;
/// The same for a search that is done once.
const LARGE_BUDGET: u64 = 2_000_000;
/// Seconds after which a search is given up.
const TIME: u64 = 120;

/// What a search took until it found the bug; infinitely much if it gave up.
#[derive(Clone, Copy)]
struct Cost {
    /// States, nodes or clauses.
    looked: f64,
    /// On the clock, of the whole command.
    seconds: f64,
}

/// Runs everything and writes the tables and the plots.
pub(crate) fn compare(birk: &Path, root: &Path, is_quick: bool) {
    let seeds = if is_quick { 10 } else { 100 };
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(SUBJECTS.iter().map(|(name, _)| (*name).to_owned()));
    rows.extend(SEARCHES.iter().map(|search| vec![search.name.to_owned()]));
    let mut times = rows.clone();
    let (mut groups, mut timed) = (Vec::new(), Vec::new());
    for (subject, model) in SUBJECTS {
        let (mut ranges, mut spans) = (Vec::new(), Vec::new());
        for (place, search) in SEARCHES.iter().enumerate() {
            let costs: Vec<Cost> = (0..if search.is_random { seeds } else { 1 })
                .map(|seed| cost(birk, root, model, search, seed))
                .collect();
            let looked = sorted(costs.iter().map(|cost| cost.looked));
            let milliseconds = sorted(costs.iter().map(|cost| cost.seconds * 1e3));
            let (count, time) = (cell(&looked, |count| grouped(count as u64)), cell(&milliseconds, seconds));
            eprintln!("{subject}, {}: {count}, {time}", search.name);
            rows[place + 1].push(count);
            times[place + 1].push(time);
            ranges.push(range(search.name, &looked, LARGE_BUDGET as f64));
            let name = search.name.split(':').next().unwrap_or(search.name);
            times[place + 1][0] = name.to_owned();
            spans.push(range(name, &milliseconds, TIME as f64 * 1e3));
        }
        groups.push((subject.to_owned(), ranges));
        timed.push((subject.to_owned(), spans));
    }
    let mut page = Page::read(root, "highway-experiments.md", seeds, "median of states".to_owned());
    page.table("bugs", &rows);
    page.corner = "median of seconds".to_owned();
    page.table("bugs-time", &times);
    page.write();
    let title = "states, nodes or clauses until the bug is found: median and quartiles";
    plot::save(root, "hunt.svg", &plot::ranges(title, &groups, decades(&groups)));
    let title = "milliseconds until the bug is found: median and quartiles";
    plot::save(root, "hunt-time.svg", &plot::ranges(title, &timed, decades(&timed)));
}

/// The power of ten beyond all that is shown.
fn decades(groups: &[(String, Vec<Range>)]) -> u32 {
    let shown = groups.iter().flat_map(|(_, ranges)| ranges).filter_map(|range| range.quartiles);
    shown.map(|[.., most]| most.max(1.0).log10() as u32 + 1).max().unwrap_or(1)
}

fn sorted(costs: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = costs.collect();
    all.sort_by(f64::total_cmp);
    all
}

/// One search for the bug.
fn cost(birk: &Path, root: &Path, model: &str, search: &Search, seed: u64) -> Cost {
    // The slices of one repetition have consecutive seeds, and no other repetition has them.
    let budget = if search.is_random { BUDGET } else { LARGE_BUDGET }.to_string();
    let (seed, time) = ((seed * 1_000_000).to_string(), format!("{TIME}s"));
    let mut words = vec!["check", "--format", "json", "--threads", "1", "--seed", &seed, "--time", &time];
    if search.counts == "states" {
        words.extend(["--max-states", &budget]);
    }
    words.extend(model.split_whitespace());
    words.extend(search.options.split_whitespace());
    let ran = run(birk, &words, &root.join("models"));
    let verdict = ran.output.split_once("\"verdict\": \"").map_or("", |(_, rest)| rest);
    let stats = ran.output.split_once("\"stats\":").unwrap_or_else(|| panic!("{words:?}: {}", ran.errors)).1;
    if !verdict.starts_with("violated") {
        return Cost { looked: f64::INFINITY, seconds: f64::INFINITY };
    }
    let visits = json_number(stats, "visits").filter(|_| search.counts == "states");
    let looked = visits.or_else(|| json_number(stats, search.counts)).expect("the report has the number");
    Cost { looked, seconds: ran.wall }
}

/// The median, and how many found nothing if some did not.
fn cell(sorted: &[f64], text: impl Fn(f64) -> String) -> String {
    let lost = sorted.iter().filter(|states| states.is_infinite()).count();
    let median = quartile(sorted, 2);
    let text = if median.is_infinite() { "not found".to_owned() } else { text(median) };
    if lost > 0 && sorted.len() > 1 {
        format!("{text} ({lost} % lost)", lost = 100 * lost / sorted.len())
    } else {
        text
    }
}

/// Milliseconds as seconds, to two figures where they are few.
fn seconds(milliseconds: f64) -> String {
    match milliseconds {
        ..100.0 => format!("{:.3}", milliseconds / 1e3),
        ..1000.0 => format!("{:.2}", milliseconds / 1e3),
        _ => format!("{:.1}", milliseconds / 1e3),
    }
}

fn quartile(sorted: &[f64], number: usize) -> f64 {
    sorted[(sorted.len() - 1) * number / 4]
}

/// A row of a plot: the quartiles, the budget for what found nothing; none if most did not.
fn range(name: &str, sorted: &[f64], budget: f64) -> Range {
    let known = |value: f64| if value.is_finite() { value } else { budget };
    let quartiles = [1, 2, 3].map(|number| known(quartile(sorted, number)));
    Range {
        name: name.to_owned(),
        quartiles: quartile(sorted, 2).is_finite().then_some(quartiles),
        is_open: quartile(sorted, 3).is_infinite(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_count_what_was_not_found_as_more_than_all() {
        let (count, budget) = (|count: f64| grouped(count as u64), LARGE_BUDGET as f64);
        let both = |sorted: &[f64]| (cell(sorted, count), range("", sorted, budget).quartiles);
        let all: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(both(&all), ("50".to_owned(), Some([25.0, 50.0, 75.0])));
        let some: Vec<f64> = (1..=60).map(|i| f64::from(i) * 100.0).chain([f64::INFINITY; 40]).collect();
        assert_eq!(both(&some), ("5,000 (40 % lost)".to_owned(), Some([2_500.0, 5_000.0, 2_000_000.0])));
        assert!(range("", &some, budget).is_open && !range("", &all, budget).is_open);
        assert_eq!(range("", &[2e7], budget).quartiles, Some([2e7; 3]));
        let group = |sorted: &[f64]| vec![(String::new(), vec![range("", sorted, budget)])];
        assert_eq!([group(&all), group(&some), group(&[2e7])].map(|group| decades(&group)), [2, 7, 8]);
        assert_eq!(both(&[f64::INFINITY; 3]), ("not found (100 % lost)".to_owned(), None));
        assert_eq!(both(&[f64::INFINITY]), ("not found".to_owned(), None));
    }

    #[test]
    fn short_times_have_more_digits() {
        assert_eq!([4.2, 512.0, 61_234.0].map(seconds), ["0.004", "0.51", "61.2"]);
    }
}
