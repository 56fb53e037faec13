//! Sets of states measured: `cargo run --release -p birk-bench -- --symbolic [--quick]`.
//!
//! Tables 4 and 5 of "Error Detection with Directed Symbolic Model Checking" (Reffel, Edelkamp) again, by levels and directed, over
//! tree arbiters and rings for mutual exclusion with a mistake; and a ring of philosophers beside BuDDy alone. Tables and plots go
//! into the documentation. It needs `python3` for the circuits, and `gcc` and `libbdd-dev` for BuDDy.

use std::path::{Path, PathBuf};

use crate::highway::page::Page;
use crate::plot::{self, Curve};
use crate::run::{json_number, run};
use crate::table::{Spread, grouped, ratio};

/// Memory and time of each search.
const LIMITS: &str = "--memory 4G --time 30s";
const ENGINES: [&str; 2] = ["bdd", "bdd-astar"];

/// Measures everything, with `quick` the smaller sizes.
pub(crate) fn compare(birk: &Path, root: &Path, is_quick: bool) {
    let folder = std::env::temp_dir().join(format!("birk-bench-symbolic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let mut page = Page::read(root, "symbolic-experiments.md", 0, "size".to_owned());
    let bench = Bench { birk, root, folder: &folder };
    let most = |sizes: &'static [u32], few: usize| if is_quick { &sizes[..few] } else { sizes };
    bench.circuits(&mut page, "arbiters", "tree {} --buggy", most(&[4, 8, 16, 32, 64], 3));
    bench.circuits(&mut page, "rings", "dme {} --bug 1 --step module", most(&[2, 3, 4, 5, 6, 8], 3));
    bench.philosophers(&mut page, most(&[10, 50, 100, 1000], 3), if is_quick { 1 } else { 3 });
    page.write();
    let _ = std::fs::remove_dir_all(&folder);
}

struct Bench<'a> {
    birk: &'a Path,
    root: &'a Path,
    folder: &'a Path,
}

/// What a search for the mistake took.
struct Hunted {
    /// The length of the run; `None` where the limits were not enough.
    length: Option<u64>,
    iterations: u64,
    nodes: u64,
    seconds: f64,
}

impl Bench<'_> {
    /// A circuit of growing size with each engine: a table, and a plot of the nodes.
    fn circuits(&self, page: &mut Page, name: &str, arguments: &str, sizes: &[u32]) {
        let mut rows = vec![vec![String::new(), "steps".to_owned()]];
        rows[0].extend(ENGINES.iter().flat_map(|engine| {
            ["iterations", "most nodes", "processor time"].map(|what| format!("`{engine}`: {what}"))
        }));
        let mut curves = ENGINES.map(|engine| Curve { name: engine.to_owned(), points: Vec::new(), is_dashed: false });
        for (place, size) in sizes.iter().enumerate() {
            let model = self.circuit(&arguments.replace("{}", &size.to_string()));
            let hunted = ENGINES.map(|engine| self.hunt(&model, engine));
            let lengths: Vec<u64> = hunted.iter().filter_map(|hunted| hunted.length).collect();
            assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{name} of {size}: runs of {lengths:?} steps");
            let mut row = vec![size.to_string(), lengths.first().map_or("-".to_owned(), u64::to_string)];
            for (hunted, curve) in hunted.iter().zip(&mut curves) {
                row.extend(hunted.cells());
                if hunted.length.is_some() {
                    curve.points.push((place as f64, (hunted.nodes as f64).log10()));
                }
            }
            rows.push(row);
        }
        page.table(name, &rows);
        let places: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let picture = plot::curves(name, "most nodes, as powers of ten", &places, &curves, 8.0, None);
        plot::save(self.root, &format!("symbolic-{name}.svg"), &picture);
    }

    /// A model as `circuits.py` writes it.
    fn circuit(&self, arguments: &str) -> PathBuf {
        let script = self.root.join("models/generate/circuits.py");
        let mut words = vec![script.to_str().expect("a readable path")];
        words.extend(arguments.split_whitespace());
        let ran = run("python3", &words, self.root);
        assert!(ran.success, "{}", ran.errors);
        let path = self.folder.join("circuit.bir");
        std::fs::write(&path, ran.output).expect("the model can be written");
        path
    }

    fn hunt(&self, model: &Path, engine: &str) -> Hunted {
        let words = format!("{LIMITS} --property exclusion --progress off --format json --search {engine}");
        let mut words: Vec<&str> = words.split_whitespace().collect();
        words.extend(["check", model.to_str().expect("a readable path")]);
        words.rotate_right(2);
        let ran = run(self.birk, &words, self.root);
        let number = |name: &str| json_number(&ran.output, name).unwrap_or_else(|| panic!("{words:?}: {}", ran.errors));
        let is_found = ran.output.contains("\"verdict\": \"violated\"");
        Hunted {
            length: is_found.then(|| number("max_depth") as u64),
            iterations: number("iterations") as u64,
            nodes: number("peak_nodes") as u64,
            seconds: ran.cpu,
        }
    }

    /// The ring with `bdd-chain`, and on BuDDy alone, in turn.
    fn philosophers(&self, page: &mut Page, sizes: &[u32], repetitions: usize) {
        let peer = self.folder.join("phil");
        let source = self.root.join("benches/peers/buddy/phil.c");
        let paths = [&source, &peer].map(|path| path.to_str().expect("a readable path"));
        let built = run("gcc", &["-O2", "-o", paths[1], paths[0], "-lbdd", "-lm"], self.root);
        assert!(built.success, "BuDDy is missing (apt-get install libbdd-dev): {}", built.errors);
        let head = ["", "states", "Birk", "BuDDy alone", "Birk / BuDDy"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for size in sizes {
            let size = size.to_string();
            let (mut ours, mut theirs, mut ratios) = (Spread::default(), Spread::default(), Spread::default());
            let mut magnitude = 0.0;
            for _ in 0..repetitions {
                let constant = format!("N={size}");
                let words = ["check", "models/philosophers_ring.bir", "-D", &constant, "--property", "fault"];
                let options = ["--search", "bdd-chain", "--format", "json", "--progress", "off"];
                let birk = run(self.birk, &[&words[..], &options[..]].concat(), self.root);
                let buddy = run(&peer, &[&size], self.root);
                magnitude = magnitude_of(&birk.output).unwrap_or_else(|| panic!("{}", birk.errors));
                let expected: f64 =
                    buddy.output.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("digits");
                assert!((magnitude - expected).abs() < 1e-5, "{size}: 10^{magnitude} and 10^{expected} states");
                ours.add(birk.cpu);
                theirs.add(buddy.cpu);
                ratios.add(birk.cpu / buddy.cpu);
            }
            let states = format!("10<sup>{magnitude:.2}</sup>");
            rows.push(vec![size, states, ours.text(2) + " s", theirs.text(2) + " s", ratio(ratios.median())]);
        }
        page.table("philosophers", &rows);
    }
}

impl Hunted {
    fn cells(&self) -> [String; 3] {
        let time = match self.length {
            Some(_) => format!("{:.1} s", self.seconds),
            None => "not found".to_owned(),
        };
        [grouped(self.iterations), grouped(self.nodes), time]
    }
}

/// The logarithm of the number of states, which may be larger than any floating-point number.
fn magnitude_of(json: &str) -> Option<f64> {
    let stats = json.split_once("\"stats\":")?.1;
    let digits: String =
        stats.split_once("\"states\":")?.1.trim_start().chars().take_while(char::is_ascii_digit).collect();
    let leading: f64 = digits.get(..digits.len().min(15))?.parse().ok()?;
    Some(leading.log10() + digits.len().saturating_sub(15) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_states_has_a_magnitude() {
        let stats = |digits: &str| format!("{{\"stats\": {{ \"states\": {digits}, \"depth\": 3 }}}}");
        assert_eq!(magnitude_of(&stats("1000")), Some(3.0));
        assert_eq!(magnitude_of(&stats(&format!("1{}", "0".repeat(500)))), Some(500.0));
        assert_eq!(magnitude_of("{}"), None);
    }
}
