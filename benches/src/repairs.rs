//! How often the line that was broken is among the first that repairs name: `cargo run --release -p birk-bench -- --repairs [--quick]`.
//!
//! Models of the corpus that hold are broken by one small change each, drawn at random; those in which a search then finds a violation
//! are repaired without knowing the change. A hit is a mutant whose changed line is among the first three lines that are named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use birk::ir::{Program, Verdict};
use birk::repair::{Change, Kind, changes, repairs};
use birk::{Options, Patient, Report, Threads, check, load_text};

/// What is drawn for each model, at most, and with `--quick`.
const MUTANTS: (usize, usize) = (5, 2);
/// So long is searched for repairs.
const BUDGET: Duration = Duration::from_secs(10);
/// States of models that take part.
const STATES: u64 = 30_000;
/// A hit is among so many lines.
const NAMED: usize = 3;

fn options() -> Options {
    Options { engine: "bfs".to_owned(), threads: Threads::Number(1), max_states: Some(STATES), ..Options::default() }
}

fn searched(program: &Program) -> Option<Report> {
    check(program, &options(), &mut Patient).ok()
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The same numbers each time (Marsaglia, "Xorshift RNGs").
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// The models that hold, and are small.
fn subjects(root: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for folder in ["models", "models/cookbook", "models/structured"] {
        let files = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "bir")) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Ok(program) = load_text(&path, &text) else { continue };
            if searched(&program).is_some_and(|report| report.verdict() == Verdict::Holds) {
                all.push((path, text));
            }
        }
    }
    all
}

/// What became of one mutant.
struct Tried {
    kind: Kind,
    /// The place of its line among those that are named, from 0.
    rank: Option<usize>,
}

/// Breaks models and repairs them.
pub(crate) fn run(root: &Path, is_quick: bool) {
    let most = if is_quick { MUTANTS.1 } else { MUTANTS.0 };
    let mut all: Vec<Tried> = Vec::new();
    println!("| model | line | change | first lines named | repairs | tried | s |\n|---|---:|---|---|---:|---:|---:|");
    for (path, text) in subjects(root) {
        let Ok(program) = load_text(&path, &text) else { continue };
        let mut left = changes(&text, &program);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut made = 0;
        while made < most && !left.is_empty() {
            let mut kinds: Vec<Kind> = left.iter().map(|change| change.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let kind = kinds[random.below(kinds.len())];
            let of_kind: Vec<usize> = (0..left.len()).filter(|&at| left[at].kind == kind).collect();
            let change = left.swap_remove(of_kind[random.below(of_kind.len())]);
            if let Some(tried) = tried(&path, &text, &change) {
                made += 1;
                all.push(tried);
            }
        }
    }
    summary(&all);
}

fn tried(path: &Path, text: &str, change: &Change) -> Option<Tried> {
    let broken = change.apply(text);
    let program = load_text(path, &broken).ok()?;
    let report =
        searched(&program).filter(|report| report.verdict() == Verdict::Violated && !report.traces.is_empty())?;
    let began = Instant::now();
    let mut load = |text: &str| load_text(path, text).ok();
    let found = repairs(&broken, &mut load, (&program, &options()), &report, began + BUDGET, &mut Patient).ok()?;
    let mut named: Vec<usize> = Vec::new();
    for repair in &found.found {
        let at = line(&broken, repair.change.at.start);
        if !named.contains(&at) {
            named.push(at);
        }
    }
    let (first, last) = (line(&broken, change.at.start), line(&broken, change.at.start + change.with.len()));
    let rank = named.iter().position(|at| (first..=last).contains(at));
    let shown = |text: &str| text.replace('\n', " ").replace('|', "\\|");
    println!(
        "| {} | {first} | `{}` as `{}` | {:?} | {} | {} of {} | {:.1} |",
        path.file_stem().unwrap_or_default().display(),
        shown(&text[change.at.clone()]),
        shown(&change.with),
        &named[..named.len().min(NAMED)],
        found.found.len(),
        found.tried,
        found.of,
        began.elapsed().as_secs_f64()
    );
    Some(Tried { kind: change.kind, rank })
}

fn summary(all: &[Tried]) {
    let mut kinds: BTreeMap<Option<Kind>, Vec<&Tried>> = BTreeMap::new();
    for one in all {
        kinds.entry(Some(one.kind)).or_default().push(one);
        kinds.entry(None).or_default().push(one);
    }
    println!("\n| mutants | number | named | first | among the first {NAMED} |\n|---|---:|---:|---:|---:|");
    for (kind, all) in kinds {
        let name = kind.map_or("all".to_owned(), |kind| format!("{kind:?}"));
        let within = |most: usize| all.iter().filter(|one| one.rank.is_some_and(|rank| rank < most)).count();
        let percent = |part: usize| format!("{part} ({:.0} %)", 100.0 * part as f64 / all.len().max(1) as f64);
        println!(
            "| {name} | {} | {} | {} | {} |",
            all.len(),
            percent(within(usize::MAX)),
            percent(within(1)),
            percent(within(NAMED))
        );
    }
}
