//! Pictures: boxes with lines of text and labelled edges between them, as SVG that needs nothing else.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::graph_layout::{self, Drawing, Edge, Point, Size};
use crate::terminal::visible;

/// The colours, of a light and of a dark surrounding; pages use them, too.
pub(crate) const COLOURS: &str = ":root { color-scheme: light dark; --ground: #fff; --raised: #f5f6f8; --line: #c9ced6; --ink: #1b1f24; --soft: #57606a; \
     --accent: #0a58ca; --accent-ground: #dbe9ff; --bad: #b42318; --bad-ground: #ffe9e6; --good: #116329; --changed: #fff0b8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --raised: #1e2329; --line: #3a424c; --ink: #e7eaee; --soft: #a2acb8; \
     --accent: #7db3ff; --accent-ground: #1d3557; --bad: #ff8f84; --bad-ground: #3d1c1a; --good: #6fd08c; --changed: #4d4113; } }
";
/// How its parts look.
pub(crate) const CSS: &str = include_str!("../assets/picture.css");

/// The room that a character and a line take, in boxes and in labels, and around them.
const CHARACTER: f64 = 7.4;
const LINE: f64 = 15.0;
const PADDING: f64 = 8.0;
const LABEL_CHARACTER: f64 = 6.8;
const LABEL_LINE: f64 = 13.0;
const LABEL_PADDING: f64 = 3.0;
/// Around the whole, and above it where it has a caption.
const MARGIN: f64 = 14.0;
const CAPTION: f64 = 26.0;
/// Pictures stand beside each other until they are so wide.
const SHEET: f64 = 1600.0;

/// A picture.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    pub(crate) caption: String,
    pub(crate) boxes: Vec<Card>,
    pub(crate) edges: Vec<Arrow>,
}

/// A box.
#[derive(Debug, Default)]
pub(crate) struct Card {
    pub(crate) looks: Vec<&'static str>,
    pub(crate) lines: Vec<Line>,
    /// What is said when the mouse rests on it.
    pub(crate) hint: String,
    /// Attributes by which a page finds it, each with a blank before it.
    pub(crate) data: String,
}

/// An edge.
#[derive(Debug, Default)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) looks: Vec<&'static str>,
    pub(crate) lines: Vec<Line>,
    pub(crate) hint: String,
    pub(crate) data: String,
}

/// A line of text, and how it looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) look: &'static str,
}

impl Line {
    pub(crate) fn new(text: impl Into<String>, look: &'static str) -> Self {
        // What a browser would hide or reorder is seen.
        Self { text: visible(&text.into()).into_owned(), look }
    }

    /// At most so many characters of it.
    pub(crate) fn cut(mut self, most: usize) -> Self {
        if self.text.chars().count() > most {
            self.text = self.text.chars().take(most - 1).collect::<String>() + "…";
        }
        self
    }
}

fn size(lines: &[Line], [character, line, padding]: [f64; 3]) -> Size {
    let widest = lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(0);
    match lines.is_empty() {
        true => Size::default(),
        false => {
            Size { wide: widest as f64 * character + 2.0 * padding, high: lines.len() as f64 * line + 2.0 * padding }
        }
    }
}

impl Picture {
    fn drawing(&self) -> (Vec<Size>, Vec<Edge>, Drawing) {
        let boxes: Vec<Size> = self.boxes.iter().map(|card| size(&card.lines, [CHARACTER, LINE, PADDING])).collect();
        let label = |arrow: &Arrow| size(&arrow.lines, [LABEL_CHARACTER, LABEL_LINE, LABEL_PADDING]);
        let edge = |arrow: &Arrow| Edge { from: arrow.from, to: arrow.to, label: label(arrow) };
        let edges: Vec<Edge> = self.edges.iter().map(edge).collect();
        let drawing = graph_layout::draw(&boxes, &edges);
        (boxes, edges, drawing)
    }

