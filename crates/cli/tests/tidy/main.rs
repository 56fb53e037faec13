//! The house rules of ARCHITECTURE.md, run as tests over the repository's own texts.
//!
//! A rule is a function from files to offences. Each has two tests: the repository obeys it, and
//! samples show that it can fail. Rust is read through `code_of`, so that words in comments and
//! literals do not count, and `outside_tests`, where test code may do what the crate may not.

mod functions;
mod imports;
mod manifest;
mod rust;

use std::fs;
use std::path::Path;

use functions::functions;
use imports::imports;
use manifest::entries_of;
use rust::{code_of, has, is_name, outside_tests};

/// Which rooms each room may open. A crate on disk that is not a row here is an offence.
const ARROWS: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("runs", &[]),
    ("engine", &["ir"]),
    ("lang", &["ir"]),
    ("aiger", &["ir"]),
    ("dve", &["ir"]),
    ("promela", &["ir"]),
    ("exec", &["ir", "engine"]),
    ("jit", &["ir", "engine", "exec"]),
    ("search", &["ir", "runs", "engine", "exec"]),
    ("symbolic", &["ir", "engine", "exec", "aiger"]),
    ("cluster", &["ir", "runs", "engine", "exec", "search"]),
    ("certify", &["ir"]),
    (
        "birk",
        &["certify", "ir", "engine", "lang", "aiger", "dve", "promela", "exec", "jit", "search", "symbolic", "cluster"],
    ),
    ("agreement", &["ir", "engine", "lang", "exec", "jit", "search", "symbolic"]),
    ("lsp", &["ir", "lang"]),
    ("cli", &["ir", "engine", "lang", "exec", "birk", "lsp"]),
];
/// Families of outside crates that one room hides from all others.
const HIDDEN: &[(&str, &str)] = &[
    ("cranelift", "jit"),
    ("oxidd", "symbolic"),
    ("batsat", "certify"),
    ("timely", "cluster"),
    ("object_store", "cli"),
];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "core", "helpers", "misc"];
/// Rooms where `unsafe` may live, each block with its reason.
const UNSAFE_ROOMS: &[&str] = &["jit", "search"];
/// Rooms whose functions are short: what they do is to put parts together.
const SHORT_ROOMS: &[&str] = &["birk", "cli"];
/// What only the command does: print, end the process.
const LOUD: &str = "println! eprintln! print! eprint! dbg! io::stdout io::stderr process::exit";
/// What the library does, too: read what the system says of memory, look at the clock.
const ASKING: &str = "std::fs fs:: File::open File::create Instant::now SystemTime";
/// What only the command and the cluster do.
const SOCKETS: &str = "std::net TcpStream TcpListener UdpSocket";
/// Types that make a `static` a global variable.
const MUTABLE: &[&str] = &["OnceLock", "LazyLock", "RwLock", "Mutex", "Atomic", "Cell"];
/// Source files stay below this many lines, except those named in `LONG`, with a reason beside each.
const MAX_LINES: usize = 600;
const LONG: &[&str] = &[];
/// Places of one machine, and the word for a private registry.
const MACHINE: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
const REGISTRY: &str = concat!("arti", "factory");

/// One text of the repository; the path is relative to its root, with forward slashes.
struct File {
    path: String,
    text: String,
}

type Rule = fn(&[File]) -> Vec<String>;

