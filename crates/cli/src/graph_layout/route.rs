//! The last step: heights of the layers, where edges touch their boxes, and the paths.

use std::fmt::Write as _;

use crate::graph_layout::layers::{Chain, LOOP, LOOP_HIGH, Layered, TURN};
use crate::graph_layout::{Drawing, Edge, Point, Route, Size};

/// The room between layers, more where edges go far to the side.
const GAP: f64 = 16.0;
const MAX_GAP: f64 = 72.0;
const SLOPE: f64 = 0.12;
/// How far the places where edges touch a box are apart, and from its corners, if there is room.
const PORT: f64 = 22.0;
const CORNER: f64 = 10.0;
/// A curve is written down as so many straight lines for who asks where it goes.
const PARTS: usize = 8;

/// Draws boxes and edges at their places.
pub(super) fn routes(graph: &Layered, boxes: &[Size], edges: &[Edge], x: &[f64]) -> Drawing {
    let ports = Ports::new(graph, boxes, edges, x);
    let rows = heights(graph, x);
    let corner = |index: usize| {
        let (top, high) = rows[graph.items[index].layer];
        Point { x: x[index] - boxes[index].wide / 2.0, y: top + (high - boxes[index].high) / 2.0 }
    };
    let places: Vec<Point> = (0..boxes.len()).map(corner).collect();
    let plan = Plan { graph, boxes, x, places: &places, rows: &rows, ports: &ports };
    let routes = edges.iter().enumerate().map(|(index, edge)| plan.route(index, edge)).collect();
    let wide = graph.items.iter().zip(x).map(|(item, x)| x + item.right).fold(0.0, f64::max);
    let high = rows.iter().map(|(top, high)| top + high).fold(0.0, f64::max);
    Drawing { size: Size { wide, high }, boxes: places, edges: routes }
}

/// Where each layer begins, and how high it is.
fn heights(graph: &Layered, x: &[f64]) -> Vec<(f64, f64)> {
    let mut rows = Vec::with_capacity(graph.rows.len());
    let mut top = 0.0;
    for row in &graph.rows {
        let high = row.iter().map(|&item| graph.items[item].high).fold(0.0, f64::max);
        rows.push((top, high));
        let aside = |item: usize| graph.below[item].iter().map(move |&lower| (x[lower] - x[item]).abs());
        let far = row.iter().flat_map(|&item| aside(item)).fold(0.0, f64::max);
        top += high + (far * SLOPE).clamp(GAP, MAX_GAP);
    }
    rows
}

/// Where the edges touch their boxes: for each edge at its beginning and at its end.
struct Ports(Vec<[f64; 2]>);

impl Ports {
    fn new(graph: &Layered, boxes: &[Size], edges: &[Edge], x: &[f64]) -> Self {
        let mut ports = Self(edges.iter().map(|_| [0.0; 2]).collect());
        // Of each box, what touches its top and what touches its bottom: where it comes from, which edge, which end.
        let mut sides: Vec<[Vec<(f64, usize, usize)>; 2]> = vec![Default::default(); boxes.len()];
        for (index, (edge, chain)) in edges.iter().zip(&graph.chains).enumerate() {
            let ends = [edge.from, edge.to];
            match chain {
                Chain::Turn(via) => {
                    (0..2).for_each(|end| sides[ends[end]][1].push((x[*via], index, end)));
                }
                Chain::Way { items, goes_up, .. } => {
                    let (upper, lower) = if *goes_up { (1, 0) } else { (0, 1) };
                    sides[ends[upper]][1].push((x[items[0]], index, upper));
                    sides[ends[lower]][0].push((x[items[items.len() - 1]], index, lower));
                }
                Chain::Loop(..) | Chain::Direct | Chain::Nowhere => {}
            }
        }
        for (number, sides) in sides.iter_mut().enumerate() {
            for side in sides.iter_mut().filter(|side| !side.is_empty()) {
                side.sort_by(|a, b| a.0.total_cmp(&b.0));
                let room = boxes[number].wide - 2.0 * CORNER;
                let step = PORT.min(room / side.len() as f64);
                let first = x[number] - step * (side.len() - 1) as f64 / 2.0;
                for (at, &(_, edge, end)) in side.iter().enumerate() {
                    ports.0[edge][end] = first + step * at as f64;
                }
            }
        }
        ports
    }
}

/// Everything that is known before the paths.
struct Plan<'p> {
    graph: &'p Layered,
    boxes: &'p [Size],
    x: &'p [f64],
    places: &'p [Point],
    rows: &'p [(f64, f64)],
    ports: &'p Ports,
}

