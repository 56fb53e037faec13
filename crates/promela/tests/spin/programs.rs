//! Random Promela programs: small state spaces, and as many constructs as possible.

use std::fmt::Write as _;

/// A small random generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }
}

struct Writer {
    random: Random,
    out: String,
    /// How deep the loops and sequences around are.
    loops: usize,
    atomic: bool,
    dstep: bool,
    labels: usize,
    blocks: usize,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.model();
    writer.out
}

/// The program of a seed, with a `trace` or `notrace`. Process 0 exchanges nothing, because in SPIN it could take part in no rendezvous.
pub(crate) fn watched(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.model();
    let idle = writer.random.one(&["skip", "end: false"]);
    let first = format!("active proctype Idle() {{ {idle} }}\n");
    let at = ["\nactive proctype", "\nactive [2] proctype", "\nproctype", "\ninit"];
    let at = at.iter().filter_map(|begin| writer.out.find(begin)).min().expect("there is a process") + 1;
    writer.out.insert_str(at, &first);
    writer.watch();
    writer.out
}

impl Writer {
    fn new(seed: u64) -> Self {
        let (random, out) = (Random::new(seed), String::new());
        Self { random, out, loops: 0, atomic: false, dstep: false, labels: 0, blocks: 0 }
    }

    /// What describes messages: a loop over some of them in turn, and perhaps more behind it.
    fn watch(&mut self) {
        let word = self.random.one(&["trace", "notrace"]);
        _ = write!(self.out, "{word} {{ ");
        if self.chance(30) {
            self.events(2);
            self.out.push_str("; ");
        }
        self.out.push_str(self.random.one(&["do", "end: do", "do", "if"]));
        let is_loop = self.out.ends_with("do");
        for _ in 0..1 + self.random.below(4) {
            self.out.push_str(" :: ");
            self.events(3);
            if is_loop && self.chance(20) {
                self.out.push_str("; break");
            }
        }
        self.out.push_str(if is_loop { " od" } else { " fi" });
        if !is_loop || self.out.contains("; break od") || self.chance(20) {
            self.out.push_str("; ");
            self.events(2);
        }
        self.out.push_str(" }\n");
    }