/// Makes a test of each rule: the repository obeys it.
macro_rules! house_rules {
    ($($name:ident, $rule:ident: $meaning:literal;)*) => {
        $(#[test] fn $name() { obeyed($rule, $meaning); })*
    };
}

house_rules! {
    arrows_point_down, arrows: "crates know only the crates that ARROWS and HIDDEN allow";
    names_say_something, names: "no crate, file or module has one of the EMPTY_NAMES";
    openings_say_what_a_file_is_for, openings: "a source file opens with `//!`, one to six lines";
    unsafety_has_an_address, unsafety: "`forbid(unsafe_code)` in crate roots; in UNSAFE_ROOMS a reason at each block";
    quiet_outside_the_command, quiet: "only `birk` prints, reads files, looks at the clock or exits";
    globals_are_constant, globals: "what a crate needs is passed to it (`Job`), never global";
    unfinished_work_is_not_kept, unfinished: "no marks for later, no ignored tests, no lint silenced without a reason";
    manifests_follow_the_workspace, manifests: "crates take edition, license and lints from the workspace";
    expectations_are_stated, expectations: "each of models/*.bir says in its header what is expected";
    lengths_stay_readable, lengths: "split a long file by what its parts are for, or name it in LONG with a reason";
    functions_stay_short, functions: "in SHORT_ROOMS no function has more than 60 lines or six parameters";
    circles_stay_small, imports: "no more than four files of a crate import each other in a circle";
    machines_are_not_named, machines: "texts name no absolute place and no private registry";
}

impl File {
    fn is(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
    }

    /// The directory name below `crates/`.
    fn room(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split_once('/').map(|(room, _)| room)
    }

    fn is_manifest_of_room(&self) -> bool {
        self.room().is_some_and(|room| self.path == format!("crates/{room}/Cargo.toml"))
    }

    fn is_crate_source(&self) -> bool {
        self.is("rs") && self.room().is_some_and(|room| self.path.starts_with(&format!("crates/{room}/src/")))
    }

    /// The code of a crate as it is shipped: no tests.
    fn shipped_code(&self) -> Option<String> {
        let is_test = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        (self.is_crate_source() && !is_test).then(|| outside_tests(&code_of(&self.text)))
    }

    fn offence(&self, line_index: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, line_index + 1)
    }
}

/// Arrows between rooms.
fn arrows(files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.is_manifest_of_room()) {
        let room = file.room().unwrap_or_default();
        let Some((_, known)) = ARROWS.iter().find(|(name, _)| *name == room) else {
            offences.push(format!("{}: crate `{room}` is not in the table of arrows", file.path));
            continue;
        };
        for entry in entries_of(&file.text) {
            let is_name = entry.section == "package" && entry.key == "name";
            if is_name && room != "birk" && entry.value != format!("\"birk-{room}\"") {
                offences.push(file.offence(entry.line, &format!("the package should be called `birk-{room}`")));
            }
            let Some(name) = entry.dependency() else { continue };
            let hidden = HIDDEN.iter().find(|(family, owner)| name.starts_with(family) && *owner != room);
            if let Some((_, owner)) = hidden {
                offences.push(file.offence(entry.line, &format!("only `{owner}` may know `{name}`")));
            }
            let inside = name.strip_prefix("birk-").or((name == "birk").then_some(name));
            // Tests may look sideways (a reference, a parser to write the input in), never at the command.
            let may_know = match inside {
                Some(other) if entry.section.contains("dev-") => other != "cli" || room == "agreement",
                Some(other) => known.contains(&other),
                None => room != "ir" || entry.section.contains("dev-"),
            };
            if !may_know {
                offences.push(file.offence(entry.line, &format!("`{room}` may not know `{name}`")));
            }
        }
    }
    offences
}

#[test]
fn arrows_can_fail() {
    fails(arrows, "crates/ir/Cargo.toml", "[dependencies]\nserde = \"1\"");
    fails(arrows, "crates/lang/Cargo.toml", "[dependencies]\nbirk-exec.workspace = true");
    fails(arrows, "crates/exec/Cargo.toml", "[dependencies.birk-search]\nworkspace = true");
    fails(arrows, "crates/exec/Cargo.toml", "[build-dependencies]\nx = { package = \"birk-lang\", path = \"y\" }");
    fails(arrows, "crates/symbolic/Cargo.toml", "[target.'cfg(unix)'.dependencies]\nbirk-jit = { path = \"x\" }");
    fails(arrows, "crates/search/Cargo.toml", "[dependencies]\ncranelift-jit = \"0.135\"");
    fails(arrows, "crates/search/Cargo.toml", "[dev-dependencies]\nbirk-cli.workspace = true");
    fails(arrows, "crates/symbolic/Cargo.toml", "[dependencies]\nbirk-search.workspace = true");
    fails(arrows, "crates/search/Cargo.toml", "[dependencies]\nbirk-symbolic.workspace = true");
    fails(arrows, "crates/engine/Cargo.toml", "[dependencies]\nbirk-exec.workspace = true");
    fails(arrows, "crates/birk/Cargo.toml", "[dependencies]\nbirk-cli.workspace = true");
    fails(arrows, "crates/cli/Cargo.toml", "[dependencies]\nbirk-search.workspace = true");
    passes(arrows, "crates/cli/Cargo.toml", "[dependencies]\nbirk.workspace = true");
    fails(arrows, "crates/search/Cargo.toml", "[dependencies]\nbirk-unknown.workspace = true");
    fails(arrows, "crates/search/Cargo.toml", "[package]\nname = \"search\"");
    fails(arrows, "crates/petri/Cargo.toml", "[package]\nname = \"birk-petri\"");
    passes(arrows, "crates/ir/Cargo.toml", "[package]\nname = \"birk-ir\"\n[dev-dependencies]\nproptest = \"1\"");
    passes(arrows, "crates/exec/Cargo.toml", "[dependencies]\nbirk-ir.workspace = true\n# birk-search = 1");
    passes(arrows, "crates/jit/Cargo.toml", "[dependencies]\ncranelift-jit = \"0.135\"\nbirk-exec.workspace = true");
}

