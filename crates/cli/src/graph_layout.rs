//! A drawing of a directed graph in layers: boxes by their distance from the first one, edges that bend around what is in their
//! way, labels that overlap nothing (after Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System
//! Structures", 1981). A label, and each layer that an edge passes, has a place of its own among the boxes, so that whatever
//! orders boxes and keeps them apart does the same for edges and labels.

mod layers;
mod order;
mod place;
mod route;

use layers::Layered;

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
    pub(crate) wide: f64,
    pub(crate) high: f64,
}

/// A place; `y` grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// An edge between boxes, with the size of its label, which may be nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: Size,
}

/// Where everything lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) size: Size,
    /// The upper left corner of each box.
    pub(crate) boxes: Vec<Point>,
    pub(crate) edges: Vec<Route>,
}

/// How an edge goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Route {
    /// The path, as SVG writes it.
    pub(crate) path: String,
    /// Points along the path, close to each other where it bends.
    pub(crate) line: Vec<Point>,
    /// The upper left corner of the label; none where there were too many long edges to find places for all.
    pub(crate) label: Option<Point>,
}

/// Draws a graph. Edges to boxes that do not exist are left out of it: their route is empty.
pub(crate) fn draw(boxes: &[Size], edges: &[Edge]) -> Drawing {
    let mut graph = Layered::new(boxes, edges);
    order::order(&mut graph);
    let x = place::places(&graph);
    route::routes(&graph, boxes, edges, &x)
}

#[cfg(test)]
mod tests;
