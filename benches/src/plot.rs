//! Plots of the documentation, as SVG written by hand: curves over a few values, and ranges on a logarithmic scale.

use std::fmt::Write as _;
use std::path::Path;

const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
const COLOURS: [&str; 13] = [
    "#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#16a085", "#7f5539", "#d16ba5", "#5d6d7e", "#111111",
    "#4b9cd3", "#e67e22", "#6b8e23",
];

/// A curve: its name and its points, the first coordinate a place on the axis.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// Drawn with gaps.
    pub(crate) is_dashed: bool,
}

/// What the height of a curve means.
pub(crate) enum Scale {
    /// From 0 to a number.
    Linear(f64),
    /// From one power of ten to another.
    Decades(u32, u32),
}

impl Scale {
    /// The decades in which all points of some curves lie.
    pub(crate) fn decades_of(curves: &[Curve]) -> Self {
        let values = || curves.iter().flat_map(|curve| &curve.points).map(|&(_, value)| value.max(1.0).log10());
        let least = values().map(|value| value.floor() as u32).min().unwrap_or(0);
        let most = values().map(|value| value.ceil() as u32).max().unwrap_or(1);
        Self::Decades(least, most.max(least + 1))
    }

    /// How far up a value lies, as a part of the whole height.
    fn part(&self, value: f64) -> f64 {
        match *self {
            Self::Linear(top) => value.min(top) / top,
            Self::Decades(least, most) => {
                (value.max(1.0).log10() - f64::from(least)).max(0.0) / f64::from(most - least)
            }
        }
    }

    /// The values at which a line goes across, with their names.
    fn lines(&self) -> Vec<(f64, String)> {
        match *self {
            Self::Linear(top) => (0..=4)
                .map(|part| top * f64::from(part) / 4.0)
                .map(|value| (value, if top < 4.0 { format!("{value:.2}") } else { format!("{value:.0}") }))
                .collect(),
            Self::Decades(least, most) => {
                (least..=most).map(|decade| (10f64.powi(decade as i32), power(decade))).collect()
            }
        }
    }
}

/// A power of ten; millions in short.
fn power(decade: u32) -> String {
    let (number, unit) = if decade < 6 { (decade, "") } else { (decade - 6, " M") };
    crate::table::grouped(10u64.pow(number)) + unit
}

/// Curves over places that have names; a line across at `mark`.
pub(crate) fn curves(
    title: &str,
    y: &str,
    places: &[String],
    curves: &[Curve],
    scale: &Scale,
    mark: Option<f64>,
) -> String {
    let (width, height) = (640.0, 300.0);
    let at = |place: f64| LEFT + 14.0 + place / (places.len().max(2) - 1) as f64 * (width - LEFT - RIGHT - 28.0);
    let up = |value: f64| height - BOTTOM - scale.part(value) * (height - TOP - BOTTOM);
    let mut body = String::new();
    for (value, text) in scale.lines() {
        line(&mut body, (LEFT, up(value)), (width - RIGHT, up(value)), "#ddd");
        text_at(&mut body, (LEFT - 6.0, up(value) + 4.0), "end", &text);
    }
    for (place, name) in places.iter().enumerate() {
        text_at(&mut body, (at(place as f64), height - BOTTOM + 18.0), "middle", name);
    }
    if let Some(mark) = mark {
        line(&mut body, (LEFT, up(mark)), (width - RIGHT, up(mark)), "#444");
    }
    for (number, curve) in curves.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let dash = if curve.is_dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let points: Vec<String> =
            curve.points.iter().map(|&(place, value)| format!("{:.1},{:.1}", at(place), up(value))).collect();
        let _ = writeln!(
            body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            points.join(" ")
        );
        if let [(place, value)] = curve.points[..] {
            let _ =
                writeln!(body, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", at(place), up(value));
        }
        let key = TOP + 8.0 + 18.0 * number as f64;
        let (from, to) = (width - RIGHT + 12.0, width - RIGHT + 34.0);
        let _ = writeln!(
            body,
            "<line x1=\"{from}\" x2=\"{to}\" y1=\"{key}\" y2=\"{key}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>"
        );
        text_at(&mut body, (to + 6.0, key + 4.0), "start", &curve.name);
    }
    text_at(&mut body, (LEFT, TOP - 12.0), "start", &format!("{title}: {y}"));
    page(width, height, title, &body)
}

