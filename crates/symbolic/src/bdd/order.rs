//! The order in which the bits of a state are decided, which is what the size of a diagram hangs on.
//!
//! FORCE (Aloul, Markov, Sakallah 2003): what a transition reads and writes should lie together. Each transition pulls
//! its elements towards their middle, again and again, as long as the sum of the distances between the first and the
//! last element of each transition falls. It begins with the elements as they are declared, and with the elements of
//! neighbouring threads beside each other; the better end wins. (The paper begins with a given order only.) Bits of
//! large numbers that meet in a transition or a property then alternate: else a comparison would remember one whole.

use std::collections::HashMap;

use birk_ir::{Access, Expr, Program, PropertyKind, VarId};

/// An element of a variable.
type Element = (VarId, u32);

/// Rounds after which it ends even if it still gets better.
const MOST_ROUNDS: usize = 200;
/// Rounds without progress after which it ends.
const PATIENCE: usize = 8;

/// Numbers of more bits than this alternate with those they meet.
const SMALL: u32 = 6;

/// An order of the bits of a state.
pub(crate) struct Order {
    /// Every bit of every element, as they are to be decided: variable, element, bit.
    pub(crate) bits: Vec<(VarId, u32, u32)>,
    /// The most bits that one transition reads or writes.
    pub(crate) widest: u32,
}

/// An order for a program; the elements of a variable have `bits` of it.
pub(crate) fn order(program: &Program, bits: impl Fn(VarId) -> u32) -> Order {
    let elements = elements(program, &bits);
    let numbers: HashMap<Element, usize> = elements.iter().enumerate().map(|(n, &element)| (element, n)).collect();
    let mut edges = edges(program, &numbers);
    let widest = edges.iter().map(|edge| edge.iter().map(|&number| bits(elements[number].0)).sum()).max();
    let declared: Vec<usize> = (0..elements.len()).collect();
    let threaded = threaded(program, &elements);
    let best = [declared, threaded].into_iter().map(|start| force(start, &edges)).min_by_key(|(span, _)| *span);
    let (_, best) = best.expect("there are two beginnings");
    edges.extend(properties(program, &numbers));
    let wide = |number: usize| bits(elements[number].0);
    let mut order = Vec::new();
    for group in groups(&best, &edges, |number| wide(number) > SMALL) {
        // The highest bits are decided first.
        let most = group.iter().map(|&number| wide(number)).max().unwrap_or(0);
        for bit in (0..most).rev() {
            let having = group.iter().filter(|&&number| bit < wide(number));
            order.extend(having.map(|&number| (elements[number].0, elements[number].1, bit)));
        }
    }
    Order { bits: order, widest: widest.unwrap_or(0) }
}

