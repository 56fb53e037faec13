//! How guided simulation looks on a terminal. Everything that colour says is also said by a mark, so that the screen
//! reads the same without colours.

use birk_ir::{Span, ThreadId};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span as Piece};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use crate::interactive::screen::{KEYS, Part, Screen};
use crate::interactive::session::Mood;
use crate::terminal::visible;

/// Below this size there is no room for the parts.
const SMALLEST: (u16, u16) = (40, 14);

/// Draws everything.
pub(crate) fn screen(screen: &Screen<'_, '_>, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        frame.render_widget(Paragraph::new("the terminal is too small; q leaves"), area);
        return;
    }
    let paint = Paint(screen.color);
    let keys = keys_text(paint);
    let key_rows = if keys.width() > usize::from(area.width) { 2 } else { 1 };
    let standing = standings_text(screen, paint);
    let standing_rows = if standing.width() > usize::from(area.width) { 2 } else { 1 };
    let rows = [Constraint::Length(1), Constraint::Min(8), Constraint::Length(standing_rows), Constraint::Length(1)];
    let [top, body, properties, news, bottom] =
        Layout::vertical(rows.into_iter().chain([Constraint::Length(key_rows)])).areas(area);
    title(screen, frame, top, paint);
    let [left, right] = Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).areas(body);
    source(screen, frame, left, paint);
    let third = [Constraint::Fill(3), Constraint::Fill(3), Constraint::Fill(2)];
    let [steps, state, history] = Layout::vertical(third).areas(right);
    offers(screen, frame, steps, paint);
    values(screen, frame, state, paint);
    walk(screen, frame, history, paint);
    frame.render_widget(Paragraph::new(standing).wrap(Wrap { trim: false }), properties);
    said(screen, frame, news, paint);
    frame.render_widget(Paragraph::new(keys).wrap(Wrap { trim: true }), bottom);
    window(screen, frame, body, paint);
}

/// How text is set off: by colour where it may be used, and always by weight or by reversing it.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, color: Color, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        if self.0 { style.fg(color) } else { style }
    }

    fn mood(self, mood: Mood) -> Style {
        match mood {
            Mood::Plain => Style::new(),
            Mood::Good => self.with(Color::Green, Modifier::BOLD),
            Mood::Bad => self.with(Color::Red, Modifier::BOLD),
        }
    }

    fn changed(self) -> Style {
        self.with(Color::Yellow, Modifier::BOLD)
    }

    fn thread(self) -> Style {
        self.with(Color::Cyan, Modifier::BOLD)
    }

    fn dim() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn block<'b>(self, title: &str, is_chosen: bool) -> Block<'b> {
        let title = if is_chosen { format!("[{title}]") } else { format!(" {title} ") };
        let style = if is_chosen { self.thread() } else { Self::dim() };
        Block::bordered().title(title).border_style(style)
    }
}

/// What is shown of something that may be longer than the room for it.
#[derive(Clone, Copy)]
struct View {
    first: usize,
    height: usize,
    total: usize,
}

impl View {
    /// The block with the number of lines above and below what is shown.
    fn marked<'b>(self, block: Block<'b>) -> Block<'b> {
        let below = self.total.saturating_sub(self.first + self.height);
        let marks = [("▲", self.first), ("▼", below)];
        let marks: Vec<String> =
            marks.iter().filter(|(_, lines)| *lines > 0).map(|(mark, lines)| format!("{mark} {lines} more")).collect();
        if marks.is_empty() {
            block
        } else {
            block.title_bottom(Line::from(format!(" {} ", marks.join(" "))).right_aligned())
        }
    }
}

fn title(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, area: Rect, _: Paint) {
    let (at, last) = screen.session.position();
    let left = format!(" {}: {}", visible(&screen.place.source.path), screen.place.program.system);
    let right = format!("step {at} of {last} ");
    let room = usize::from(area.width).saturating_sub(right.chars().count());
    let line = format!("{:room$}{right}", cut(&left, room));
    frame.render_widget(Paragraph::new(line).style(Paint::selected()), area);
}

