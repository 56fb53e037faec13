//! Random pairs of an implementation and a specification: small texts over the same global variables, of which some are hidden, and
//! mappings that are often the identity. A specification is often its implementation with some more steps, or some fewer.

use std::fmt::Write as _;

use birk_lang::ast::{Item, System};

use crate::random::{Draw as _, Random};
use crate::tree::truth;

/// A guarded command: its guard, its actions, and the number of the location that it leads to.
#[derive(Clone, Debug)]
struct Command {
    guard: String,
    actions: Vec<String>,
    to: usize,
}

/// A small system: threads, which are locations, which are guarded commands.
#[derive(Clone, Debug)]
pub struct Small {
    initial: [usize; 4],
    threads: Vec<Vec<Vec<Command>>>,
}

const GUARDS: [&str; 9] = ["true", "x == 0", "x != 1", "x < 2", "y == 1", "y == 0", "b", "!b", "h != 2"];
const ACTIONS: [&str; 15] = [
    "x := 0;",
    "x := 1;",
    "x := (x + 1) % 3;",
    "x := h;",
    "x := choose(0, 2);",
    "x := x < 2 ? x + 1 : x;",
    "y := 1 - y;",
    "y := choose(0, 1);",
    "b := !b;",
    "b := x == h;",
    "h := (h + 1) % 3;",
    "h := choose(0, 2);",
    "h := x;",
    "assume x != h;",
    "assert x < 2 || b || y == 0;",
];
/// Most are evaluated wherever they are asked for, some leave the range.
const MAPPED: [&str; 7] = ["(x + h) % 3", "h", "y", "b ? 1 : 0", "x == h ? 0 : x", "x + y", "x / (2 - h)"];

fn command(locations: usize, random: &mut Random) -> Command {
    let guard = *random.pick(&GUARDS);
    let count = random.weighted(&[10, 60, 30]);
    let actions = (0..count).map(|_| (*random.pick(&ACTIONS)).to_owned()).collect();
    Command { guard: guard.to_owned(), actions, to: random.below(locations) }
}

impl Small {
    /// Any.
    pub fn draw(random: &mut Random) -> Self {
        let threads = 1 + random.below(2);
        let thread = |random: &mut Random| {
            let locations = 1 + random.below(3);
            let location =
                |random: &mut Random| (0..1 + random.below(3)).map(|_| command(locations, random)).collect::<Vec<_>>();
            (0..locations).map(|_| location(random)).collect::<Vec<_>>()
        };
        let threads = (0..threads).map(|_| thread(random)).collect();
        let initial = if random.chance(95) { [0; 4] } else { [3, 2, 2, 3].map(|most| random.below(most)) };
        Self { initial, threads }
    }

    /// The same with some steps more, and, unless it is only weakened, some fewer or other ones.
    pub fn bent(&self, weakened: bool, random: &mut Random) -> Self {
        let mut bent = self.clone();
        for _ in 0..1 + random.below(3) {
            let thread = random.below(bent.threads.len());
            let locations = bent.threads[thread].len();
            let location = &mut bent.threads[thread][random.below(locations)];
            let at = random.below(location.len());
            match random.weighted(&if weakened { [40, 40, 20, 0, 0, 0, 0] } else { [10, 5, 5, 30, 15, 15, 20] }) {
                0 => location[at].guard = "true".to_owned(),
                1 => location.push(command(locations, random)),
                2 => {
                    let hidden = Command { guard: "true".into(), actions: vec!["h := choose(0, 2);".into()], to: at };
                    location.push(Command { to: hidden.to % locations, ..hidden });
                }
                3 if location.len() > 1 => _ = location.remove(at),
                // Where it fails, the step does not exist.
                6 => location[at].actions.push("assert x != h;".to_owned()),
                4 => location[at].guard = (*random.pick(&GUARDS)).to_owned(),
                _ => location[at] = command(locations, random),
            }
        }
        bent
    }

    /// As BIR, with this declaration in it.
    pub fn text(&self, name: &str, more: &str) -> String {
        let [x, y, b, h] = self.initial;
        let mut out = format!(
            "system {name} {{\n  int (0, 2) x := {x};\n  int (0, 1) y := {y};\n  boolean b := {};\n  int (0, 2) h := {h};\n",
            b == 1
        );
        for (number, thread) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "  active thread T{number}() {{");
            for (at, location) in thread.iter().enumerate() {
                let _ = writeln!(out, "    loc l{at}:");
                for Command { guard, actions, to } in location {
                    let _ = writeln!(out, "      when {guard} do {{ {} }} goto l{to};", actions.join(" "));
                }
            }
            out += "  }\n";
        }
        out + more + "}\n"
    }
}

/// A mapping of some of the variables, often to themselves.
pub fn mapping(random: &mut Random) -> String {
    let is_identity = random.chance(60);
    let mut entries = Vec::new();
    for variable in ["x", "y", "b"] {
        let own = match (variable, is_identity || random.chance(50)) {
            ("x", false) => (*random.pick(&MAPPED)).to_owned(),
            ("y", false) => "x == 0 ? 0 : 1".to_owned(),
            ("b", false) => "x == h".to_owned(),
            _ => variable.to_owned(),
        };
        if random.chance(60) {
            entries.push(format!("    {variable} = {own};\n"));
        }
    }
    if entries.is_empty() {
        entries.push("    x = x;\n".to_owned());
    }
    format!("  refines Spec {{\n{}  }}\n", entries.concat())
}

/// A system with fewer guards, and, unless it is only weakened, fewer steps.
pub fn bend(system: &mut System, weakened: bool, random: &mut Random) {
    for item in &mut system.items {
        let Item::Thread(thread) = item else { continue };
        for location in &mut thread.locations {
            for step in &mut location.transformations {
                if random.chance(15) {
                    step.guard = step.guard.take().map(|_| truth(true));
                }
            }
            if !weakened && location.transformations.len() > 1 && random.chance(15) {
                location.transformations.remove(random.below(location.transformations.len()));
            }
        }
    }
}