    /// Messages in turn. SPIN is told of a rendezvous when it is offered, and Birk when it happens: only its receipt is the same.
    fn events(&mut self, most: u64) {
        let all = [
            "q!_, _",
            "q!_",
            "q!1, _",
            "q!_, red",
            "q!2, green",
            "q?_, _",
            "q?_",
            "z?1",
            "z?_",
            "z?eval(2)",
            "w[0]!_",
            "w[1]!1",
            "w[0]?0",
            "w[1]?_",
            "w[1]!_",
            "p[0]?_, _",
            "p[0]?_, red",
            "p[1]?_",
            "d!_",
            "d?_",
            "o?_",
            "o?1, _",
        ];
        for number in 0..1 + self.random.below(most) {
            if number > 0 {
                self.out.push_str("; ");
            }
            let event = self.random.one(&all);
            self.out.push_str(event);
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    fn model(&mut self) {
        self.out.push_str("#define M 3\n#define NEXT(x) ((x + 1) % M)\n");
        self.out.push_str("mtype = { red, green, blue };\ntypedef R { byte a; bit f[2] };\n");
        self.out.push_str("typedef S { R r; byte k[2] };\ntypedef T { byte a; mtype k };\n");
        self.out.push_str("byte g, h;\nbool b;\nshort s;\nmtype m = red;\nR r;\nbyte v[2];\nS u[2];\nT e;\n");
        let capacity = 1 + self.random.below(2);
        _ = writeln!(self.out, "chan q = [{capacity}] of {{ byte, mtype }};\nchan z = [0] of {{ byte }};");
        self.out.push_str("chan w[2] = [1] of { byte };\nchan o = [2] of { byte, byte };\n");
        self.out.push_str("chan p[2] = [0] of { byte, mtype };\nchan d = [1] of { chan };\nchan f = [2] of { T };\n");
        self.out.push_str("inline step(to, from) { to = NEXT(from); if :: to == 2 -> b = !b :: else fi }\n");
        self.out.push_str("inline both(one) { step(one, g); step(h, one) }\n");
        let has_init = self.chance(45);
        let procs = 2 + self.random.below(2) as usize;
        for number in 0..procs {
            let is_run = has_init && self.chance(60);
            match is_run {
                true => _ = write!(self.out, "proctype P{number}(byte a; chan c)"),
                false if self.chance(15) => _ = write!(self.out, "active [2] proctype P{number}()"),
                false => _ = write!(self.out, "active proctype P{number}()"),
            }
            let is_provided = self.chance(8);
            self.out.push_str(if is_provided { " provided (g < 2) {\n" } else { " {\n" });
            self.out.push_str("  byte x");
            if self.chance(30) {
                self.out.push_str(" = 1");
            }
            self.out.push_str("; byte j; byte i0, i1, i2, i3; byte t[2];\n");
            if !is_run {
                self.out.push_str("  byte a; chan c = [1] of { byte };\n");
            }
            self.labels = 0;
            let length = 1 + self.random.below(3);
            self.sequence(length, 3, 1);
            self.out.push_str("\n}\n");
        }
        if has_init {
            self.init(procs);
        }
    }

    fn init(&mut self, procs: usize) {
        let started: Vec<usize> =
            (0..procs).filter(|number| self.out.contains(&format!("\nproctype P{number}("))).collect();
        self.out.push_str("init { byte i; ");
        let is_atomic = self.chance(60);
        if is_atomic {
            self.out.push_str("atomic { ");
        }
        let mut all = Vec::new();
        for number in started {
            for _ in 0..1 + self.random.below(2) {
                let channel = self.random.one(&["z", "w[0]", "w[1]"]);
                all.push(format!("run P{number}({}, {channel})", self.random.below(3)));
            }
        }
        all.truncate(2);
        if let (Some(run), true) = (all.first().cloned(), self.chance(25)) {
            all = vec![format!("do :: i < 2 -> {run}; i++ :: else -> break od")];
        }
        all.push("i = 1".into());
        self.out.push_str(&all.join("; "));
        if is_atomic {
            self.out.push_str(" }");
        }
        if self.chance(30) {
            self.out.push_str("; _nr_pr == 1; g = 0");
        }
        self.out.push_str(" }\n");
    }

    fn indent(&mut self, depth: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", depth));
    }

    fn sequence(&mut self, length: u64, fuel: u32, depth: usize) {
        for number in 0..length {
            if number > 0 {
                self.out.push(';');
            }
            self.indent(depth);
            self.statement(fuel, depth);
        }
    }

    fn variable(&mut self) -> &'static str {
        self.random.one(&["g", "h", "x", "j", "a", "r.a", "u[0].k[1]", "u[x & 1].r.a", "v[0]", "v[1]", "t[1]", "s"])
    }

    fn value(&mut self) -> String {
        match self.random.below(8) {
            0 => "0".into(),
            1 => "1".into(),
            2 => "2".into(),
            3 => "len(q)".into(),
            4 => "_pid".into(),
            5 => format!("({} > 1 -> 1 : 2)", self.variable()),
            _ => self.variable().into(),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.variable(), self.random.below(3));
        match self.random.below(16) {
            0 => format!("{a} == {b}"),
            1 => format!("{a} != {b}"),
            2 => format!("{a} < 2"),
            3 => "b".into(),
            4 => "!b".into(),
            5 => "m == green".into(),
            6 => "empty(q)".into(),
            7 => "nfull(q)".into(),
            8 => "q?[_, red]".into(),
            9 => "r.f[0] || b".into(),
            10 => format!("{a} >= 1 && !b"),
            11 => "o??[1, _]".into(),
            12 => "full(o) || len(w[0]) == 0".into(),
            13 => "u[1].k[0] == 0".into(),
            14 => format!("(b -> {a} : 1) == 1"),
            _ => format!("_nr_pr > {}", 1 + b),
        }
    }

    fn assignment(&mut self) -> String {
        let target = self.variable();
        match self.random.below(13) {
            9 => format!("u[{}].k[{}] = {}", self.random.below(2), self.random.below(2), self.random.below(3)),
            10 => "u[g & 1].r.f[x & 1] = 1".into(),
            11 => format!("both({})", self.random.one(&["g", "x"])),
            12 => format!("{target}++; {target} = {target} % M"),
            0 => "b = !b".into(),
            1 => format!("m = {}", self.random.one(&["red", "green", "blue"])),
            2 => format!("r.f[{}] = {}", self.random.below(2), self.random.below(3)),
            3 => format!("{target} = NEXT({target})"),
            4 => format!("step({}, {})", self.random.one(&["g", "h", "x"]), self.random.one(&["g", "j", "h"])),
            5 => "v[x % 2] = (x + 1) & 1".into(),
            _ => {
                let value = self.value();
                format!("{target} = ({value}) % M")
            }
        }
    }

    /// A statement that sends or receives.
    fn exchange(&mut self) -> String {
        let value = self.value();
        let colour = self.random.one(&["red", "green", "m"]);
        match self.random.below(if self.dstep { 4 } else { 23 }) {
            0 => format!("q!{value}, {colour}"),
            1 => "q?x, m".into(),
            2 => format!("q?{}, _", self.random.one(&["eval(x)", "1", "j"])),
            3 => "q?<j, m>".into(),
            4 => format!("z!{value}"),
            5 => "z?x".into(),
            6 => format!("z?{}", self.random.one(&["1", "eval(g)", "j"])),
            7 => format!("w[{}]!{value}", self.random.one(&["0", "1", "x & 1"])),
            8 => format!("w[{}]?j", self.random.one(&["0", "1", "x & 1"])),
            9 => format!("c!{value}"),
            10 => "c?j".into(),
            11 | 12 => format!("o!!{value}, {}", self.random.below(3)),
            13 => format!("o??{}, x", self.random.one(&["1", "eval(j)", "j"])),
            14 => "o??<x, 1>".into(),
            15 => "o?x, j".into(),
            16 => format!("p[{}]!{value}, {colour}", self.random.one(&["0", "1", "x & 1"])),
            17 => {
                format!("p[{}]?{}", self.random.one(&["0", "1", "j & 1"]), self.random.one(&["x, m", "j, red", "_, m"]))
            }
            21 => self.random.one(&["f!e", "f?e", "f!e", "f?e; e.a = 1"]).into(),
            18 => format!("d!{}", self.random.one(&["w[0]", "w[1]", "z", "c"])),
            19 | 20 => "d?c".into(),
            _ => "q??_, green".into(),
        }
    }

    fn simple(&mut self) -> String {
        match self.random.below(20) {
            0..=7 => self.assignment(),
            8..=12 if !self.dstep => self.exchange(),
            13 => "skip".into(),
            14 => "printf(\"x\")".into(),
            15 => format!("assert(g < {})", 3 + self.random.below(3)),
            16 if !self.dstep => self.condition(),
            17 if !self.dstep => "timeout".into(),
            _ => self.assignment(),
        }
    }

    fn guard(&mut self) -> String {
        match self.random.below(10) {
            0..=3 => self.condition(),
            4 if !self.dstep => self.random.one(&["timeout", "timeout && g < 2"]).into(),
            5..=7 if !self.dstep => self.exchange(),
            _ => self.assignment(),
        }
    }

    fn statement(&mut self, fuel: u32, depth: usize) {
        if fuel == 0 || self.chance(45) {
            let text = self.simple();
            self.out.push_str(&text);
            return;
        }
        match self.random.below(15) {
            // A sequence that is one step has loops that end.
            2..=4 | 11 if self.atomic => self.counted(fuel, depth),
            12 | 13 if !self.atomic => self.escape(fuel, depth),
            14 if !self.dstep => {
                self.out.push_str("for (e in f) {");
                let text = self.simple();
                _ = write!(self.out, " {text} }}");
            }
            0 | 1 => self.selection("if", "fi", fuel, depth),
            2..=4 if !self.atomic => {
                self.loops += 1;
                self.selection("do", "od", fuel, depth);
                self.loops -= 1;
            }
            5 | 6 if !self.dstep => self.sequenced("atomic", fuel, depth),
            7 if !self.dstep => self.sequenced("d_step", fuel, depth),
            8 => {
                let variable = self.random.one(&["x", "j"]);
                _ = write!(self.out, "for ({variable} : 0 .. 1) {{");
                self.sequence(1, fuel - 1, depth + 1);
                self.out.push_str(" }");
            }
            9 if !self.dstep => {
                let text =
                    self.random.one(&["select (x : 0 .. 2)", "select (g : 1 .. M - 1)", "select (j : 0 .. a % 2)"]);
                self.out.push_str(text);
            }
            10 => {
                self.blocks += 1;
                _ = write!(self.out, "{{ byte k{}; ", self.blocks);
                _ = write!(self.out, "k{} = 1;", self.blocks);
                self.sequence(1, fuel - 1, depth + 1);
                self.out.push_str(" }");
            }
            _ => {
                let text = self.assignment();
                self.out.push_str(&text);
            }
        }
    }

    /// A loop that counts, from a number that is known or not.
    fn counted(&mut self, fuel: u32, depth: usize) {
        let variable = format!("i{fuel}");
        let start = self.random.one(&["0", "0", "g & 1", "1"]);
        _ = write!(self.out, "{variable} = {start}; do");
        self.indent(depth);
        _ = write!(self.out, ":: {variable} < 2 -> {variable}++;");
        self.loops += 1;
        self.sequence(1, fuel - 1, depth + 1);
        self.loops -= 1;
        self.indent(depth);
        self.out.push_str(":: else -> break");
        self.indent(depth);
        self.out.push_str("od; skip");
    }

    fn escape(&mut self, fuel: u32, depth: usize) {
        self.out.push('{');
        let length = 1 + self.random.below(3);
        self.sequence(length, fuel - 1, depth + 1);
        self.out.push_str(" } unless {");
        let guard = match self.random.below(3) {
            0 => self.exchange(),
            _ => self.condition(),
        };
        self.out.push_str(&guard);
        if self.chance(60) {
            self.out.push(';');
            self.sequence(1, fuel - 1, depth + 1);
        }
        self.out.push_str(" }");
    }

    fn sequenced(&mut self, word: &str, fuel: u32, depth: usize) {
        let before = (self.atomic, self.dstep, self.loops);
        self.atomic = true;
        if word == "d_step" {
            self.dstep = true;
        }
        // Nobody leaves a loop around by jumping out of a sequence.
        self.loops = 0;
        _ = write!(self.out, "{word} {{");
        // The first statement may wait.
        if self.chance(50) {
            let text = if word == "d_step" { self.condition() } else { self.guard() };
            self.out.push_str(&text);
            self.out.push(';');
        }
        let length = 1 + self.random.below(3);
        self.sequence(length, fuel - 1, depth + 1);
        self.out.push_str(" }");
        (self.atomic, self.dstep, self.loops) = before;
    }

    fn selection(&mut self, open: &str, close: &str, fuel: u32, depth: usize) {
        let is_labelled = depth == 1 && self.chance(20);
        if is_labelled {
            self.labels += 1;
            let word = self.random.one(&["L", "end", "progress", "accept"]);
            _ = write!(self.out, "{word}{}: ", self.labels);
        }
        self.out.push_str(open);
        let is_loop = open == "do";
        // SPIN refuses `else` beside some sends and receives.
        let mut exchanges = false;
        for _ in 0..1 + self.random.below(3) {
            self.indent(depth);
            let guard = self.guard();
            _ = write!(self.out, ":: {guard}");
            exchanges |=
                !guard.starts_with(['!', 'q']) && (guard.contains('!') && !guard.contains("!=") || guard.contains('?'));
            if self.chance(70) {
                self.out.push_str(" ->");
                let length = 1 + self.random.below(2);
                self.sequence(length, fuel - 1, depth + 1);
            }
            if is_loop && self.chance(25) {
                self.out.push_str("; break");
            }
        }
        if self.dstep || !exchanges && self.chance(45) {
            self.indent(depth);
            let leaves = self.loops > 0 && self.chance(60);
            self.out.push_str(if leaves { ":: else -> break" } else { ":: else" });
        } else if self.loops > 0 && self.chance(40) {
            self.indent(depth);
            self.out.push_str(":: break");
        }
        self.indent(depth);
        self.out.push_str(close);
    }
}
