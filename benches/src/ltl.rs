//! Nested search and bit-state hashing beside SPIN, in turn, as ratios of processor time; and two threads beside one.

use crate::Bench;
use crate::peers::before;
use crate::run::{json_number, run};
use crate::table::{self, Spread, grouped, ratio, row};

/// A question about `peterson` with six processes, for both tools.
struct Case {
    title: &'static str,
    birk: &'static [&'static str],
    /// Options for generating, compiling and running SPIN's verifier.
    spin: [&'static [&'static str]; 3],
    /// Of SPIN's states with those of the automaton, and ours.
    counts_are_equal: bool,
}

const CASES: &[Case] = &[
    Case {
        title: "`[]<> !in0`",
        birk: &["--property", "leaves"],
        spin: [&["-DLIVE2"], &[], &["-a", "-w24"]],
        counts_are_equal: true,
    },
    Case {
        title: "`[]<> in0`, weak fairness",
        birk: &["--property", "enters", "--fairness", "weak"],
        spin: [&["-DLIVE"], &["-DNFAIR=3"], &["-a", "-f", "-w24"]],
        // SPIN's copies are made in another way.
        counts_are_equal: false,
    },
    Case {
        title: "bit-state, 64 MiB",
        birk: &["--property", "mutex", "--store", "bitstate", "--search", "dfs", "--memory", "128M"],
        spin: [&[], &["-DSAFETY", "-DBITSTATE"], &["-w29"]],
        counts_are_equal: true,
    },
];

/// Prints one table with SPIN, and one of two threads.
pub(crate) fn section(bench: &Bench) {
    let model = with_formulas(bench);
    let mut rows = vec![row(["peterson N=6", "Birk: states", "s", "SPIN: states", "s", ""])];
    for case in CASES {
        let pan = verifier(bench, case);
        let (mut ours, mut theirs) = (Spread::default(), Spread::default());
        let (mut states, mut their_states) = (0, 0);
        for _ in 0..bench.repetitions {
            let ran = run(&bench.birk, &arguments(&model, case.birk, "1"), &bench.root);
            let stats = ran.output.split_once("\"stats\":").map_or("", |(_, stats)| stats);
            states = json_number(stats, "states").unwrap_or(0.0) as u64;
            ours.add(ran.cpu);
            let mut options = vec!["-m10000000"];
            options.extend(case.spin[2]);
            let ran = run(&pan, &options, &bench.folder);
            their_states = before(&ran.output, "states, stored").unwrap_or(0.0) as u64;
            theirs.add(ran.cpu);
        }
        let is_equal = !case.counts_are_equal || states.abs_diff(their_states) * 1000 <= states;
        let times = if is_equal { theirs.median() / ours.median() } else { f64::NAN };
        let counts = [grouped(states), grouped(their_states)];
        let texts = [case.title, &counts[0], &ours.text(2), &counts[1], &theirs.text(2), &ratio(times)];
        rows.push(texts.map(str::to_owned).to_vec());
    }
    println!("Processor seconds, one thread, {} repetitions (median, least-most):\n", bench.repetitions);
    table::print(&rows);
    threads(bench, &model);
}

/// The seconds on the clock of two threads beside those of one.
fn threads(bench: &Bench, model: &str) {
    let mut rows = vec![row(["peterson N=6", "one thread", "two threads", ""])];
    for case in &CASES[..2] {
        let mut spreads = [Spread::default(), Spread::default()];
        for _ in 0..bench.repetitions {
            for (spread, count) in spreads.iter_mut().zip(["1", "2"]) {
                spread.add(run(&bench.birk, &arguments(model, case.birk, count), &bench.root).wall);
            }
        }
        let times = ratio(spreads[0].median() / spreads[1].median());
        rows.push([case.title, &spreads[0].text(2), &spreads[1].text(2), &times].map(str::to_owned).to_vec());
    }
    println!("Seconds on the clock (needs two idle cores):\n");
    table::print(&rows);
}

fn arguments<'a>(model: &'a str, options: &[&'a str], threads: &'a str) -> Vec<&'a str> {
    let mut arguments =
        vec!["check", model, "-D", "N=6", "--progress", "off", "--format", "json", "--threads", threads];
    arguments.extend(options);
    arguments
}

/// The model of the benchmark with two formulas at its end.
fn with_formulas(bench: &Bench) -> String {
    let text = std::fs::read_to_string(bench.root.join("models/peers/peterson.bir")).expect("the model is there");
    let end = text.rfind('}').expect("a system ends with a brace");
    let formulas = "ltl leaves: []<> !Process[0]@critical;\nltl enters: []<> Process[0]@critical;\n";
    let path = bench.folder.join("peterson.bir");
    std::fs::write(&path, format!("{}{formulas}}}\n", &text[..end])).expect("the model can be written");
    path.display().to_string()
}

/// SPIN's verifier for a case.
fn verifier(bench: &Bench, case: &Case) -> std::path::PathBuf {
    let model = bench.root.join("benches/peers/spin/peterson.pml").display().to_string();
    let mut options = vec!["-a", "-DN=6"];
    options.extend(case.spin[0]);
    options.push(&model);
    run("spin", &options, &bench.folder);
    let mut options = vec!["-O2", "-w", "-DNOREDUCE"];
    options.extend(case.spin[1]);
    options.extend(["-o", "pan", "pan.c"]);
    run("gcc", &options, &bench.folder);
    bench.folder.join("pan")
}
