//! The experiments of "Depth Bounded Explicit-State Model Checking" (Udupa, Desai, Rajamani) again:
//! `cargo run --release -p birk-bench -- --depth [--quick]`. The tables go into the documentation.

use std::path::Path;

use crate::highway::page::Page;
use crate::run::{Ran, json_number, run};

/// A model, its constants, and how deep it is searched where time is measured.
struct Subject {
    model: &'static str,
    constants: &'static str,
    depth: u32,
}

const SUBJECTS: [Subject; 5] = [
    Subject { model: "usb_stack", constants: "-D BUG=1 -D ADDRESSES=900", depth: 2000 },
    Subject {
        model: "usb_firmware",
        constants: "-D REQUESTS=3 -D RING=512 -D BLOCK=1024 -D FRAMES=200001",
        depth: 2000,
    },
    Subject { model: "frames", constants: "-D N=2 -D W=500", depth: 700 },
    Subject { model: "hanoi", constants: "-D DISKS=12", depth: 1000 },
    Subject { model: "raft_election", constants: "", depth: 30 },
];

/// What the optimisations are: thresholds, and traces that share their beginnings.
const WITHOUT: &str = "--search depth-naive --frontier traces";
const WITH: &str = "--search depth --frontier tree";

/// Seconds after which a search to a fixed depth is given up.
const LONGEST: u32 = 60;

/// Measures everything with a budget of a minute for each search, with `quick` five seconds.
pub(crate) fn run_all(birk: &Path, root: &Path, quick: bool) {
    let seconds = if quick { 5 } else { 60 };
    let mut page = Page::read(root, "depth-experiments.md", 0, format!("{seconds} s each"));
    let bench = Bench { birk, root, seconds };
    bench.covered(&mut page);
    bench.revisits(&mut page);
    bench.times(&mut page);
    bench.frontiers(&mut page);
    page.write();
}

struct Bench<'a> {
    birk: &'a Path,
    root: &'a Path,
    seconds: u32,
}

impl Bench<'_> {
    /// One search on one thread, by fingerprints, until the budget is used up.
    fn search(&self, subject: &Subject, options: &str, seconds: u32) -> Ran {
        let words = format!(
            "check models/{}.bir {} {options} --time {}s --store compact --threads 1 --keep-going --deadlock off \
             --progress off --format json",
            subject.model, subject.constants, seconds
        );
        run(self.birk, &words.split_whitespace().collect::<Vec<_>>(), self.root)
    }

    /// States, and the depth to which all were examined.
    fn covered(&self, page: &mut Page) {
        let head = |what: &str| {
            vec![String::new(), "bytes a state".into(), format!("{what} without"), "with".into(), "more".into()]
        };
        let (mut states, mut depths) = (vec![head("states")], vec![head("depth")]);
        for subject in &SUBJECTS {
            let (without, with) =
                (self.search(subject, WITHOUT, self.seconds), self.search(subject, WITH, self.seconds));
            let bytes = (number(&with, "state_bits") / 8.0).ceil();
            let row = |measure: fn(&Ran) -> f64| {
                let (before, after) = (measure(&without), measure(&with));
                let more = format!("{:+.0} %", 100.0 * (after / before - 1.0));
                vec![
                    subject.model.to_owned(),
                    bytes.to_string(),
                    shown(before) + ended(&without),
                    shown(after) + ended(&with),
                    more,
                ]
            };
            states.push(row(|ran| number(ran, "states")));
            // A search that came to its end covered the depth of the deepest state.
            depths.push(row(|ran| number(ran, if is_complete(ran) { "max_depth" } else { "depth" })));
        }
        page.table("Table 1", &states);
        page.table("Table 2", &depths);
    }

    /// Explorations beyond the first of a state, up to a depth.
    fn revisits(&self, page: &mut Page) {
        let mut rows =
            vec![["", "depth", "increment", "without thresholds", "with", "less"].map(String::from).to_vec()];
        for subject in &SUBJECTS {
            for increment in [50, 1000] {
                let limit = subject.depth.max(increment).min(1000);
                let options = format!("--increment {increment} --max-depth {limit}");
                let without = self.search(subject, &format!("--search depth-naive {options}"), self.seconds);
                let with = self.search(subject, &format!("--search depth {options}"), self.seconds);
                let count =
                    |ran: &Ran| if is_cut(ran) { "not finished".into() } else { shown(number(ran, "revisits")) };
                let less = match number(&without, "revisits") {
                    before if is_cut(&without) || is_cut(&with) || before == 0.0 => "–".into(),
                    before => format!("{:.0} %", 100.0 * (1.0 - number(&with, "revisits") / before)),
                };
                let name = subject.model.to_owned();
                rows.push(vec![name, limit.to_string(), increment.to_string(), count(&without), count(&with), less]);
            }
        }
        page.table("Table 3", &rows);
    }

    /// Processor time up to a depth.
    fn times(&self, page: &mut Page) {
        let mut rows = vec![["", "depth", "traces from the start", "tree", "less"].map(String::from).to_vec()];
        for subject in &SUBJECTS {
            let options = format!("--search depth --max-depth {}", subject.depth);
            let without = self.search(subject, &format!("{options} --frontier traces"), LONGEST);
            let with = self.search(subject, &format!("{options} --frontier tree"), LONGEST);
            let more = if is_cut(&without) { "more than " } else { "" };
            rows.push(vec![
                subject.model.to_owned(),
                subject.depth.to_string(),
                format!("{more}{:.2} s", without.cpu),
                format!("{:.2} s", with.cpu),
                format!("{more}{:.0} %", 100.0 * (1.0 - with.cpu / without.cpu)),
            ]);
        }
        page.table("Table 4", &rows);
    }

    /// What waits: how large it is, and how far one state is from the next.
    fn frontiers(&self, page: &mut Page) {
        let head = ["", "depth", "increment", "states at the widest bound", "bytes each", "steps to the next"];
        let mut rows = vec![head.map(String::from).to_vec()];
        for subject in &SUBJECTS {
            for increment in [10, 50] {
                let limit = subject.depth.min(1000);
                let options = format!("{WITH} --increment {increment} --max-depth {limit}");
                let ran = self.search(subject, &options, LONGEST);
                rows.push(vec![
                    subject.model.to_owned(),
                    limit.to_string(),
                    increment.to_string(),
                    shown(number(&ran, "peak_states")),
                    format!("{:.0}", number(&ran, "bytes_per_state")),
                    format!("{:.1}", number(&ran, "steps_per_replay")),
                ]);
            }
        }
        page.table("Table 5", &rows);
    }
}

fn number(ran: &Ran, name: &str) -> f64 {
    json_number(&ran.output, name).unwrap_or_else(|| panic!("no {name}: {}{}", ran.output, ran.errors))
}

fn is_cut(ran: &Ran) -> bool {
    ran.output.contains("\"stopped_by\":\"time\"") || ran.output.contains("\"stopped_by\": \"time\"")
}

fn is_complete(ran: &Ran) -> bool {
    ran.output.contains("\"exhausted\"")
}

fn ended(ran: &Ran) -> &'static str {
    if is_complete(ran) { " (all)" } else { "" }
}

/// `1,234,567`
fn shown(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
