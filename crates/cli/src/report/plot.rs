//! Plots as pieces of SVG, drawn without any library: bars and curves with labelled axes.

use std::fmt::Write as _;

use crate::numbers::grouped;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 240.0;
/// The width of a letter of the labels.
const LETTER: f64 = 7.4;
const BOTTOM: f64 = 34.0;
const TOP: f64 = 12.0;
/// Room for half a label, at least.
const RIGHT: f64 = 14.0;
/// An axis has at most so many labels between its ends, and these have at least so much room between them.
const PARTS: f64 = 6.0;
const SPACE: f64 = 22.0;

/// What a plot is called, and what its axes are.
pub(crate) struct Titles<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

/// Round numbers along an axis: 0, 2, 4, ...
struct Ticks {
    step: f64,
    last: u32,
}

impl Ticks {
    /// From 0 to a value or just beyond, in steps of 1, 2 or 5 times a power of ten, not smaller than `least`.
    fn to(value: f64, parts: f64, least: f64) -> Self {
        let step = round(value / parts.max(1.0)).max(least);
        Self { step, last: (value / step - 1e-9).ceil().max(1.0) as u32 }
    }

    /// The same, but none lies beyond the value.
    fn within(value: f64, parts: f64, least: f64) -> Self {
        let step = round(value / parts.max(1.0)).max(least);
        Self { step, last: (value / step + 1e-9).floor() as u32 }
    }

    fn end(&self) -> f64 {
        self.step * f64::from(self.last)
    }

