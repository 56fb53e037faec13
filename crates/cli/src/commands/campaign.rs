//! `birk campaign FOLDER`: what all nights know, as a table, as JSON, and drawn.

use std::fmt::Write as _;
use std::path::Path;

use birk_ir::Verdict;

use crate::campaign::{Campaign, Claim, Known, Night};
use crate::cli::{CampaignArgs, Format};
use crate::escape::escape;
use crate::numbers::{count, grouped};
use crate::report::plot::{Titles, curve};
use crate::terminal::{Paint, print, print_for_people, uses_color};
use crate::{Exit, Failure, durable};

/// So many nights are listed.
const MAX_LISTED: usize = 20;

/// Runs the command.
pub(crate) fn run(args: &CampaignArgs) -> Result<Exit, Failure> {
    let shown = args.folder.display();
    let Some(campaign) = Campaign::read(&args.folder)? else {
        return Err(Failure::usage(format!(
            "there is no campaign in {shown}: `birk check MODEL --campaign {shown} --time 1h` begins one"
        )));
    };
    if let Some(path) = &args.report {
        durable::write(path, page(&campaign).as_bytes())
            .map_err(|error| Failure::io(&format!("write {}", path.display()), &error))?;
    }
    let color = uses_color(args.color, &std::io::stdout());
    match args.format {
        Format::Json => print(&campaign.text()),
        Format::Human => print_for_people(&text(&campaign, &args.folder, color), color),
    }
}

/// What all nights know.
pub(super) fn text(campaign: &Campaign, folder: &Path, color: bool) -> String {
    let paint = Paint(color);
    let mut out = format!("{}\n\n", title(campaign));
    let known = campaign.known();
    let width = known.iter().map(|known| known.claim.property.chars().count()).max().unwrap_or(0);
    for known in &known {
        let (word, claim) = (known.claim.verdict.as_str(), known.claim);
        let painted = claim.verdict().map_or_else(|| word.to_owned(), |verdict| paint.verdict(verdict, word));
        let padding = " ".repeat(12 - word.len().min(12));
        let grade = claim.grade.as_deref().unwrap_or("-");
        let line = format!("  {painted}{padding} {grade}  {:width$}  {}", claim.property, what(campaign, known));
        out += line.trim_end();
        out.push('\n');
    }
    let _ =
        writeln!(out, "\n  night  {:>9}  {:>7}  {:>15}  {:>15}  {:>6}", "seconds", "depth", "states", "hunted", "seed");
    let skipped = campaign.nights.len().saturating_sub(MAX_LISTED);
    if skipped > 0 {
        let _ = writeln!(out, "  (the first {} are left out)", count(skipped as u64, "night"));
    }
    let mut before: Option<&Night> = skipped.checked_sub(1).map(|at| &campaign.nights[at]);
    for (number, night) in campaign.nights.iter().enumerate().skip(skipped) {
        if before.is_some_and(|before| before.meaning != night.meaning) {
            out += "  the model changed: claims begin anew\n";
        }
        let depth = night.depth.map_or_else(|| "-".to_owned(), |depth| depth.to_string());
        let all = if night.is_complete { "all" } else { depth.as_str() };
        let _ = writeln!(
            out,
            "  {:>5}  {:>9.1}  {all:>7}  {:>15}  {:>15}  {:>6}",
            number + 1,
            night.seconds,
            grouped(night.states),
            grouped(night.hunted),
            night.seed
        );
        before = Some(night);
    }
    let _ = writeln!(out, "\nnext: {}", next(campaign, folder));
    out
}

fn title(campaign: &Campaign) -> String {
    let seconds: f64 = campaign.nights.iter().map(|night| night.seconds).sum();
    let nights = count(campaign.nights.len() as u64, "night");
    format!("campaign: {} ({}): {nights}, {seconds:.1} s in all", campaign.model, campaign.system)
}

/// What is known of a property, in words.
fn what(campaign: &Campaign, known: &Known<'_>) -> String {
    let Known { claim, since } = known;
    let steps = |steps: usize| count(steps as u64, "step");
    match (claim.is_open(), claim.depth, claim.steps) {
        (true, Some(depth), _) => {
            format!("no violation within {}, by {}, since night {since}", steps(depth as usize), claim.by)
        }
        (true, None, _) => {
            let meaning = campaign.nights.last().map_or("", |night| &night.meaning);
            format!("nothing found in {}", count(campaign.nights_of(meaning) as u64, "night"))
        }
        (false, _, Some(length)) => format!("by a trace of {}, since night {since}", steps(length)),
        (false, _, None) => format!("by {}, since night {since}", claim.by),
    }
}

