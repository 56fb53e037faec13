//! Cubes and their images: a state is in a cube if and only if its image is in the image of the cube.

use birk_engine::{Model as _, Successors};
use birk_exec::{Automorphisms, Interpreter, goal_of};
use birk_ir::interval::reachable;
use birk_ir::{Goal, Program};

use super::super::{bits, tests::load};
use super::{Cube, Images};

/// All states that can be reached, as bits.
struct States {
    program: Program,
    automorphisms: Automorphisms,
    states: Vec<Vec<u32>>,
}

fn states(text: &str) -> States {
    let program = load(text);
    let goals: Vec<Goal> = program.properties.iter().filter_map(|property| goal_of(&program, property)).collect();
    let automorphisms = Automorphisms::new(&program, &goals);
    assert!(!automorphisms.is_trivial(), "names are interchangeable");
    let model = Interpreter::new(&program, &[]);
    let mut states = program.initial_states();
    let mut at = 0;
    while at < states.len() {
        let mut out = Successors::new(model.words());
        model.successors(&states[at], &mut out);
        for next in (0..out.len()).map(|next| out.state(next).to_vec()) {
            if !states.contains(&next) {
                states.push(next);
            }
        }
        at += 1;
    }
    States { program, automorphisms, states }
}

/// Of each state that can be reached, cubes are made: all its bits, without each element, without each bit, only each element. How
/// many have an image, and how many have none.
fn compared(text: &str) -> (usize, usize) {
    let States { program, automorphisms, states } = states(text);
    let ranges = reachable(&program).variables;
    let free = bits(&program, &ranges);
    let images = Images::new(Some(&automorphisms), &free, &ranges);
    let is_set = |state: &[u32], bit: usize| {
        let (variable, element, at) = free[bit];
        program.layout.slot(variable).get(state, element) >> at & 1 == 1
    };
    let is_in = |state: &[u32], cube: &Cube| cube.iter().all(|&(bit, expected)| is_set(state, bit) == expected);
    let neighbours: Vec<Vec<Vec<u32>>> = states.iter().map(|state| automorphisms.neighbours(state)).collect();
    let (mut found, mut none) = (0, 0);
    for state in &states {
        let whole: Cube = (0..free.len()).map(|bit| (bit, is_set(state, bit))).collect();
        let element = |bit: usize| (free[bit].0, free[bit].1);
        let mut cubes = vec![whole.clone()];
        for bit in 0..free.len() {
            cubes.push(whole.iter().copied().filter(|other| other.0 != bit).collect());
            cubes.push(whole.iter().copied().filter(|other| element(other.0) != element(bit)).collect());
            cubes.push(whole.iter().copied().filter(|other| element(other.0) == element(bit)).collect());
        }
        for cube in cubes {
            for (number, generator) in automorphisms.generators().iter().enumerate() {
                let Some(image) = images.image(generator, &cube) else {
                    none += 1;
                    continue;
                };
                found += 1;
                for (other, neighbours) in states.iter().zip(&neighbours) {
                    assert_eq!(is_in(other, &cube), is_in(&neighbours[number], &image), "{cube:?} {image:?} {other:?}");
                }
            }
        }
    }
    (found, none)
}

#[test]
fn images_of_cubes_are_cubes_of_images() {
    // Swaps of threads, with a flag for each and a variable that holds one of them.
    let lock = "system Lock { boolean[3] wants; int (0, 2) last; set of 0 .. 2 served;
        active [3] thread P(int me) {
            loc idle: do { wants[me] := true; } goto waiting;
            loc waiting: when forall (i : 0 .. 2) !P[i]@inside do { last := me; served := served + {me}; } goto inside;
            loc inside: do { wants[me] := false; } goto idle; }
        invariant exclusion: count (i : 0 .. 2) P[i]@inside <= 1; }";
    let (found, none) = compared(lock);
    assert!(found > 1000 && none > 0, "{found} {none}: part of the bits of a name is no name");
    // Nobody is a name, too: below zero, and in a variable that no thread is ever in.
    let nobody = "system Nobody { int (-1, 2) owner := -1; int (-2, 2) next := -1;
        active [3] thread P(int me) {
            loc idle: when owner == -1 do { owner := me; next := -2; } goto inside;
                      when next == me do { } goto idle;
            loc inside: do { owner := -1; next := -1; } goto idle; }
        invariant exclusion: count (i : 0 .. 2) P[i]@inside <= 1; }";
    let (found, none) = compared(nobody);
    assert!(found > 100 && none > 0, "{found} {none}");
    // A ring, turned.
    let ring = "system Ring { boolean[4] fork;
        active [4] thread P(int me) {
            loc thinking: when !fork[me] do { fork[me] := true; } goto hungry;
            loc hungry: when !fork[(me + 1) % 4] do { fork[(me + 1) % 4] := true; } goto eating;
            loc eating: do { fork[me] := false; fork[(me + 1) % 4] := false; } goto thinking; }
        invariant exclusion: forall (i : 0 .. 3) !(P[i]@eating && P[(i + 1) % 4]@eating); }";
    let (found, none) = compared(ring);
    assert!(found > 1000 && none == 0, "{found} {none}");
}