/// What one row of a group shows: a name and the three quartiles; none where there is nothing to show.
pub(crate) struct Range {
    pub(crate) name: String,
    pub(crate) quartiles: Option<[f64; 3]>,
    /// More than the last quartile says is not known.
    pub(crate) is_open: bool,
}

/// Groups of ranges on a logarithmic scale from 1 to a power of ten.
pub(crate) fn ranges(title: &str, groups: &[(String, Vec<Range>)], decades: u32) -> String {
    let (left, row, gap, right) = (170.0, 17.0, 30.0, 20.0);
    let rows: usize = groups.iter().map(|(_, ranges)| ranges.len()).sum();
    let width = 720.0;
    let height = TOP + rows as f64 * row + groups.len() as f64 * gap + BOTTOM;
    let at = |value: f64| left + value.max(1.0).log10() / f64::from(decades) * (width - left - right);
    let mut body = String::new();
    for decade in 0..=decades {
        let x = at(10f64.powi(decade as i32));
        line(&mut body, (x, TOP), (x, height - BOTTOM), "#ddd");
        let anchor = if decade == decades { "end" } else { "middle" };
        text_at(&mut body, (x, height - BOTTOM + 18.0), anchor, &power(decade));
    }
    let mut y = TOP;
    for (name, ranges) in groups {
        y += gap;
        text_at(&mut body, (8.0, y - 8.0), "start", name);
        for (number, range) in ranges.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            text_at(&mut body, (left - 8.0, y + 9.0), "end", &range.name);
            if let Some([low, middle, high]) = range.quartiles {
                let (from, to) = (at(low), at(high).max(at(low) + 1.0));
                let _ = writeln!(
                    body,
                    "<rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"5\" fill=\"{colour}\" opacity=\"0.45\"/>\
                     <circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\" fill=\"{colour}\"/>",
                    y + 2.5,
                    to - from,
                    at(middle),
                    y + 5.0
                );
                if range.is_open {
                    text_at(&mut body, (to + 4.0, y + 9.0), "start", "→");
                }
            } else {
                text_at(&mut body, (left + 6.0, y + 9.0), "start", "not found");
            }
            y += row;
        }
    }
    text_at(&mut body, (left, TOP - 12.0), "start", title);
    page(width, height, title, &body)
}

/// Writes a picture of the documentation.
pub(crate) fn save(root: &Path, name: &str, picture: &str) {
    std::fs::write(root.join("docs/src/images").join(name), picture).expect("the picture can be written");
}

fn line(body: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        body,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text_at(body: &mut String, at: (f64, f64), anchor: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>", at.0, at.1);
}

fn page(width: f64, height: f64, title: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\" role=\"img\" aria-label=\"{title}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_they_belong() {
        let curve = Curve { name: "a<b".into(), points: vec![(0.0, 0.0), (1.0, 50.0), (2.0, 200.0)], is_dashed: false };
        let places = ["1", "2", "3"].map(str::to_owned);
        let picture = curves("t", "%", &places, &[curve], &Scale::Linear(100.0), Some(50.0));
        // From the left to the right, from the bottom to the top; what is larger than the top stays there.
        assert!(picture.contains("points=\"78.0,256.0 277.0,143.0 476.0,30.0\""), "{picture}");
        assert!(picture.contains("a&lt;b") && picture.contains("y1=\"143.0\""));
        // Of three decades the value in the middle of the second lies in the middle; a single point is a dot.
        let single = |value| vec![Curve { name: String::new(), points: vec![(0.0, value)], is_dashed: false }];
        let both: Vec<Curve> = [single(20.0), single(9_000.0)].into_iter().flatten().collect();
        let scale = Scale::decades_of(&both);
        assert!(matches!(scale, Scale::Decades(1, 4)));
        let picture = curves("t", "", &places, &single(316.227_766), &scale, None);
        assert!(picture.contains("cx=\"78.0\" cy=\"143.0\"") && picture.contains(">10,000</text>"), "{picture}");
        let range = |quartiles| Range { name: "r".into(), quartiles, is_open: false };
        let groups = [("g".to_owned(), vec![range(Some([10.0, 100.0, 1_000.0])), range(None)])];
        let picture = ranges("t", &groups, 4);
        // Three decades of 530 / 4 each begin at 170.
        assert!(picture.contains("<rect x=\"302.5\"") && picture.contains("width=\"265.0\""), "{picture}");
        assert!(picture.contains("cx=\"435.0\"") && picture.contains("not found"));
    }
}
