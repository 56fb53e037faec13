//! Whatever the text, the front end answers: no panic, no hang, no stack overflow, no quadratic time.
//!
//! Random texts come from a generator with fixed seeds, so that a failure can be repeated. `front_end` is what each
//! text goes through; every part of the front end is to be added there.

use birk_exec::Random;
use birk_lang::ast::{
    Action, ActionKind, Domain, Expr, ExprKind, Item, MAX_DEPTH, Pattern, System, Type, TypeKind, Variables,
};
use birk_lang::parser::{Parsed, parse};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::clock::now;

/// Sends a text through the whole front end and checks what must hold for every text.
fn front_end(text: &str) -> Parsed {
    let parsed = parse(text, 0);
    let mut end = 0;
    for token in &parsed.tokens {
        assert_eq!(token.span.start, end, "tokens follow each other");
        assert!(token.span.end > end && text.get(token.span.range()).is_some(), "tokens are pieces of the text");
        end = token.span.end;
    }
    assert_eq!(end as usize, text.len(), "the tokens are the whole text");
    for diagnostic in &parsed.diagnostics {
        assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?}");
        assert!(diagnostic.related.iter().all(|(span, _)| text.get(span.range()).is_some()), "{diagnostic:?}");
    }
    assert!(parsed.system.is_some() || !parsed.diagnostics.is_empty(), "no tree and no reason");
    if let Some(system) = &parsed.system {
        check_tree(system, text, parsed.diagnostics.is_empty());
    }
    match birk_lang::fmt::format(text) {
        Ok(formatted) => {
            assert!(parsed.diagnostics.is_empty(), "a broken text is not formatted");
            assert_eq!(birk_lang::fmt::format(&formatted).as_ref(), Ok(&formatted), "formatting twice changes nothing");
        }
        Err(diagnostics) => assert_eq!(diagnostics, parsed.diagnostics),
    }
    let loaded = birk_lang::load(text, &[]);
    assert_eq!(
        loaded.program.is_some(),
        loaded.diagnostics.iter().all(|found| found.is_warning()),
        "a program or errors"
    );
    for diagnostic in &loaded.diagnostics {
        let places = diagnostic.related.iter().map(|(span, _)| span).chain([&diagnostic.span]);
        for span in places {
            let file = loaded.files.get(span.file as usize).map(|(_, text)| text.as_str());
            assert!(file.is_some_and(|file| file.get(span.range()).is_some()), "{diagnostic:?}");
        }
    }
    parsed
}

/// Every expression is shallow, has a place in the text, and is complete unless something was reported.
fn check_tree(system: &System, text: &str, complete: bool) {
    let mut roots: Vec<&Expr> = Vec::new();
    for item in &system.items {
        match item {
            Item::Constants(constants) => roots.extend(constants.entries.iter().map(|(_, value)| value)),
            Item::Alias(alias) => type_roots(&alias.target, &mut roots),
            Item::Enum(_) | Item::Expectation(_) => {}
            Item::Refinement(refinement) => roots.extend(refinement.mapped.iter().map(|mapped| &mapped.value)),
            Item::Record(record) => record.fields.iter().for_each(|fields| variable_roots(fields, &mut roots)),
            Item::Procedure(procedure) => {
                procedure.params.iter().for_each(|param| type_roots(&param.ty, &mut roots));
                action_roots(&procedure.body, &mut roots);
            }
            Item::Variables(variables) => variable_roots(variables, &mut roots),
            Item::Function(function) => {
                function.params.iter().for_each(|param| type_roots(&param.ty, &mut roots));
                type_roots(&function.result, &mut roots);
                roots.push(&function.body);
            }
            Item::Thread(thread) => {
                thread.params.iter().for_each(|param| type_roots(&param.ty, &mut roots));
                thread.variables.iter().for_each(|variables| variable_roots(variables, &mut roots));
                roots.extend(&thread.copies);
                for transformation in thread.locations.iter().flat_map(|location| &location.transformations) {
                    assert!(!complete || transformation.jump.is_some(), "a jump is missing without a message");
                    roots.extend(&transformation.guard);
                    action_roots(&transformation.actions, &mut roots);
                }
                action_roots(&thread.body, &mut roots);
            }
            Item::Property(property) => roots.push(&property.body),
        }
    }
    for root in roots {
        assert!(depth(root, text, complete) <= MAX_DEPTH, "a tree is too deep");
    }
}

