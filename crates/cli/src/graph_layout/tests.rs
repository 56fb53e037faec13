//! What every drawing must be: sound in its places, small in its crossings.

use super::*;

const SIZE: Size = Size { wide: 100.0, high: 40.0 };
const LABEL: Size = Size { wide: 60.0, high: 14.0 };

fn edges(pairs: &[(usize, usize)]) -> Vec<Edge> {
    pairs.iter().map(|&(from, to)| Edge { from, to, label: LABEL }).collect()
}

fn drawn(boxes: usize, pairs: &[(usize, usize)]) -> Drawing {
    draw(&vec![SIZE; boxes], &edges(pairs))
}

/// Everything that must not overlap: the boxes and the labels.
fn rectangles(drawing: &Drawing) -> Vec<(Point, Size)> {
    let boxes = drawing.boxes.iter().map(|&corner| (corner, SIZE));
    boxes.chain(drawing.edges.iter().filter_map(|route| Some((route.label?, LABEL)))).collect()
}

fn overlap((a, m): (Point, Size), (b, n): (Point, Size)) -> bool {
    a.x < b.x + n.wide && b.x < a.x + m.wide && a.y < b.y + n.high && b.y < a.y + m.high
}

fn is_inside(point: Point, (corner, size): (Point, Size)) -> bool {
    let (x, y) = (point.x - corner.x, point.y - corner.y);
    x > 1.0 && x < size.wide - 1.0 && y > 1.0 && y < size.high - 1.0
}

/// The edges that cross, each pair as often as it does.
fn crossings(drawing: &Drawing) -> usize {
    let side = |p: Point, q: Point, r: Point| (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    let crosses = |a: &[Point], b: &[Point]| {
        side(a[0], a[1], b[0]) * side(a[0], a[1], b[1]) < -1e-6
            && side(b[0], b[1], a[0]) * side(b[0], b[1], a[1]) < -1e-6
    };
    let mut count = 0;
    for (i, first) in drawing.edges.iter().enumerate() {
        for second in &drawing.edges[..i] {
            let pairs = first.line.windows(2).flat_map(|a| second.line.windows(2).map(move |b| (a, b)));
            count += pairs.filter(|(a, b)| crosses(a, b)).count();
        }
    }
    count
}

/// Nothing overlaps, no edge goes through a box or a foreign label, and everything is on the sheet.
fn is_sound(drawing: &Drawing) {
    let all = rectangles(drawing);
    for (i, &first) in all.iter().enumerate() {
        for &second in &all[..i] {
            assert!(!overlap(first, second), "{first:?} and {second:?}");
        }
        assert!(first.0.x > -0.1 && first.0.y > -0.1, "{first:?}");
        let end = (first.0.x + first.1.wide, first.0.y + first.1.high);
        assert!(end.0 < drawing.size.wide + 0.1 && end.1 < drawing.size.high + 0.1, "{first:?} in {:?}", drawing.size);
    }
    let labels = drawing.edges.iter().filter_map(|route| Some((route.label?, LABEL)));
    for (number, label) in labels.enumerate() {
        let others = drawing.edges.iter().enumerate().filter(|(other, _)| *other != number);
        for (other, route) in others {
            let struck = route.line.iter().find(|&&point| is_inside(point, label));
            assert_eq!(struck, None, "edge {other} goes through the label of edge {number}");
        }
    }
    for route in &drawing.edges {
        for &corner in &drawing.boxes {
            assert_eq!(route.line.iter().find(|&&point| is_inside(point, (corner, SIZE))), None);
        }
    }
}

#[test]
fn layers_are_distances_and_nothing_overlaps() {
    // A diamond with a tail, a loop, an edge back, and an edge within a layer.
    let drawing = drawn(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 4), (4, 0), (1, 2)]);
    is_sound(&drawing);
    let y = |number: usize| drawing.boxes[number].y;
    assert!(y(0) < y(1) && (y(1) - y(2)).abs() < 0.01 && y(2) < y(3) && y(3) < y(4), "{:?}", drawing.boxes);
    assert_eq!(crossings(&drawing), 0);
}

