//! What both kinds of certificates have in common: a title, lines that say which program and which properties, and a checksum at the
//! end. A file that does not fit is refused with what does not.

use std::fmt::{Debug, Write as _};

use birk_ir::{Expr, Program, Property, PropertyKind};

use crate::{Refusal, bad};

const TITLE: &str = "birk certificate, version 1: ";
/// How a title begins in every version.
const KIND: &str = "birk certificate, version ";
const CHECKSUM: &str = "checksum ";
/// Bytes of the last line: the checksum in hexadecimal digits, and a line feed.
const LAST_LINE: usize = CHECKSUM.len() + 16 + 1;

/// The kind of a certificate by visited states, as its title has it.
pub const STATES: &str = "visited states";
/// The kind of a certificate by inductive invariants.
pub const INVARIANTS: &str = "inductive invariants";
/// The line before invariants that all properties are a part of.
pub const TOGETHER: &str = "all properties are a part of each invariant";

/// A certificate that is whole, and about this program.
pub(crate) struct Opened<'a> {
    pub(crate) kind: &'a str,
    /// The properties of the program that it names, each with what it excludes.
    pub(crate) properties: Vec<(&'a Property, Expr)>,
    /// What follows.
    pub(crate) body: &'a [u8],
}

/// The sum of some bytes (FNV-1a). It finds accidents; what a certificate proves never rests on it.
pub fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A number for what a program does: not for its comments, nor for the places of its text, nor for its properties.
pub fn identity(program: &Program) -> u64 {
    let mut text = String::new();
    let mut add = |part: &dyn Debug| _ = writeln!(text, "{part:?}");
    for variable in &program.variables {
        add(&(&variable.name, variable.lo, variable.hi, &variable.shape, &variable.initial));
    }
    program.choices.iter().for_each(|choice| add(choice));
    for kind in &program.kinds {
        add(&(&kind.name, kind.counter, kind.copies, kind.locations.len()));
    }
    for thread in &program.threads {
        add(&(thread.kind, thread.copy, &thread.at));
    }
    for step in &program.transitions {
        add(&(step.thread, step.location, &step.guard, &step.ops, step.then));
    }
    add(&(program.fault, &program.property_faults, &program.valid_end));
    sum(text.as_bytes())
}

/// The lines behind the title that say which program it is about.
fn head(program: &Program) -> Vec<String> {
    let constants = program.constants.iter().map(|(name, value)| format!("constant {name} = {value}"));
    let mut lines: Vec<String> = [format!("system {}", program.system)].into_iter().chain(constants).collect();
    lines.push(format!("program {:016x}", identity(program)));
    lines
}

/// The line that names a property.
fn claim(program: &Program, property: &Property) -> String {
    let what = format!("property {} {}", property.word(), property.name);
    match &property.kind {
        PropertyKind::Invariant(of) | PropertyKind::Reachable(of) => format!("{what}: {}", program.expr_text(of)),
        _ => what,
    }
}

/// A certificate of these properties with this body.
pub fn seal(kind: &str, program: &Program, properties: &[&Property], body: &[u8]) -> Vec<u8> {
    let mut lines = vec![format!("{TITLE}{kind}")];
    lines.extend(head(program));
    lines.extend(properties.iter().map(|property| claim(program, property)));
    let mut bytes = [lines.join("\n").as_bytes(), b"\n\n", body].concat();
    let last = format!("{CHECKSUM}{:016x}\n", sum(&bytes));
    bytes.extend_from_slice(last.as_bytes());
    bytes
}

/// Makes sure that a file is a certificate, is whole, and is about this program and properties of it.
pub(crate) fn open<'a>(program: &'a Program, bytes: &'a [u8]) -> Result<Opened<'a>, Refusal> {
    if !bytes.starts_with(KIND.as_bytes()) {
        return unfit("it is not a certificate of Birk; `birk check --certificate FILE` writes one");
    }
    if !bytes.starts_with(TITLE.as_bytes()) {
        return unfit("it has the format of another version of Birk; check it with that version, or write it again");
    }
    let (title, mut rest) = line(whole(bytes)?)?;
    for own in head(program) {
        let (said, behind) = line(rest)?;
        if said != own && own.starts_with("program ") {
            return unfit(
                "it is about another text of this model, or was written by another version of Birk; \
                 check the model again with --certificate",
            );
        } else if said != own {
            return unfit(&format!("it says `{said}`, and here it is `{own}`; constants are set with -D"));
        }
        rest = behind;
    }
    let mut properties = Vec::new();
    loop {
        let (said, behind) = line(rest)?;
        rest = behind;
        if said.is_empty() && properties.is_empty() {
            return unfit("it names no property");
        } else if said.is_empty() {
            return Ok(Opened { kind: &title[TITLE.len()..], properties, body: rest });
        }
        let own = program.properties.iter().find(|property| claim(program, property) == said);
        match own.and_then(|property| Some((property, bad(program, property)?))) {
            Some(property) => properties.push(property),
            None => return unfit(&format!("it says `{said}`, and the model has no such property")),
        }
    }
}

/// A refusal of a file that is damaged or about something else.
pub(crate) fn unfit<T>(reason: &str) -> Result<T, Refusal> {
    Err(Refusal::Unfit(reason.to_owned()))
}

/// All before the last line, which is the checksum of that.
fn whole(bytes: &[u8]) -> Result<&[u8], Refusal> {
    let (whole, last) = bytes.split_at(bytes.len().saturating_sub(LAST_LINE));
    let said = std::str::from_utf8(last).ok().and_then(|last| last.strip_prefix(CHECKSUM)?.strip_suffix('\n'));
    match said {
        Some(said) if said == format!("{:016x}", sum(whole)) => Ok(whole),
        Some(_) => unfit("it is damaged: its checksum does not match its contents; write it again"),
        None => unfit("it is damaged: it does not end with its checksum, as if it were cut off; write it again"),
    }
}

/// The first line, and what is behind it.
pub(crate) fn line(bytes: &[u8]) -> Result<(&str, &[u8]), Refusal> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let parts = end.and_then(|end| Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..])));
    parts.map_or_else(|| unfit("it is damaged: it ends in the middle of a line"), Ok)
}