/// Names that say something.
fn names(files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("crates/") || file.path.starts_with("benches/")) {
        let stem = file.path.rsplit_once('.').map_or(&*file.path, |(stem, _)| stem);
        for part in stem.split('/').filter(|part| EMPTY_NAMES.contains(part)) {
            offences.push(format!("{}: `{part}` says nothing", file.path));
        }
        for (index, line) in code_of(&file.text).lines().enumerate().filter(|_| file.is("rs")) {
            for name in EMPTY_NAMES.iter().filter(|name| has(line, &format!("mod {name}"))) {
                offences.push(file.offence(index, &format!("module `{name}` says nothing")));
            }
        }
    }
    offences
}

#[test]
fn names_can_fail() {
    fails(names, "crates/search/src/utils.rs", "");
    fails(names, "crates/cli/tests/common/mod.rs", "");
    fails(names, "crates/core/Cargo.toml", "");
    fails(names, "crates/ir/src/lib.rs", "pub mod helpers {}");
    passes(names, "crates/ir/src/scores.rs", "//! mod misc\nmod common_prefix;");
}

/// A file opens by saying what it is for.
fn openings(files: &[File]) -> Vec<String> {
    let is_bench = |file: &File| file.is("rs") && format!("/{}", file.path).contains("/benches/");
    let sources = files.iter().filter(|file| file.is_crate_source() || is_bench(file));
    let silent = sources.filter(|file| !file.text.starts_with("//! "));
    silent.map(|file| format!("{}: opens without `//! ` docs", file.path)).collect()
}

#[test]
fn openings_can_fail() {
    fails(openings, "crates/ir/src/deep/expr.rs", "use std::fmt;\n");
    fails(openings, "crates/search/benches/table.rs", "// Not docs.\n");
    fails(openings, "benches/table.rs", "");
    passes(openings, "crates/ir/src/expr.rs", "//! Expressions.\n");
    passes(openings, "crates/ir/tests/expr.rs", "use birk_ir::Expr;\n");
}

/// `unsafe` has an address.
fn unsafety(files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.is("rs")) {
        let Some(room) = file.room() else { continue };
        let code = code_of(&file.text);
        if UNSAFE_ROOMS.contains(&room) {
            let lines: Vec<&str> = file.text.lines().collect();
            for (index, line) in code.lines().enumerate() {
                if has_unsafe_act(line) && !has_reason_above(&lines, index) {
                    offences.push(file.offence(index, "`unsafe` without a `// SAFETY:` comment just above"));
                }
            }
            continue;
        }
        let inside = file.path.strip_prefix(&format!("crates/{room}/src/")).unwrap_or_default();
        let is_root = matches!(inside, "lib.rs" | "main.rs") || inside.starts_with("bin/");
        if is_root && !code.contains("#![forbid(unsafe_code)]") {
            offences.push(format!("{}: no `#![forbid(unsafe_code)]`", file.path));
        }
    }
    offences
}

/// An unsafe block, implementation or attribute; an `unsafe fn` tells its duties in its docs instead.
fn has_unsafe_act(line: &str) -> bool {
    line.match_indices("unsafe").any(|(at, word)| {
        let after = line[at + word.len()..].trim_start();
        let is_act = after.is_empty() || ["{", "(", "impl"].iter().any(|start| after.starts_with(start));
        is_act && !line[..at].ends_with(is_name)
    })
}

/// Within three lines above, or in a longer comment that ends there.
fn has_reason_above(lines: &[&str], index: usize) -> bool {
    let mut start = index.saturating_sub(3);
    while start > 0 && start < index && lines[start].trim_start().starts_with("//") {
        start -= 1;
    }
    lines[start..=index].iter().any(|line| line.contains("// SAFETY:"))
}

