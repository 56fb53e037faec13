//! Every key of the screen, pressed on ratatui's test backend.

use std::path::PathBuf;

use birk_exec::Choose;
use birk_ir::Program;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color as Shade;

use super::draw;
use super::screen::{KEYS, Part, Screen};
use super::session::Session;
use crate::cli::{Color, Format, ModelArgs};
use crate::interactive::Place;
use crate::source::Source;

/// A model of the corpus, loaded.
struct Loaded {
    args: ModelArgs,
    source: Source,
    program: Program,
}

fn load(model: &str) -> Loaded {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(model);
    let args = ModelArgs {
        model: path.clone(),
        define: Vec::new(),
        profile: None,
        color: Color::Never,
        diagnostics: Format::Human,
    };
    let text = std::fs::read_to_string(path).expect("the model is there");
    let program = birk_lang::load(&text, &[]).program.expect("the model loads");
    Loaded { args, source: Source::new(model.into(), text), program }
}

impl Loaded {
    fn place(&self) -> Place<'_> {
        Place { args: &self.args, source: &self.source, program: &self.program }
    }
}

fn walk<'a>(place: &Place<'a>) -> Session<'a> {
    Session::new(place.program, place.program.properties.iter().collect(), Choose::Transition, 0)
}

fn screen<'a>(place: &'a Place<'a>) -> Screen<'a, 'a> {
    Screen::new(place, walk(place), false)
}

fn shown(screen: &Screen<'_, '_>, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("the test backend works");
    terminal.draw(|frame| draw::screen(screen, frame)).expect("the test backend works");
    let text = terminal.backend().to_string();
    // The backend shows each row in quotes.
    text.lines().map(|line| line.trim_matches('"').trim_end().replace('\u{a0}', " ") + "\n").collect()
}

/// Presses keys: a letter is itself, other keys stand in angle brackets.
fn press(screen: &mut Screen<'_, '_>, keys: &str) {
    for key in keys.split_whitespace() {
        let code = match key {
            "<up>" => KeyCode::Up,
            "<down>" => KeyCode::Down,
            "<left>" => KeyCode::Left,
            "<right>" => KeyCode::Right,
            "<pageup>" => KeyCode::PageUp,
            "<pagedown>" => KeyCode::PageDown,
            "<home>" => KeyCode::Home,
            "<end>" => KeyCode::End,
            "<enter>" => KeyCode::Enter,
            "<tab>" => KeyCode::Tab,
            "<backtab>" => KeyCode::BackTab,
            "<esc>" => KeyCode::Esc,
            "<backspace>" => KeyCode::Backspace,
            "<space>" => KeyCode::Char(' '),
            letter => KeyCode::Char(letter.chars().next().expect("a key")),
        };
        screen.press(KeyEvent::new(code, KeyModifiers::NONE));
    }
}

