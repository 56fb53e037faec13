//! Guided simulation on a terminal: what each key does. How it looks is in `draw`.

use std::cell::Cell;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::interactive::session::{Mood, Session};
use crate::interactive::{Place, draw};
use crate::numbers::count;
use crate::report::fold::words;
use crate::{Exit, Failure};

/// What the keys do, as the help and the bottom line show it.
pub(crate) const KEYS: &[(&str, &str, &str)] = &[
    ("↑↓", "select", "select a step, or scroll the part that Tab chose (also j and k, PgUp and PgDn)"),
    ("Enter", "take", "take the selected step; on one that is not enabled: why. 1 to 9 take a step by its number"),
    ("←→", "history", "step back and forth in the history (also h and l)"),
    ("u", "undo", "undo the last step and forget it"),
    ("R", "restart", "forget all steps; where there are several initial states, asks for the number of one"),
    ("g", "go to", "go to a step of the history by its number (Home and End: the first, the last)"),
    ("r", "random", "take a random step"),
    ("t", "ten", "take ten random steps, fewer where something is violated"),
    ("c", "until", "take the shortest path to a state in which a condition is true"),
    ("w", "why", "why the selected step is or is not enabled: its guard, part by part"),
    ("s", "save", "save the execution up to here as an ITF file"),
    ("Tab", "part", "choose the part that ↑ and ↓ move in"),
    ("?", "help", "this help; any key closes it"),
    ("q", "quit", "leave (also Ctrl-C)"),
];

/// What a key does has so many columns in the help.
const HELP_WIDTH: usize = 68;

/// A part of the screen in which one can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Steps,
    Source,
    State,
    History,
}

/// Something that is being typed.
#[derive(Debug)]
pub(crate) struct Question {
    kind: Asked,
    pub(crate) title: &'static str,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Initial,
    Step,
    Condition,
    File,
}

/// Lines that lie over the screen.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) scroll: usize,
}

/// The screen: a walk and what is selected, typed and shown.
pub(crate) struct Screen<'a, 'p> {
    pub(crate) place: &'a Place<'a>,
    pub(crate) session: Session<'p>,
    pub(crate) part: Part,
    /// The selected offer.
    pub(crate) selected: usize,
    /// How far the source and the state were moved by hand.
    pub(crate) moved: [isize; 2],
    /// How far the state can be moved, as it was drawn last.
    pub(crate) furthest: Cell<usize>,
    pub(crate) question: Option<Question>,
    pub(crate) window: Option<Window>,
    pub(crate) news: (String, Mood),
    pub(crate) color: bool,
    pub(crate) is_over: bool,
}