#[test]
fn unsafety_can_fail() {
    fails(unsafety, "crates/exec/src/lib.rs", "//! Docs, not #![forbid(unsafe_code)].\n");
    fails(unsafety, "crates/cli/src/bin/other.rs", "//! Docs.\nfn main() {}\n");
    fails(unsafety, "crates/search/src/table.rs", "fn f(p: *const u8) -> u8 { unsafe { *p } }");
    fails(unsafety, "crates/search/src/table.rs", "// SAFETY: far away.\n\n\n\n\nunsafe impl Sync for Table {}");
    passes(unsafety, "crates/exec/src/lib.rs", "//! Docs.\n#![forbid(unsafe_code)]\n");
    passes(
        unsafety,
        "crates/jit/src/call.rs",
        "// SAFETY: a long\n// reason\n// in\n// many\n// lines\nunsafe { f() }",
    );
    passes(unsafety, "crates/jit/src/call.rs", "type Step = unsafe extern \"C\" fn(*const u32);\n// unsafe { }");
}

/// Only the command prints, reads files and looks at the clock.
fn quiet(files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.room() != Some("cli")) {
        let sockets = if file.room() == Some("cluster") { "" } else { SOCKETS };
        for (index, line) in file.shipped_code().unwrap_or_default().lines().enumerate() {
            let asking = if file.room() == Some("birk") { "" } else { ASKING };
            // What tests share may say that a test is skipped; timely sleeps only where it has a clock.
            let may = |word: &str| {
                [("agreement", "eprintln!"), ("cluster", "Instant::now")].contains(&(file.room().unwrap_or(""), word))
            };
            let mut words = [LOUD, sockets, asking].into_iter().flat_map(str::split_whitespace);
            if let Some(word) = words.find(|word| has(line, word) && !may(word)) {
                offences.push(file.offence(index, &format!("`{word}` belongs to the command")));
            }
        }
    }
    offences
}

#[test]
fn quiet_can_fail() {
    for word in [LOUD, ASKING, SOCKETS].into_iter().flat_map(str::split_whitespace) {
        fails(quiet, "crates/search/src/bfs.rs", &format!("fn f() {{ {word} }}"));
        passes(quiet, "crates/search/src/bfs.rs", &format!("/// {word}\nfn f() {{ \"{word}\" }} /* {word} */"));
        passes(quiet, "crates/cli/src/main.rs", &format!("fn f() {{ {word} }}"));
    }
    fails(quiet, "crates/jit/src/lib.rs", "#[cfg(test)]\nmod tests;\nfn f() { dbg!(1) }");
    fails(quiet, "crates/cluster/src/lib.rs", "fn f() { println!() }");
    fails(quiet, "crates/cluster/src/lib.rs", "fn f() { SystemTime::now() }");
    passes(quiet, "crates/cluster/src/lib.rs", "fn f() { Instant::now() }");
    fails(quiet, "crates/birk/src/check.rs", "fn f() { eprintln!() }");
    passes(quiet, "crates/birk/src/check.rs", "fn f() { Instant::now() }");
    fails(quiet, "crates/agreement/src/lib.rs", "fn f() { println!() }");
    passes(quiet, "crates/agreement/src/lib.rs", "fn f() { eprintln!() }");
    passes(quiet, "crates/cluster/src/lib.rs", "use std::net::TcpStream;");
    passes(quiet, "crates/exec/src/lib.rs", "mod dfs;\n#[cfg(test)]\nmod tests {\n fn f() { if x { println!() } }\n}");
}

/// No global mutable state.
fn globals(files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    for file in files {
        let code = file.shipped_code().unwrap_or_default();
        for (index, line) in code.lines().enumerate() {
            let rest: String = code.lines().skip(index).take(4).collect();
            let is_static = line.split_whitespace().take(2).any(|word| word == "static");
            let kind = rest.split(['=', ';']).next().unwrap_or_default();
            if ["static mut", "lazy_static", "thread_local!"].iter().any(|word| has(line, word)) {
                offences.push(file.offence(index, "a mutable global"));
            } else if is_static && file.room() != Some("cli") && MUTABLE.iter().any(|name| kind.contains(name)) {
                offences.push(file.offence(index, "a global with interior mutability"));
            }
        }
    }
    offences
}

