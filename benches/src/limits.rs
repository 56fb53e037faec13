//! What threads, stores and the machine's memory allow.

use crate::Bench;
use crate::bandwidth;
use crate::peers;
use crate::run::{self, json_number};
use crate::table::{self, Spread, grouped, row};

/// Time on the clock with two threads against one. Needs two idle cores.
pub(crate) fn threads(bench: &Bench) {
    let peers = if bench.is_large { peers::LARGE } else { peers::USUAL };
    let mut rows = vec![row(["model", "one thread s", "two threads s", "ratio", "processor time, two against one"])];
    for peer in peers {
        let mut walls = [Spread::default(), Spread::default()];
        let mut cpus = [Spread::default(), Spread::default()];
        for _ in 0..bench.repetitions {
            for threads in [1, 2] {
                let ran = peers::run_birk(peer, bench, threads);
                walls[threads - 1].add(ran.wall);
                cpus[threads - 1].add(ran.cpu);
            }
        }
        rows.push(vec![
            peer.title.to_owned(),
            walls[0].text(2),
            walls[1].text(2),
            format!("{:.2}x", walls[0].median() / walls[1].median()),
            format!("{:.2}x", cpus[1].median() / cpus[0].median()),
        ]);
    }
    println!("Two threads against one, on the clock:\n");
    table::print(&rows);
}

/// Models with more states than slices are to have, and levels wider than a slice.
const SLICED: &[(&str, &[&str])] = &[
    ("models/peers/phil.bir", &["N=16"]),
    ("models/peers/peterson.bir", &["N=7"]),
    ("models/peers/buffer.bir", &["K=10"]),
    ("models/raft_election.bir", &["N=4", "T=3"]),
];

/// Time on the clock for each step that is taken, of wide slices and of breadth-first search.
pub(crate) fn slices(bench: &Bench) {
    let mut rows = vec![row(["model", "threads", "`bfs` ns", "`highway` ns", "ratio"])];
    for (model, defines) in SLICED {
        for threads in ["1", "2"] {
            let mut times = [Spread::default(), Spread::default()];
            for _ in 0..bench.repetitions {
                for (search, times) in [&["bfs"][..], &["highway", "--width", "100000"]].into_iter().zip(&mut times) {
                    let mut arguments = vec!["check", model, "--threads", threads, "--max-states", "9000000"];
                    arguments.extend(["--progress", "off", "--format", "json", "--search"]);
                    arguments.extend(search);
                    defines.iter().for_each(|define| arguments.extend(["-D", define]));
                    let ran = run::run(&bench.birk, &arguments, &bench.root);
                    times.add(ran.wall / json_number(&ran.output, "transitions").unwrap_or(f64::NAN) * 1e9);
                }
            }
            rows.push(vec![
                format!("`{model}` {}", defines.join(" ")),
                threads.to_owned(),
                times[0].text(0),
                times[1].text(0),
                format!("{:.2}", times[1].median() / times[0].median()),
            ]);
        }
    }
    println!("Slices 100,000 states wide and breadth-first search, up to nine million states, for each step:\n");
    table::print(&rows);
}

/// Models whose number of states is known by a formula, with states of various widths: file, constants, states.
const WIDE: &[(&str, &[&str], u64)] = &[
    ("models/frames.bir", &["N=4", "W=29"], 58 * 58 * 58 * 58),
    ("models/frames.bir", &["N=3", "W=108"], 216 * 216 * 216),
    ("models/frames.bir", &["N=3", "W=128"], 256 * 256 * 256),
];

