//! Functions that put parts together are short: what is long belongs into a part.

use super::rust::is_name;
use super::{File, SHORT_ROOMS, fails, passes};

const MAX_LINES: usize = 60;
const MAX_PARAMETERS: usize = 6;

/// Functions with too many lines or parameters.
pub(crate) fn functions(files: &[File]) -> Vec<String> {
    let mut offences = Vec::new();
    for file in files.iter().filter(|file| file.room().is_some_and(|room| SHORT_ROOMS.contains(&room))) {
        let code = file.shipped_code().unwrap_or_default();
        for (at, _) in code.match_indices("fn ") {
            if code[..at].chars().next_back().is_some_and(is_name) {
                continue;
            }
            let Some(function) = Function::read(&code[at..]) else { continue };
            let line = code[..at].matches('\n').count();
            if function.lines > MAX_LINES {
                offences.push(file.offence(line, &format!("`{}` has {} lines", function.name, function.lines)));
            }
            if function.parameters > MAX_PARAMETERS {
                let what = format!("`{}` has {} parameters", function.name, function.parameters);
                offences.push(file.offence(line, &what));
            }
        }
    }
    offences
}

struct Function<'a> {
    name: &'a str,
    lines: usize,
    /// Without `self`.
    parameters: usize,
}

impl<'a> Function<'a> {
    /// Of the code that begins with `fn`; none if that is a type, or has no body.
    fn read(code: &'a str) -> Option<Self> {
        let rest = code.strip_prefix("fn ")?;
        let name = &rest[..rest.find(|c: char| !is_name(c))?];
        let open = 3 + rest.find('(')?;
        let close = open + closing(&code[open..])?;
        let body = close + code[close..].find(['{', ';'])?;
        let end = body + closing(&code[body..])?;
        let parameters = parameters(&code[open + 1..close]);
        (!name.is_empty()).then(|| Self { name, lines: code[..end].matches('\n').count() + 1, parameters })
    }
}

/// Where the bracket is closed that the code begins with; none if it begins with none.
fn closing(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if depth == 0 {
            return "([{".contains(code.chars().next()?).then_some(at);
        }
    }
    None
}

/// How many there are between the parentheses.
fn parameters(code: &str) -> usize {
    let (mut depth, mut parts, mut last) = (0, vec![String::new()], ' ');
    for c in code.chars() {
        depth += i32::from("([{<".contains(c)) - i32::from(")]}".contains(c) || c == '>' && !"-=".contains(last));
        last = c;
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().expect("there is one").push(c),
        }
    }
    let is_parameter = |part: &&String| {
        let part = part.trim();
        !part.is_empty() && !part.split(|c| !is_name(c)).any(|word| word == "self")
    };
    parts.iter().filter(is_parameter).count()
}

#[test]
fn functions_can_fail() {
    let long = |lines: usize| format!("fn f() {{\n{}}}", "    x();\n".repeat(lines - 2));
    fails(functions, "crates/cli/src/report.rs", &long(61));
    passes(functions, "crates/cli/src/report.rs", &long(60));
    passes(functions, "crates/search/src/bfs.rs", &long(61));
    passes(functions, "crates/cli/tests/report.rs", &long(61));
    fails(
        functions,
        "crates/birk/src/check.rs",
        "fn f(a: u8, b: u8, c: (u8, u8), d: Vec<(u8, u8)>, e: u8, f: u8, g: u8) {}",
    );
    passes(
        functions,
        "crates/birk/src/check.rs",
        "fn f(&self, b: u8, c: (u8, u8), d: HashMap<u8, u8>, e: u8, f: u8, g: u8) {}",
    );
    passes(
        functions,
        "crates/birk/src/check.rs",
        "fn f(a: impl Fn(u8, u8) -> u8, b: u8, c: u8, d: u8, e: u8, f: u8,) {}",
    );
}