#[test]
fn a_diamond_is_symmetric() {
    let drawing = drawn(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let x = |number: usize| drawing.boxes[number].x;
    let middle = f64::midpoint(x(1), x(2));
    assert!((x(0) - middle).abs() < 1.0 && (x(3) - middle).abs() < 1.0, "{:?}", drawing.boxes);
    is_sound(&drawing);
}

#[test]
fn a_tree_has_no_crossings() {
    // Children given in an order that crosses: 1's are 5 and 6, 2's are 3 and 4.
    let drawing = drawn(7, &[(0, 1), (0, 2), (1, 5), (1, 6), (2, 3), (2, 4)]);
    assert_eq!(crossings(&drawing), 0);
    is_sound(&drawing);
    assert_eq!(drawn(0, &[]), Drawing::default());
}

#[test]
fn edges_end_at_their_boxes() {
    let pairs = [(0, 1), (1, 2), (2, 0), (2, 2), (1, 3), (3, 1), (0, 4), (4, 1)];
    let drawing = drawn(5, &pairs);
    is_sound(&drawing);
    for (&(from, to), route) in pairs.iter().zip(&drawing.edges) {
        for (number, end) in [(from, route.line.first()), (to, route.line.last())] {
            let (corner, end) = (drawing.boxes[number], end.expect("a path"));
            let around = (Point { x: corner.x - 0.5, y: corner.y - 0.5 }, Size { wide: 101.0, high: 41.0 });
            assert!(overlap((*end, Size { wide: 0.1, high: 0.1 }), around), "{from} to {to}: {end:?} {corner:?}");
        }
        assert!(route.path.starts_with('M') && route.label.is_some());
    }
}

#[test]
fn many_loops_begin_and_end_at_their_box() {
    let label = Size { wide: 60.0, high: 50.0 };
    let loops = [Edge { from: 0, to: 0, label }; 5];
    let drawing = draw(&[SIZE], &loops);
    let Point { x, y } = drawing.boxes[0];
    let mut last = Point::default();
    for route in &drawing.edges {
        for end in [route.line.first(), route.line.last()] {
            let end = end.expect("a path");
            assert!((end.x - x - SIZE.wide).abs() < 0.1 && end.y > y && end.y < y + SIZE.high, "{end:?} at {x} {y}");
        }
        let corner = route.label.expect("a label");
        assert!(corner.x > x + SIZE.wide && corner.y >= last.y, "{corner:?} after {last:?}");
        assert!(corner.y + label.high <= drawing.size.high);
        last = Point { x: corner.x, y: corner.y + label.high };
    }
}

#[test]
fn dense_graphs_stay_readable() {
    // A cube of five dimensions: each step sets one bit, and one resets all of them.
    let mut pairs: Vec<(usize, usize)> =
        (0..32).flat_map(|state| (0..5).map(move |bit| (state, state | 1 << bit))).filter(|(a, b)| a != b).collect();
    pairs.extend([(31, 0), (30, 0), (7, 7)]);
    is_sound(&drawn(32, &pairs));
}

#[test]
fn edges_to_nowhere_are_left_out() {
    let drawing = drawn(2, &[(0, 1), (1, 9)]);
    assert_eq!(drawing.edges[1], Route::default());
    assert!(!drawing.edges[0].line.is_empty());
}

#[test]
fn too_many_long_edges_go_straight() {
    // Each box of a long chain leads back to the first: a place in every layer for each would be half a million.
    let pairs: Vec<(usize, usize)> = (1..1000).flat_map(|node| [(node - 1, node), (node, 0)]).collect();
    let drawing = drawn(1000, &pairs);
    let missing = drawing.edges.iter().filter(|route| route.label.is_none()).count();
    assert!(missing > 0 && missing < 999, "{missing}");
    assert!(drawing.edges.iter().all(|route| !route.line.is_empty()));
}