fn type_roots<'a>(ty: &'a Type, roots: &mut Vec<&'a Expr>) {
    roots.extend(&ty.dimensions);
    base_roots(&ty.kind, roots);
}

fn base_roots<'a>(kind: &'a TypeKind, roots: &mut Vec<&'a Expr>) {
    match kind {
        TypeKind::Range(_, low, high) | TypeKind::Set(low, high) => roots.extend([&**low, &**high]),
        TypeKind::Channel(_, element, capacity) | TypeKind::Sequence(element, capacity) => {
            roots.push(capacity);
            type_roots(element, roots);
        }
        TypeKind::Map(keys, value) => {
            base_roots(keys, roots);
            type_roots(value, roots);
        }
        _ => {}
    }
}

fn variable_roots<'a>(variables: &'a Variables, roots: &mut Vec<&'a Expr>) {
    type_roots(&variables.ty, roots);
    roots.extend(variables.declarators.iter().filter_map(|(_, value)| value.as_ref()));
}

fn action_roots<'a>(actions: &'a [Action], roots: &mut Vec<&'a Expr>) {
    for action in actions {
        match &action.kind {
            ActionKind::Assign(place, value) | ActionKind::ChooseMember(place, value) => roots.extend([place, value]),
            ActionKind::Choose(place, low, high) => roots.extend([place, low, high]),
            ActionKind::Assert(condition, _) | ActionKind::Assume(condition) | ActionKind::Await(condition) => {
                roots.push(condition);
            }
            ActionKind::Start(_, arguments) | ActionKind::Call(_, arguments) => roots.extend(arguments),
            ActionKind::Send(channel, values) => roots.extend(values.iter().chain([channel])),
            ActionKind::Broadcast(channels, values, except) => {
                roots.extend(values.iter().chain([channels]).chain(except));
            }
            ActionKind::Receive(channel, patterns, condition) => {
                roots.push(channel);
                roots.extend(condition);
                roots.extend(patterns.iter().filter_map(|pattern| match pattern {
                    Pattern::Bind(expr) | Pattern::Equal(expr) => Some(expr),
                    Pattern::Any(_) => None,
                }));
            }
            ActionKind::If(branches, otherwise) => {
                for (condition, branch) in branches {
                    roots.push(condition);
                    action_roots(branch, roots);
                }
                action_roots(otherwise.as_deref().unwrap_or_default(), roots);
            }
            ActionKind::While(condition, body) => {
                roots.push(condition);
                action_roots(body, roots);
            }
            ActionKind::For(_, low, high, body) => {
                roots.extend([low, high]);
                action_roots(body, roots);
            }
            ActionKind::Either(branches) => branches.iter().for_each(|branch| action_roots(branch, roots)),
            ActionKind::Atomic(body) => action_roots(body, roots),
            ActionKind::Skip | ActionKind::Break | ActionKind::Return | ActionKind::Goto(_) => {}
        }
    }
}

fn depth(expr: &Expr, text: &str, complete: bool) -> usize {
    assert!(text.get(expr.span.range()).is_some(), "an expression without a place");
    let mut deepest = 0;
    let mut visit = |child: &Expr| deepest = deepest.max(depth(child, text, complete));
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Name(_) => {}
        ExprKind::Error => assert!(!complete, "an expression is missing without a message"),
        ExprKind::Member(a, _) | ExprKind::At(a, _) | ExprKind::Unary(_, a) => visit(a),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Let(_, a, b) => {
            [a, b].into_iter().for_each(|child| visit(child));
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|child| visit(child)),
        ExprKind::Quantifier(_, _, domain, body) => match &**domain {
            Domain::Range(low, high) => [low, high, body].into_iter().for_each(visit),
            Domain::Members(set) => [set, body].into_iter().for_each(visit),
        },
        ExprKind::Call(_, arguments) | ExprKind::Set(arguments) | ExprKind::Choose(arguments) => {
            arguments.iter().for_each(visit);
        }
        ExprKind::Modal(_, label, body) => {
            label.iter().for_each(|label| visit(label));
            visit(body);
        }
        ExprKind::Fixpoint(_, _, body) => visit(body),
    }
    deepest + 1
}

