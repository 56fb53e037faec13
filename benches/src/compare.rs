//! Every tool on every model, in turn, several times.

use crate::Bench;
use crate::peers::{self, Measured, Peer, Tool};
use crate::table::{self, Spread, grouped, ratio, row};

/// What a tool found, and what it cost in all repetitions.
struct Result {
    tool: Tool,
    last: Option<Measured>,
    seconds: Spread,
}

impl Result {
    /// Of the same graph as the model's.
    fn is_equal(&self, peer: &Peer) -> bool {
        self.last.as_ref().is_some_and(|last| (last.states, last.transitions) == (peer.states, peer.transitions))
    }
}

/// Prints one table for each model, and the ratios of all.
pub(crate) fn section(bench: &Bench) {
    let peers = if bench.is_large { peers::LARGE } else { peers::USUAL };
    let mut summary = vec![row(["model", "states", "transitions"])];
    summary[0].extend(bench.tools.iter().map(|tool| format!("{} s", tool.name())));
    let mut ratios = vec![Vec::new(); bench.tools.len()];
    for peer in peers {
        let results = measured(bench, peer);
        detail(peer, &results);
        let ours = results[0].seconds.median();
        let mut line = vec![peer.title.to_owned(), grouped(peer.states), grouped(peer.transitions)];
        for (result, ratios) in results.iter().zip(&mut ratios) {
            let times = result.seconds.median() / ours;
            let is_comparable = result.is_equal(peer) || result.last.is_some() && !result.tool.is_exact();
            if result.is_equal(peer) {
                ratios.push(times);
            }
            line.push(match result.tool {
                Tool::Birk => result.seconds.text(2),
                _ if is_comparable => format!("{} = {}", result.seconds.text(2), ratio(times)),
                _ => "-".to_owned(),
            });
        }
        summary.push(line);
    }
    let mut means = row(["geometric mean", "", ""]);
    let mean = |ratios: &Vec<f64>| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    means.extend(bench.tools.iter().zip(&ratios).map(|(tool, ratios)| match tool {
        Tool::Birk => String::new(),
        _ if ratios.len() == peers.len() => ratio(mean(ratios)),
        _ => "-".to_owned(),
    }));
    summary.push(means);
    println!("Processor seconds, one thread, {} repetitions (median, least-most):\n", bench.repetitions);
    table::print(&summary);
}

fn measured(bench: &Bench, peer: &Peer) -> Vec<Result> {
    let start = |&tool: &Tool| Result { tool, last: None, seconds: Spread::default() };
    let mut results: Vec<Result> = bench.tools.iter().map(start).collect();
    for _ in 0..bench.repetitions {
        for result in &mut results {
            if let Some(measured) = peers::measure(result.tool, peer, bench) {
                result.seconds.add(measured.seconds);
                result.last = Some(measured);
            }
        }
    }
    results
}

fn detail(peer: &Peer, results: &[Result]) {
    println!("{}: {} states, {} transitions\n", peer.title, grouped(peer.states), grouped(peer.transitions));
    let mut rows = vec![row(["tool", "seconds", "million states/s", "million transitions/s", "bytes/state", "counts"])];
    for result in results {
        let Some(last) = &result.last else {
            rows.push(row([result.tool.name(), "no answer", "", "", "", ""]));
            continue;
        };
        let rate = |count: u64| format!("{:.2}", count as f64 / result.seconds.median() / 1e6);
        rows.push(vec![
            result.tool.name().to_owned(),
            result.seconds.text(2),
            rate(last.states),
            rate(last.transitions),
            last.bytes_per_state.map_or("-".to_owned(), |bytes| format!("{bytes:.1}")),
            if result.is_equal(peer) { "equal".to_owned() } else { format!("{} states", grouped(last.states)) },
        ]);
    }
    table::print(&rows);
}
