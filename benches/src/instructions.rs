//! Instruction counts under callgrind, against those of the last time: a guard that no noise of the machine can reach.

use std::collections::BTreeMap;
use std::path::Path;

use crate::run::run;

/// Small instances, large enough that the search outweighs everything else.
const MODELS: &[(&str, &[&str])] = &[
    ("models/peers/phil.bir", &["N=9"]),
    ("models/peers/peterson.bir", &["N=5"]),
    ("models/peers/buffer.bir", &["K=3", "M=3"]),
    ("models/peers/ring.bir", &["N=7"]),
    ("models/philosophers2.bir", &[]),
];
/// More than this share above the last count is a regression.
const TOLERANCE: f64 = 0.03;

/// Counts each model's instructions and compares them with the stored ones; true when one is worse.
pub(crate) fn compare(birk: &Path, root: &Path, bless: bool) -> bool {
    let file = root.join("benches/instructions.txt");
    let stored: BTreeMap<String, f64> = std::fs::read_to_string(&file)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            line.split_once(' ').map(|(name, count)| (name.to_owned(), count.trim().parse().unwrap_or(0.0)))
        })
        .collect();
    let mut text = String::new();
    let mut worse = false;
    for (model, defines) in MODELS {
        let Some(count) = count(birk, root, model, defines) else {
            println!("{model}: callgrind gave no count");
            worse = true;
            continue;
        };
        let change = stored.get(*model).map(|old| count / old - 1.0);
        let verdict = match change {
            None => "new".to_owned(),
            Some(change) if change > TOLERANCE => format!("{:+.1} %, too many", change * 100.0),
            Some(change) => format!("{:+.1} %", change * 100.0),
        };
        worse |= change.is_none_or(|change| change > TOLERANCE);
        println!("{model:28}{count:>16.0} instructions  {verdict}");
        text += &format!("{model} {count:.0}\n");
    }
    if bless {
        std::fs::write(&file, text).expect("the counts can be stored");
    }
    worse && !bless
}

fn count(birk: &Path, root: &Path, model: &str, defines: &[&str]) -> Option<f64> {
    let birk = birk.display().to_string();
    let mut arguments =
        vec!["--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all", &birk, "check", model];
    arguments.extend(["--threads", "1", "--progress", "off", "--memory", "1G"]);
    for define in defines {
        arguments.extend(["-D", define]);
    }
    let output = run("valgrind", &arguments, root).errors;
    output.split_once("Collected : ")?.1.split_whitespace().next()?.parse().ok()
}