fn pick<'a>(random: &mut Random, among: &[&'a str]) -> &'a str {
    among[random.below(among.len())]
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "system", "const", "typealias", "enum", "boolean", "byte", "int", "function", "active", "thread", "loc", "when", "do",
    "goto", "return", "choose", "assert", "assume", "start", "skip", "invariant", "reachable", "ltl", "ctl", "mu", "nu", "mu X.", "nu X. [-] X", "<T>", "[T]", "AG", "EF", "E[x U b]", "true", "false",
    "forall", "exists", "wrap", "end", "accept", "progress", "X", "G", "F", "U", "W", "R", "always", "until", "if", "else", "while",
    "for", "either", "or", "await", "atomic", "break", "send", "receive", "fair", "crashes", "durable", "on", "crash", "restart", "on crash {", "record", "procedure", "set", "of", "in",
    "channel", "lossy", "duplicating", "reordering", "symmetric", "import", "library", "let", "count", "sum", "size", "len",
    "sequence", "map", "to", "sequence of byte [2] ", "map of 0 .. 3 to ", "broadcast", "except", "append(", "tail(", "head(", "last(",
    "remove(", "keys(", "s", "m", "s[", "m[", "d (", "full", "empty", "peek", "_", "R", "c", "r", "p", "f", "?x", "\"std/mutex.bir\"", "if (x) {", "while (true) {", "else {",
    "either {", "or {", "atomic {", "for (i : 0 .. 1) {", "l:", "c (", "x := ", "b := ", "r.f", "a[", "{0}", "p(", "lock(",
    "a", "b", "x", "T", "Param", "0", "1", "42", "0x1f", "99999999999", "\"text\"", "\"open", "// note\n", "/* note */",
    "/*", ":=", "==", "!=", "<=", ">=", "&&", "||", "=>", "->", "<->", "<>", "..", "{", "}", "(", ")", "[", "]", ",", ";",
    ":", ".", "@", "?", "=", "!", "<", ">", "+", "-", "*", "/", "%", "&", "|", "{", "}", "(", ")", ";", ";", "\n", "#", "ß", "∧",
];

/// Beginnings that lead a random text into the depths of the grammar.
#[rustfmt::skip]
const STARTS: &[&str] = &[
    "", "system S {", "system S { active thread T() { ", "system S { active thread T() { loc a: ",
    "system S { active thread T() { loc a: do { ", "system S { active thread T() { loc a: when ", "system S { invariant p: ",
    "system S { ltl p: ", "system S { const P { ", "system S { int x := ", "system S { function f(",
    "system S { int x; boolean b; active thread T() { ", "system S { int x; active thread T() { while (true) { if (x == 0) { ",
    "system S { record R { int (0, 3) f; boolean[2] g; } R r; R[2] a; set of 0 .. 3 s; active thread T() { ",
    "system S { channel of byte [1] c; channel of byte [0] d; int x; procedure p(int a) { x := a; } active thread T() { ",
    "import \"std/mutex.bir\"; system S { boolean b; active thread T() { lock(b); ", "system S { procedure p(int x) { ",
    "system S { symmetric typealias C int (0, 2); C x; boolean[C] a; active [C] thread T(C me) { ", "system S { record R { ",
    "system S { set of 0 .. 7 s; boolean b := ", "system S { int (0, 9) x; active thread T() { atomic { either { ", "library S { ",
    "system S { sequence of byte [2] s; map of 0 .. 3 to byte m; channel of byte [1][2] d; int x; active thread T() { ",
    "system S { record R { sequence of byte [2] f; map of 0 .. 1 to byte g; } sequence of R [2] s; map of 0 .. 1 to R m; R r; active thread T() { ",
    "system S { record R { byte f; int (0, 1) g; } lossy channel of R [2] c; R r; int x; active thread T() { receive c (",
];

