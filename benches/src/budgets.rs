//! How exactly searches keep to `--time` and `--memory`: `cargo run --release -p birk-bench -- --limits [--quick]`.
//!
//! Every engine, and every way to decide a formula, on models that are too large for it, on one thread and on two. The whole table
//! goes into the documentation; figures beyond a bar are marked, and make the command fail.

use std::path::Path;

use crate::highway::page::Page;
use crate::run::{Ran, json_number, run};
use crate::table::row;

/// Most of the limit that the process may occupy.
const MOST_MEMORY: f64 = 1.05;
/// Seconds that it may take beyond the limit.
const MOST_DELAY: f64 = 0.5;
/// A search that is late is repeated so often: a machine that others use, too, stops now and then, and Birk's own delay shows
/// every time.
const TRIES: usize = 3;
/// The limits on memory, in MiB.
const MEMORIES: [u32; 2] = [100, 400];

/// A model, its constants, and its property of states. Those of our own have formulas, too: `live` and `home`.
struct Subject {
    model: &'static str,
    constants: &'static str,
    property: &'static str,
    has_formulas: bool,
}

const SUBJECTS: [Subject; 4] = [
    Subject { model: "benches/models/mixer.bir", constants: "", property: "never", has_formulas: true },
    Subject { model: "benches/models/crowd.bir", constants: "", property: "never", has_formulas: true },
    Subject { model: "models/counters_mod8.bir", constants: "-D K=14", property: "deadlock", has_formulas: false },
    Subject { model: "models/frames.bir", constants: "-D N=6 -D W=40", property: "deadlock", has_formulas: false },
];

/// What is asked, and how.
struct Way {
    name: String,
    options: String,
    question: Question,
    /// It can use two threads.
    scales: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    States,
    Runs,
    Branching,
}

/// Every engine of the tables, and what can be put in its place.
fn ways() -> Vec<Way> {
    let way = |name: &str, options: &str, question, scales| Way {
        name: name.to_owned(),
        options: options.to_owned(),
        question,
        scales,
    };
    let engine = |name: &str, scales| way(name, &format!("--search {name}"), Question::States, scales);
    let mut ways: Vec<Way> = birk_search::ENGINES.iter().map(|row| engine(row.name, row.scales)).collect();
    ways.extend(birk_symbolic::ENGINES.iter().map(|row| engine(row.name, row.scales)));
    ways.push(way("bfs, compact", "--search bfs --store compact", Question::States, true));
    ways.push(way("bitstate", "--search dfs --store bitstate", Question::States, false));
    ways.push(way("swarm", "--search dfs --store bitstate --swarm 4", Question::States, false));
    ways.push(way("beam", "--search astar --beam 10000", Question::States, false));
    ways.push(way("LTL", "", Question::Runs, true));
    ways.push(way("LTL, weak fairness", "--fairness weak", Question::Runs, true));
    ways.push(way("CTL", "", Question::Branching, true));
    let on_sets = birk_symbolic::ENGINES.iter().filter(|row| row.mu_calculus.is_some());
    ways.extend(
        on_sets.map(|row| {
            way(&format!("CTL, {}", row.name), &format!("--search {}", row.name), Question::Branching, false)
        }),
    );
    ways
}

/// What a search took of what it was allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Taken {
    /// Of the memory.
    share: f64,
    /// Seconds beyond the time.
    delay: f64,
}

impl Taken {
    /// Nothing where there is no report.
    fn read(ran: &Ran, mebibytes: u32, seconds: u32) -> Option<Self> {
        let peak = json_number(&ran.output, "peak_memory_bytes")?;
        let share = peak / f64::from(mebibytes) / f64::from(1 << 20);
        Some(Self { share, delay: ran.wall - f64::from(seconds) })
    }

    fn cells(self) -> [String; 2] {
        let marked = |text: String, is_beyond: bool| if is_beyond { format!("**{text}**") } else { text };
        let delay = if self.delay > 0.0 { format!("{:.2}", self.delay) } else { "-".to_owned() };
        [marked(format!("{:.2}", self.share), self.share > MOST_MEMORY), marked(delay, self.delay > MOST_DELAY)]
    }

    fn is_beyond(self) -> bool {
        self.share > MOST_MEMORY || self.delay > MOST_DELAY
    }
}

