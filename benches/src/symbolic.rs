//! Sets of states measured: `cargo run --release -p birk-bench -- --symbolic [--quick]`.
//!
//! Tables 4 and 5 of "Error Detection with Directed Symbolic Model Checking" (Reffel, Edelkamp) again, by levels and directed, over
//! growing tree arbiters and rings for mutual exclusion, with a bug and without; and a ring of philosophers beside BuDDy
//! alone. Tables and plots go into the documentation. It needs `python3` for the circuits, and `gcc` and `libbdd-dev` for BuDDy.

use std::path::{Path, PathBuf};

use crate::highway::page::Page;
use crate::plot::{self, Curve, Scale};
use crate::run::{Ran, json_number, run};
use crate::table::{Spread, grouped};

/// What is searched: a name, what its size counts, and twice a kind and what `circuits.py` is told for a size.
struct Family {
    name: &'static str,
    counts: &'static str,
    kinds: [(&'static str, &'static str); 2],
    sizes: [u32; 5],
}

const FAMILIES: [Family; 3] = [
    Family {
        name: "pair",
        counts: "users",
        kinds: [("gates", "tree {} --buggy --pair 1 2"), ("modules", "tree {} --buggy --pair 1 2 --step module")],
        sizes: [8, 32, 64, 128, 1024],
    },
    Family {
        name: "arbiters",
        counts: "users",
        kinds: [("bug", "tree {} --step module --buggy"), ("correct", "tree {} --step module")],
        sizes: [2, 4, 8, 16, 32],
    },
    Family {
        name: "rings",
        counts: "cells",
        kinds: [("bug", "dme {} --step module --bug 1"), ("correct", "dme {} --step module")],
        sizes: [2, 3, 4, 5, 6],
    },
];

const ENGINES: [&str; 2] = ["bdd", "bdd-astar"];
/// What the program on BuDDy can be told.
const WAYS: [&str; 2] = ["saturate", "chain"];
/// Of each search.
const MEMORY: &str = "4G";
/// With `--quick` so many sizes of a family.
const FEW: usize = 3;

/// Measures everything, with `quick` the smaller sizes and less time for each.
pub(crate) fn compare(birk: &Path, root: &Path, is_quick: bool) {
    let folder = std::env::temp_dir().join(format!("birk-bench-symbolic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let seconds = if is_quick { 10 } else { 60 };
    let mut page = Page::read(root, "symbolic-experiments.md", 0, String::new());
    let bench = Bench { birk, root, folder: &folder, seconds };
    for family in &FAMILIES {
        bench.family(&mut page, family, if is_quick { FEW } else { family.sizes.len() });
    }
    page.corner = "philosophers".to_owned();
    bench.philosophers(&mut page, if is_quick { &[10, 100] } else { &[10, 100, 1000] }, if is_quick { 1 } else { 3 });
    page.write();
    let _ = std::fs::remove_dir_all(&folder);
}

struct Bench<'a> {
    birk: &'a Path,
    root: &'a Path,
    folder: &'a Path,
    /// After which a search is given up.
    seconds: u32,
}

/// What a search said and took.
struct Searched {
    answer: Answer,
    iterations: u64,
    nodes: u64,
    seconds: f64,
}

/// What a search said; a part of it must be the same for every engine.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    /// The length of a shortest run to the bug.
    Violated(u64),
    /// The number of states, as digits.
    Holds(String),
    /// Which limit ended it.
    Unknown(String),
}