    /// The parts of the picture, with its upper left corner at a place, and its size.
    fn parts(&self, at: Point) -> (String, Size) {
        let (boxes, edges, drawing) = self.drawing();
        let mut out = format!("<g transform=\"translate({:.1} {:.1})\">\n", at.x, at.y);
        let below = if self.caption.is_empty() { 0.0 } else { CAPTION };
        if !self.caption.is_empty() {
            let _ = writeln!(out, "<text class=\"caption\" x=\"0\" y=\"14\">{}</text>", escape(&self.caption));
        }
        let _ = writeln!(out, "<g transform=\"translate(0 {below:.1})\">");
        for (arrow, route) in self.edges.iter().zip(&drawing.edges) {
            let _ = writeln!(
                out,
                "<g class=\"{}\"{}>{}<path d=\"{}\" marker-end=\"url(#tip)\"/></g>",
                classes("edge", &arrow.looks),
                arrow.data,
                title(&arrow.hint),
                route.path
            );
        }
        for ((card, corner), size) in self.boxes.iter().zip(&drawing.boxes).zip(&boxes) {
            let frame = (*corner, *size, 6.0);
            let class = classes("box", &card.looks);
            write_group(&mut out, (&class, &card.data, &card.hint), frame, (&card.lines, [18.0, LINE, PADDING]));
        }
        for ((arrow, route), edge) in self.edges.iter().zip(&drawing.edges).zip(&edges) {
            let Some(corner) = route.label.filter(|_| !arrow.lines.is_empty()) else { continue };
            let frame = (corner, edge.label, 2.0);
            let class = classes("label", &arrow.looks);
            let text = (&arrow.lines[..], [12.5, LABEL_LINE, edge.label.wide / 2.0]);
            write_group(&mut out, (&class, &arrow.data, &arrow.hint), frame, text);
        }
        let caption = self.caption.chars().count() as f64 * 8.6;
        let size = Size { wide: drawing.size.wide.max(caption), high: drawing.size.high + below };
        (out + "</g>\n</g>\n", size)
    }

    /// The picture as a part of a page that has the style and the arrowhead.
    pub(crate) fn inline(&self) -> String {
        let (parts, size) = self.parts(Point { x: MARGIN, y: MARGIN });
        let [wide, high] = [size.wide, size.high].map(|length| length + 2.0 * MARGIN);
        format!(
            "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" \
             viewBox=\"0 0 {wide:.0} {high:.0}\">\n{parts}</svg>\n"
        )
    }
}

/// Pictures on one sheet, as a file.
pub(crate) fn sheet(name: &str, pictures: &[Picture]) -> String {
    let mut parts = String::new();
    let (mut at, mut right, mut bottom) = (Point { x: MARGIN, y: MARGIN }, 0.0_f64, 0.0_f64);
    for picture in pictures {
        let (_, size) = picture.parts(at);
        if at.x > MARGIN && at.x + size.wide > SHEET {
            at = Point { x: MARGIN, y: bottom + 2.0 * MARGIN };
        }
        parts += &picture.parts(at).0;
        right = right.max(at.x + size.wide);
        bottom = bottom.max(at.y + size.high);
        at.x += size.wide + 3.0 * MARGIN;
    }
    let (wide, high) = (right + MARGIN, bottom + MARGIN);
    format!(
        "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" \
         viewBox=\"0 0 {wide:.0} {high:.0}\">\n<title>{}</title>\n<style>\n{COLOURS}{CSS}</style>\n{TIP}\
         <rect width=\"100%\" height=\"100%\" fill=\"var(--ground)\"/>\n{parts}</svg>\n",
        escape(name)
    )
}

/// The arrowhead.
pub(crate) const TIP: &str = "<defs><marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\" \
                              markerUnits=\"userSpaceOnUse\"><path class=\"tip\" d=\"M0 0L9 4L0 8z\"/></marker></defs>\n";

fn classes(kind: &str, looks: &[&str]) -> String {
    std::iter::once(kind).chain(looks.iter().copied()).collect::<Vec<_>>().join(" ")
}

fn title(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("<title>{}</title>", escape(&visible(hint))) }
}

/// A frame with lines of text in it.
fn write_group(
    out: &mut String,
    (class, data, hint): (&str, &str, &str),
    (corner, size, round): (Point, Size, f64),
    (lines, [first, line, padding]): (&[Line], [f64; 3]),
) {
    let Point { x, y } = corner;
    let _ = writeln!(
        out,
        "<g class=\"{class}\"{data}>{}<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\"/>",
        title(hint),
        size.wide,
        size.high
    );
    for (row, text) in lines.iter().enumerate() {
        let look = if text.look.is_empty() { String::new() } else { format!(" class=\"{}\"", text.look) };
        let (x, y) = (x + padding, y + first + line * row as f64);
        let _ = writeln!(out, "<text{look} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(&text.text));
    }
    out.push_str("</g>\n");
}