#[test]
fn globals_can_fail() {
    fails(globals, "crates/cli/src/main.rs", "static mut COUNT: u32 = 0;");
    fails(globals, "crates/exec/src/lib.rs", "lazy_static::lazy_static! { }");
    fails(globals, "crates/exec/src/lib.rs", "thread_local! { }");
    fails(globals, "crates/exec/src/lib.rs", "fn f() {\n    static N: std::sync::OnceLock<u8> = OnceLock::new();\n}");
    fails(globals, "crates/exec/src/lib.rs", "pub(crate) static STOP:\n    AtomicBool = AtomicBool::new(false);");
    passes(globals, "crates/exec/src/lib.rs", "static NAMES: &[&'static str] = &[];\nfn f(x: &Mutex<u8>) {}");
    passes(globals, "crates/cli/src/main.rs", "static STOP: AtomicBool = AtomicBool::new(false);");
}

/// Nothing half done.
fn unfinished(files: &[File]) -> Vec<String> {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| !file.is("md") && !file.is("lock")) {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(mark) = marks.iter().find(|mark| has(line, mark)) {
                offences.push(file.offence(index, &format!("{mark}: finish it, or enter it in the known flaws")));
            }
        }
        let code = if file.is("rs") { code_of(&file.text) } else { String::new() };
        for (index, line) in code.lines().enumerate() {
            if has(line, "todo!") || has(line, "unimplemented!") || line.contains("#[ignore") {
                offences.push(file.offence(index, "unfinished code or an ignored test"));
            }
        }
        for opening in ["#[allow(", "#![allow(", "#[expect(", "#![expect("] {
            for (at, _) in code.match_indices(opening) {
                let attribute = code[at..].split(']').next().unwrap_or_default();
                if !attribute.contains("reason =") {
                    offences.push(file.offence(code[..at].matches('\n').count(), "a silenced lint without a reason"));
                }
            }
        }
    }
    offences
}

#[test]
fn unfinished_can_fail() {
    fails(unfinished, "crates/ir/src/lib.rs", concat!("// TO", "DO: later"));
    fails(unfinished, "models/ring.bir", concat!("// FIX", "ME"));
    fails(unfinished, "crates/ir/src/lib.rs", "fn f() { todo!() }");
    fails(unfinished, "crates/ir/src/lib.rs", "fn f() { unimplemented!(\"x\") }");
    fails(unfinished, "crates/ir/tests/a.rs", "#[ignore = \"slow\"]\nfn f() {}");
    fails(unfinished, "crates/ir/src/lib.rs", "#![allow(dead_code)]");
    fails(unfinished, "crates/ir/src/lib.rs", "#[expect(\n    dead_code,\n)]\nfn reason() {}");
    passes(unfinished, "crates/ir/src/lib.rs", "#[allow(\n    dead_code,\n    reason = \"a table\"\n)]\nfn f() {}");
    passes(unfinished, "crates/ir/src/lib.rs", "// never todo!() in #[ignore]d code");
}

/// One edition, one licence, one set of lints.
fn manifests(files: &[File]) -> Vec<String> {
    let wanted = [("package", "edition.workspace"), ("package", "license.workspace"), ("lints", "workspace")];
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.is_manifest_of_room()) {
        let entries = entries_of(&file.text);
        for (section, key) in wanted {
            if !entries.iter().any(|entry| (entry.section, entry.key, entry.value) == (section, key, "true")) {
                offences.push(format!("{}: [{section}] lacks `{key} = true`", file.path));
            }
        }
    }
    offences
}

#[test]
fn manifests_can_fail() {
    let good = "[package]\nedition.workspace = true\nlicense.workspace = true\n[lints]\nworkspace = true\n";
    passes(manifests, "crates/ir/Cargo.toml", good);
    for line in ["edition.workspace = true", "license.workspace = true", "\nworkspace = true"] {
        fails(manifests, "crates/ir/Cargo.toml", &good.replace(line, ""));
        fails(manifests, "crates/ir/Cargo.toml", &good.replace(line, &line.replace("true", "false")));
    }
}

/// A model says what is expected of it.
fn expectations(files: &[File]) -> Vec<String> {
    let is_model = |file: &File| file.is("bir") && file.path.rsplit_once('/').is_some_and(|(at, _)| at == "models");
    let has_expectation = |file: &File| file.text.lines().any(|line| line.starts_with("  expect "));
    let silent = files.iter().filter(|file| is_model(file) && !has_expectation(file));
    silent.map(|file| format!("{}: nothing is expected of it", file.path)).collect()
}