/// Measures everything, with `is_quick` one model with little memory and time; whether a bar is broken.
pub(crate) fn compare(birk: &Path, root: &Path, is_quick: bool) -> bool {
    let bench = Bench { birk, root, seconds: if is_quick { 1 } else { 3 } };
    let (subjects, memories) = if is_quick { (&SUBJECTS[..1], &MEMORIES[..1]) } else { (&SUBJECTS[..], &MEMORIES[..]) };
    let mut worst = Worst { taken: Taken { share: 0.0, delay: 0.0 }, beyond: 0, failed: 0 };
    let mut rows = vec![row(["", "model", "threads", "memory", "peak / limit", "seconds late", "ended by", "tries"])];
    for subject in subjects {
        for way in ways().iter().filter(|way| way.question == Question::States || subject.has_formulas) {
            for threads in 1..=if way.scales { 2 } else { 1 } {
                for &mebibytes in memories {
                    let (ran, taken, tries) = bench.measured(subject, way, threads, mebibytes);
                    let mut cells = vec![way.name.clone(), subject.name(), threads.to_string()];
                    cells.push(format!("{mebibytes}M"));
                    cells.extend(worst.cells(&ran, taken));
                    cells.push(tries.to_string());
                    eprintln!("{}", cells.join(" | "));
                    rows.push(cells);
                }
            }
        }
    }
    let mut page = Page::read(root, "limits.md", 0, machine(root));
    page.table("limits", &rows);
    if !is_quick {
        page.write();
    }
    worst.told(rows.len() - 1)
}

struct Bench<'a> {
    birk: &'a Path,
    root: &'a Path,
    /// Of each search.
    seconds: u32,
}

impl Bench<'_> {
    /// The search that was least late, what the most greedy one took, and how many there were.
    fn measured(&self, subject: &Subject, way: &Way, threads: usize, mebibytes: u32) -> (Ran, Option<Taken>, usize) {
        least_late(|| {
            let ran = self.search(subject, way, threads, mebibytes);
            let taken = Taken::read(&ran, mebibytes, self.seconds);
            (ran, taken)
        })
    }

    fn search(&self, subject: &Subject, way: &Way, threads: usize, mebibytes: u32) -> Ran {
        let property = match way.question {
            Question::States => subject.property,
            Question::Runs => "live",
            Question::Branching => "home",
        };
        let threads = if way.scales { format!("--threads {threads}") } else { String::new() };
        let words = format!(
            "check {} {} {} --property {property} {threads} --memory {mebibytes}M --time {}s --progress off --format json",
            subject.model, subject.constants, way.options, self.seconds
        );
        run(self.birk, &words.split_whitespace().collect::<Vec<_>>(), self.root)
    }
}

/// Repeats a search while it is late.
fn least_late<T>(mut search: impl FnMut() -> (T, Option<Taken>)) -> (T, Option<Taken>, usize) {
    let (mut ran, mut taken) = search();
    let mut tries = 1;
    while tries < TRIES && taken.is_some_and(|taken| taken.delay > MOST_DELAY) {
        let (again, next) = search();
        tries += 1;
        match (taken, next) {
            (Some(before), Some(now)) => {
                let share = before.share.max(now.share);
                if now.delay < before.delay {
                    (ran, taken) = (again, Some(Taken { share, ..now }));
                } else {
                    taken = Some(Taken { share, ..before });
                }
            }
            // A search that gives no report is told.
            _ => return (again, None, tries),
        }
    }
    (ran, taken, tries)
}

impl Subject {
    fn name(&self) -> String {
        let (_, file) = self.model.rsplit_once('/').unwrap_or(("", self.model));
        file.trim_end_matches(".bir").to_owned()
    }
}

/// The worst of all searches.
struct Worst {
    taken: Taken,
    beyond: u32,
    failed: u32,
}

impl Worst {
    /// Counts a search, and shows it.
    fn cells(&mut self, ran: &Ran, taken: Option<Taken>) -> Vec<String> {
        let Some(taken) = taken else {
            // An engine may say that it cannot be used, or that the model has too many threads to be fair to.
            let is_refused = ["cannot be used here", "are possible"].iter().any(|reason| ran.errors.contains(reason));
            self.failed += u32::from(!is_refused);
            eprint!("{}", ran.errors);
            return ["-", "-", if is_refused { "refused" } else { "**no report**" }].map(str::to_owned).to_vec();
        };
        let most = &mut self.taken;
        (most.share, most.delay) = (most.share.max(taken.share), most.delay.max(taken.delay));
        self.beyond += u32::from(taken.is_beyond());
        [&taken.cells()[..], &[ended_by(&ran.output)]].concat()
    }