/// What the next night would do.
fn next(campaign: &Campaign, folder: &Path) -> String {
    let Some(last) = campaign.nights.last() else { return "the first night".to_owned() };
    let known = campaign.known();
    let is = |verdict: Verdict| move |known: &Known<'_>| known.claim.verdict == verdict.word();
    let is_violated = known.iter().any(is(Verdict::Violated));
    if is_violated && !campaign.options.iter().any(|word| word == "--keep-going") {
        return "the counterexamples are replayed first; repair the model, or go on with --keep-going in another folder".to_owned();
    }
    if known.iter().all(|known| !known.claim.is_open()) {
        return "nothing is open".to_owned();
    }
    let mut plan = Vec::new();
    if !last.is_complete
        && let Some(depth) = last.depth
    {
        plan.push(format!("the search on disk goes on behind depth {depth}"));
    }
    plan.push(format!("others hunt with seed {}", last.seed + 1));
    format!(
        "{} (`birk check {} --campaign {}` with the same options)",
        plan.join("; "),
        campaign.model,
        folder.display()
    )
}

/// A page with both tables, and how depth and states grew.
fn page(campaign: &Campaign) -> String {
    let cell = |text: &str| format!("<td>{}</td>", escape(text));
    let head = |titles: &[&str]| {
        let cells: String = titles.iter().map(|title| format!("<th scope=\"col\">{title}</th>")).collect();
        format!("<table><thead><tr>{cells}</tr></thead><tbody>\n")
    };
    let mut body = format!("<p>{}</p>\n", escape(&title(campaign)));
    body += "<h2>Properties</h2>\n";
    body += &head(&["property", "verdict", "grade", "what is known"]);
    for known in campaign.known() {
        let Claim { property, verdict, grade, .. } = known.claim;
        let _ = writeln!(
            body,
            "<tr><td class=\"mono\">{}</td><td class=\"{verdict}\"><strong>{verdict}</strong></td><td>{}</td>{}</tr>",
            escape(property),
            grade.as_deref().unwrap_or("-"),
            cell(&what(campaign, &known))
        );
    }
    body += "</tbody></table>\n";
    body += "<h2>Nights</h2>\n";
    body += &head(&["night", "seconds", "explored to depth", "states", "hunted", "seed", ""]);
    let mut before: Option<&Night> = None;
    for (number, night) in campaign.nights.iter().enumerate() {
        let is_changed = before.is_some_and(|before| before.meaning != night.meaning);
        let depth = night.depth.map_or_else(String::new, |depth| depth.to_string());
        let found: Vec<String> = campaign
            .found
            .iter()
            .filter(|found| found.night == number + 1)
            .map(|found| format!("found: {} in {}", found.property, count(found.steps as u64, "step")))
            .collect();
        let note = if is_changed { vec!["the model changed".to_owned()] } else { Vec::new() };
        let note = [note, found].concat().join("; ");
        let cells = [
            (number + 1).to_string(),
            format!("{:.1}", night.seconds),
            if night.is_complete { "all".to_owned() } else { depth },
            grouped(night.states),
            grouped(night.hunted),
            night.seed.to_string(),
            note,
        ];
        let _ = writeln!(body, "<tr>{}</tr>", cells.iter().map(|text| cell(text)).collect::<String>());
        before = Some(night);
    }
    body += "</tbody></table>\n";
    body += &curves(campaign);
    let _ = writeln!(body, "<p>next: {}</p>", escape(&next(campaign, Path::new("FOLDER"))));
    crate::report::html::plain_page(&format!("Campaign for {}", campaign.model), &body)
}

/// How depth and states grew over the time of all nights.
fn curves(campaign: &Campaign) -> String {
    let (mut out, mut minutes) = (String::new(), 0.0);
    let (mut depths, mut states) = (Vec::new(), Vec::new());
    for night in &campaign.nights {
        minutes += night.seconds / 60.0;
        depths.extend(night.depth.map(|depth| (minutes, f64::from(depth))));
        states.push((minutes, (night.states.max(1) as f64).log10()));
    }
    if depths.len() > 1 {
        out += &curve(&Titles { title: "Explored", x: "minutes", y: "depth" }, &[depths]);
    }
    if states.len() > 1 {
        out += &curve(&Titles { title: "States", x: "minutes", y: "states, as powers of ten" }, &[states]);
    }
    if out.is_empty() { out } else { format!("<div class=\"plots\">\n{out}</div>\n") }
}
