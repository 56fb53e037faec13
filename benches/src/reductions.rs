//! Reduced searches beside those of SPIN (partial order) and Rumur (symmetry): states and processor seconds, in turn.
//!
//! The tables go into the documentation.

use crate::Bench;
use crate::highway::page::Page;
use crate::peers::before;
use crate::run::{json_number, run};
use crate::table::{Spread, grouped, row};

/// A model that is searched for one property, or for all of them.
struct Subject {
    title: &'static str,
    birk: &'static str,
    /// SPIN's model, with its options.
    spin: Option<(&'static str, &'static [&'static str])>,
}

const PARTIAL_ORDER: [Subject; 8] = [
    Subject {
        title: "`peers/phil` N=13, deadlock",
        birk: "models/peers/phil.bir -D N=13 --property deadlock",
        spin: Some(("phil", &["-DN=13", "-DASYM"])),
    },
    Subject {
        title: "`peers/ring` N=10, deadlock",
        birk: "models/peers/ring.bir -D N=10 --property deadlock",
        spin: Some(("ring", &["-DN=10"])),
    },
    Subject {
        title: "`peers/buffer` K=6 M=4, all",
        birk: "models/peers/buffer.bir -D K=6 -D M=4",
        spin: Some(("buffer", &[])),
    },
    Subject {
        title: "`peers/peterson` N=6, all",
        birk: "models/peers/peterson.bir -D N=6",
        spin: Some(("peterson", &["-DN=6"])),
    },
    Subject { title: "`german` N=4, deadlock", birk: "models/german.bir -D N=4 --property deadlock", spin: None },
    Subject { title: "`beem/szymanski`, deadlock", birk: "models/beem/szymanski.bir --property deadlock", spin: None },
    Subject { title: "`beem/lamport`, deadlock", birk: "models/beem/lamport.bir --property deadlock", spin: None },
    Subject { title: "`beem/at`, deadlock", birk: "models/beem/at.bir --property deadlock", spin: None },
];

/// Models whose threads are alike, and what is replaced in Rumur's text of `peterson`.
const SYMMETRY: [(&str, &str, Option<&str>); 5] = [
    ("`peers/peterson` N=5", "models/peers/peterson.bir -D N=5", Some("N: 5")),
    ("`peers/peterson` N=6", "models/peers/peterson.bir -D N=6", Some("N: 6")),
    ("`peers/peterson` N=7", "models/peers/peterson.bir -D N=7", Some("N: 7")),
    ("`german` N=4", "models/german.bir -D N=4", None),
    ("`german` N=5", "models/german.bir -D N=5", None),
];

/// The numbers of processes become names, and whose turn it is at first is any of them.
const NAMES: [(&str, &str); 3] = [
    ("I: 0..N-1;", "I: scalarset(N);"),
    ("startstate for i", "ruleset j: I do startstate for i"),
    ("turn[l] := 0; end; end;", "turn[l] := j; end; end; end;"),
];

/// States, and seconds of several runs.
#[derive(Default)]
struct Measured {
    states: u64,
    seconds: Spread,
}

impl Measured {
    fn cells(&self) -> [String; 2] {
        match self.states {
            0 => ["-".to_owned(), "-".to_owned()],
            states => [grouped(states), format!("{:.2}", self.seconds.median())],
        }
    }
}

/// Measures everything, and writes the page.
pub(crate) fn compare(bench: &Bench) {
    let mut page = Page::read(&bench.root, "reductions.md", 0, crate::budgets::machine(&bench.root));
    let head = ["", "states", "s", "SPIN reduced", "s", "`--reduce auto`", "s"];
    let mut rows = vec![row(head)];
    for subject in &PARTIAL_ORDER {
        let mut all = [Measured::default(), Measured::default(), Measured::default()];
        let pan = subject.spin.map(|(name, options)| verifier(bench, name, options));
        for _ in 0..bench.repetitions {
            birk(bench, subject.birk, "--reduce off", &mut all[0]);
            if let Some(pan) = &pan {
                let ran = run(pan, &["-m10000000", "-w24", "-c1"], &bench.folder);
                all[1].states = before(&ran.output, "states, stored").unwrap_or(0.0) as u64;
                all[1].seconds.add(ran.cpu);
            }
            birk(bench, subject.birk, "--reduce auto", &mut all[2]);
        }
        let mut cells = vec![subject.title.to_owned()];
        cells.extend(all.iter().flat_map(Measured::cells));
        rows.push(cells);
    }
    page.table("partial order", &rows);
    let mut rows = vec![row(["", "states", "s", "Rumur", "s", "`--symmetry auto`", "s"])];
    for (title, model, size) in SYMMETRY {
        let mut all = [Measured::default(), Measured::default(), Measured::default()];
        let rumur = size.map(|size| symmetric(bench, size));
        for _ in 0..bench.repetitions {
            birk(bench, model, "--symmetry off", &mut all[0]);
            if let Some(checker) = &rumur {
                let ran = run(checker, &[], &bench.folder);
                let line = ran.output.lines().rev().find(|line| line.contains("rules fired")).unwrap_or_default();
                all[1].states = before(line, "states").unwrap_or(0.0) as u64;
                all[1].seconds.add(ran.cpu);
            }
            birk(bench, model, "--symmetry auto", &mut all[2]);
        }
        let mut cells = vec![title.to_owned()];
        cells.extend(all.iter().flat_map(Measured::cells));
        rows.push(cells);
    }
    page.table("symmetry", &rows);
    page.write();
}

fn birk(bench: &Bench, model: &str, option: &str, measured: &mut Measured) {
    let mut arguments = vec!["check"];
    arguments.extend(model.split(' ').chain(option.split(' ')));
    arguments.extend(["--threads", "1", "--progress", "off", "--format", "json"]);
    let ran = run(&bench.birk, &arguments, &bench.root);
    let stats = ran.output.split_once("\"stats\":").map_or("", |(_, stats)| stats);
    measured.states = json_number(stats, "states").unwrap_or(0.0) as u64;
    measured.seconds.add(ran.cpu);
}

/// SPIN's verifier with its partial-order reduction.
fn verifier(bench: &Bench, name: &str, options: &[&str]) -> std::path::PathBuf {
    let model = bench.root.join(format!("benches/peers/spin/{name}.pml")).display().to_string();
    let mut arguments = vec!["-a"];
    arguments.extend(options);
    arguments.push(&model);
    run("spin", &arguments, &bench.folder);
    run("gcc", &["-O2", "-w", "-DSAFETY", "-o", "pan", "pan.c"], &bench.folder);
    bench.folder.join("pan")
}

/// Rumur's checker of `peterson` with names for processes.
fn symmetric(bench: &Bench, size: &str) -> std::path::PathBuf {
    let text = std::fs::read_to_string(bench.root.join("benches/peers/rumur/peterson.m")).expect("the model is there");
    let text = NAMES.iter().fold(text.replacen("N: 6", size, 1), |text, (from, to)| {
        assert!(text.contains(from), "the model has `{from}`");
        text.replacen(from, to, 1)
    });
    std::fs::write(bench.folder.join("model.m"), text).expect("the model can be written");
    let generate = ["--threads", "1", "--deadlock-detection", "off", "--output", "model.c", "model.m"];
    run("rumur", &generate, &bench.folder);
    let compile = ["-std=c11", "-O3", "-w", "-mcx16", "-o", "model", "model.c", "-lpthread", "-latomic"];
    run("gcc", &compile, &bench.folder);
    bench.folder.join("model")
}