impl Bench<'_> {
    /// A circuit of two kinds in growing sizes with each engine: a table for each, and plots of both.
    fn family(&self, page: &mut Page, family: &Family, sizes: usize) {
        let sizes = &family.sizes[..sizes];
        let (mut nodes, mut times) = (Vec::new(), Vec::new());
        for (at, (kind, arguments)) in family.kinds.iter().enumerate() {
            let mut table = vec![head()];
            let curve = |engine: &str| Curve { name: format!("{engine}, {kind}"), points: vec![], is_dashed: at > 0 };
            let (mut counts, mut spans) = (ENGINES.map(curve), ENGINES.map(curve));
            for (place, size) in sizes.iter().enumerate() {
                let model = self.circuit(&arguments.replace("{}", &size.to_string()));
                let searched = ENGINES.map(|engine| self.search(&model, engine));
                let row = row(*size, &searched);
                eprintln!("{}, {kind}: {}", family.name, row.join(" | "));
                table.push(row);
                for (at, searched) in searched.iter().enumerate().filter(|(_, searched)| searched.is_decided()) {
                    counts[at].points.push((place as f64, searched.nodes as f64));
                    spans[at].points.push((place as f64, searched.seconds * 1e3));
                }
            }
            family.counts.clone_into(&mut page.corner);
            page.table(&format!("{}-{kind}", family.name), &table);
            nodes.extend(counts);
            times.extend(spans);
        }
        let places: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let picture = |what: &str, curves: &[Curve]| {
            plot::curves(family.name, what, &places, curves, &Scale::decades_of(curves), None)
        };
        plot::save(self.root, &format!("symbolic-{}.svg", family.name), &picture("most nodes", &nodes));
        plot::save(self.root, &format!("symbolic-{}-time.svg", family.name), &picture("milliseconds", &times));
    }

    /// A model as `circuits.py` writes it.
    fn circuit(&self, arguments: &str) -> PathBuf {
        let script = self.root.join("models/generate/circuits.py");
        let mut words = vec![text(&script)];
        words.extend(arguments.split_whitespace());
        let ran = run("python3", &words, self.root);
        assert!(ran.success, "{}", ran.errors);
        let path = self.folder.join("circuit.bir");
        std::fs::write(&path, ran.output).expect("the model can be written");
        path
    }

    fn search(&self, model: &Path, engine: &str) -> Searched {
        let time = format!("{}s", self.seconds);
        let limits = ["--memory", MEMORY, "--time", &time, "--property", "exclusion"];
        let options = ["--progress", "off", "--format", "json", "--search", engine];
        let ran = run(self.birk, &[&["check", text(model)], &limits[..], &options[..]].concat(), self.root);
        Searched::read(&ran)
    }

    /// The ring with `bdd-chain`, and on BuDDy alone in two ways, in turn.
    fn philosophers(&self, page: &mut Page, sizes: &[u32], repetitions: usize) {
        let peer = self.folder.join("phil");
        let source = self.root.join("benches/peers/buddy/phil.c");
        let built = run("gcc", &["-O2", "-o", text(&peer), text(&source), "-lbdd", "-lm"], self.root);
        assert!(built.success, "BuDDy is missing (apt-get install libbdd-dev): {}", built.errors);
        let head = ["", "states", "Birk", "BuDDy, saturated", "Birk / BuDDy", "BuDDy, chained", "Birk / BuDDy"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for size in sizes {
            let (size, constant) = (size.to_string(), format!("N={size}"));
            let words = ["check", "models/philosophers_ring.bir", "-D", &constant, "--property", "fault"];
            let options = ["--search", "bdd-chain", "--format", "json", "--progress", "off"];
            let mut ours = Spread::default();
            let mut theirs = WAYS.map(|way| (way, Spread::default(), Spread::default()));
            let mut states = String::new();
            for _ in 0..repetitions {
                let birk = run(self.birk, &[&words[..], &options[..]].concat(), self.root);
                states = states_of(&birk.output).unwrap_or_else(|| panic!("{}{}", birk.output, birk.errors));
                ours.add(birk.cpu);
                for (way, times, ratios) in &mut theirs {
                    let buddy = run(&peer, &[&size, way], self.root);
                    let counted = buddy.output.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok());
                    let counted = counted.unwrap_or_else(|| panic!("{}{}", buddy.output, buddy.errors));
                    let expected = magnitude_of(&states);
                    assert!((counted - expected).abs() < 1e-5, "{size}: 10^{expected} and 10^{counted} states");
                    times.add(buddy.cpu);
                    ratios.add(birk.cpu / buddy.cpu);
                }
            }
            let mut row = vec![size, power(&states), ours.text(2) + " s"];
            for (_, times, ratios) in theirs {
                row.extend([times.text(2) + " s", format!("{:.2}", ratios.median())]);
            }
            eprintln!("philosophers: {}", row.join(" | "));
            rows.push(row);
        }
        page.table("philosophers", &rows);
    }
}

fn head() -> Vec<String> {
    let mut head = vec![String::new(), "answer".to_owned()];
    let columns = ["iterations", "most nodes", "time"];
    head.extend(ENGINES.iter().flat_map(|engine| columns.map(|what| format!("`{engine}`: {what}"))));
    head
}

/// What the engines took for one size. Where several have an answer, it is the same.
fn row(size: u32, searched: &[Searched]) -> Vec<String> {
    let mut decided = searched.iter().filter(|searched| searched.is_decided()).map(|searched| &searched.answer);
    let answer = decided.next();
    assert!(decided.all(|other| Some(other) == answer), "of {size}: {answer:?} and another answer");
    let answer = match answer {
        Some(Answer::Violated(length)) => format!("{length} steps"),
        Some(Answer::Holds(states)) => format!("{} states", states.parse().map_or_else(|_| power(states), grouped)),
        _ => "not known".to_owned(),
    };
    let mut row = vec![size.to_string(), answer];
    row.extend(searched.iter().flat_map(Searched::cells));
    row
}