    /// Says what was worst; whether a bar is broken.
    fn told(&self, searches: usize) -> bool {
        let Self { taken, beyond, failed } = self;
        println!(
            "at most {:.2} of --memory (bar {MOST_MEMORY}) and {:.2} s after --time (bar {MOST_DELAY}); {beyond} of {searches} \
             searches are beyond a bar, {failed} gave no report",
            taken.share, taken.delay
        );
        beyond + failed > 0
    }
}

fn ended_by(report: &str) -> String {
    let stop = report.split_once("\"stopped_by\": \"").and_then(|(_, rest)| rest.split_once('"'));
    stop.map_or("-", |(stop, _)| stop).to_owned()
}

/// When and where it was measured.
pub(crate) fn machine(root: &Path) -> String {
    let date = run("date", &["+%Y-%m-%d"], root).output.trim().to_owned();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = memory.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0);
    format!("{date}, {cores} cores, {} GiB", total >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(peak: u64, wall: f64) -> Option<Taken> {
        let output = format!("{{ \"stats\": {{ \"peak_memory_bytes\": {peak} }}, \"stopped_by\": \"time\" }}");
        let ran = Ran { output, errors: String::new(), cpu: 1.0, wall, success: false };
        assert_eq!(ended_by(&ran.output), "time");
        Taken::read(&ran, 100, 3)
    }

    #[test]
    fn figures_beyond_a_bar_are_marked() {
        let within = taken(104 << 20, 3.25).expect("a report");
        assert_eq!((within.cells(), within.is_beyond()), (["1.04", "0.25"].map(String::from), false));
        let greedy = taken(108 << 20, 2.0).expect("a report");
        assert_eq!((greedy.cells(), greedy.is_beyond()), (["**1.08**", "-"].map(String::from), true));
        let late = taken(10 << 20, 4.0).expect("a report");
        assert_eq!((late.cells(), late.is_beyond()), (["0.10", "**1.00**"].map(String::from), true));
        let nothing = Ran { output: String::new(), errors: String::new(), cpu: 0.0, wall: 0.0, success: false };
        assert_eq!(Taken::read(&nothing, 100, 3), None);
    }

    #[test]
    fn what_is_late_is_repeated_and_what_is_greedy_is_kept() {
        let tried = |figures: &[(f64, f64)]| {
            let mut figures = figures.iter().map(|&(share, delay)| ((), Some(Taken { share, delay })));
            let (_, taken, tries) = least_late(|| figures.next().expect("no more tries"));
            let taken = taken.expect("each gives a report");
            (taken.share, taken.delay, tries)
        };
        assert_eq!(tried(&[(0.5, 0.1)]), (0.5, 0.1, 1));
        assert_eq!(tried(&[(1.2, 0.9), (0.5, 0.3)]), (1.2, 0.3, 2));
        assert_eq!(tried(&[(0.5, 0.9), (0.6, 1.3), (0.4, 0.8)]), (0.6, 0.8, 3));
        let mut reports = [Some(Taken { share: 0.5, delay: 2.0 }), None].into_iter();
        assert_eq!(least_late(|| ((), reports.next().expect("no more tries"))), ((), None, 2));
    }

    #[test]
    fn a_refusal_is_no_failure() {
        let mut worst = Worst { taken: Taken { share: 0.0, delay: 0.0 }, beyond: 0, failed: 0 };
        for (errors, told, failed) in [
            ("birk: fairness to 10001 threads and steps; 63 are possible\n", "refused", 0),
            ("birk: --search bdd cannot be used here: it needs more\n", "refused", 0),
            ("thread 'main' panicked\n", "**no report**", 1),
        ] {
            let ran = Ran { output: String::new(), errors: errors.to_owned(), cpu: 0.0, wall: 0.0, success: false };
            assert_eq!((worst.cells(&ran, None)[2].as_str(), worst.failed), (told, failed));
        }
    }

    #[test]
    fn every_engine_is_measured() {
        let ways = ways();
        for name in birk_search::ENGINES.iter().map(|row| row.name).chain(["bdd", "bmc", "LTL", "CTL, bdd", "swarm"]) {
            assert!(ways.iter().any(|way| way.name == name), "{name}");
        }
    }
}