#[test]
fn expectations_can_fail() {
    fails(expectations, "models/ring.bir", "// expect holds;\nsystem Ring {\n}\n");
    fails(expectations, "models/empty.bir", "");
    passes(expectations, "models/ring.bir", "system Ring {\n  expect holds;\n}\n");
    passes(expectations, "models/rejected/ring.bir", "system Ring {}\n");
}

/// Files stay readable.
fn lengths(files: &[File]) -> Vec<String> {
    let sources = files.iter().filter(|file| file.is_crate_source() && !LONG.contains(&&*file.path));
    let long = sources.map(|file| (file, file.text.lines().count())).filter(|(_, lines)| *lines > MAX_LINES);
    long.map(|(file, lines)| format!("{}: {lines} lines, more than {MAX_LINES}", file.path)).collect()
}

#[test]
fn lengths_can_fail() {
    fails(lengths, "crates/ir/src/expr.rs", &"\n".repeat(MAX_LINES + 1));
    passes(lengths, "crates/ir/src/expr.rs", &"\n".repeat(MAX_LINES));
    passes(lengths, "crates/ir/tests/expr.rs", &"\n".repeat(MAX_LINES + 1));
}

/// Texts hold on every machine.
fn machines(files: &[File]) -> Vec<String> {
    let is_absolute = |line: &str, place: &str| {
        let mut starts = line.match_indices(place).map(|(at, _)| line[..at].chars().next_back());
        starts.any(|before| before.is_none_or(|c| !is_name(c) && !"-.~}".contains(c)))
    };
    let mut offences = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            let place = MACHINE.iter().find(|place| is_absolute(line, place));
            let registry = Some(&REGISTRY).filter(|word| line.to_lowercase().contains(**word));
            if let Some(word) = place.or(registry) {
                offences.push(file.offence(index, &format!("`{word}` is true on one machine only")));
            }
        }
    }
    offences
}

#[test]
fn machines_can_fail() {
    for place in MACHINE {
        fails(machines, "README.md", &format!("Run `cd {place}birk`."));
        fails(machines, ".ci/run", &format!("{place}x"));
        passes(machines, "README.md", &format!("See docs{place}index.md"));
    }
    fails(machines, "Cargo.lock", &format!("source = \"https://{}.example\"", REGISTRY.to_uppercase()));
}

/// Fails with all offences of the repository.
#[track_caller]
fn obeyed(rule: Rule, meaning: &str) {
    let mut files = Vec::new();
    read_into(&mut files, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), "");
    assert!(files.iter().any(|file| file.path == "crates/cli/tests/tidy/main.rs"), "this is not the repository");
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let offences = rule(&files);
    assert!(offences.is_empty(), "house rule: {meaning}\n  {}\n", offences.join("\n  "));
}

#[track_caller]
fn fails(rule: Rule, path: &str, text: &str) {
    assert_ne!(rule(&[File { path: path.into(), text: text.into() }]), [""; 0], "not caught in {path}:\n{text}");
}

#[track_caller]
fn passes(rule: Rule, path: &str, text: &str) {
    assert_eq!(rule(&[File { path: path.into(), text: text.into() }]), [""; 0], "caught in {path}:\n{text}");
}

/// Adds all texts of a folder that rules look at; build products and hidden folders are not ours.
fn read_into(files: &mut Vec<File>, folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).expect("a folder of the repository can be listed") {
        let entry = entry.expect("an entry of the repository can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("an entry of the repository has a type");
        let is_hidden = name.starts_with('.') && ![".ci", ".github", ".config", ".cargo"].contains(&&*name);
        if kind.is_dir() && !is_hidden && !["target", "node_modules", "book"].contains(&&*name) {
            read_into(files, &entry.path(), &format!("{path}/"));
        }
        let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
        let is_text = ["md", "rs", "toml", "sh", "yml", "bir", "lock"].contains(&extension) || path == ".ci/run";
        if kind.is_file() && is_text {
            let bytes = fs::read(entry.path()).expect("a text of the repository can be read");
            files.push(File { path, text: String::from_utf8_lossy(&bytes).into_owned() });
        }
    }
}