/// The source: where each thread is, and the step that is selected.
fn source(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, area: Rect, paint: Paint) {
    let (source, program, session) = (screen.place.source, screen.place.program, &screen.session);
    let offer = session.offers().get(screen.selected).map(|offer| offer.transition);
    let chosen = offer.or_else(|| session.transition(session.position().0)).map(|id| program.transition(id).span);
    let span = chosen.unwrap_or_default();
    let file = source.file(span);
    let marked = chosen.map_or(0..0, |span| lines_of(source, span));
    let mut marks: Vec<(usize, String)> = Vec::new();
    for thread in (0..program.threads.len()).map(ThreadId::new) {
        let Some(location) = program.location_of(thread, session.state()) else { continue };
        let place = program.kind_of(thread).locations[location.index()].span;
        if std::ptr::eq(source.file(place), file) {
            marks.push((source.position(place).0, program.thread(thread).name.clone()));
        }
    }
    let block = paint.block(&visible(&file.path), screen.part == Part::Source);
    let inner = block.inner(area);
    let (height, width) = (usize::from(inner.height), usize::from(inner.width));
    let total = file.text.lines().count();
    let middle = marked.start.saturating_sub(height / 2).saturating_add_signed(screen.moved[0]);
    let first = middle.min(total.saturating_sub(height));
    frame.render_widget(View { first, height, total }.marked(block), area);
    let digits = total.to_string().len();
    let mut lines = Vec::new();
    for (index, text) in file.text.lines().enumerate().skip(first).take(height) {
        let number = index + 1;
        let here: Vec<&str> = marks.iter().filter(|(line, _)| *line == number).map(|(_, name)| &**name).collect();
        lines.push(source_line((number, digits), text, &here, marked.contains(&number), width, paint));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

/// Number, mark, text, and at the right the threads that are here.
fn source_line<'t>(
    (number, digits): (usize, usize),
    text: &str,
    threads: &[&str],
    is_chosen: bool,
    width: usize,
    paint: Paint,
) -> Line<'t> {
    let mark = match (is_chosen, threads.is_empty()) {
        (true, _) => "»",
        (false, false) => "●",
        (false, true) => " ",
    };
    let who = if threads.is_empty() { String::new() } else { format!(" ◂ {}", names(threads, width / 2)) };
    let room = width.saturating_sub(digits + 3 + who.chars().count());
    let text = cut(&visible(text).replace('\t', "    "), room);
    let style = if is_chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    Line::from(vec![
        Piece::styled(format!("{number:>digits$} "), Paint::dim()),
        Piece::styled(format!("{mark} "), paint.thread()),
        Piece::styled(format!("{text:room$}"), style),
        Piece::styled(who, paint.thread()),
    ])
}

/// As many names as there is room for.
fn names(threads: &[&str], room: usize) -> String {
    let mut shown = threads.len();
    loop {
        let rest = threads.len() - shown;
        let more = if rest > 0 { format!(" +{rest}") } else { String::new() };
        let text = threads[..shown].join(" ") + &more;
        if text.chars().count() <= room || shown <= 1 {
            return text;
        }
        shown -= 1;
    }
}

