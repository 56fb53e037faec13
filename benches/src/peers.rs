//! The four models in three languages, and how each tool is run on them.

use crate::Bench;
use crate::run::{Ran, json_number, run};

/// A model at one size.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) title: &'static str,
    pub(crate) name: &'static str,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    birk: &'static [&'static str],
    spin: &'static [&'static str],
    /// What is replaced in the Murphi text.
    rumur: &'static [(&'static str, &'static str)],
}

/// Below 10^5 states.
pub(crate) const SMALL: &[Peer] = &[
    Peer {
        title: "phil N=10",
        name: "phil",
        states: 59_049,
        transitions: 393_660,
        birk: &["N=10"],
        spin: &["-DN=10", "-DASYM"],
        rumur: &[("N: 13", "N: 10")],
    },
    Peer {
        title: "peterson N=5",
        name: "peterson",
        states: 88_560,
        transitions: 286_985,
        birk: &["N=5"],
        spin: &["-DN=5"],
        rumur: &[("N: 6", "N: 5")],
    },
    Peer {
        title: "buffer P=3 C=2 K=4 M=2",
        name: "buffer",
        states: 30_976,
        transitions: 123_520,
        birk: &["K=4", "M=2"],
        spin: &["-DK=4", "-DM=2"],
        rumur: &[("K: 6; M: 4", "K: 4; M: 2")],
    },
    Peer {
        title: "ring N=7",
        name: "ring",
        states: 18_320,
        transitions: 75_627,
        birk: &["N=7"],
        spin: &["-DN=7"],
        rumur: &[("N: 10", "N: 7")],
    },
];

/// At about two million states.
pub(crate) const USUAL: &[Peer] = &[
    Peer {
        title: "phil N=13",
        name: "phil",
        states: 1_594_323,
        transitions: 13_817_466,
        birk: &["N=13"],
        spin: &["-DN=13", "-DASYM"],
        rumur: &[],
    },
    Peer {
        title: "peterson N=6",
        name: "peterson",
        states: 1_827_936,
        transitions: 6_803_688,
        birk: &["N=6"],
        spin: &["-DN=6"],
        rumur: &[],
    },
    Peer {
        title: "buffer P=3 C=2 K=6 M=4",
        name: "buffer",
        states: 2_238_464,
        transitions: 8_950_784,
        birk: &["K=6", "M=4"],
        spin: &[],
        rumur: &[],
    },
    Peer {
        title: "ring N=10",
        name: "ring",
        states: 2_333_962,
        transitions: 13_748_885,
        birk: &["N=10"],
        spin: &["-DN=10"],
        rumur: &[],
    },
];

/// At more than ten million states.
pub(crate) const LARGE: &[Peer] = &[
    Peer {
        title: "phil N=15",
        name: "phil",
        states: 14_348_907,
        transitions: 143_489_070,
        birk: &["N=15"],
        spin: &["-DN=15", "-DASYM"],
        rumur: &[("N: 13", "N: 15")],
    },
    Peer {
        title: "peterson N=7",
        name: "peterson",
        states: 41_512_352,
        transitions: 174_214_145,
        birk: &["N=7"],
        spin: &["-DN=7"],
        rumur: &[("N: 6", "N: 7")],
    },
    Peer {
        title: "ring N=11",
        name: "ring",
        states: 12_039_864,
        transitions: 77_992_111,
        birk: &["N=11"],
        spin: &["-DN=11"],
        rumur: &[("N: 10", "N: 11")],
    },
    Peer {
        title: "buffer P=3 C=2 K=8 M=4",
        name: "buffer",
        states: 20_154_368,
        transitions: 80_614_400,
        birk: &["K=8", "M=4"],
        spin: &["-DK=8"],
        rumur: &[("K: 6", "K: 8")],
    },
];

/// A tool and how it stores states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Birk,
    Spin,
    SpinCollapse,
    SpinHash,
    SpinBits,
    Rumur,
}

impl Tool {
    pub(crate) const ALL: &'static [Tool] =
        &[Tool::Birk, Tool::Spin, Tool::SpinCollapse, Tool::SpinHash, Tool::SpinBits, Tool::Rumur];

    /// Those that are named, with commas between them (`spin,spin-hc4`); Birk is always the first.
    pub(crate) fn named(names: &str) -> Vec<Tool> {
        let names: Vec<String> = names.split(',').map(str::to_lowercase).collect();
        let is_asked = |tool: &&Tool| names.contains(&tool.name().to_lowercase().replace(' ', "-"));
        std::iter::once(Tool::Birk).chain(Tool::ALL[1..].iter().filter(is_asked).copied()).collect()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Birk => "Birk",
            Tool::Spin => "SPIN",
            Tool::SpinCollapse => "SPIN COLLAPSE",
            Tool::SpinHash => "SPIN HC4",
            Tool::SpinBits => "SPIN BITSTATE",
            Tool::Rumur => "Rumur",
        }
    }

    /// It promises to find every state.
    pub(crate) fn is_exact(self) -> bool {
        !matches!(self, Tool::SpinHash | Tool::SpinBits)
    }
}