fn soup(random: &mut Random) -> String {
    let mut text = pick(random, STARTS).to_string();
    for _ in 0..random.below(40) {
        text += pick(random, WORDS);
        if random.below(4) > 0 {
            text.push(' ');
        }
    }
    text
}

fn bytes(random: &mut Random) -> String {
    let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn ascii(random: &mut Random) -> String {
    let start = pick(random, STARTS).to_string();
    let tail = (0..random.below(60)).map(|_| char::from(b' ' + random.below(95) as u8));
    start + &tail.collect::<String>()
}

/// No short text takes as long as this.
const LONG: Duration = Duration::from_secs(5);

fn survive(seed: u64, count: usize, generate: impl Fn(&mut Random) -> String) {
    let mut random = Random::new(seed);
    for number in 0..count {
        let text = generate(&mut random);
        let start = Instant::now();
        let result = std::panic::catch_unwind(|| front_end(&text));
        assert!(result.is_ok(), "text {number} of seed {seed} panics:\n{text}");
        // What takes long is measured again in processor time: to ask for that each time would take longer than the text.
        let is_slow = start.elapsed() > LONG && time(&text, front_end) > LONG;
        assert!(!is_slow, "text {number} of seed {seed} is slow:\n{text}");
    }
}

#[test]
fn random_bytes() {
    survive(0x9e37_79b9, 300_000, bytes);
}

#[test]
fn random_ascii() {
    survive(0x85eb_ca6b, 200_000, ascii);
}

#[test]
fn random_words_1() {
    survive(0xc2b2_ae35, 250_000, soup);
}

#[test]
fn random_words_2() {
    survive(0x27d4_eb2f, 250_000, soup);
}

/// All models, or samples where there are none.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"), &mut texts);
    if texts.is_empty() {
        texts.push(SAMPLE.to_string());
    }
    texts
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "bir") {
            texts.extend(std::fs::read_to_string(&path).ok().filter(|text| text.len() < 20_000));
        }
    }
}

const SAMPLE: &str = "// A sample.
system Sample {
  const Param { N = 2; }
  enum Colour { red, green }
  typealias Small int wrap (0, 3);
  Small[Param.N] a;
  function next(int i): int = (i + 1) % Param.N;
  active [Param.N] thread T(int i) {
    byte x := 1, y;
    loc go: progress // here
      when a[i] < 2 && !(x == 3 || y != 0) do { a[next(i)] := choose(0, 1); assert x > 0, \"positive\"; } goto go;
      do { x := x > 0 ? x - 1 : 0; goto stop; }
    loc stop: end
      do { } return;
  }
  invariant small: forall (i : 0 .. Param.N - 1) a[i] <= 3;
  ltl live: [] (T[0]@go -> <> T[0]@stop);
}
";

/// One to four random changes.
fn mutate(random: &mut Random, texts: &[String]) -> String {
    let mut text: Vec<char> = texts[random.below(texts.len())].chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len() + 1);
        let longest = 1 << random.below(9);
        let to = (at + random.below(longest)).min(text.len());
        match random.below(7) {
            0 => drop(text.drain(at..to)),
            1 => {
                let copy: Vec<char> = text[at..to].to_vec();
                text.splice(at..at, copy);
            }
            2 => drop(text.splice(at..to.min(at + 1), pick(random, WORDS).chars())),
            3 => drop(text.splice(at..at, pick(random, WORDS).chars())),
            4 => drop(text.splice(at..to, bytes(random).chars())),
            5 => {
                let other: Vec<char> = texts[random.below(texts.len())].chars().collect();
                let from = random.below(other.len());
                let until = (from + random.below(200)).min(other.len());
                text.splice(at..to, other[from..until].iter().copied());
            }
            _ => text.truncate(at.max(text.len() / 2)),
        }
    }
    text.into_iter().collect()
}

#[test]
fn mutated_models_1() {
    let texts = corpus();
    survive(0x1656_67b1, 50_000, |random| mutate(random, &texts));
}

#[test]
fn mutated_models_2() {
    let texts = corpus();
    survive(0xd3a2_646c, 50_000, |random| mutate(random, &texts));
}