impl Plan<'_> {
    fn route(&self, index: usize, edge: &Edge) -> Route {
        match &self.graph.chains[index] {
            Chain::Nowhere => Route::default(),
            Chain::Loop(number, below) => self.around(edge, *number, *below),
            Chain::Turn(via) => self.turn(index, edge, *via),
            Chain::Way { items, label, goes_up } => self.way(index, edge, (items, *label, *goes_up)),
            Chain::Direct => self.direct(edge),
        }
    }

    /// The upper left corner of a label in the middle of an item.
    fn label(&self, edge: &Edge, item: usize, below: f64) -> Point {
        let (top, high) = self.rows[self.graph.items[item].layer];
        Point { x: self.x[item] - edge.label.wide / 2.0, y: top + below + (high - below - edge.label.high) / 2.0 }
    }

    /// The bottom of a box, and the bottom of its layer.
    fn under(&self, number: usize) -> (f64, f64) {
        let (top, high) = self.rows[self.graph.items[number].layer];
        (self.places[number].y + self.boxes[number].high, top + high)
    }

    fn way(&self, index: usize, edge: &Edge, (items, label, goes_up): (&[usize], usize, bool)) -> Route {
        let (upper, lower) = if goes_up { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let [at_upper, at_lower] = [usize::from(goes_up), usize::from(!goes_up)].map(|end| self.ports.0[index][end]);
        let (bottom, end_of_row) = self.under(upper);
        let mut points = vec![Point { x: at_upper, y: bottom }, Point { x: at_upper, y: end_of_row }];
        for &item in items {
            let (top, high) = self.rows[self.graph.items[item].layer];
            points.push(Point { x: self.x[item], y: top });
            points.push(Point { x: self.x[item], y: top + high });
        }
        points.push(Point { x: at_lower, y: self.rows[self.graph.items[lower].layer].0 });
        points.push(Point { x: at_lower, y: self.places[lower].y });
        if goes_up {
            points.reverse();
        }
        let mut pen = Pen::at(points[0]);
        points[1..].iter().for_each(|&point| pen.curve(point));
        Route { path: pen.path, line: pen.line, label: Some(self.label(edge, label, 0.0)) }
    }

    fn turn(&self, index: usize, edge: &Edge, via: usize) -> Route {
        let [start, end] = self.ports.0[index];
        let (top, _) = self.rows[self.graph.items[via].layer];
        let half = if start <= end { TURN / 2.0 } else { -TURN / 2.0 };
        let ((bottom, row), (other_bottom, other_row)) = (self.under(edge.from), self.under(edge.to));
        let mut pen = Pen::at(Point { x: start, y: bottom });
        pen.curve(Point { x: start, y: row });
        pen.curve(Point { x: self.x[via] - half, y: top });
        pen.turn(Point { x: self.x[via] + half, y: top });
        pen.curve(Point { x: end, y: other_row });
        pen.curve(Point { x: end, y: other_bottom });
        Route { path: pen.path, line: pen.line, label: Some(self.label(edge, via, TURN / 2.0)) }
    }

    /// Beside a box: out of it and back into it, towards the label; loops share the box's side, and their labels stand beside it.
    fn around(&self, edge: &Edge, number: usize, below: f64) -> Route {
        let (Point { x, y }, size) = (self.places[edge.from], self.boxes[edge.from]);
        let (count, labels) = self.graph.loops[edge.from];
        let (side, share) = (x + size.wide, size.high / count as f64);
        let top = (y + size.high / 2.0 - labels / 2.0).max(self.rows[self.graph.items[edge.from].layer].0);
        let middle = top + below + edge.label.high.max(LOOP_HIGH) / 2.0;
        let port = y + share * (number as f64 + 0.5);
        let half = (share / 4.0).min(6.0);
        let far = side + LOOP - 6.0;
        let mut pen = Pen::at(Point { x: side, y: port - half });
        let ends = [Point { x: far, y: middle - 12.0 }, Point { x: far, y: middle + 12.0 }];
        pen.bend([ends[0], ends[1], Point { x: side, y: port + half }]);
        let label = Point { x: far, y: middle - edge.label.high / 2.0 };
        Route { path: pen.path, line: pen.line, label: Some(label) }
    }

    /// From side to side, over whatever lies between.
    fn direct(&self, edge: &Edge) -> Route {
        let side = |number: usize| Point {
            x: self.places[number].x + self.boxes[number].wide,
            y: self.places[number].y + self.boxes[number].high / 2.0,
        };
        let (start, end) = (side(edge.from), side(edge.to));
        let mut pen = Pen::at(start);
        pen.bend([Point { x: start.x + 50.0, ..start }, Point { x: end.x + 50.0, ..end }, end]);
        Route { path: pen.path, line: pen.line, label: None }
    }
}

/// Writes a path, and remembers where it went.
struct Pen {
    path: String,
    line: Vec<Point>,
}

impl Pen {
    fn at(start: Point) -> Self {
        Self { path: format!("M{:.1} {:.1}", start.x, start.y), line: vec![start] }
    }

    fn here(&self) -> Point {
        self.line[self.line.len() - 1]
    }

    /// To the next layer, straight up or down at both ends.
    fn curve(&mut self, to: Point) {
        let from = self.here();
        if from == to {
            return;
        }
        if (from.x - to.x).abs() < 0.05 {
            _ = write!(self.path, "V{:.1}", to.y);
            return self.line.push(to);
        }
        let middle = f64::midpoint(from.y, to.y);
        self.bend([Point { x: from.x, y: middle }, Point { x: to.x, y: middle }, to]);
    }

    /// Below, and up again.
    fn turn(&mut self, to: Point) {
        let from = self.here();
        let low = from.y + TURN * 0.6;
        self.bend([Point { x: from.x, y: low }, Point { x: to.x, y: low }, to]);
    }

    /// A cubic curve.
    fn bend(&mut self, [a, b, to]: [Point; 3]) {
        let from = self.here();
        _ = write!(self.path, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", a.x, a.y, b.x, b.y, to.x, to.y);
        for part in 1..=PARTS {
            let t = part as f64 / PARTS as f64;
            let s = 1.0 - t;
            let mix = |f: f64, a: f64, b: f64, g: f64| {
                s * s * s * f + 3.0 * s * s * t * a + 3.0 * s * t * t * b + t * t * t * g
            };
            self.line.push(Point { x: mix(from.x, a.x, b.x, to.x), y: mix(from.y, a.y, b.y, to.y) });
        }
    }
}