/// What a tool found and cost.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    /// Processor seconds of the search, start-up included, compilation of C excluded.
    pub(crate) seconds: f64,
    /// Seconds on the clock from the model to the verdict, everything included.
    pub(crate) answer: f64,
    pub(crate) bytes_per_state: Option<f64>,
}

/// Runs a tool on a model with one thread.
pub(crate) fn measure(tool: Tool, peer: &Peer, bench: &Bench) -> Option<Measured> {
    match tool {
        Tool::Birk => {
            let ran = run_birk(peer, bench, 1);
            let number = |name: &str| json_number(&ran.output, name);
            Some(Measured {
                states: number("states")? as u64,
                transitions: number("transitions")? as u64,
                seconds: ran.cpu,
                answer: ran.wall,
                bytes_per_state: number("store_bytes_per_state"),
            })
        }
        Tool::Rumur => rumur(peer, bench),
        Tool::Spin => spin(peer, &[], bench),
        Tool::SpinCollapse => spin(peer, &["-DCOLLAPSE"], bench),
        Tool::SpinHash => spin(peer, &["-DHC4"], bench),
        Tool::SpinBits => spin(peer, &["-DBITSTATE"], bench),
    }
}

/// Runs Birk on a model with some threads.
pub(crate) fn run_birk(peer: &Peer, bench: &Bench, threads: usize) -> Ran {
    let (model, threads) = (format!("models/peers/{}.bir", peer.name), threads.to_string());
    let mut arguments = vec!["check", &model, "--threads", &threads, "--progress", "off", "--format", "json"];
    for define in peer.birk {
        arguments.extend(["-D", define]);
    }
    run(&bench.birk, &arguments, &bench.root)
}

fn spin(peer: &Peer, options: &[&str], bench: &Bench) -> Option<Measured> {
    let folder = bench.folder.as_path();
    let model = bench.root.join(format!("benches/peers/spin/{}.pml", peer.name)).display().to_string();
    let mut arguments = vec!["-a"];
    arguments.extend(peer.spin);
    arguments.push(&model);
    let generated = run("spin", &arguments, folder);
    let mut arguments = vec!["-O2", "-w", "-DSAFETY", "-DNOREDUCE"];
    arguments.extend(options);
    arguments.extend(["-o", "pan", "pan.c"]);
    let compiled = run("gcc", &arguments, folder);
    let searched = run(folder.join("pan"), &["-m10000000", "-w24", "-c1"], folder);
    let (states, transitions) = (before(&searched.output, "states, stored")?, before(&searched.output, "transitions")?);
    let memory = before(&searched.output, "actual memory usage for states").map(|mib| mib * 1024.0 * 1024.0);
    Some(Measured {
        states: states as u64,
        // SPIN counts the initial state as a transition more.
        transitions: transitions as u64 - 1,
        seconds: searched.cpu,
        answer: generated.wall + compiled.wall + searched.wall,
        bytes_per_state: memory.map(|bytes| bytes / states),
    })
}

fn rumur(peer: &Peer, bench: &Bench) -> Option<Measured> {
    let folder = bench.folder.as_path();
    let text = std::fs::read_to_string(bench.root.join(format!("benches/peers/rumur/{}.m", peer.name))).ok()?;
    let text = peer.rumur.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1));
    std::fs::write(folder.join("model.m"), text).ok()?;
    // A ring whose leader is elected rests; that is no deadlock there, and Rumur cannot be told where it is.
    let generated =
        run("rumur", &["--threads", "1", "--deadlock-detection", "off", "--output", "model.c", "model.m"], folder);
    let compiled =
        run("gcc", &["-std=c11", "-O3", "-w", "-mcx16", "-o", "model", "model.c", "-lpthread", "-latomic"], folder);
    let searched = run(folder.join("model"), &[], folder);
    if !searched.success {
        return None;
    }
    // Earlier lines tell how the search was going.
    let line = searched.output.lines().rev().find(|line| line.contains("rules fired"))?;
    Some(Measured {
        states: before(line, "states")? as u64,
        transitions: before(line, "rules fired")? as u64,
        seconds: searched.cpu,
        answer: generated.wall + compiled.wall + searched.wall,
        bytes_per_state: None,
    })
}

/// The last number before the first of these words.
pub(crate) fn before(text: &str, words: &str) -> Option<f64> {
    let text = text.split_once(words)?.0.trim_end();
    let start = text.rfind(|c: char| !c.is_ascii_digit() && !".,e+".contains(c)).map_or(0, |at| at + 1);
    text[start..].replace(',', "").parse().ok()
}
