//! The model as a circuit in AIGER, without its state graph.

use std::io::IsTerminal as _;

use birk::{Form, Netlist};
use birk_exec::goal_of;
use birk_ir::{Expr, Goal, Program};

use crate::cli::{GraphArgs, GraphFormat};
use crate::terminal::print_bytes;
use crate::{Exit, Failure, say};

/// Prints a model as a circuit, with a bad state property for each of its properties of states.
pub(super) fn run(args: &GraphArgs, program: &Program) -> Result<Exit, Failure> {
    let form = if args.format == GraphFormat::Aiger { Form::Binary } else { Form::Ascii };
    if form == Form::Binary && std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "a binary file is not for a terminal; redirect it into a file, or use --format aag",
        ));
    }
    let about_graphs = [
        ("search highway", args.search == "highway"),
        ("width", args.width.is_some()),
        ("degrade-depth", args.degrade_depth.is_some()),
        ("seed", args.seed.is_some()),
    ];
    if let Some((name, _)) = about_graphs.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!(
            "--{name} is about the state graph, which a circuit does not need; leave it out"
        )));
    }
    let mut goals = Vec::new();
    for property in &program.properties {
        match goal_of(program, property) {
            Some(Goal::State(goal)) => goals.push((property.name.clone(), goal)),
            None => say(&format!("birk: `{}` is left out: it is not about single states", property.name)),
        }
    }
    let netlist = Netlist::new(program, &goals).or_else(|reason| {
        let asks_stuck = |goal: &Expr| {
            let mut asks = false;
            goal.walk(&mut |part| asks |= *part == Expr::Stuck);
            asks
        };
        let (left_out, others): (Vec<_>, Vec<_>) = goals.into_iter().partition(|(_, goal)| asks_stuck(goal));
        if left_out.is_empty() {
            return Err(reason);
        }
        let netlist = Netlist::new(program, &others)?;
        for (name, _) in left_out {
            say(&format!("birk: `{name}` is left out: {reason}"));
        }
        Ok(netlist)
    });
    let netlist = netlist.map_err(|reason| Failure::usage(format!("this model is no circuit: {reason}")))?;
    print_bytes(&netlist.aiger(form))
}