fn offers(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, area: Rect, paint: Paint) {
    let offers = screen.session.offers();
    let enabled = offers.iter().filter(|offer| offer.ordinal.is_some()).count();
    let block = paint.block(&format!("next: {enabled} enabled"), screen.part == Part::Steps);
    let inner = block.inner(area);
    let (height, width) = (usize::from(inner.height), usize::from(inner.width));
    let first = screen.selected.saturating_sub(height.saturating_sub(1));
    frame.render_widget(View { first, height, total: offers.len() }.marked(block), area);
    if offers.is_empty() {
        frame.render_widget(Paragraph::new("no thread has a step here"), inner);
        return;
    }
    let mut lines = Vec::new();
    for (index, offer) in offers.iter().enumerate().skip(first).take(height) {
        let mark = if index == screen.selected { ">" } else { " " };
        let (number, effect) = match offer.ordinal {
            Some(_) => ((index + 1).to_string(), offer.effect.as_str()),
            None => ("-".into(), "(not enabled)"),
        };
        let text = cut(&format!("{mark}{number:>2} {}  {effect}", offer.title), width);
        let style = match (index == screen.selected, offer.ordinal) {
            (true, _) => Paint::selected(),
            (false, None) => Paint::dim(),
            (false, Some(_)) => Style::new(),
        };
        lines.push(Line::styled(format!("{text:width$}"), style));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The values, in as many columns as fit; what the last step changed is marked, and comes first where not everything fits.
fn values(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, area: Rect, paint: Paint) {
    let block = paint.block("state (* changed)", screen.part == Part::State);
    let inner = block.inner(area);
    let (height, width) = (usize::from(inner.height).max(1), usize::from(inner.width).max(1));
    let values = screen.session.values();
    let mut cells: Vec<(String, bool)> = Vec::new();
    for (name, value, old) in &values {
        let Some(old) = old else {
            cells.push((format!(" {name} = {value}"), false));
            continue;
        };
        let whole = format!("*{name} = {value} (was {old})");
        // What changed is worth a second line.
        match whole.chars().count() > width {
            true => cells.extend([(format!("*{name} = {value}"), true), (format!("   was {old}"), true)]),
            false => cells.push((whole, true)),
        }
    }
    let widest = cells.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(1) + 2;
    let columns = (width / widest).clamp(1, cells.len().max(1));
    let rows = cells.len().div_ceil(columns);
    if rows > height {
        cells.sort_by_key(|(_, is_changed)| !is_changed);
    }
    let furthest = rows.saturating_sub(height);
    screen.furthest.set(furthest);
    let first = 0usize.saturating_add_signed(screen.moved[1]).min(furthest);
    frame.render_widget(View { first, height, total: rows }.marked(block), area);
    let line = |row: usize| {
        let pieces = (0..columns).filter_map(|column| cells.get(column * rows + row)).map(|(text, is_changed)| {
            let style = if *is_changed { paint.changed() } else { Style::new() };
            Piece::styled(format!("{:widest$}", cut(text, width)), style)
        });
        Line::from(pieces.collect::<Vec<_>>())
    };
    let lines: Vec<Line<'_>> = (first..rows.min(first + height)).map(line).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

fn walk(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, area: Rect, paint: Paint) {
    let block = paint.block("history", screen.part == Part::History);
    let inner = block.inner(area);
    let (height, width) = (usize::from(inner.height), usize::from(inner.width));
    let (at, last) = screen.session.position();
    let first = (at + 2).saturating_sub(height).min((last + 1).saturating_sub(height));
    frame.render_widget(View { first, height, total: last + 1 }.marked(block), area);
    let line = |step: usize| {
        let (title, effect) = screen.session.step_text(step);
        let mark = if step == at { ">" } else { " " };
        let text = cut(&format!("{mark}{step:>3} {title}  {effect}"), width);
        let style = match step.cmp(&at) {
            std::cmp::Ordering::Less => Style::new(),
            std::cmp::Ordering::Equal => Style::new().add_modifier(Modifier::BOLD),
            std::cmp::Ordering::Greater => Paint::dim(),
        };
        Line::styled(text, style)
    };
    let lines: Vec<Line<'_>> = (first..(last + 1).min(first + height)).map(line).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// What the state says about each property.
fn standings_text<'t>(screen: &Screen<'_, '_>, paint: Paint) -> Line<'t> {
    let mut standings = screen.session.standings();
    // What is wrong must not be cut off.
    standings.sort_by_key(|standing| standing.mood != Mood::Bad);
    let mut pieces = vec![Piece::raw(" ")];
    for standing in standings {
        let mark = if standing.mood == Mood::Bad { "! " } else { "" };
        // A blank that does not break keeps a property and its value on one line.
        let text = format!("{mark}{}: {}", standing.name, visible(&standing.text)).replace(' ', "\u{a0}");
        pieces.push(Piece::styled(text, paint.mood(standing.mood)));
        pieces.push(Piece::raw("   "));
    }
    Line::from(pieces)
}

/// What is being typed, or the last news.
fn said(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, area: Rect, paint: Paint) {
    let line = match &screen.question {
        Some(question) => {
            let typed = format!(" {}: {}", question.title, visible(&question.text));
            let column = area.x + typed.chars().count().min(usize::from(area.width) - 1) as u16;
            frame.set_cursor_position((column, area.y));
            Line::styled(format!("{typed}_   (Enter does it, Esc leaves it)"), Style::new())
        }
        None if screen.news.0.is_empty() => selected_effect(screen),
        None => Line::styled(format!(" {}", visible(&screen.news.0)), paint.mood(screen.news.1)),
    };
    frame.render_widget(Paragraph::new(line), area);
}

/// What the selected step would do, for which its row may be too short.
fn selected_effect<'t>(screen: &Screen<'_, '_>) -> Line<'t> {
    let offer = screen.session.offers().get(screen.selected).filter(|offer| offer.ordinal.is_some());
    let text = offer.map(|offer| match offer.effect.is_empty() {
        true => format!(" {}", offer.title),
        false => format!(" {}: {}", offer.title, offer.effect),
    });
    Line::styled(text.unwrap_or_default(), Paint::dim())
}

fn keys_text<'t>(paint: Paint) -> Line<'t> {
    let mut pieces = Vec::new();
    for (key, name, _) in KEYS {
        pieces.push(Piece::styled((*key).to_owned(), paint.thread()));
        // A blank that does not break keeps a key and its meaning on one line.
        pieces.push(Piece::raw(format!("\u{a0}{}  ", name.replace(' ', "\u{a0}"))));
    }
    Line::from(pieces)
}

fn window(screen: &Screen<'_, '_>, frame: &mut Frame<'_>, body: Rect, paint: Paint) {
    let Some(window) = &screen.window else { return };
    let shown: Vec<_> = window.lines.iter().map(|line| visible(line)).collect();
    let widest =
        shown.iter().map(|line| &**line).chain([&*window.title]).map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (widest as u16).saturating_add(4).min(body.width);
    let rows: u16 = shown.iter().map(|line| rows_of(line, width.saturating_sub(2))).sum();
    let height = rows.saturating_add(2).min(body.height);
    let area = Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 2, width, height };
    let above: u16 = shown.iter().take(window.scroll).map(|line| rows_of(line, width.saturating_sub(2))).sum();
    let view = View { first: above.into(), height: height.saturating_sub(2).into(), total: rows.max(above).into() };
    let block = Block::bordered().title(format!(" {} ", window.title)).border_style(paint.thread());
    let block = view.marked(block);
    let lines: Vec<Line<'_>> = shown.iter().skip(window.scroll).map(|line| Line::raw(&**line)).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(block), area);
}

/// How many rows a line takes when it is wrapped at words.
fn rows_of(line: &str, width: u16) -> u16 {
    (line.chars().count() as u16).div_ceil(width.max(1)).max(1)
}

/// The lines of a span, from 1.
fn lines_of(source: &crate::source::Source, span: Span) -> std::ops::Range<usize> {
    let (first, _) = source.position(span);
    let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
    first..source.position(end).0 + 1
}

/// At most so many characters; what is cut ends with a mark.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect::<String>().chars().take(room).collect()
}
