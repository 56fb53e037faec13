//! Birk, SPIN and Rumur on the same four models, interleaved, as ratios of CPU time; and the bare limits beside them.
//!
//! `cargo run --release -p birk-bench -- [--quick | --large | --instructions [--bless]]`. Build `birk` first
//! (`cargo build --release -p birk`). A ratio is printed only where the counts of states and transitions are equal.
#![forbid(unsafe_code)]

mod instructions;
mod peers;
mod run;

use std::path::{Path, PathBuf};
use std::time::Instant;

use peers::{Measured, Peer, Tool};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let birk = root.join("target/release/birk");
    let birk = std::env::var_os("BIRK").map_or(birk, PathBuf::from);
    if has("--instructions") {
        let worse = instructions::compare(&birk, &root, has("--bless"));
        std::process::exit(i32::from(worse));
    }
    let folder = std::env::temp_dir().join(format!("birk-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let repetitions = if has("--quick") { 1 } else { 3 };
    let peers = if has("--large") { peers::LARGE } else { peers::USUAL };
    for peer in peers {
        compare(peer, &birk, &root, &folder, repetitions, has("--quick"));
    }
    start_up(&birk, &root);
    two_threads(&birk, &root, peers);
    limit(&birk, &root, has("--quick"));
    let _ = std::fs::remove_dir_all(&folder);
}

/// One model with every tool, in turn, several times; the best of each.
fn compare(peer: &Peer, birk: &Path, root: &Path, folder: &Path, repetitions: usize, quick: bool) {
    let tools: &[Tool] = if quick { &[Tool::Birk, Tool::Spin, Tool::Rumur] } else { Tool::ALL };
    let mut best: Vec<Option<Measured>> = vec![None; tools.len()];
    for _ in 0..repetitions {
        for (tool, best) in tools.iter().zip(&mut best) {
            let measured = peers::measure(*tool, peer, birk, root, folder);
            let is_better = |old: &Measured| measured.as_ref().is_some_and(|new| new.seconds < old.seconds);
            if best.as_ref().is_none_or(is_better) {
                *best = measured.or(best.take());
            }
        }
    }
    println!("\n{} ({} states, {} transitions)", peer.title, peer.states, peer.transitions);
    println!(
        "  {:14}{:>9}{:>9}{:>13}{:>13}{:>10}{:>10}{:>9}",
        "", "CPU s", "ratio", "states/s", "trans/s", "bytes/st", "answer s", "ratio"
    );
    let ours = best[0].clone();
    for (tool, measured) in tools.iter().zip(best) {
        let Some(measured) = measured else {
            println!("  {:14}did not run, or was killed", tool.name());
            continue;
        };
        let equal = measured.states == peer.states && measured.transitions == peer.transitions;
        let ratio = |of: fn(&Measured) -> f64| match &ours {
            Some(ours) if equal || !tool.is_exact() => format!("{:.1}x", of(&measured) / of(ours).max(0.001)),
            _ => "-".to_owned(),
        };
        println!(
            "  {:14}{:>9.2}{:>9}{:>13.0}{:>13.0}{:>10}{:>10.2}{:>9}{}",
            tool.name(),
            measured.seconds,
            ratio(|m| m.seconds),
            measured.states as f64 / measured.seconds.max(0.001),
            measured.transitions as f64 / measured.seconds.max(0.001),
            measured.bytes_per_state.map_or("-".to_owned(), |bytes| format!("{bytes:.1}")),
            measured.answer,
            ratio(|m| m.answer),
            if equal { "" } else { "  counts differ" },
        );
    }
}

/// From command to verdict on a tiny model.
fn start_up(birk: &Path, root: &Path) {
    let model = root.join("models/philosophers2.bir");
    let once = || {
        let started = Instant::now();
        run::run(birk, &["check", &model.display().to_string(), "--progress", "off"], root);
        started.elapsed().as_secs_f64() * 1000.0
    };
    let mut times: Vec<f64> = (0..21).map(|_| once()).collect();
    times.sort_by(f64::total_cmp);
    println!("\nstart-up on two philosophers: {:.1} ms (median of 21, worst {:.1})", times[10], times[20]);
}

/// Wall-clock time with two threads against one, on the largest of the models.
fn two_threads(birk: &Path, root: &Path, peers: &[Peer]) {
    println!("\ntwo threads against one (wall clock; needs two idle cores):");
    for peer in peers {
        let mut best = [f64::MAX; 2];
        for _ in 0..3 {
            for threads in [1, 2] {
                let seconds = peers::birk_seconds(peer, birk, root, threads);
                best[threads - 1] = best[threads - 1].min(seconds);
            }
        }
        println!("  {:24}{:6.2} s / {:6.2} s = {:.2}x", peer.title, best[0], best[1], best[0] / best[1]);
    }
}

/// Probes of a search with cheap successors beside the bare rate of random cache lines, in memory of the same size.
fn limit(birk: &Path, root: &Path, quick: bool) {
    let counters = if quick { "7" } else { "8" };
    let model = root.join("models/counters_mod8.bir").display().to_string();
    let define = format!("K={counters}");
    let arguments = ["check", &model, "-D", &define, "--progress", "off", "--threads", "1", "--format", "json"];
    let mut best = (f64::MAX, 0.0, 0.0);
    let mut bare = 0f64;
    for _ in 0..3 {
        let ran = run::run(birk, &arguments, root);
        let number = |name: &str| run::json_number(&ran.output, name).unwrap_or(0.0);
        let transitions = number("transitions");
        if ran.cpu < best.0 {
            best = (ran.cpu, transitions, number("states") * number("store_bytes_per_state"));
        }
        let lines = birk_search::limit::Lines::new(best.2 as usize).expect("memory");
        let before = run::own_cpu();
        let count = 20_000_000;
        std::hint::black_box(lines.read(count));
        bare = bare.max(count as f64 / (run::own_cpu() - before).max(0.001));
    }
    let probes = best.1 / best.0.max(0.001);
    println!(
        "\ncounters mod 8, K={counters}, one thread: {:.1} M probes/s of CPU time, {:.0} % of the bare {:.1} M random lines/s in {:.0} MB",
        probes / 1e6,
        100.0 * probes / bare,
        bare / 1e6,
        best.2 / 1e6
    );
}
