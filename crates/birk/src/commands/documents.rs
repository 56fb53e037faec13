//! What Birk says about itself: engines, error codes, completions, the manual page.

use std::fmt::Write as _;

use birk_lang::codes::{CODES, explain as lookup};
use birk_lang::diagnostic::nearest;
use birk_search::ENGINES;
use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::commands::print;
use crate::{Exit, Failure};

/// `birk explain`
pub(crate) fn explain(code: Option<&str>) -> Result<Exit, Failure> {
    let Some(code) = code else {
        let lines: String = CODES.iter().map(|entry| format!("{}  {}\n", entry.code, entry.title)).collect();
        return print(&lines);
    };
    let Some(entry) = lookup(code) else {
        let meant = nearest(code, CODES.iter().map(|entry| entry.code));
        let help = meant.map_or_else(|| "`birk explain` lists them".into(), |meant| format!("did you mean {meant}?"));
        return Err(Failure::usage(format!("there is no code {code}; {help}")));
    };
    let mut out = format!("{}: {}\n\n{}\n", entry.code, entry.title, entry.explanation);
    for (title, text) in [("For example", entry.example), ("Mended", entry.cure)] {
        let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
        let _ = write!(out, "\n{title}:\n\n{indented}");
    }
    print(&out)
}

/// `birk engines`
pub(crate) fn engines() -> String {
    let mut out = String::new();
    for engine in ENGINES {
        let promises = match (engine.complete, engine.shortest) {
            (true, true) => "complete; traces are shortest",
            (true, false) => "complete; traces may be long",
            (false, true) => "not complete; traces are shortest",
            (false, false) => "not complete; traces may be long",
        };
        let _ = writeln!(out, "{}\n  {}", engine.name, engine.summary);
        let _ = writeln!(out, "  promises  {promises}");
        let _ = writeln!(out, "  remembers {}", engine.memory);
        let _ = writeln!(out, "  use it    {}\n", engine.when);
    }
    out.push_str("Choose one with `birk check MODEL --search NAME`.\n");
    out
}

/// `birk completions`
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut buffer = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "birk", &mut buffer);
    print(&String::from_utf8_lossy(&buffer))
}

/// `birk man`
pub(crate) fn man() -> Result<Exit, Failure> {
    let mut buffer = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut buffer)
        .map_err(|error| Failure::io("write the manual page", &error))?;
    print(&String::from_utf8_lossy(&buffer))
}