#[test]
fn samples_are_sound() {
    assert_eq!(front_end(SAMPLE).diagnostics, []);
    corpus().iter().for_each(|text| drop(front_end(text)));
}

fn thread(number: usize) -> String {
    format!(
        "  active thread T{number}(int i) {{\n    int x := {number};\n    loc a:\n      when x < 10 && !y do {{ x := x + 1; }} \
         goto a;\n      do {{ skip; }} return;\n  }}\n"
    )
}

type Shape = (&'static str, fn(usize) -> String);

/// Texts of about `size` bytes.
const SHAPES: &[Shape] = &[
    ("threads", |size| format!("system S {{\n{}}}\n", (0..size / 140).map(thread).collect::<String>())),
    ("conjunction", |size| format!("system S {{ invariant p: x{}; }}", " && x == 1".repeat(size / 10))),
    ("sum", |size| format!("system S {{ invariant p: x{}; }}", " + 1".repeat(size / 4))),
    ("comparisons", |size| format!("system S {{ invariant p: x{}; }}", " < 1".repeat(size / 4))),
    ("block comment", |size| format!("system S {{ /* {} */ }}", "* ".repeat(size / 2))),
    ("open comments", |size| "/*".repeat(size / 2)),
    ("line comments", |size| format!("system S {{ {} }}", "// a\n".repeat(size / 5))),
    ("name", |size| format!("system {} {{ }}", "a".repeat(size))),
    ("number", |size| format!("system S {{ const N = {}; }}", "9".repeat(size))),
    ("text", |size| "\"".repeat(size)),
    ("unknown", |size| "# ".repeat(size / 2)),
    ("braces", |size| "{".repeat(size)),
    ("braces in a system", |size| format!("system S {}", "{".repeat(size))),
    ("closing braces", |size| format!("system S {{ {}", "}".repeat(size))),
    ("parentheses", |size| "(".repeat(size)),
    ("parentheses in an expression", |size| format!("system S {{ int x := {}", "(".repeat(size))),
    ("brackets", |size| format!("system S {{ int{}", "[".repeat(size))),
    ("semicolons", |size| ";".repeat(size)),
    ("semicolons in a system", |size| format!("system S {{ {}", ";".repeat(size))),
    ("semicolons in actions", |size| format!("system S {{ thread T() {{ loc a: do {{ {}", ";".repeat(size))),
    ("unary operators", |size| format!("system S {{ invariant p: {}x; }}", "!".repeat(size))),
    ("dimensions", |size| format!("system S {{ int{} x; }}", "[1]".repeat(size / 3))),
    ("indices", |size| format!("system S {{ int x := a{}; }}", "[1]".repeat(size / 3))),
    ("variables on one line", |size| format!("system S {{ {} }}", "int x; ".repeat(size / 7))),
    ("broken variables", |size| format!("system S {{ {} }}", "int := ( 1; ".repeat(size / 12))),
    ("headless transformations", |size| format!("system S {{ thread T() {{ {} }} }}", "when do { ".repeat(size / 10))),
    ("misspelt", |size| format!("system S {{ {} }}", "treahd T() { lco a: od { } gto a; } ".repeat(size / 36))),
    ("foreign", |size| format!("system S {{ thread T() {{ loc a: {} }} }}", "if x { while ".repeat(size / 13))),
    ("words", |size| {
        let mut random = Random::new(7);
        let mut text = String::from("system S { active thread T() { loc a: ");
        while text.len() < size {
            text += pick(&mut random, WORDS);
            text.push(' ');
        }
        text.replace("/* ", " ")
    }),
];

/// The time that something takes with a text, without what it then takes to forget the result.
fn time<T>(text: &str, work: impl Fn(&str) -> T) -> Duration {
    let start = now();
    let result = work(text);
    let elapsed = now() - start;
    drop(result);
    elapsed
}

fn parsed(text: &str) -> Parsed {
    parse(text, 0)
}

#[test]
fn five_megabytes_take_less_than_two_seconds() {
    for (name, shape) in SHAPES {
        let text = shape(5_000_000);
        let elapsed = time(&text, parsed);
        println!("{name}: {} bytes in {elapsed:?}", text.len());
        assert!(elapsed < Duration::from_secs(2), "{name}: {elapsed:?}");
    }
}

#[test]
fn time_grows_with_the_length_only() {
    for (name, shape) in SHAPES {
        let (small, large) = (shape(1_000_000), shape(4_000_000));
        // One measurement can be off, but hardly all.
        let is_linear = (0..4).any(|_| time(&large, parsed) < time(&small, parsed) * 4 * 3 + Duration::from_millis(20));
        assert!(is_linear, "{name} takes more than three times as long per byte");
    }
}

#[test]
fn formatting_is_linear_too() {
    for (name, shape) in SHAPES {
        let text = shape(1_000_000);
        let elapsed = time(&text, birk_lang::fmt::format);
        println!("{name}: {elapsed:?}");
        assert!(elapsed < Duration::from_secs(4), "{name}: {elapsed:?}");
    }
}

/// What opens, what stands innermost, what closes; the nesting stands where a property's expression does.
#[rustfmt::skip]
const NESTINGS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"), ("a[", "1", "]"), ("f(", "1", ")"), ("f(1, ", "1", ")"), ("!", "x", ""), ("- ", "1", ""), ("!(", "x", ")"),
    ("a ? b : ", "c", ""), ("a ? ", "c", " : d"), ("(a ? b : c) ? ", "d", " : e"), ("forall (i : 0 .. 1) ", "x", ""),
    ("forall (i : ", "0", " .. 1) x"), ("a => ", "b", ""), ("a == b + (c || d && ", "e", ")"), ("1 + ", "1", ""),
    ("(1 * ", "1", ")"), ("", "a", ".b"), ("", "a", "@b"), ("", "a", "[1]"), ("(", "1", "] "), ("[", "1", ")"),
    ("[] ", "x", ""), ("<> ", "x", ""), ("X ", "x", ""), ("p U ", "q", ""), ("p <-> ", "q", ""), ("always ", "x", ""),
    ("a || b && c == d < e + f * -g[", "1", "]"), ("{", "x", "}"), ("do {", "x", "}"), ("const A {", "x", "}"), ("(", "", ""),
    ("loc a: when x do {", "", "}"), ("a[", "", ""), ("if x {", "x", "}"), ("int[", "1", "]"), ("system S {", "x", "}"),
    ("if (x) {", "skip;", "}"), ("if (x) { } else {", "skip;", "}"), ("while (x) {", "skip;", "}"), ("atomic {", "skip;", "}"),
    ("either {", "skip;", "} or { skip; }"), ("either { } or {", "skip;", "}"), ("for (i : 0 .. 1) {", "skip;", "}"),
    ("a in {", "1", "}"), ("{1, ", "1", "}"), ("let x = ", "1", " in x"), ("let x = 1 in ", "x", ""), ("sum (i : 0 .. 1) ", "1", ""),
    ("count (i in ", "s", ") x"), ("channel of ", "byte", " [1]"), ("set of ", "0", " .. 1"), ("send c (", "1", ");"),
    ("record R {", "int x;", "}"), ("procedure p() {", "skip;", "}"), ("receive c (?a[", "1", "]);"), ("p(", "1", ");"),
];

#[rustfmt::skip]
const HOLES: &[(&str, &str)] = &[
    ("system S { invariant p: ", "; }"), ("system S { ltl p: ", "; }"), ("system S { ", " }"), ("", ""),
    ("system S { thread T() { loc a: do { x := ", "; } goto a; } }"), ("system S { thread T() { loc a: ", " } }"),
    ("system S { int x; set of 0 .. 3 s; active thread T() { ", " } }"), ("system S { int x; procedure p() { ", " } }"),
];

#[test]
fn deep_nesting_is_an_error_on_a_small_stack() {
    let work = || {
        for (open, inner, close) in NESTINGS {
            for (before, after) in HOLES {
                let depth = 20_000;
                let text = format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth));
                let parsed = parse(&text, 0);
                assert!(!parsed.diagnostics.is_empty(), "{before}{open}");
                let deep = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.code == "E0009").count();
                assert!(deep <= 1, "{before}{open}: {deep} messages about one nesting");
                drop(parsed);
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread can be started");
    thread.join().expect("every nesting is answered");
}