/// Shows the screen until the user leaves.
pub(crate) fn run(place: &Place<'_>, session: Session<'_>, color: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::new(place, session, color);
    let mut terminal = ratatui::try_init().map_err(|error| Failure::io("use the terminal", &error))?;
    let ended = loop {
        if let Err(error) = terminal.draw(|frame| draw::screen(&screen, frame)) {
            break Err(error);
        }
        match event::read() {
            Ok(Event::Key(key)) if key.kind == KeyEventKind::Press => screen.press(key),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        if screen.is_over {
            break Ok(());
        }
    };
    ratatui::restore();
    ended.map(|()| Exit::Success).map_err(|error| Failure::io("use the terminal", &error))
}

impl<'a, 'p> Screen<'a, 'p> {
    /// A screen on a walk.
    pub(crate) fn new(place: &'a Place<'a>, session: Session<'p>, color: bool) -> Self {
        let mut screen = Self {
            place,
            session,
            part: Part::Steps,
            selected: 0,
            moved: [0; 2],
            furthest: Cell::new(0),
            question: None,
            window: None,
            news: (String::new(), Mood::Plain),
            color,
            is_over: false,
        };
        screen.arrive(String::new());
        screen
    }

    /// Does what a key means.
    pub(crate) fn press(&mut self, key: KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            self.is_over = true;
        } else if self.question.is_some() {
            self.type_key(key.code);
        } else if self.window.is_some() {
            self.scroll_window(key.code);
        } else {
            self.command(key.code);
        }
    }

    fn command(&mut self, key: KeyCode) {
        match key {
            KeyCode::Up | KeyCode::Char('k') => self.go(-1),
            KeyCode::Down | KeyCode::Char('j') => self.go(1),
            KeyCode::PageUp => self.go(-10),
            KeyCode::PageDown => self.go(10),
            KeyCode::Enter => self.take(self.selected),
            KeyCode::Char(digit @ '1'..='9') => self.take(digit as usize - '1' as usize),
            KeyCode::Left | KeyCode::Char('h') => self.travel(Session::back),
            KeyCode::Right | KeyCode::Char('l') => self.travel(Session::forward),
            KeyCode::Char('u') => self.travel(Session::undo),
            KeyCode::Home => self.travel(|session| {
                session.jump(0);
                Ok(())
            }),
            KeyCode::End => self.travel(|session| {
                session.jump(usize::MAX);
                Ok(())
            }),
            KeyCode::Char('R') if self.session.beginning().is_some() => self.ask(Asked::Initial, "initial state"),
            KeyCode::Char('R') => {
                self.session.restart();
                self.arrive("all steps are forgotten".into());
            }
            KeyCode::Char('r') => self.random(1),
            KeyCode::Char('t') => self.random(10),
            KeyCode::Char('g') => self.ask(Asked::Step, "go to step"),
            KeyCode::Char('c') => self.ask(Asked::Condition, "until"),
            KeyCode::Char('s') => self.ask(Asked::File, "save to"),
            KeyCode::Char('w') => self.explain(self.selected),
            KeyCode::Tab => self.next_part(1),
            KeyCode::BackTab => self.next_part(3),
            KeyCode::Char('?') => self.help(),
            KeyCode::Char('q') => self.is_over = true,
            _ => self.news = ("this key does nothing; ? lists those that do".into(), Mood::Plain),
        }
    }

    /// Moves the selection, or what the chosen part shows.
    fn go(&mut self, by: isize) {
        match self.part {
            Part::Steps => {
                let last = self.session.offers().len().saturating_sub(1);
                self.selected = self.selected.saturating_add_signed(by).min(last);
                self.moved[0] = 0;
                self.news = (String::new(), Mood::Plain);
            }
            Part::Source => self.moved[0] += by,
            Part::State => {
                let furthest = isize::try_from(self.furthest.get()).unwrap_or(isize::MAX);
                self.moved[1] = (self.moved[1] + by).clamp(0, furthest);
            }
            Part::History => {
                let (at, _) = self.session.position();
                self.session.jump(at.saturating_add_signed(by));
                self.arrive(String::new());
            }
        }
    }

    fn next_part(&mut self, by: usize) {
        let parts = [Part::Steps, Part::Source, Part::State, Part::History];
        let at = parts.iter().position(|part| *part == self.part).unwrap_or(0);
        self.part = parts[(at + by) % parts.len()];
    }

    fn take(&mut self, offer: usize) {
        match self.session.take(offer) {
            Ok(()) => self.arrive(String::new()),
            Err(_) if self.session.offers().get(offer).is_some() => self.explain(offer),
            Err(reason) => self.news = (reason, Mood::Plain),
        }
    }

    fn travel(&mut self, how: impl FnOnce(&mut Session<'p>) -> Result<(), String>) {
        match how(&mut self.session) {
            Ok(()) => self.arrive(String::new()),
            Err(reason) => self.news = (reason, Mood::Plain),
        }
    }

    fn random(&mut self, steps: usize) {
        let taken = self.session.random(steps);
        self.arrive(format!("{} at random", count(taken as u64, "step")));
    }

    /// After every move: nothing is scrolled, the first step is selected, and what is wrong here is said.
    fn arrive(&mut self, news: String) {
        self.selected = 0;
        self.moved = [0; 2];
        let bad: Vec<String> = self
            .session
            .standings()
            .iter()
            .filter(|standing| standing.mood == Mood::Bad)
            .map(|standing| format!("{} violated: {}", standing.name, standing.text))
            .collect();
        self.news = if bad.is_empty() { (news, Mood::Plain) } else { (bad.join("; "), Mood::Bad) };
    }

    fn explain(&mut self, offer: usize) {
        let Some(offer) = self.session.offers().get(offer) else {
            self.news = ("there is no step to explain".into(), Mood::Plain);
            return;
        };
        let mut lines = self.session.why(offer.transition);
        let title = lines.remove(0);
        if lines.is_empty() {
            lines.push("it has no guard".into());
        }
        self.window = Some(Window { title, lines, scroll: 0 });
    }

    fn help(&mut self) {
        // Long ones go on below their beginning, on the narrowest screen, too.
        let of_key = |(key, _, meaning): &(&str, &str, &str)| -> Vec<String> {
            let lines = words(meaning, HELP_WIDTH).into_iter().enumerate();
            lines.map(|(at, line)| format!("{:>6}  {line}", if at == 0 { *key } else { "" })).collect()
        };
        let lines = KEYS.iter().flat_map(of_key).collect();
        self.window = Some(Window { title: "keys".into(), lines, scroll: 0 });
    }

    fn scroll_window(&mut self, key: KeyCode) {
        let Some(window) = &mut self.window else { return };
        match key {
            KeyCode::Down | KeyCode::Char('j') => {
                window.scroll = (window.scroll + 1).min(window.lines.len().saturating_sub(1));
            }
            KeyCode::Up | KeyCode::Char('k') => window.scroll = window.scroll.saturating_sub(1),
            _ => self.window = None,
        }
    }

    fn ask(&mut self, kind: Asked, title: &'static str) {
        self.question = Some(Question { kind, title, text: String::new() });
    }

    fn type_key(&mut self, key: KeyCode) {
        let Some(question) = &mut self.question else { return };
        match key {
            KeyCode::Esc => self.question = None,
            KeyCode::Backspace => _ = question.text.pop(),
            KeyCode::Char(c) => question.text.push(c),
            KeyCode::Enter => {
                if let Some(Question { kind, text, .. }) = self.question.take() {
                    self.answer(kind, &text);
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, kind: Asked, text: &str) {
        let done = match kind {
            Asked::Initial => {
                let number = text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
                number.and_then(|number| self.session.begin(number)).map(|()| "all steps are forgotten".into())
            }
            Asked::Step => text.trim().parse().map_err(|_| format!("`{text}` is not a number")).map(|to| {
                self.session.jump(to);
                String::new()
            }),
            Asked::Condition => self.place.run_to(&mut self.session, text),
            Asked::File => self.place.save(&self.session, text),
        };
        match done {
            Ok(news) => self.arrive(news),
            Err(reason) => self.news = (reason, Mood::Plain),
        }
    }
}