/// Types a text.
fn typed(screen: &mut Screen<'_, '_>, text: &str) {
    text.chars().for_each(|c| screen.press(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
}

#[test]
fn two_picks_reach_the_deadlock_and_the_screen_says_so() {
    let loaded = load("philosophers2.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    insta::assert_snapshot!("philosophers_start_80x24", shown(&screen, 80, 24));
    press(&mut screen, "<enter> 2");
    assert_eq!(screen.session.position(), (2, 2));
    let text = shown(&screen, 80, 24);
    assert!(text.contains("! deadlock: no step is possible"), "{text}");
    insta::assert_snapshot!("philosophers_deadlock_80x24", text);
    insta::assert_snapshot!("philosophers_deadlock_200x50", shown(&screen, 200, 50));
}

#[test]
fn keys_of_the_history() {
    let loaded = load("philosophers2.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    let mut at = |keys: &str| {
        press(&mut screen, keys);
        screen.session.position()
    };
    assert_eq!(at("1 2"), (2, 2));
    assert_eq!(at("<left>"), (1, 2));
    assert_eq!(at("h"), (0, 2));
    assert_eq!(at("<left>"), (0, 2), "there is nothing before the start");
    assert_eq!(at("<right> l"), (2, 2));
    assert_eq!(at("<right>"), (2, 2), "there is nothing behind the end");
    assert_eq!(at("<home>"), (0, 2));
    assert_eq!(at("<end>"), (2, 2));
    assert_eq!(at("g 1 <enter>"), (1, 2));
    assert_eq!(at("g 7 <backspace> 0 <enter>"), (0, 2));
    assert_eq!(at("g x <enter>"), (0, 2), "not a number");
    assert_eq!(at("g 2 <esc>"), (0, 2), "given up");
    assert_eq!(at("1"), (1, 2), "the step that was taken before: what followed stays");
    assert_eq!(at("1"), (2, 2), "another step: what followed is forgotten");
    assert_eq!(at("u"), (1, 1));
    assert_eq!(at("R"), (0, 0));
    assert_eq!(at("u"), (0, 0));
}

#[test]
fn keys_that_select_and_scroll() {
    let loaded = load("raft_election.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    press(&mut screen, "t");
    let offers = screen.session.offers().len();
    assert!(offers > 3);
    press(&mut screen, "<down> j");
    assert_eq!(screen.selected, 2);
    press(&mut screen, "<up> k <up>");
    assert_eq!(screen.selected, 0);
    press(&mut screen, "<pagedown> <pagedown> <pagedown> <pagedown>");
    assert_eq!(screen.selected, offers - 1);
    press(&mut screen, "<pageup> <pageup> <pageup> <pageup>");
    assert_eq!(screen.selected, 0);

    let before = shown(&screen, 80, 24);
    press(&mut screen, "<tab>");
    assert_eq!(screen.part, Part::Source);
    press(&mut screen, "<down> <down>");
    assert_ne!(shown(&screen, 80, 24), before, "the source has moved");
    press(&mut screen, "<tab>");
    assert_eq!(screen.part, Part::State);
    let before = shown(&screen, 80, 24);
    press(&mut screen, "<down>");
    assert_ne!(shown(&screen, 80, 24), before, "the state has moved");
    press(&mut screen, "<tab>");
    assert_eq!(screen.part, Part::History);
    press(&mut screen, "<up> <up>");
    assert_eq!(screen.session.position().0, 8);
    press(&mut screen, "<tab>");
    assert_eq!(screen.part, Part::Steps);
    press(&mut screen, "<backtab>");
    assert_eq!(screen.part, Part::History);
}

/// At the usual size, every part says how much of it is not shown, and what changed is shown.
#[test]
fn parts_say_that_there_is_more() {
    let loaded = load("raft_election.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    press(&mut screen, "t");
    let changed = |screen: &Screen<'_, '_>| -> Vec<String> {
        let values = screen.session.values().into_iter();
        values.filter_map(|(name, _, old)| old.map(|_| format!("*{name} = "))).collect()
    };
    // Some steps change no variable.
    while changed(&screen).is_empty() {
        press(&mut screen, "r");
    }
    let text = shown(&screen, 80, 24);
    assert!(text.matches("▼").count() >= 3 && text.contains("▲"), "{text}");
    let changed = changed(&screen);
    assert!(!changed.is_empty() && changed.iter().all(|name| text.contains(name)), "{changed:?}\n{text}");
    // To the end of the state and one back: the mark below comes back at once.
    press(
        &mut screen,
        "<tab> <tab> <pagedown> <pagedown> <pagedown> <pagedown> <pagedown> <pagedown> <pagedown> <pagedown>",
    );
    let end = shown(&screen, 80, 24);
    press(&mut screen, "<up>");
    let state = |text: &str| {
        let from = text.find("[state").expect("the state is chosen");
        let to = text[from..].find("history").map_or(text.len(), |length| from + length);
        text[from..to].to_owned()
    };
    assert!(!state(&end).contains("▼") && state(&end).contains("▲"), "{end}");
    assert!(state(&shown(&screen, 80, 24)).contains("▼ 1 more"), "{}", shown(&screen, 80, 24));
}

#[test]
fn keys_that_take_steps() {
    let loaded = load("sum_to_n.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    press(&mut screen, "<down> <enter>");
    assert_eq!(screen.session.step_text(1).0, "Thread1.loc0 → loc1");
    press(&mut screen, "3");
    assert_eq!(screen.session.step_text(2).0, "Thread2.loc0 → loc1");
    press(&mut screen, "r");
    assert_eq!(screen.session.position().0, 3);
    press(&mut screen, "R t");
    assert!(matches!(screen.session.position().0, 1..=10));
    press(&mut screen, "R c");
    typed(&mut screen, "x == 5");
    assert!(shown(&screen, 80, 24).contains("until: x == 5_"));
    press(&mut screen, "<enter>");
    assert_eq!(screen.session.position(), (9, 9), "the shortest path to 5 has nine steps");
    assert_eq!(screen.news.0, "9 steps to `x == 5`, the shortest path");
    press(&mut screen, "c");
    typed(&mut screen, "y == 5");
    press(&mut screen, "<enter>");
    assert!(screen.news.0.starts_with("column 1: cannot find a value named `y`"), "{}", screen.news.0);
    press(&mut screen, "9");
    assert_eq!(screen.news.0, "there is no such step");
}

#[test]
fn keys_that_explain() {
    let loaded = load("philosophers2.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    press(&mut screen, "1 2 w");
    let text = shown(&screen, 80, 24);
    assert!(text.contains("Philosopher1.loc1 is not enabled, because its guard is false:"), "{text}");
    assert!(text.contains("!fork2   false") && text.contains("fork2  true"), "{text}");
    press(&mut screen, "<down> <up> <esc>");
    assert!(screen.window.is_none());
    // Enter on what cannot be taken explains it, too.
    press(&mut screen, "<down> <enter>");
    assert!(screen.window.as_ref().is_some_and(|window| window.title.starts_with("Philosopher2.loc1 is not enabled")));
    press(&mut screen, "x");
    press(&mut screen, "?");
    let help = shown(&screen, 80, 24);
    let listed = KEYS.iter().all(|(key, ..)| help.contains(key));
    assert!(listed, "{help}");
    press(&mut screen, "q");
    assert!(!screen.is_over, "any key closes the help, and does no more");
    press(&mut screen, "z");
    assert!(screen.news.0.contains("this key does nothing"));
    press(&mut screen, "q");
    assert!(screen.is_over);
    screen.is_over = false;
    screen.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(screen.is_over);
}

#[test]
fn the_walk_is_saved_and_opened_again() {
    let loaded = load("philosophers2.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    let file = std::env::temp_dir().join(format!("birk-walk-{}.itf.json", std::process::id()));
    press(&mut screen, "1 2 s");
    typed(&mut screen, &file.display().to_string());
    press(&mut screen, "<enter>");
    let run = crate::itf::open(place.program, &file);
    std::fs::remove_file(&file).expect("it was written");
    let mut again = walk(&place);
    again.open(&run.expect("it is a trace"));
    assert_eq!(again.position(), (0, 2));
    again.jump(2);
    assert_eq!(again.violated().map(|property| property.name.as_str()), Some("deadlock"));
    press(&mut screen, "s <enter>");
    assert_eq!(screen.news.0, "a file name is missing");
}

#[test]
fn every_key_is_on_the_screen_at_every_size() {
    let loaded = load("abp.bir");
    let place = loaded.place();
    let mut screen = screen(&place);
    press(&mut screen, "t");
    for (width, height) in [(80, 24), (200, 50), (100, 30)] {
        let text = shown(&screen, width, height);
        for (key, name, _) in KEYS {
            assert!(text.contains(&format!("{key} {name}")), "{key} at {width}x{height}:\n{text}");
        }
        assert!(text.contains("right_item: true"), "properties at {width}x{height}");
    }
    assert!(shown(&screen, 30, 10).contains("the terminal is too small"));
    insta::assert_snapshot!("abp_200x50", shown(&screen, 200, 50));
}

#[test]
fn colours_are_left_out_when_nobody_wants_them() {
    let loaded = load("philosophers2.bir");
    let place = loaded.place();
    let shades = |color: bool| {
        let mut screen = screen(&place);
        screen.color = color;
        press(&mut screen, "1 2");
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("the test backend works");
        terminal.draw(|frame| draw::screen(&screen, frame)).expect("the test backend works");
        let cells = terminal.backend().buffer().content().to_vec();
        cells.iter().filter(|cell| cell.fg != Shade::Reset || cell.bg != Shade::Reset).count()
    };
    assert_eq!(shades(false), 0);
    assert!(shades(true) > 20);
}