    fn each(&self) -> impl Iterator<Item = f64> + '_ {
        (0..=self.last).map(|number| self.step * f64::from(number))
    }

    /// As many digits behind the point as the step has.
    fn text(&self, value: f64) -> String {
        let digits = (-self.step.log10().floor()).max(0.0) as usize;
        if digits == 0 { grouped(value.round() as u64) } else { format!("{value:.digits$}") }
    }

    fn widest(&self) -> f64 {
        self.each().map(|value| self.text(value).chars().count()).max().unwrap_or(1) as f64 * LETTER
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below a value.
fn round(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A bar for each number, from 0 on.
pub(crate) fn bars(titles: &Titles<'_>, values: &[u64]) -> String {
    let most = values.iter().copied().max().unwrap_or(0) as f64;
    let frame = Frame::new(values.len() as f64, Ticks::to(most, 4.0, 1.0));
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
    let last = values.len().saturating_sub(1) as f64;
    // A bar's number stands under its middle.
    figure(titles, &frame, &marks, &Ticks::within(last, frame.parts(last), 1.0), 0.5)
}

/// Curves through points.
pub(crate) fn curve(titles: &Titles<'_>, curves: &[Vec<(f64, f64)>]) -> String {
    let largest = |pick: fn(&(f64, f64)) -> f64| curves.iter().flatten().map(pick).fold(0.0, f64::max);
    let frame = Frame::new(largest(|p| p.0).max(1e-6), Ticks::to(largest(|p| p.1), 4.0, 1.0));
    let place = |&(x, y): &(f64, f64)| format!("{:.1} {:.1}", frame.x(x), frame.y(y));
    let path = |points: &Vec<(f64, f64)>| points.iter().map(place).collect::<Vec<_>>().join("L");
    let mark = |points| format!("<path class=\"curve\" d=\"M{}\"/>", path(points));
    let marks: String = curves.iter().map(mark).collect();
    let ticks = Ticks::within(frame.right, frame.parts(frame.right), 1e-6);
    figure(titles, &frame, &marks, &ticks, 0.0)
}

/// Where values lie on the paper.
struct Frame {
    right: f64,
    ticks: Ticks,
    /// Where the plot begins: its labels stand before it.
    left: f64,
}

impl Frame {
    fn new(right: f64, ticks: Ticks) -> Self {
        Self { right, left: ticks.widest() + 12.0, ticks }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + value / self.right.max(1e-9) * (WIDTH - self.left - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.ticks.end().max(1e-9) * (HEIGHT - BOTTOM - TOP)
    }

    /// Into how many parts the axis along the bottom can be divided so that labels do not touch.
    fn parts(&self, last: f64) -> f64 {
        let room = WIDTH - self.left - RIGHT;
        let fits = |parts: &f64| (Ticks::within(last, *parts, 1e-6).widest() + SPACE) * parts <= room;
        [PARTS, 5.0, 4.0, 3.0].into_iter().find(fits).unwrap_or(2.0)
    }
}

/// The plot with its axes; the labels along the bottom stand `shift` to the right of their values.
fn figure(titles: &Titles<'_>, frame: &Frame, marks: &str, along: &Ticks, shift: f64) -> String {
    let (mut axes, left) = (String::new(), frame.left);
    for value in frame.ticks.each() {
        let y = frame.y(value);
        let _ = write!(
            axes,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"soft\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            left - 6.0,
            y + 4.0,
            frame.ticks.text(value)
        );
    }
    for value in along.each() {
        let (x, text) = (frame.x(value + shift), along.text(value));
        // At the edge, a label ends where the plot does.
        let is_outside = x + text.chars().count() as f64 * LETTER / 2.0 > WIDTH;
        let (x, anchor) = if is_outside { (WIDTH - 1.0, "end") } else { (x, "middle") };
        let y = HEIGHT - BOTTOM + 16.0;
        let _ = write!(axes, "<text class=\"soft\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>");
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

#[cfg(test)]
mod tests {
    use super::*;

    const TITLES: Titles<'_> = Titles { title: "t", x: "x", y: "y" };

    #[test]
    fn axes_have_round_numbers() {
        let texts = |ticks: Ticks| ticks.each().map(|value| ticks.text(value)).collect::<Vec<_>>();
        assert_eq!(texts(Ticks::to(0.0, 4.0, 1.0)), ["0", "1"]);
        assert_eq!(texts(Ticks::to(3.0, 4.0, 1.0)), ["0", "1", "2", "3"]);
        assert_eq!(texts(Ticks::to(21.0, 4.0, 1.0)), ["0", "10", "20", "30"]);
        assert_eq!(texts(Ticks::to(1000.0, 4.0, 1.0)), ["0", "500", "1,000"]);
        assert_eq!(texts(Ticks::to(150e6, 4.0, 1.0)), ["0", "50,000,000", "100,000,000", "150,000,000"]);
        assert_eq!(texts(Ticks::within(0.137, 6.0, 1e-6)), ["0.00", "0.05", "0.10"]);
        assert_eq!(texts(Ticks::within(7.0, 6.0, 1.0)), ["0", "2", "4", "6"]);
        assert_eq!(texts(Ticks::within(0.0, 6.0, 1.0)), ["0"]);
        for value in [1e-6, 0.3, 7.0, 99.0, 12_345.0, 3e9] {
            let ticks = Ticks::to(value, 4.0, 1e-9);
            let lead = ticks.step / 10f64.powf(ticks.step.log10().floor());
            assert!([1.0, 2.0, 5.0, 10.0].iter().any(|round| (lead - round).abs() < 1e-6), "{value}: {lead}");
            assert!(ticks.end() >= value * 0.999 && ticks.last <= 5, "{value}: {} x {}", ticks.step, ticks.last);
        }
    }

    /// The labels of an axis with their places and what they are anchored by.
    fn labels(figure: &str) -> Vec<(f64, String, String)> {
        let label = |text: &str| {
            let part = |from: &str, to: &str| {
                let rest = text.split_once(from).map_or("", |(_, rest)| rest);
                rest.split(to).next().unwrap_or_default().to_owned()
            };
            (part("x=\"", "\"").parse().expect("a place"), part("text-anchor=\"", "\""), part(">", "<"))
        };
        figure.split("<text ").skip(1).map(label).collect()
    }

    #[test]
    fn labels_have_room() {
        let times = [1.0, 0.02, 137.0, 0.000_7];
        let curves = times.map(|seconds| curve(&TITLES, &[vec![(0.0, 0.0), (seconds, 150e6)]]));
        let bars = [1, 7, 100, 5000].map(|number| bars(&TITLES, &vec![12_345_678; number]));
        for figure in curves.iter().chain(&bars) {
            let along: Vec<(f64, f64)> = labels(figure)
                .iter()
                .filter(|(_, anchor, _)| anchor == "middle")
                .map(|(x, _, text)| (*x, text.chars().count() as f64 * LETTER / 2.0))
                .collect();
            assert!(along.windows(2).all(|two| two[0].0 + two[0].1 + 4.0 < two[1].0 - two[1].1), "{along:?}");
            let is_inside = |(x, anchor, text): &(f64, String, String)| {
                let width = text.chars().count() as f64 * LETTER;
                let (from, to) = if anchor == "end" { (x - width, *x) } else { (x - width / 2.0, x + width / 2.0) };
                from >= 0.0 && to <= WIDTH
            };
            assert!(labels(figure).iter().all(is_inside), "{:?}", labels(figure));
        }
    }

    #[test]
    fn bars_are_as_many_as_values_until_they_would_be_too_thin() {
        let count = |values: &[u64]| bars(&TITLES, values).matches("class=\"ink\"").count();
        assert_eq!([count(&[1, 2, 3]), count(&[1; 240]), count(&[1; 1000])], [3, 240, 200]);
        assert!(curve(&TITLES, &[vec![(0.0, 0.0), (2.0, 5.0)]]).contains("class=\"curve\" d=\"M19.4 206.0L466.0 "));
    }
}
