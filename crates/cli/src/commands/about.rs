//! What Birk says about itself: engines, error codes, schemas, completions, the manual page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use birk::Engines;
use birk_ir::diagnostic::nearest;
use clap_mangen::Man;
use schemars::schema_for;

use crate::campaign::Campaign;
use crate::cli::grammar;
use crate::commands::certify::CertifyReport;
use crate::commands::graph::document::{GraphReport, ThreadsReport};
use crate::commands::plan::PlanReport;
#[cfg(feature = "native")]
use crate::commands::prove::ProveReport;
use crate::commands::refine::RefineReport;
use crate::commands::repair::RepairReport;
use crate::commands::sweep::SweepReport;
use crate::diagnostics::json::DiagnosticReport;
use crate::report::json::CheckReport;
use crate::report::simulation::SimulationReport;
use crate::terminal::print;
use crate::{Exit, Failure};

/// `birk explain`
pub(crate) fn explain(code: Option<&str>) -> Result<Exit, Failure> {
    let Some(code) = code else {
        let lines: String = birk::codes().map(|entry| format!("{}  {}\n", entry.code, entry.title)).collect();
        return print(&lines);
    };
    let Some(entry) = birk::explain(code) else {
        let meant = nearest(code, birk::codes().map(|entry| entry.code));
        let help = meant.map_or_else(|| "`birk explain` lists them".into(), |meant| format!("did you mean {meant}?"));
        return Err(Failure::usage(format!("there is no code {code}; {help}")));
    };
    let mut out = format!("{}: {}\n\n{}\n", entry.code, entry.title, entry.explanation);
    for (title, text) in [("For example", entry.example), ("Fixed", entry.fix)] {
        let indented: String = text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
        let _ = write!(out, "\n{title}:\n\n{indented}");
    }
    print(&out)
}

/// `birk schema`: the schemas of all reports, by the names of the commands that write them.
pub(crate) fn schemas() -> String {
    let schemas = BTreeMap::from([
        ("campaign", schema_for!(Campaign)),
        ("certify", schema_for!(CertifyReport)),
        ("check", schema_for!(CheckReport)),
        ("diagnostics", schema_for!(DiagnosticReport)),
        ("graph", schema_for!(GraphReport)),
        ("graph --threads", schema_for!(ThreadsReport)),
        ("plan", schema_for!(PlanReport)),
        #[cfg(feature = "native")]
        ("prove", schema_for!(ProveReport)),
        ("refine", schema_for!(RefineReport)),
        ("repair", schema_for!(RepairReport)),
        ("simulate", schema_for!(SimulationReport)),
        ("sweep", schema_for!(SweepReport)),
    ]);
    serde_json::to_string_pretty(&schemas).expect("a schema has only string keys") + "\n"
}

/// `birk engines`
pub(crate) fn engines(engines: &Engines) -> String {
    let mut out = String::new();
    for engine in engines.iter() {
        let promises = match (engine.complete, engine.shortest) {
            (true, true) => "exhaustive; shortest traces",
            (true, false) => "exhaustive; traces may be long",
            (false, true) => "not exhaustive; shortest traces",
            (false, false) => "not exhaustive; traces may be long",
        };
        let _ = writeln!(out, "{}\n  {}", engine.name, engine.summary);
        let _ = writeln!(out, "  guarantees  {promises}");
        let _ = writeln!(out, "  stores      {}", engine.memory);
        let _ = writeln!(out, "  use for     {}", engine.when);
        for option in engine.options {
            let default = option.default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
            let _ = writeln!(out, "  --{} <{}>  {}{default}", option.name, option.kind.placeholder(), option.help);
        }
        out.push('\n');
    }
    out.push_str("Choose one with `birk check MODEL --search NAME`.\n");
    out
}

/// `birk completions`
pub(crate) fn completions(shell: clap_complete::Shell, engines: &Engines) -> Result<Exit, Failure> {
    let mut buffer = Vec::new();
    clap_complete::generate(shell, &mut grammar(engines), "birk", &mut buffer);
    print(&String::from_utf8_lossy(&buffer))
}

/// `birk man`: one page for all commands.
pub(crate) fn man(engines: &Engines) -> Result<Exit, Failure> {
    let mut buffer = Vec::new();
    write_man(&mut buffer, engines).map_err(|error| Failure::io("write the manual page", &error))?;
    print(&String::from_utf8_lossy(&buffer))
}

fn write_man(out: &mut dyn Write, engines: &Engines) -> std::io::Result<()> {
    let mut command = grammar(engines);
    command.build();
    let page = Man::new(command.clone()).manual("Birk manual");
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let mut part = Vec::new();
        let page = Man::new(command.clone());
        page.render_description_section(&mut part)?;
        page.render_synopsis_section(&mut part)?;
        page.render_options_section(&mut part)?;
        if command.get_after_help().is_some() {
            page.render_extra_section(&mut part)?;
        }
        let part =
            String::from_utf8_lossy(&part).replace(".SH DESCRIPTION\n", "").replace(".SH EXTRA", ".SH ELSEWHERE");
        let part = part.replace(".SH ", ".SS ");
        writeln!(out, ".SH BIRK {}\n{part}", command.get_name().to_uppercase())?;
    }
    let mut exits = Vec::new();
    page.render_extra_section(&mut exits)?;
    write!(out, "{}", String::from_utf8_lossy(&exits).replace(".SH EXTRA", ".SH EXIT CODES"))
}
