//! From the command to the verdict, on the clock: the compilation of C that SPIN and Rumur need is part of it.

use crate::Bench;
use crate::peers::{self, Tool};
use crate::run;
use crate::table::{self, Spread, grouped, ratio, row};

/// Models below 10^5 states, and a tiny one.
pub(crate) fn section(bench: &Bench) {
    let tools: Vec<Tool> =
        bench.tools.iter().copied().filter(|tool| matches!(tool, Tool::Birk | Tool::Spin | Tool::Rumur)).collect();
    let mut rows = vec![row(["model", "states"])];
    rows[0].extend(tools.iter().map(|tool| format!("{} ms", tool.name())));
    for peer in peers::SMALL {
        let mut times = vec![Spread::default(); tools.len()];
        let mut is_equal = vec![true; tools.len()];
        for _ in 0..bench.repetitions {
            for (i, tool) in tools.iter().enumerate() {
                let Some(measured) = peers::measure(*tool, peer, bench) else { continue };
                times[i].add(measured.answer * 1000.0);
                is_equal[i] &= (measured.states, measured.transitions) == (peer.states, peer.transitions);
            }
        }
        let mut line = vec![peer.title.to_owned(), grouped(peer.states)];
        for (i, time) in times.iter().enumerate() {
            line.push(match tools[i] {
                _ if !is_equal[i] => "counts differ".to_owned(),
                Tool::Birk => time.text(1),
                _ => format!("{} = {}", time.text(0), ratio(time.median() / times[0].median())),
            });
        }
        rows.push(line);
    }
    println!("From the command to the verdict, milliseconds on the clock, compilation of C included:\n");
    table::print(&rows);
    start_up(bench);
}

fn start_up(bench: &Bench) {
    let mut times = Spread::default();
    for _ in 0..21 {
        let arguments = ["check", "models/philosophers2.bir", "--progress", "off"];
        times.add(run::run(&bench.birk, &arguments, &bench.root).wall * 1000.0);
    }
    println!("Two philosophers: {:.1} ms (median of 21 runs, {:.1} at worst).\n", times.median(), times.worst());
}
