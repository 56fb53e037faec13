//! Systems of files: a system and the libraries it imports, read once each.

pub use birk_ir::Resolve;

use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::syntax::ast::System;
use crate::syntax::parser::parse;

/// The standard library, part of Birk itself.
pub const STANDARD: &[(&str, &str)] = &[
    ("std/mutex.bir", include_str!("../std/mutex.bir")),
    ("std/semaphore.bir", include_str!("../std/semaphore.bir")),
    ("std/condition.bir", include_str!("../std/condition.bir")),
    ("std/rwlock.bir", include_str!("../std/rwlock.bir")),
    ("std/link.bir", include_str!("../std/link.bir")),
    ("std/timer.bir", include_str!("../std/timer.bir")),
];

/// More imports than this are surely not intended.
const MAX_FILES: usize = 200;

/// The files that were read: name and text, the model itself first.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) system: Option<System>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a model and everything it imports; the items of libraries come before its own.
pub(crate) fn read(text: &str, resolve: Resolve<'_>) -> Files {
    let main = parse(text, 0);
    let mut files =
        Files { texts: vec![(String::new(), text.to_owned())], system: None, diagnostics: main.diagnostics };
    let Some(mut system) = main.system else { return files };
    if system.library {
        let message = format!("`{}` is a library, and cannot be checked by itself", system.name.text);
        let help = "import it into a system: `import \"…\"; system S { … }`";
        files.diagnostics.push(Diagnostic::new("E0050", system.name.span, message, "not a system").help(help));
    }
    let mut wanted = std::mem::take(&mut system.imports);
    wanted.reverse();
    let mut items = Vec::new();
    while let Some(import) = wanted.pop() {
        if files.texts.iter().any(|(name, _)| *name == import.path) {
            continue;
        }
        let standard = STANDARD.iter().find(|(name, _)| *name == import.path).map(|(_, text)| (*text).to_owned());
        let read = || match import.path.starts_with("std/") {
            true => Err("the standard library has no such file".into()),
            false => resolve(&import.path),
        };
        let text = match standard.map_or_else(read, Ok) {
            Ok(text) if files.texts.len() < MAX_FILES => text,
            Ok(_) => return files,
            Err(reason) => {
                let message = format!("cannot import `{}`: {reason}", import.path);
                let names = STANDARD.iter().map(|(name, _)| *name);
                let mut diagnostic = Diagnostic::new("E0050", import.span, message, "imported here");
                diagnostic = match crate::diagnostic::nearest(&import.path, names.clone()) {
                    Some(meant) => {
                        let written = format!("import \"{meant}\"");
                        diagnostic.help(format!("did you mean `{meant}`?")).fix(import.span, written)
                    }
                    None => diagnostic.help("paths are relative to the model; `std/…` is the standard library"),
                };
                files.diagnostics.push(diagnostic);
                continue;
            }
        };
        let parsed = parse(&text, files.texts.len() as u32);
        files.diagnostics.extend(parsed.diagnostics);
        files.texts.push((import.path.clone(), text));
        if let Some(library) = parsed.system {
            if !library.library {
                let message = format!("`{}` is a system, not a library", import.path);
                let help = "a file to be imported is `library NAME { … }`; remove this import";
                let diagnostic = Diagnostic::new("E0050", import.span, message, "imported here").help(help);
                let text = &files.texts[import.span.file as usize].1;
                files.diagnostics.push(match edit::statement(text, import.span) {
                    Some(whole) => diagnostic.propose(edit::removal(text, whole), ""),
                    None => diagnostic,
                });
                continue;
            }
            items.extend(library.items);
            wanted.extend(library.imports.into_iter().rev());
        }
    }
    items.append(&mut system.items);
    system.items = items;
    files.system = Some(system);
    files
}
