//! Guided simulation line by line: what is used when there is no terminal, so that walks can be scripted and tested.

use std::io::{BufRead, Write};

use crate::interactive::Place;
use crate::interactive::session::{Mood, Session};
use crate::numbers::count;
use crate::terminal::visible;
use crate::{Exit, Failure};

/// So many initial states are listed.
const MAX_LISTED: usize = 50;
/// What can be said at the prompt.
const HELP: &str = "  N             take step N of the list
  back          go one step back; forward goes one step on
  undo          undo the last step and forget it
  restart [N]   forget all steps; with N, begin in initial state N
  initial       list the initial states
  jump N        go to step N of the history
  random [N]    take N random steps, fewer where something is violated
  until COND    take the shortest path to a state in which the condition is true
  why [N]       why step N of the list, or any step, is not enabled
  state         show all values, those changed by the last step with a mark
  history       show the steps so far
  properties    show what this state says about each property
  eval COND     evaluate a condition here
  save FILE     save the execution up to here as an ITF file
  quit          quit
";

/// Asks until the input ends. A script that cannot be followed ends with an error, a person may try again.
pub(crate) fn run(
    place: &Place<'_>,
    session: &mut Session<'_>,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    is_person: bool,
) -> Result<Exit, Failure> {
    let lost = |error: std::io::Error| Failure::io("write to standard output", &error);
    let mut prompt = Prompt { place, session, number: 0 };
    let mut answer = prompt.overview();
    loop {
        write!(out, "{}> ", visible(&answer)).and_then(|()| out.flush()).map_err(lost)?;
        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| Failure::io("read standard input", &error))?;
        if !is_person {
            writeln!(out, "{}", visible(line.trim_end())).map_err(lost)?;
        }
        prompt.number += 1;
        let words = line.split('#').next().unwrap_or_default().trim();
        if read == 0 || matches!(words, "quit" | "q") {
            return Ok(Exit::Success);
        }
        answer = match prompt.obey(words) {
            Ok(answer) => answer,
            Err(reason) if is_person => format!("{reason}\n"),
            Err(reason) => return Err(Failure::usage(format!("line {} of the script: {reason}", prompt.number))),
        };
    }
}

struct Prompt<'a, 'p> {
    place: &'a Place<'a>,
    session: &'a mut Session<'p>,
    number: usize,
}

impl Prompt<'_, '_> {
    fn obey(&mut self, line: &str) -> Result<String, String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let session = &mut *self.session;
        match word {
            "" => return Ok(String::new()),
            "back" | "b" => session.back()?,
            "forward" | "f" => session.forward()?,
            "undo" | "u" => session.undo()?,
            "restart" if rest.is_empty() => session.restart(),
            "restart" => session.begin(number(rest)?)?,
            "initial" => return Ok(self.initial()),
            "jump" | "g" => session.jump(number(rest)?),
            "random" | "r" => {
                let wanted = if rest.is_empty() { 1 } else { number(rest)? };
                let taken = session.random(wanted);
                return Ok(format!("{} at random\n{}", count(taken as u64, "step"), self.overview()));
            }
            "until" | "c" => {
                let news = self.place.run_to(session, rest)?;
                return Ok(format!("{news}\n{}", self.overview()));
            }
            "why" | "w" => return self.why(rest),
            "state" | "s" => return Ok(self.state()),
            "history" | "h" => return Ok(self.history()),
            "properties" | "p" => return Ok(self.properties()),
            "eval" | "e" => {
                let condition = self.place.condition(rest)?;
                return Ok(format!("{rest} is {} here\n", session.value(&condition)));
            }
            "save" => return self.place.save(session, rest).map(|news| news + "\n"),
            "help" | "?" => return Ok(HELP.to_owned()),
            _ => {
                let offer = number(word).map_err(|_| format!("`{word}` is not a command; `help` lists them"))?;
                let offer = offer.checked_sub(1).ok_or("steps are counted from 1")?;
                session.take(offer)?;
            }
        }
        Ok(self.overview())
    }

    /// Where the walk stands: the step that led here, what is wrong here, and what can be done next.
    fn overview(&self) -> String {
        let session = &*self.session;
        let (at, last) = session.position();
        let (title, effect) = session.step_text(at);
        let of = if at < last { format!(" of {last}") } else { String::new() };
        let mut out = format!("step {at}{of}: {title}  {effect}").trim_end().to_owned() + "\n";
        if let (0, Some((number, all))) = (at, session.beginning()) {
            out += &format!(
                "  initial state {number}, the last is {}; `initial` lists them, `restart N` begins in N\n",
                all - 1
            );
        }
        for standing in session.standings().iter().filter(|standing| standing.mood != Mood::Plain) {
            let mark = if standing.mood == Mood::Bad { "violated: " } else { "" };
            out += &format!("  {mark}{}: {}\n", standing.name, standing.text);
        }
        let width = session.offers().iter().map(|offer| offer.title.chars().count()).max().unwrap_or(0);
        for (index, offer) in session.offers().iter().enumerate() {
            let note = if offer.ordinal.is_some() { &*offer.effect } else { "(not enabled)" };
            out += format!("  {:>2}  {:width$}  {note}", index + 1, offer.title).trim_end();
            out.push('\n');
        }
        out
    }

    fn initial(&self) -> String {
        let all = self.session.beginnings();
        if all.is_empty() {
            return "there is one initial state\n".into();
        }
        let shown = all.iter().take(MAX_LISTED).enumerate().map(|(number, text)| format!("  {number:>3}  {text}\n"));
        let more = all.len().saturating_sub(MAX_LISTED);
        let rest = if more > 0 { format!("  and {}\n", count(more as u64, "more")) } else { String::new() };
        shown.collect::<String>() + &rest
    }

    fn why(&self, rest: &str) -> Result<String, String> {
        let offers = self.session.offers();
        let asked = if rest.is_empty() {
            offers.iter().filter(|offer| offer.ordinal.is_none()).collect()
        } else {
            let index = number(rest)?.checked_sub(1).ok_or("steps are counted from 1")?;
            vec![offers.get(index).ok_or("there is no such step")?]
        };
        if asked.is_empty() {
            return Ok("every transition of the current locations is enabled\n".into());
        }
        let lines = asked.iter().flat_map(|offer| self.session.why(offer.transition));
        Ok(lines.map(|line| line + "\n").collect())
    }

    fn state(&self) -> String {
        let values = self.session.values();
        let width = values.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        let line = |(name, value, old): &(String, String, Option<String>)| match old {
            Some(old) => format!("* {name:width$} = {value}  (was {old})\n"),
            None => format!("  {name:width$} = {value}\n"),
        };
        values.iter().map(line).collect()
    }

    fn history(&self) -> String {
        let (at, last) = self.session.position();
        let line = |step: usize| {
            let (title, effect) = self.session.step_text(step);
            let mark = if step == at { ">" } else { " " };
            format!("{mark} {step:>3}  {title}  {effect}").trim_end().to_owned() + "\n"
        };
        (0..=last).map(line).collect()
    }

    fn properties(&self) -> String {
        let standings = self.session.standings();
        let width = standings.iter().map(|standing| standing.name.chars().count()).max().unwrap_or(0);
        let line = |standing: &crate::interactive::session::Standing| {
            let mark = if standing.mood == Mood::Bad { "!" } else { " " };
            format!("{mark} {:width$}  {}\n", standing.name, standing.text)
        };
        standings.iter().map(line).collect()
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}
