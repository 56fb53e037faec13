//! Which search finds a mistake with how many states: `cargo run --release -p birk-bench -- --hunt [--quick]`.
//!
//! Models with mistakes put into them, and searches as options of the command; each that draws at random is repeated with a
//! hundred seeds, with `--quick` ten. The table and the plot go into the documentation. What a search looks at twice
//! counts twice.

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
    ("Paxos: votes are not looked at", "paxos.bir -D BUG=2 -D B=3 --property agreement"),
];

/// A name, the options, and whether they draw at random. Another engine is another row.
const SEARCHES: [(&str, &str, bool); 9] = [
    ("bfs", "--search bfs", false),
    ("depth-bounded", "--search depth", false),
    ("dfs", "--search dfs", false),
    ("bit-state dfs", "--search dfs --store bitstate --memory 64M", true),
    ("random walk", "--search highway --width 1 --runs 1000", true),
    ("highway 10", "--search highway --width 10 --runs 300", true),
    ("highway 100", "--search highway --width 100 --runs 100", true),
    ("highway 1000", "--search highway --width 1000 --runs 100", true),
    ("highway auto", "--search highway --width auto", true),
];

/// States after which a search is given up; slices also when there were as many as the options say.
const BUDGET: u64 = 400_000;
/// The same for a search that is done once.
const LARGE_BUDGET: u64 = 2_000_000;

/// Runs everything and writes the table and the plot.
pub(crate) fn compare(birk: &Path, root: &Path, is_quick: bool) {
    let seeds = if is_quick { 10 } else { 100 };
    let mut page = Page::read(root, "highway-experiments.md", seeds, "median of states".to_owned());
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(SUBJECTS.iter().map(|(name, _)| (*name).to_owned()));
    rows.extend(SEARCHES.iter().map(|(name, ..)| vec![(*name).to_owned()]));
    let mut groups = Vec::new();
    for (subject, model) in SUBJECTS {
        let mut ranges = Vec::new();
        for (place, (name, options, is_random)) in SEARCHES.into_iter().enumerate() {
            let seeds = if is_random { seeds } else { 1 };
            let states = repeated(seeds, &|seed| states(birk, root, model, options, is_random.then_some(seed)));
            let cell = cell(&states);
            eprintln!("{subject}, {name}: {cell}");
            rows[place + 1].push(cell);
            ranges.push(Range {
                name: name.to_owned(),
                quartiles: shown(&states),
                is_open: quartile(&states, 3).is_infinite(),
            });
        }
        groups.push((subject.to_owned(), ranges));
    }
    page.table("mistakes", &rows);
    page.write();
    let decades = BUDGET.ilog10() + 1;
    plot::save(
        root,
        "hunt.svg",
        &plot::ranges("states until the mistake is found: median and quartiles", &groups, decades),
    );
}

/// What comes out for each seed, in order of size; nothing is timed, so they may run side by side.
fn repeated(seeds: u64, one: &(dyn Fn(u64) -> f64 + Sync)) -> Vec<f64> {
    let mut all: Vec<f64> = std::thread::scope(|scope| {
        let part = |first: u64| scope.spawn(move || (first..seeds).step_by(4).map(one).collect::<Vec<f64>>());
        let parts: Vec<_> = (0..4).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a search can be run")).collect()
    });
    all.sort_by(f64::total_cmp);
    all
}

/// How many states a search looks at until it finds the mistake; infinitely many if it gives up.
fn states(birk: &Path, root: &Path, model: &str, options: &str, seed: Option<u64>) -> f64 {
    // The slices of one repetition have consecutive seeds, and no other repetition has them.
    let budget = if seed.is_some() { BUDGET } else { LARGE_BUDGET }.to_string();
    let seed = (seed.unwrap_or(0) * 1_000_000).to_string();
    let mut words = vec!["check", "--format", "json", "--threads", "1", "--max-states", &budget, "--seed", &seed];
    words.extend(model.split_whitespace());
    words.extend(options.split_whitespace());
    let ran = run(birk, &words, &root.join("models"));
    let verdict = ran.output.split_once("\"verdict\": \"").map_or("", |(_, rest)| rest);
    let stats = ran.output.split_once("\"stats\":").unwrap_or_else(|| panic!("{words:?}: {}", ran.errors)).1;
    if !verdict.starts_with("violated") {
        return f64::INFINITY;
    }
    let visits = json_number(stats, "visits");
    visits.or_else(|| json_number(stats, "states")).expect("a number of states")
}

/// The median, and how many found nothing if some did not.
fn cell(sorted: &[f64]) -> String {
    let lost = sorted.iter().filter(|states| states.is_infinite()).count();
    let median = quartile(sorted, 2);
    let text = if median.is_infinite() { "not found".to_owned() } else { grouped(median as u64) };
    if lost > 0 && sorted.len() > 1 {
        format!("{text} ({lost} % lost)", lost = 100 * lost / sorted.len())
    } else {
        text
    }
}

fn quartile(sorted: &[f64], number: usize) -> f64 {
    sorted[(sorted.len() - 1) * number / 4]
}

/// The quartiles, no larger than the budget; none if most found nothing.
fn shown(sorted: &[f64]) -> Option<[f64; 3]> {
    let quartiles = [1, 2, 3].map(|number| quartile(sorted, number).min(LARGE_BUDGET as f64));
    quartile(sorted, 2).is_finite().then_some(quartiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_count_what_was_not_found_as_more_than_all() {
        let all: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((cell(&all), shown(&all)), ("50".to_owned(), Some([25.0, 50.0, 75.0])));
        let some: Vec<f64> = (1..=60).map(|i| f64::from(i) * 100.0).chain([f64::INFINITY; 40]).collect();
        assert_eq!(
            (cell(&some), shown(&some)),
            ("5,000 (40 % lost)".to_owned(), Some([2_500.0, 5_000.0, 2_000_000.0]))
        );
        let none = [f64::INFINITY; 3];
        assert_eq!((cell(&none), shown(&none)), ("not found (100 % lost)".to_owned(), None));
        assert_eq!(cell(&[f64::INFINITY]), "not found");
    }
}
