//! Plots as pieces of SVG, drawn without any library: bars and curves with labelled axes.

use std::fmt::Write as _;

use crate::numbers::grouped;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 240.0;
/// The width of a letter of the labels.
const LETTER: f64 = 7.4;
const BOTTOM: f64 = 34.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 14.0;

/// What a plot is called, and what its axes are.
pub(crate) struct Titles<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

/// A bar for each number, from 0 on.
pub(crate) fn bars(titles: &Titles<'_>, values: &[u64]) -> String {
    let top = nice(values.iter().copied().max().unwrap_or(0) as f64);
    let frame = Frame::new(values.len() as f64, top);
    // Thousands of bars would be thinner than a pixel: neighbours are joined, the largest counts.
    let group = values.len().div_ceil(240).max(1);
    let mut marks = String::new();
    for (index, chunk) in values.chunks(group).enumerate() {
        let value = chunk.iter().copied().max().unwrap_or(0) as f64;
        let (x, y) = (frame.x((index * group) as f64), frame.y(value));
        let width = (frame.x(((index + 1) * group) as f64) - x - 0.5).max(0.5);
        let _ = write!(
            marks,
            "<rect class=\"ink\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            frame.y(0.0) - y
        );
    }
    // A bar's number stands under its middle.
    let ticks = |part: f64| {
        let bar = (part * (values.len().saturating_sub(1)) as f64).round();
        (bar + 0.5, grouped(bar as u64))
    };
    figure(titles, &frame, &marks, ticks)
}

/// Curves through points.
pub(crate) fn curve(titles: &Titles<'_>, curves: &[Vec<(f64, f64)>], x_text: impl Fn(f64) -> String) -> String {
    let largest = |pick: fn(&(f64, f64)) -> f64| curves.iter().flatten().map(pick).fold(0.0, f64::max);
    let frame = Frame::new(largest(|p| p.0).max(1e-9), nice(largest(|p| p.1)));
    let place = |&(x, y): &(f64, f64)| format!("{:.1} {:.1}", frame.x(x), frame.y(y));
    let path = |points: &Vec<(f64, f64)>| points.iter().map(place).collect::<Vec<_>>().join("L");
    let mark = |points| format!("<path class=\"curve\" d=\"M{}\"/>", path(points));
    let marks: String = curves.iter().map(mark).collect();
    figure(titles, &frame, &marks, |part| (part * frame.right, x_text(part * frame.right)))
}

/// Where values lie on the paper.
struct Frame {
    right: f64,
    top: f64,
    /// Where the plot begins: its labels stand before it.
    left: f64,
}

impl Frame {
    fn new(right: f64, top: f64) -> Self {
        let label = grouped(top as u64).chars().count() as f64;
        Self { right, top, left: label * LETTER + 12.0 }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + value / self.right.max(1e-9) * (WIDTH - self.left - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.top.max(1e-9) * (HEIGHT - BOTTOM - TOP)
    }
}

fn figure(titles: &Titles<'_>, frame: &Frame, marks: &str, tick: impl Fn(f64) -> (f64, String)) -> String {
    let (mut axes, left) = (String::new(), frame.left);
    for part in 0..=4 {
        let value = frame.top * f64::from(part) / 4.0;
        let y = frame.y(value);
        let _ = write!(
            axes,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"soft\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            left - 6.0,
            y + 4.0,
            grouped(value as u64)
        );
        let (value, text) = tick(f64::from(part) / 4.0);
        let anchor = if part == 4 { "end" } else { "middle" };
        let _ = write!(
            axes,
            "<text class=\"soft\" x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            frame.x(value),
            HEIGHT - BOTTOM + 16.0,
            text
        );
    }
    let base = frame.y(0.0);
    let Titles { title, x, y } = titles;
    format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}: {y} by {x}\">{axes}{marks}\
         <line class=\"axis\" x1=\"{left}\" x2=\"{}\" y1=\"{base}\" y2=\"{base}\"/></svg>\
         <figcaption><strong>{title}</strong><br>{y}, by {x}</figcaption></figure>\n",
        WIDTH - RIGHT
    )
}

/// A round number at or above a value that four equal parts divide.
fn nice(value: f64) -> f64 {
    let mut step = 4.0;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if step * factor >= value {
                return step * factor;
            }
        }
        step *= 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!([0.0, 3.0, 5.0, 9.0, 21.0, 1000.0].map(nice), [4.0, 4.0, 8.0, 20.0, 40.0, 2000.0]);
    }

    #[test]
    fn bars_are_as_many_as_values_until_they_would_be_too_thin() {
        let titles = Titles { title: "t", x: "x", y: "y" };
        let count = |values: &[u64]| bars(&titles, values).matches("class=\"ink\"").count();
        assert_eq!([count(&[1, 2, 3]), count(&[1; 240]), count(&[1; 1000])], [3, 240, 200]);
        let label = bars(&titles, &[150_000_000]).split("text-anchor=\"end\">").nth(5).map(str::to_owned);
        assert!(label.is_some_and(|rest| rest.starts_with("200,000,000</text>")), "the highest label");
        let frame = Frame::new(1.0, 200_000_000.0);
        assert!(frame.left - 6.0 - 11.0 * 7.23 > 0.0, "letters of 12 pixels are 7.23 wide: the label begins inside");
        assert!(
            curve(&titles, &[vec![(0.0, 0.0), (2.0, 5.0)]], |x| x.to_string())
                .contains("class=\"curve\" d=\"M19.4 206.0L")
        );
    }
}