/// The elements in their order: those that meet and are large together, where the first of them is; others alone.
fn groups(order: &[usize], edges: &[Vec<usize>], is_large: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut leaders: Vec<usize> = (0..order.len()).collect();
    fn leader(leaders: &mut [usize], mut element: usize) -> usize {
        while leaders[element] != element {
            leaders[element] = leaders[leaders[element]];
            element = leaders[element];
        }
        element
    }
    for edge in edges {
        let mut large = edge.iter().copied().filter(|&element| is_large(element));
        let Some(first) = large.next() else { continue };
        for other in large {
            let (a, b) = (leader(&mut leaders, first), leader(&mut leaders, other));
            leaders[a] = b;
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for &element in order {
        let group = *at.entry(leader(&mut leaders, element)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(element);
    }
    groups
}

fn elements(program: &Program, bits: impl Fn(VarId) -> u32) -> Vec<Element> {
    let ids = (0..program.variables.len()).map(VarId::new);
    let used = ids.filter(|&id| bits(id) > 0);
    used.flat_map(|id| (0..program.variable(id).len()).map(move |element| (id, element))).collect()
}

/// For each transition the elements that it reads or writes; those that all share tell nothing, and are left out.
fn edges(program: &Program, numbers: &HashMap<Element, usize>) -> Vec<Vec<usize>> {
    let accesses = program.transitions.iter().map(|t| [t.reads(program), t.writes(program)].concat());
    let mut edges: Vec<Vec<usize>> = accesses.map(|accesses| touched(program, numbers, &accesses)).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// For each property of states the elements that it reads.
fn properties(program: &Program, numbers: &HashMap<Element, usize>) -> Vec<Vec<usize>> {
    let asked = program.properties.iter().filter_map(|property| match &property.kind {
        PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr) => Some(expr),
        _ => None,
    });
    let exprs = asked.chain(program.property_faults.iter().map(|(expr, _)| expr));
    exprs.map(|expr| touched(program, numbers, &reads(expr))).collect()
}

fn reads(expr: &Expr) -> Vec<Access> {
    let mut found = Vec::new();
    expr.walk(&mut |expr| match expr {
        Expr::Var(variable) => found.push(Access { variable: *variable, element: None }),
        Expr::Element(variable, index) => {
            let element = index.as_const().and_then(|index| u32::try_from(index).ok());
            found.push(Access { variable: *variable, element });
        }
        _ => {}
    });
    found
}

/// The numbers of the elements that are meant; the flag of failing checks belongs to all, and so to none.
fn touched(program: &Program, numbers: &HashMap<Element, usize>, accesses: &[Access]) -> Vec<usize> {
    let mut touched = Vec::new();
    for access in accesses.iter().filter(|access| Some(access.variable) != program.fault) {
        let all = 0..program.variable(access.variable).len();
        let meant = access.element.map_or(all, |element| element..element + 1);
        touched.extend(meant.filter_map(|element| numbers.get(&(access.variable, element))));
    }
    touched.sort_unstable();
    touched.dedup();
    touched
}

/// The elements by the middle of the threads that write them, as the stores have them too.
fn threaded(program: &Program, elements: &[Element]) -> Vec<usize> {
    let place = |&(variable, element): &Element| program.layout.slot(variable).position(element);
    let at: HashMap<(usize, u32), usize> = elements.iter().enumerate().map(|(n, e)| (place(e), n)).collect();
    program.fields().iter().filter_map(|field| at.get(&(field.word as usize, field.shift)).copied()).collect()
}

/// The order to which the edges pull this one, and the sum of their lengths in it.
fn force(start: Vec<usize>, edges: &[Vec<usize>]) -> (usize, Vec<usize>) {
    let mut best = (span(&start, edges), start.clone());
    let (mut order, mut since) = (start, 0);
    for _ in 0..MOST_ROUNDS {
        let places = places(&order);
        let (mut pull, mut pulls) = (vec![0.0; order.len()], vec![0.0; order.len()]);
        for edge in edges {
            let middle = edge.iter().map(|&element| places[element] as f64).sum::<f64>() / edge.len() as f64;
            for &element in edge {
                pull[element] += middle;
                pulls[element] += 1.0;
            }
        }
        let wanted = |element: usize| match pulls[element] {
            0.0 => places[element] as f64,
            pulls => pull[element] / pulls,
        };
        let wanted: Vec<f64> = (0..order.len()).map(wanted).collect();
        order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
        let now = span(&order, edges);
        since = if now < best.0 { 0 } else { since + 1 };
        if now < best.0 {
            best = (now, order.clone());
        }
        if since == PATIENCE {
            break;
        }
    }
    best
}

fn places(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for (place, &element) in order.iter().enumerate() {
        places[element] = place;
    }
    places
}

fn span(order: &[usize], edges: &[Vec<usize>]) -> usize {
    let places = places(order);
    let length = |edge: &Vec<usize>| {
        let at = edge.iter().map(|&element| places[element]);
        at.clone().max().unwrap_or(0) - at.min().unwrap_or(0)
    };
    edges.iter().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_chain_is_put_in_order() {
        // 0 - 4 - 1 - 3 - 2: each pair is an edge.
        let chain = [0, 4, 1, 3, 2];
        let edges: Vec<Vec<usize>> = chain.windows(2).map(|pair| pair.to_vec()).collect();
        let (total, order) = force(vec![0, 1, 2, 3, 4], &edges);
        assert_eq!(span(&[0, 1, 2, 3, 4], &edges), 10, "as it was");
        assert!(total < 10, "{total}");
        assert_eq!(span(&order, &edges), total);
    }

    #[test]
    fn large_elements_that_meet_are_together() {
        let edges = [vec![0, 2], vec![2, 4], vec![1, 3]];
        assert_eq!(groups(&[0, 1, 2, 3, 4], &edges, |element| element != 1), [vec![0, 2, 4], vec![1], vec![3]]);
    }
}