/// Bytes stored for each state, where states are wide.
pub(crate) fn bytes(bench: &Bench) {
    let mut rows =
        vec![row(["model", "states", "bytes of a state", "bytes stored for each", "peak memory MiB", "seconds"])];
    for (model, defines, states) in WIDE {
        let mut arguments = vec!["check", model, "--threads", "1", "--progress", "off", "--format", "json"];
        defines.iter().for_each(|define| arguments.extend(["-D", define]));
        let ran = run::run(&bench.birk, &arguments, &bench.root);
        let number = |name: &str| json_number(&ran.output, name).unwrap_or(f64::NAN);
        assert_eq!(number("states"), *states as f64, "{model} {defines:?} has as many states as its formula says");
        rows.push(vec![
            format!("`{model}` {}", defines.join(" ")),
            grouped(*states),
            format!("{:.0}", number("state_bits") / 8.0),
            format!("{:.1}", number("store_bytes_per_state")),
            format!("{:.0}", number("peak_memory_bytes") / f64::from(1 << 20)),
            format!("{:.1}", ran.cpu),
        ]);
    }
    println!("Exact storage of wide states, free room included:\n");
    table::print(&rows);
}

/// After so many states in slots of four bytes, at most 85 % of them taken, the table has more than a gibibyte.
const ENOUGH_STATES: f64 = 230e6;
/// After so many the search ends.
const MOST_STATES: &str = "300_000_000";
const GIBIBYTE: f64 = (1u64 << 30) as f64;
/// Random lines read.
const LINES: u64 = 40_000_000;

/// Probes of a search with cheap successors beside the bare rate of random cache lines, in memory of the same size.
pub(crate) fn limit(bench: &Bench) {
    let arguments = [
        "check",
        "models/counters_mod8.bir",
        "-D",
        "K=10",
        "--property",
        "deadlock",
        "--threads",
        "1",
        "--format",
        "json",
        "--progress",
        "json",
        "--max-states",
        MOST_STATES,
    ];
    let ran = run::run(&bench.birk, &arguments, &bench.root);
    let number = |name: &str| json_number(&ran.output, name).unwrap_or(f64::NAN);
    let bytes = number("states") * number("store_bytes_per_state");
    let lines = bandwidth::Lines::new(bytes as usize).expect("memory");
    let mut bare = Spread::default();
    for _ in 0..bench.repetitions {
        let before = run::own_cpu();
        std::hint::black_box(lines.read(LINES));
        bare.add(LINES as f64 / (run::own_cpu() - before).max(0.001) / 1e6);
    }
    let whole = number("transitions") / ran.cpu / 1e6;
    let large = rate_beyond(&ran.errors, ENOUGH_STATES) / 1e6;
    println!(
        "Counters modulo 8, one thread, {MOST_STATES} states: {whole:.1} million probes of the table each second of the \
         whole search, {large:.1} (on the clock) where it is larger than 1 GiB; {} million random lines read each second \
         in its {:.2} GiB. So {:.0} % of the bare rate, {:.0} % on the whole.\n",
        bare.text(1),
        bytes / GIBIBYTE,
        100.0 * large / bare.median(),
        100.0 * whole / bare.median(),
    );
}

/// Transitions each second on the clock, between the first and the last moment with more than so many states.
fn rate_beyond(progress: &str, states: f64) -> f64 {
    let moments: Vec<(f64, f64)> = progress
        .lines()
        .filter(|line| json_number(line, "states").is_some_and(|reached| reached > states))
        .filter_map(|line| Some((json_number(line, "seconds")?, json_number(line, "transitions")?)))
        .collect();
    match (moments.first(), moments.last()) {
        (Some(first), Some(last)) if last.0 > first.0 => (last.1 - first.1) / (last.0 - first.0),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_taken_where_there_are_many_states() {
        let line = |seconds: u32, transitions: u32, states: u32| {
            format!("{{\"seconds\":{seconds}.0,\"states\":{states},\"transitions\":{transitions}}}\n")
        };
        let progress = line(1, 1000, 10) + &line(2, 5000, 20) + &line(4, 9000, 30);
        assert_eq!(rate_beyond(&progress, 15.0), 2000.0);
        assert!(rate_beyond(&progress, 25.0).is_nan());
    }
}
