//! Search on disk beside breadth-first search in memory: processor time, bytes written, and whether it keeps to its memory.

use std::path::Path;

use crate::budgets::machine;
use crate::run::{Ran, json_number, run};
use crate::table::{Spread, grouped, print, row};

/// What is searched to its end.
const SUBJECTS: [(&str, &str); 4] = [
    ("`counters_mod8` K=8, 24 bits", "models/counters_mod8.bir -D K=8"),
    ("`sparse_counters`, 40 bits", "benches/models/sparse_counters.bir"),
    ("`sparse_counters` K=9, 45 bits", "benches/models/sparse_counters.bir -D K=9"),
    ("`peers/ring` N=10", "models/peers/ring.bir -D N=10"),
];
/// What is searched for some seconds with each of these mebibytes.
const LARGE: &str = "benches/models/sparse_counters.bir -D K=10";
const MEMORIES: [u64; 3] = [128, 256, 512];
const SECONDS: u32 = 30;
const REPETITIONS: usize = 3;
/// The memory of the search on disk is so many times less than that in memory takes.
const SHARE: u64 = 10;
/// But at least so much: the command itself takes 12 MiB.
const LEAST: u64 = 32 << 20;

struct Bench<'a> {
    birk: &'a Path,
    root: &'a Path,
}

impl Bench<'_> {
    fn check(&self, words: &str) -> Ran {
        let words = format!("check {words} --deadlock off --progress off --format json");
        run(self.birk, &words.split_whitespace().collect::<Vec<_>>(), self.root)
    }
}

fn number(ran: &Ran, name: &str) -> u64 {
    json_number(&ran.output, name).unwrap_or_else(|| panic!("no {name}: {}{}", ran.output, ran.errors)) as u64
}

/// Measures everything; with `is_quick` one small model.
pub(crate) fn compare(birk: &Path, root: &Path, is_quick: bool) {
    let bench = Bench { birk, root };
    println!("{}\n", machine(root));
    let times = if is_quick {
        vec![bench.times("quick", "models/counters_mod8.bir -D K=6")]
    } else {
        SUBJECTS.iter().map(|(title, model)| bench.times(title, model)).collect()
    };
    let head = row([
        "",
        "states",
        "memory of `bfs`",
        "of `disk`",
        "processor time / `bfs`",
        "on 2 threads: time",
        "elapsed",
        "written, bytes a state",
        "in units of a level file",
    ]);
    print(&[vec![head], times].concat());
    if !is_quick {
        let memory: Vec<Vec<String>> = MEMORIES.iter().map(|&mebibytes| bench.memory(mebibytes)).collect();
        print(&[vec![row(["", "threads", "states", "peak / `--memory`"])], memory].concat());
    }
}

impl Bench<'_> {
    /// One model in memory and on disk, in turn.
    fn times(&self, title: &str, model: &str) -> Vec<String> {
        let (mut alone, mut shared, mut elapsed) = (Spread::default(), Spread::default(), Spread::default());
        let mut last = Vec::new();
        for _ in 0..REPETITIONS {
            let bfs = self.check(&format!("{model} --search bfs --threads 1"));
            let peak = number(&bfs, "peak_memory_bytes");
            let memory = (peak / SHARE).max(LEAST) >> 10;
            let disk =
                |threads: u32| self.check(&format!("{model} --search disk --threads {threads} --memory {memory}K"));
            let (one, two) = (disk(1), disk(2));
            for disk in [&one, &two] {
                let counts =
                    ["states", "transitions", "max_depth"].map(|name| (number(&bfs, name), number(disk, name)));
                assert!(counts.iter().all(|(a, b)| a == b), "{title}: {counts:?}");
            }
            alone.add(one.cpu / bfs.cpu);
            shared.add(two.cpu / bfs.cpu);
            elapsed.add(two.wall / one.wall);
            let states = number(&bfs, "states");
            let written = number(&one, "written_bytes") as f64;
            let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
            last = vec![title.to_owned(), grouped(states), mebibytes(peak), mebibytes(memory << 10)];
            last.extend([alone.text(2), shared.text(2), elapsed.text(2), format!("{:.1}", written / states as f64)]);
            last.push(format!("{:.1}", written / number(&one, "level_bytes") as f64));
            eprintln!("{}", last.join(" | "));
        }
        last
    }

    /// What a search takes of its memory before its time is up.
    fn memory(&self, mebibytes: u64) -> Vec<String> {
        let mut peak = Spread::default();
        let mut states = 0;
        for threads in [1, 2] {
            let limits = format!("--threads {threads} --memory {mebibytes}M --time {SECONDS}s");
            let ran = self.check(&format!("{LARGE} --search disk {limits}"));
            peak.add(number(&ran, "peak_memory_bytes") as f64 / (mebibytes << 20) as f64);
            states = states.max(number(&ran, "states"));
        }
        let cells =
            vec![format!("{mebibytes}M"), "1 and 2".to_owned(), grouped(states), format!("{:.2}", peak.worst())];
        eprintln!("{}", cells.join(" | "));
        cells
    }
}
