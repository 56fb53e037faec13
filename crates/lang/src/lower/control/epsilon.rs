//! Epsilon elimination: places that are left without a step are not places where a thread can be.

use std::collections::{HashMap, HashSet};

use super::{Builder, Control, END, Edge, MAX_EDGES, Out, Spot};
use crate::diagnostic::Diagnostic;
use crate::edit;
use crate::syntax::ast::{self, Name};

/// Epsilon edges may not be followed further.
const MAX_EPSILON: usize = 4_000_000;

impl<'a> Builder<'_, 'a> {
    /// Removes the epsilon edges and what nobody reaches, and numbers the places.
    pub(super) fn finish(mut self, thread: &ast::Thread) -> Control<'a> {
        self.undeclared();
        let alias = self.aliases(thread);
        let resolve = |spot: usize| if spot == END { END } else { alias[spot] };
        let mut edges: Vec<Edge<'a>> = Vec::new();
        let mut order: Vec<Option<usize>> = vec![None; self.spots.len()];
        let mut found = Vec::new();
        let mut work: Vec<usize> = vec![resolve(0)];
        let mut passed = 0;
        let mut labelled: Vec<usize> = self.names.values().map(|&spot| resolve(spot)).collect();
        labelled.extend(self.crashed.map(resolve));
        labelled.sort_unstable();
        work.splice(0..0, labelled.into_iter().filter(|&spot| spot != END));
        while let Some(spot) = work.pop() {
            if spot == END || order[spot].is_some() {
                continue;
            }
            order[spot] = Some(0);
            found.push(spot);
            let leaving = self.closure(spot, &alias, &mut passed);
            if leaving.is_empty() && !self.out[spot].is_empty() {
                self.no_step(spot, thread);
            }
            if passed > MAX_EPSILON || edges.len() + leaving.len() > MAX_EDGES {
                self.too_many(self.spots[spot].span);
                break;
            }
            for edge in leaving {
                let to = edge.to.map_or(END, resolve);
                work.push(to);
                edges.push(Edge { from: spot, to: (to != END).then_some(to), ..edge });
            }
        }
        self.number(edges, found, order, &alias)
    }

    fn number(
        mut self,
        mut edges: Vec<Edge<'a>>,
        mut found: Vec<usize>,
        mut order: Vec<Option<usize>>,
        alias: &[usize],
    ) -> Control<'a> {
        // The start comes first, then the order of the text.
        let start = alias.first().copied().unwrap_or(END);
        found.sort_unstable_by_key(|&spot| (spot != start, self.spots[spot].span, spot));
        for (number, &spot) in found.iter().enumerate() {
            order[spot] = Some(number);
        }
        for edge in &mut edges {
            edge.from = order[edge.from].unwrap_or(0);
            edge.to = edge.to.and_then(|to| order[to]);
        }
        edges.sort_by_key(|edge| edge.from);
        let mut used: HashMap<String, usize> = HashMap::new();
        let mut spots = Vec::new();
        for &spot in &found {
            let mut place = self.spots[spot].clone();
            let times = used.entry(place.name.clone()).or_insert(0);
            *times += 1;
            if *times > 1 {
                place.name = format!("{} ({times})", place.name);
            }
            spots.push(place);
        }
        let number = |spot: usize| order.get(*alias.get(spot)?).copied().flatten();
        let names = self.names.drain().filter_map(|(name, spot)| Some((name, number(spot)?))).collect();
        let crashed = self.crashed.and_then(number);
        Control { spots, edges, names, crashed }
    }

    /// Reports the jumps to labels that are nowhere.
    fn undeclared(&mut self) {
        let names = self.names.iter().filter(|(_, spot)| !self.spots[**spot].named);
        let mut missing: Vec<Name> =
            names.map(|(text, spot)| Name { text: text.clone(), span: self.spots[*spot].span }).collect();
        missing.sort_unstable_by_key(|name| name.span);
        for name in &missing {
            self.names.remove(&name.text);
        }
        if !self.is_full {
            missing.iter().for_each(|name| self.unknown_location(name));
        }
    }

    /// For each place, the one where a thread really is that comes there: those without steps of their own are skipped.
    fn aliases(&mut self, thread: &ast::Thread) -> Vec<usize> {
        const UNKNOWN: usize = END - 1;
        const VISITED: usize = END - 2;
        let mut alias = vec![UNKNOWN; self.spots.len()];
        for from in 0..self.spots.len() {
            let mut way = Vec::new();
            let mut spot = from;
            let really = loop {
                if spot == END {
                    break END;
                }
                match (alias[spot], &self.out[spot][..]) {
                    (VISITED, _) => {
                        self.no_step(from, thread);
                        self.out[spot] = Vec::new();
                        break spot;
                    }
                    // A thread that has crashed is there until it takes a step, whatever that is.
                    (UNKNOWN, _) if Some(spot) == self.crashed => break spot,
                    (UNKNOWN, [Out::Epsilon(next)]) => {
                        alias[spot] = VISITED;
                        way.push(spot);
                        spot = *next;
                    }
                    (UNKNOWN, _) => break spot,
                    (known, _) => break known,
                }
            };
            if really != END {
                alias[really] = really;
            }
            for passed in way {
                alias[passed] = really;
                let Spot { end, accept, progress, .. } = self.spots[passed];
                if let Some(place) = self.spots.get_mut(really) {
                    place.end |= end;
                    place.accept |= accept;
                    place.progress |= progress;
                }
            }
        }
        alias
    }

    /// Reports a loop without a step, unless something else is wrong, which may be why.
    fn no_step(&mut self, spot: usize, thread: &ast::Thread) {
        if self.cx.diagnostics.len() > self.reported {
            return;
        }
        let message = format!("`{}` can loop forever without a step", thread.name.text);
        let help = "a loop needs at least one step: `skip;` is one";
        let span = self.spots[spot].span;
        let diagnostic = Diagnostic::new("E0046", span, message, "this loop does nothing").help(help);
        self.cx.report(match self.cx.text(span).and_then(|text| edit::body(text, span)) {
            Some(place) => diagnostic.propose(place, " skip;"),
            None => diagnostic,
        });
    }

    /// The steps that leave a place, through epsilon edges, in the order of the text; counts how many places it came by.
    fn closure(&self, start: usize, alias: &[usize], passed: &mut usize) -> Vec<Edge<'a>> {
        let mut leaving = Vec::new();
        let mut seen = HashSet::from([start]);
        let mut work = vec![(start, self.out[start].iter())];
        while let Some((spot, out)) = work.last_mut() {
            let from = *spot;
            *passed += 1;
            match out.next() {
                _ if *passed > MAX_EPSILON => break,
                None => drop(work.pop()),
                Some(Out::Edge(edge)) => {
                    *passed += self.edges[*edge].parts.len();
                    leaving.push(self.edges[*edge].clone());
                }
                Some(Out::Epsilon(next)) if *next == END || alias[*next] == END => {
                    // Like every other place, the end is reached once, by however many branches.
                    if seen.insert(END) {
                        leaving.push(self.ending(from));
                    }
                }
                Some(Out::Epsilon(next)) => {
                    if seen.insert(alias[*next]) {
                        work.push((alias[*next], self.out[alias[*next]].iter()));
                    }
                }
            }
        }
        leaving
    }

    /// Ending the thread as one of several choices is a step.
    fn ending(&self, from: usize) -> Edge<'a> {
        Edge { from, to: None, span: self.spots[from].span, fair: None, parts: Vec::new() }
    }
}
