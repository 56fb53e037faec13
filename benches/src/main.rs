//! Birk, SPIN and Rumur on the same models, interleaved, as ratios of processor time; and the bare limits beside them.
//!
//! `cargo run --release -p birk-bench -- [SECTION…] [--large] [--repetitions N] [--tools NAME,NAME…]`, or
//! `-- --instructions [--bless]`, or `-- --highway [--quick]`, the experiments on slices, or `-- --depth [--quick]`, those on
//! depth bounds, or `-- --beem FOLDER`, the models of BEEM in their own language, or `-- --hunt [--quick]`, what searches need for
//! seeded bugs, or `-- --symbolic [--quick]`, those on sets of states, or `-- --limits [--quick]`, how exactly searches keep to their
//! limits, or `-- --repairs [--quick]`, what repairs of broken models name, or `-- --reductions`, reduced searches beside SPIN's and
//! Rumur's, or `-- --costs`, what a reduction costs in a state, or `-- --disk [--quick]`, searches on disk. Sections: compare,
//! answers, threads, bytes, limit, slices, ltl; without one, all. Build `birk` first (`cargo build --release -p birk-cli`). What is
//! printed is Markdown. A ratio is printed only where the counts of states and transitions are equal.
#![forbid(unsafe_code)]

mod answers;
mod bandwidth;
mod beem;
mod budgets;
mod compare;
mod costs;
mod depth;
mod disk;
mod highway;
mod hunt;
mod instructions;
mod limits;
mod ltl;
mod peers;
mod plot;
mod reductions;
mod repairs;
mod run;
mod symbolic;
mod table;

use std::path::PathBuf;

use peers::Tool;

/// What the command line asks for, and where things are.
pub(crate) struct Bench {
    /// The command.
    pub(crate) birk: PathBuf,
    /// The repository.
    pub(crate) root: PathBuf,
    /// For what the other tools generate.
    pub(crate) folder: PathBuf,
    pub(crate) repetitions: usize,
    /// Models of ten million states and more, instead of two million.
    pub(crate) is_large: bool,
    pub(crate) tools: Vec<Tool>,
}

/// Measures and prints one part.
type Section = fn(&Bench);

const USAGE: &str = "\
birk-bench [SECTION…] [--large] [--repetitions N] [--tools NAME,NAME…]   sections: compare, answers, threads, bytes, limit, slices, ltl
birk-bench --instructions [--bless]
birk-bench --reductions [--repetitions N]
birk-bench --costs
birk-bench --highway | --depth | --hunt | --symbolic | --limits | --disk | --repairs [--quick]
birk-bench --beem FOLDER [--results FILE] [--seconds N] [--spin]";

/// Every word the command line can have; of these the last five are followed by a value.
const WORDS: [&str; 26] = [
    "compare",
    "answers",
    "threads",
    "bytes",
    "limit",
    "slices",
    "ltl",
    "--large",
    "--instructions",
    "--bless",
    "--highway",
    "--depth",
    "--hunt",
    "--symbolic",
    "--limits",
    "--disk",
    "--reductions",
    "--costs",
    "--repairs",
    "--quick",
    "--spin",
    "--repetitions",
    "--tools",
    "--beem",
    "--results",
    "--seconds",
];

/// The first word that is none of them and no value.
fn unknown(words: &[String]) -> Option<&String> {
    let has_value = |at: usize| WORDS[WORDS.len() - 5..].contains(&words[at].as_str());
    let is_known = |at: usize| WORDS.contains(&words[at].as_str()) || at > 0 && has_value(at - 1);
    (0..words.len()).find(|&at| !is_known(at)).map(|at| &words[at])
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(word) = unknown(&words) {
        eprintln!("birk-bench does not know `{word}`; it is called as\n\n{USAGE}");
        std::process::exit(2);
    }
    let has = |word: &str| words.iter().any(|given| given == word);
    let value = |word: &str| words.iter().position(|given| given == word).and_then(|at| words.get(at + 1));
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let birk = std::env::var_os("BIRK").map_or(root.join("target/release/birk"), PathBuf::from);
    if let Some(folder) = value("--beem") {
        let results = PathBuf::from(value("--results").map_or("beem.csv", String::as_str));
        let seconds = value("--seconds").map_or(60, |word| word.parse().expect("a number of seconds"));
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let beem = beem::Beem { birk: &birk, folder: &folder, results: &results, seconds, has_spin: has("--spin") };
        std::process::exit(i32::from(beem.run()));
    }
    if has("--highway") {
        return highway::run(&root, has("--quick"));
    }
    if has("--repairs") {
        return repairs::run(&root, has("--quick"));
    }
    if has("--hunt") {
        return hunt::compare(&birk, &root, has("--quick"));
    }
    if has("--symbolic") {
        return symbolic::compare(&birk, &root, has("--quick"));
    }
    if has("--limits") {
        std::process::exit(i32::from(budgets::compare(&birk, &root, has("--quick"))));
    }
    if has("--disk") {
        return disk::compare(&birk, &root, has("--quick"));
    }
    if has("--depth") {
        return depth::run_all(&birk, &root, has("--quick"));
    }
    if has("--instructions") {
        let worse = instructions::compare(&birk, &root, has("--bless"));
        std::process::exit(i32::from(worse));
    }
    let folder = std::env::temp_dir().join(format!("birk-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let bench = Bench {
        birk,
        root,
        folder,
        repetitions: value("--repetitions").map_or(3, |word| word.parse().expect("a number of repetitions")),
        is_large: has("--large"),
        tools: value("--tools").map_or(Tool::ALL.to_vec(), |names| Tool::named(names)),
    };
    let alone: [(&str, Section); 2] = [("--reductions", reductions::compare), ("--costs", costs::compare)];
    if let Some((_, section)) = alone.iter().find(|(name, _)| has(name)) {
        section(&bench);
        let _ = std::fs::remove_dir_all(&bench.folder);
        return;
    }
    let sections: [(&str, Section); 7] = [
        ("compare", compare::section),
        ("answers", answers::section),
        ("threads", limits::threads),
        ("bytes", limits::bytes),
        ("limit", limits::limit),
        ("slices", limits::slices),
        ("ltl", ltl::section),
    ];
    let is_asked = |name: &str| has(name) || !sections.iter().any(|(other, _)| has(other));
    for (name, section) in sections {
        if is_asked(name) {
            section(&bench);
        }
    }
    let _ = std::fs::remove_dir_all(&bench.folder);
}
