//! Programs in which fairness decides: few variables, and marks on steps that can be taken in several ways.

use birk_lang::ast::{Action, ActionKind, Item, System};

use crate::random::{Draw as _, Random};

/// A small program of a seed.
pub fn small(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed ^ 0xfa3) };
    let threads: Vec<String> = (0..writer.random.between(2, 3)).map(|number| writer.thread(number)).collect();
    format!(
        "system Small {{\n  boolean a;\n  boolean b;\n  boolean c;\n  int (0, 2) n;\n  channel of boolean [0] r;\n{}}}\n",
        threads.concat()
    )
}

struct Writer {
    random: Random,
}

impl Writer {
    fn variable(&mut self) -> &'static str {
        ["a", "b", "c"][self.random.below(3)]
    }

    fn condition(&mut self) -> String {
        let negation = *self.random.pick(&["", "!"]);
        format!("{negation}{}", self.variable())
    }

    fn mark(&mut self) -> &'static str {
        if self.random.chance(45) { "fair " } else { "" }
    }

    fn thread(&mut self, number: i64) -> String {
        let mark = if self.random.chance(15) { "fair " } else { "" };
        let body = if self.random.chance(35) { self.loops() } else { self.locations() };
        format!("  {mark}active thread T{number}() {{\n{body}  }}\n")
    }

    fn locations(&mut self) -> String {
        let mut text = String::new();
        for location in 0..2 {
            text += &format!("    loc l{location}:\n");
            for _ in 0..self.random.between(1, 3) {
                let (mark, target) = (self.mark(), self.random.below(2));
                let guard = if self.random.chance(25) { format!("when {} ", self.condition()) } else { String::new() };
                let first = match self.random.weighted(&[76, 12, 12]) {
                    0 => String::new(),
                    1 => format!("send r ({});", self.condition()),
                    _ => format!("receive r (?{});", self.variable()),
                };
                let body = self.part(2);
                text += &format!("      {mark}{guard}do {{ {first} {body} }} goto l{target};\n");
            }
        }
        text
    }

    /// A loop with several ways to go on.
    fn loops(&mut self) -> String {
        let mut ways = Vec::new();
        for _ in 0..self.random.between(2, 3) {
            let mark = self.mark();
            ways.push(match self.random.below(4) {
                0 => format!(
                    "{{ {mark}if ({}) {{ {} }} else {{ {} }} }}",
                    self.condition(),
                    self.single(),
                    self.single()
                ),
                1 => format!(
                    "{{ for (i : 0 .. 1) {{ either {{ {mark}{} := i == 1; }} or {{ skip; }} }} }}",
                    self.variable()
                ),
                _ => format!("{{ {mark}atomic {{ {} skip; }} }}", self.part(2)),
            });
        }
        format!("    while (true) {{\n      either {}\n    }}\n", ways.join(" or "))
    }

    /// A part of one step.
    fn part(&mut self, depth: usize) -> String {
        match if depth == 0 { 0 } else { self.random.weighted(&[20, 25, 30, 15]) } {
            0 => self.single(),
            1 => {
                format!("if ({}) {{ {} }} else {{ {} }}", self.condition(), self.part(depth - 1), self.part(depth - 1))
            }
            2 => {
                let waits = self.condition();
                let either = format!("either {{ await {waits}; {} }}", self.part(depth - 1));
                format!("{either} or {{ {} }}", self.part(depth - 1))
            }
            _ => format!("{} {}", self.part(depth - 1), self.part(depth - 1)),
        }
    }

    fn single(&mut self) -> String {
        match self.random.weighted(&[62, 18, 7, 6, 7]) {
            0 => format!("{} := {};", self.variable(), self.condition()),
            1 => "skip;".to_owned(),
            2 => format!("assume {} || {};", self.condition(), self.condition()),
            3 => "n := n + 1;".to_owned(),
            _ => "n := 0;".to_owned(),
        }
    }
}

/// Marks many transformations and statements `fair`, in half of the systems also a thread.
pub fn mark(system: &mut System, random: &mut Random) {
    fn statements(body: &mut [Action], random: &mut Random) {
        for statement in body {
            statement.fair = random.chance(20);
            match &mut statement.kind {
                ActionKind::If(branches, otherwise) => {
                    branches.iter_mut().for_each(|(_, branch)| statements(branch, random));
                    otherwise.iter_mut().for_each(|branch| statements(branch, random));
                }
                ActionKind::While(_, body) | ActionKind::For(.., body) => statements(body, random),
                ActionKind::Either(branches) => branches.iter_mut().for_each(|branch| statements(branch, random)),
                _ => {}
            }
        }
    }
    let mut marks_threads = random.chance(50);
    for item in &mut system.items {
        match item {
            Item::Thread(thread) => {
                thread.fair = std::mem::take(&mut marks_threads);
                let steps = thread.locations.iter_mut().flat_map(|location| &mut location.transformations);
                steps.for_each(|step| step.fair = random.chance(30));
                statements(&mut thread.body, random);
            }
            Item::Procedure(procedure) => statements(&mut procedure.body, random),
            _ => {}
        }
    }
}