impl Searched {
    /// What the report of a search says.
    fn read(ran: &Ran) -> Self {
        let report = || format!("{}{}", ran.output, ran.errors);
        let number = |name: &str| json_number(&ran.output, name).unwrap_or_else(|| panic!("no {name}: {}", report()));
        let is = |verdict: &str| ran.output.contains(&format!("\"verdict\": \"{verdict}\""));
        let answer = if is("violated") {
            Answer::Violated(number("length") as u64)
        } else if is("holds") {
            Answer::Holds(states_of(&ran.output).unwrap_or_else(|| panic!("no states: {}", report())))
        } else {
            let limit = ran.output.split_once("\"stopped_by\": \"").and_then(|(_, rest)| rest.split_once('"'));
            Answer::Unknown(limit.unwrap_or_else(|| panic!("no limit: {}", report())).0.to_owned())
        };
        Self { answer, iterations: number("iterations") as u64, nodes: number("peak_nodes") as u64, seconds: ran.cpu }
    }

    fn is_decided(&self) -> bool {
        !matches!(self.answer, Answer::Unknown(_))
    }

    fn cells(&self) -> [String; 3] {
        let (more, time) = match &self.answer {
            Answer::Unknown(limit) => ("> ", format!("out of {limit}")),
            _ => ("", format!("{:.2} s", self.seconds)),
        };
        [more.to_owned() + &grouped(self.iterations), more.to_owned() + &grouped(self.nodes), time]
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a readable path")
}

/// The digits of the number of states in a report: text where it is more than 64 bits hold.
fn states_of(json: &str) -> Option<String> {
    let states = json.split_once("\"stats\":")?.1.split_once("\"states\":")?.1.trim_start().trim_start_matches('"');
    let digits: String = states.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// The logarithm of a number, which may be larger than any floating-point number.
fn magnitude_of(digits: &str) -> f64 {
    let (leading, rest) = digits.split_at(digits.len().min(15));
    leading.parse::<f64>().expect("digits are a number").log10() + rest.len() as f64
}

/// A large number in short.
fn power(digits: &str) -> String {
    format!("10<sup>{:.2}</sup>", magnitude_of(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search that said this.
    fn ran(output: &str) -> Ran {
        Ran { output: output.to_owned(), errors: String::new(), cpu: 1.5, wall: 2.0, success: true }
    }

    fn report(verdict: &str, stopped_by: &str, states: &str, rest: &str) -> Searched {
        let stats = format!("\"stats\": {{ \"states\": {states}, \"peak_nodes\": 5000, \"iterations\": 22 }}");
        let head =
            format!("\"verdict\": \"{verdict}\", \"coverage\": {{ \"states\": 3 }}, \"stopped_by\": \"{stopped_by}\"");
        Searched::read(&ran(&format!("{{ {head}, {stats}{rest} }}")))
    }

    #[test]
    fn a_report_becomes_a_row() {
        let found = || report("violated", "violation", "7", ", \"traces\": [ { \"length\": 26 } ]");
        let lost = || report("inconclusive", "memory", "7", "");
        assert_eq!(found().answer, Answer::Violated(26));
        let expected = ["8", "26 steps", "> 22", "> 5,000", "out of memory", "22", "5,000", "1.50 s"];
        assert_eq!(row(8, &[lost(), found()]), expected);
        assert_eq!(row(8, &[lost(), lost()])[1], "not known");
        let held = |states: &str| row(8, &[report("holds", "exhausted", states, "")])[1].clone();
        assert_eq!(held("12399056"), "12,399,056 states");
        assert_eq!(held("\"12226512089817569882211942400\""), "10<sup>28.09</sup> states");
    }

    #[test]
    #[should_panic(expected = "another answer")]
    fn engines_must_agree() {
        let states = |states: &str| report("holds", "exhausted", states, "");
        row(8, &[states("42"), states("43")]);
    }

    #[test]
    fn a_number_of_states_has_a_magnitude() {
        assert_eq!(magnitude_of("1000"), 3.0);
        assert_eq!(magnitude_of(&format!("1{}", "0".repeat(500))), 500.0);
        assert_eq!(states_of("{}"), None);
    }
}
