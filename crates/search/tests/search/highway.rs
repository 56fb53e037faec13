//! Highway search on random systems: a slice is a part of the model, ends nowhere where the model goes on, is drawn evenly,
//! and is called complete exactly when it is. Each check is shown to catch the bug it is there for.

use std::collections::{BTreeMap, BTreeSet};

use birk_agreement::graph::Graph;
use birk_agreement::hunt;
use birk_engine::{Hunt, Job, Limits, Patient, Storage};
use birk_exec::Random;
use birk_ir::{Coverage, Outcome, Stop};
use birk_search::ENGINES;
use birk_search::highway::Highway;

#[derive(Clone, Debug, PartialEq)]
struct Slice {
    states: BTreeSet<usize>,
    levels: Vec<u64>,
    complete: bool,
}

fn hunted(system: &Graph, highway: Highway, limits: Limits) -> (Slice, Hunt) {
    system.take_evaluated();
    let job = Job { keep_going: true, ..Job::new(1, limits) };
    let hunt = highway.hunt(system, &job, &mut Patient);
    let states = system.take_evaluated().into_iter().collect();
    let complete = hunt.coverage == Coverage::Complete;
    assert!(complete || hunt.coverage == Coverage::Partial(hunt.stats.states), "{:?}", hunt.coverage);
    (Slice { states, levels: hunt.stats.levels.clone(), complete }, hunt)
}

fn slice(system: &Graph, highway: Highway) -> Slice {
    let (slice, hunt) = hunted(system, highway, Limits::NONE);
    assert_eq!((hunt.stopped, hunt.stats.states), (Stop::Exhausted, slice.states.len() as u64));
    let steps: usize = slice.states.iter().map(|&node| system.edges[node].len()).sum();
    assert_eq!(hunt.stats.transitions, steps as u64);
    let sinks = slice.states.iter().filter(|&&node| system.edges[node].is_empty()).count();
    match &hunt.outcomes[0] {
        Outcome::Found(trace) => {
            let nodes = system.walk(trace).expect("a trace is a path");
            assert!(sinks > 0 && system.is_goal(nodes[nodes.len() - 1], 0));
        }
        Outcome::Absent => assert!(sinks == 0 && slice.complete),
        Outcome::Untraced(_) | Outcome::Inconclusive => assert!(sinks == 0 && !slice.complete),
    }
    slice
}

/// What must be so of every slice.
fn fault(system: &Graph, highway: Highway, slice: &Slice) -> Option<&'static str> {
    let all = system.reachable(&|_| true);
    let within = system.reachable(&|node| slice.states.contains(&node));
    let goes_on = |&node: &usize| {
        let successors = &system.edges[node];
        successors.is_empty() || successors.iter().any(|to| slice.states.contains(to))
    };
    if !slice.states.is_subset(&all) || within != slice.states {
        Some("it is not simulated by the model")
    } else if !slice.states.iter().all(goes_on) {
        Some("a state ends in it that does not in the model")
    } else if slice.levels.iter().any(|&lanes| lanes > highway.width as u64) {
        Some("it is too wide")
    } else if !ends_where_it_can(highway, slice) {
        Some("it goes on where it could end")
    } else if slice.complete != (slice.states == all) {
        Some("the claim about completeness is wrong")
    } else {
        None
    }
}

/// From the depth of degradation on, lanes only ever become fewer.
fn ends_where_it_can(highway: Highway, slice: &Slice) -> bool {
    let from = highway.degrade_depth.map_or(slice.levels.len(), |depth| slice.levels.len().min(depth as usize));
    slice.levels[from..].windows(2).all(|pair| pair[1] <= pair[0])
}

fn usual_width() -> usize {
    Highway::of(&Job::new(1, Limits::NONE)).width
}

/// How many random systems are examined.
fn systems() -> u64 {
    std::env::var("BIRK_HIGHWAY_SYSTEMS").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000)
}

fn highway_for(seed: u64, random: &mut Random) -> Highway {
    let degrade_depth = [None, None, Some(1), Some(2), Some(4)][random.below(5)];
    Highway { width: 1 + random.below(6), degrade_depth, seed, is_beam: false }
}

#[test]
fn slices_of_random_systems() {
    let (mut complete, mut curtailed, mut closed_late) = (0, 0, 0);
    for seed in 0..systems() {
        let mut random = Random::new(seed);
        let system = Graph::drawn(&mut random);
        let highway = highway_for(seed, &mut random);
        let slice = slice(&system, highway);
        let fault = fault(&system, highway, &slice);
        assert_eq!(fault, None, "{highway:?} on {:?} from {:?}: {slice:?}", system.edges, system.initial);
        let breadth = self::slice(&system, Highway { width: usize::MAX, degrade_depth: None, seed, is_beam: false });
        complete += u64::from(slice.complete);
        curtailed += u64::from(!slice.complete);
        closed_late += u64::from(slice.complete && slice.levels != breadth.levels);
    }
    let enough = systems() / 100;
    assert!(complete > enough && curtailed > enough && closed_late > enough, "{complete} {curtailed} {closed_late}");
}

/// Fingerprints change nothing but the claim about a slice that is everything.
#[test]
fn fingerprints_visit_the_same_slices() {
    let (mut hashed, mut partial) = (0, 0);
    for seed in 0..systems() / 5 {
        let mut random = Random::new(seed);
        let system = Graph::drawn(&mut random);
        let highway = highway_for(seed, &mut random);
        let job = |storage| Job { keep_going: true, storage, ..Job::new(1, Limits::NONE) };
        let (exact, slice) = highway.slice(&system, &job(Storage::Exact), &mut Patient);
        let (compact, same) = highway.slice(&system, &job(Storage::Compact), &mut Patient);
        assert!(slice.states().eq(same.states()), "{highway:?} on {:?}", system.edges);
        assert_eq!((compact.stats.levels, compact.stats.transitions), (exact.stats.levels, exact.stats.transitions));
        match (&exact.coverage, &compact.coverage) {
            (Coverage::Complete, Coverage::Hashed { depth: None, omission_probability, .. }) => {
                assert!(*omission_probability < 1e-12 && !same.is_complete());
                hashed += 1;
            }
            (one, other) => {
                assert_eq!(one, other);
                partial += u32::from(*one != Coverage::Complete);
            }
        }
    }
    assert!(hashed > 20 && partial > 20, "{hashed} {partial}");
}

#[test]
fn a_width_that_is_never_exceeded_is_breadth_first() {
    for seed in 0..systems() / 5 {
        let mut random = Random::new(seed);
        let system = Graph::drawn(&mut random);
        let job = Job { keep_going: true, ..Job::new(1, Limits::NONE) };
        let expected = hunt::of_model(&ENGINES[0], &system, &job, &mut Patient);
        let widest = expected.stats.levels.iter().max().copied().unwrap_or(1) as usize;
        for width in [widest, widest + 1, usual_width()] {
            let (slice, hunt) =
                hunted(&system, Highway { width, degrade_depth: None, seed, is_beam: false }, Limits::NONE);
            assert_eq!((&hunt.coverage, hunt.stopped), (&Coverage::Complete, Stop::Exhausted));
            assert_eq!(slice.states, system.reachable(&|_| true));
            assert_eq!(hunt.stats.levels, expected.stats.levels);
            assert_eq!(hunt.stats.transitions, expected.stats.transitions);
            let length = |hunt: &Hunt| match &hunt.outcomes[0] {
                Outcome::Found(trace) => Some(trace.steps.len()),
                _ => None,
            };
            assert_eq!(length(&hunt), length(&expected));
        }
    }
}

#[test]
fn one_lane_is_a_walk_that_does_not_repeat() {
    for seed in 0..systems() / 5 {
        let system = Graph::drawn(&mut Random::new(seed));
        let slice = slice(&system, Highway { width: 1, degrade_depth: None, seed, is_beam: false });
        assert!(slice.levels.iter().all(|&lanes| lanes == 1) && slice.levels.len() == slice.states.len());
    }
}

#[test]
fn the_seed_decides_the_slice() {
    let mut differ = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let system = Graph::drawn(&mut random);
        let highway = highway_for(seed, &mut random);
        let first = slice(&system, highway);
        assert_eq!(first, slice(&system, highway));
        differ += u32::from((1..9).any(|more| slice(&system, Highway { seed: seed + more, ..highway }) != first));
    }
    assert!(differ > 50, "only {differ} of 200 systems have different slices");
}

/// A lane that can go back is not followed beyond the depth; others are, until they can.
#[test]
fn degradation_ends_what_can_end() {
    let chain: Vec<Vec<usize>> = (0..40).map(|node| vec![(node + 1) % 40]).collect();
    let closed = Graph::with_ends(&[0], chain.clone());
    let highway = Highway { width: 2, degrade_depth: Some(5), seed: 1, is_beam: false };
    assert_eq!(slice(&closed, highway).states.len(), 40, "no state of a ring may be missing");
    let mut edges = chain;
    (0..40).for_each(|node| edges[node].push(0));
    let returning = Graph::with_ends(&[0], edges);
    let slice = slice(&returning, highway);
    assert_eq!((slice.levels, slice.complete), (vec![1; 6], false));
}

#[test]
fn limits_and_what_they_leave() {
    let tree: Vec<Vec<usize>> = (0..5_000).map(|node| vec![2 * node + 1, 2 * node + 2]).collect();
    let edges: Vec<Vec<usize>> = tree.into_iter().chain((0..5_001).map(|_| Vec::new())).collect();
    let system = Graph::with_ends(&[0], edges);
    for width in [1, 20, usual_width()] {
        let highway = Highway { width, degrade_depth: None, seed: 3, is_beam: false };
        let run = |limits| {
            let (slice, hunt) = hunted(&system, highway, limits);
            (hunt.stopped, slice.complete, hunt.stats.states, hunt.stats.max_depth)
        };
        assert_eq!(run(Limits { depth: 4, ..Limits::NONE }).0, Stop::Depth);
        assert_eq!(run(Limits { depth: 4, ..Limits::NONE }).3, 4);
        let (stopped, complete, states, _) = run(Limits { states: 7, ..Limits::NONE });
        assert!(stopped == Stop::States && !complete && (8..8 + 256).contains(&states), "{stopped:?} {states}");
        let (stopped, complete, ..) = run(Limits { memory: 1 << 14, ..Limits::NONE });
        assert!(!complete && stopped == Stop::Memory);
        let (stopped, complete, ..) = run(Limits { memory: 1 << 24, ..Limits::NONE });
        assert_eq!((stopped, complete), (Stop::Exhausted, width > 5_000));
    }
}

/// What can be wrong with a highway search.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bend {
    Nothing,
    /// A lane may be left without a successor.
    NoRepair,
    /// A successor of each needy lane first, then anything.
    RepresentativesFirst,
    /// The slice counts as complete if the last level was.
    FlagOfTheLastLevel,
    /// The slice counts as incomplete if anything was ever left out.
    FlagOfEveryLevel,
    /// Initial states that were left out are forgotten.
    FlagWithoutStart,
    /// All initial states become lanes, however many there are.
    AllStarts,
    /// Nothing is followed beyond the depth of degradation.
    EndsAtDepth,
    /// Beyond that depth, lanes are followed that could end.
    NeverDegrades,
}

/// Algorithms 2 and 3, slowly and plainly, with a bend.
fn bent(system: &Graph, highway: Highway, bend: Bend) -> Slice {
    let random = &mut Random::new(highway.seed);
    let start: BTreeSet<usize> = system.initial.iter().copied().collect();
    let mut lanes = if bend == Bend::AllStarts { start.clone() } else { drawn_set(&start, highway.width, random) };
    let mut visited = lanes.clone();
    let mut rejected: BTreeSet<usize> = start.difference(&lanes).copied().collect();
    if bend == Bend::FlagWithoutStart {
        rejected.clear();
    }
    let mut ever = !rejected.is_empty();
    let mut levels = Vec::new();
    while !lanes.is_empty() {
        levels.push(lanes.len() as u64);
        let is_needy = |node: &&usize| {
            let successors = &system.edges[**node];
            !successors.is_empty() && !successors.iter().any(|to| visited.contains(to))
        };
        let needy: Vec<usize> = lanes.iter().filter(is_needy).copied().collect();
        let new = |nodes: &mut dyn Iterator<Item = &usize>| -> BTreeSet<usize> {
            nodes.flat_map(|&node| &system.edges[node]).filter(|to| !visited.contains(to)).copied().collect()
        };
        let fresh = new(&mut lanes.iter());
        let degraded = highway.degrade_depth.is_some_and(|depth| levels.len() > depth as usize);
        if degraded && bend == Bend::EndsAtDepth {
            break;
        }
        let degraded = degraded && bend != Bend::NeverDegrades;
        let (pool, width) =
            if degraded { (new(&mut needy.iter()), needy.len()) } else { (fresh.clone(), highway.width) };
        let queue = next(system, &pool, width, &needy, bend, random);
        if bend == Bend::FlagOfTheLastLevel {
            rejected.clear();
        }
        rejected.extend(fresh.difference(&queue));
        ever |= queue.len() < fresh.len();
        visited.extend(&queue);
        lanes = queue;
    }
    let complete = if bend == Bend::FlagOfEveryLevel { !ever } else { rejected.is_subset(&visited) };
    Slice { states: visited, levels, complete }
}

fn drawn_set(pool: &BTreeSet<usize>, width: usize, random: &mut Random) -> BTreeSet<usize> {
    let mut pool: Vec<usize> = pool.iter().copied().collect();
    let mut set = BTreeSet::new();
    while set.len() < width && !pool.is_empty() {
        set.insert(pool.swap_remove(random.below(pool.len())));
    }
    set
}

fn next(
    system: &Graph,
    pool: &BTreeSet<usize>,
    width: usize,
    needy: &[usize],
    bend: Bend,
    random: &mut Random,
) -> BTreeSet<usize> {
    let served = |lane: usize, queue: &BTreeSet<usize>| system.edges[lane].iter().any(|to| queue.contains(to));
    let representative = |lane: usize, random: &mut Random| {
        let successors: BTreeSet<usize> = system.edges[lane].iter().copied().collect();
        *successors.iter().nth(random.below(successors.len())).expect("a needy lane has successors")
    };
    if bend == Bend::RepresentativesFirst {
        let mut queue: BTreeSet<usize> = needy.iter().map(|&lane| representative(lane, random)).collect();
        let rest = pool.difference(&queue).copied().collect();
        queue.extend(drawn_set(&rest, width - queue.len(), random));
        return queue;
    }
    let mut queue = drawn_set(pool, width, random);
    let order: Vec<usize> = needy.iter().copied().filter(|_| bend != Bend::NoRepair).collect();
    for lane in order {
        if served(lane, &queue) {
            continue;
        }
        queue.insert(representative(lane, random));
        let can_go = |state: &usize| {
            let rest = queue.iter().copied().filter(|other| other != state).collect();
            needy.iter().all(|&other| !served(other, &queue) || served(other, &rest))
        };
        let free: Vec<usize> = queue.iter().copied().filter(can_go).collect();
        // There is one, unless there are more lanes than there should be.
        if !free.is_empty() {
            queue.remove(&free[random.below(free.len())]);
        }
    }
    queue
}

/// The checks above would notice: each bend is caught by the one it is there for, and only an unbent copy passes all.
#[test]
fn bugs_are_caught() {
    let caught = |bend| {
        let mut faults = BTreeMap::new();
        for seed in 0..1_000 {
            let mut random = Random::new(seed);
            let system = Graph::drawn(&mut random);
            let highway = highway_for(seed, &mut random);
            let slice = bent(&system, highway, bend);
            fault(&system, highway, &slice).into_iter().for_each(|fault| *faults.entry(fault).or_insert(0) += 1);
        }
        faults
    };
    assert_eq!(caught(Bend::Nothing), BTreeMap::new());
    assert_eq!(caught(Bend::RepresentativesFirst), BTreeMap::new(), "it is biased, not wrong");
    for bend in [Bend::NoRepair, Bend::EndsAtDepth] {
        let sinks = caught(bend);
        let times = sinks.get("a state ends in it that does not in the model");
        assert!(times.is_some_and(|&times| times > 20), "{bend:?}: {sinks:?}");
    }
    let wide = caught(Bend::AllStarts);
    assert!(wide.get("it is too wide").is_some_and(|&times| times > 20), "{wide:?}");
    let long = caught(Bend::NeverDegrades);
    assert!(long.get("it goes on where it could end").is_some_and(|&times| times > 20), "{long:?}");
    for bend in [Bend::FlagOfTheLastLevel, Bend::FlagOfEveryLevel, Bend::FlagWithoutStart] {
        let faults = caught(bend);
        let flags = faults.get("the claim about completeness is wrong");
        assert!(faults.len() == 1 && flags.is_some_and(|&times| times > 5), "{bend:?}: {faults:?}");
    }
}

/// A system, a width and which slices there can be; the first level is not drawn.
struct Enumerable {
    system: Graph,
    width: usize,
    lanes: usize,
    states: usize,
}

fn enumerables() -> Vec<Enumerable> {
    let lanes = |lanes: &[&[usize]], states: usize| {
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); (1 + lanes.len() + states).next_multiple_of(3)];
        for (lane, successors) in lanes.iter().enumerate() {
            edges[0].push(1 + lane);
            // State 0 stands for the way back to the root.
            edges[1 + lane] = successors.iter().map(|&to| if to == 0 { 0 } else { lanes.len() + to }).collect();
        }
        Graph::with_ends(&[0], edges)
    };
    let case =
        |of: &[&[usize]], states, width| Enumerable { system: lanes(of, states), width, lanes: of.len(), states };
    vec![
        case(&[&[1, 2, 3, 4, 5, 6]], 6, 3),
        case(&[&[1, 2], &[2, 3]], 3, 2),
        case(&[&[1], &[2, 3, 4], &[0, 5, 6, 7]], 7, 3),
        case(&[&[1, 2, 3], &[3, 4, 5, 6]], 6, 2),
        case(&[&[1, 2, 3], &[4, 5, 6], &[7, 8, 9]], 9, 3),
        // Few subsets serve all lanes: most are repaired.
        case(&[&[1], &[2], &[3, 4, 5, 6, 7, 8, 9]], 9, 3),
        case(&[&[1, 2, 3], &[4, 5, 6], &[7, 8, 9], &[10, 11, 12]], 12, 4),
    ]
}

/// The distance of what is drawn to what is as likely as any other, and what of it is noise.
fn distance(case: &Enumerable, draws: u64, draw: &dyn Fn(Highway) -> Slice) -> (f64, f64) {
    let states: Vec<usize> = (1 + case.lanes..=case.lanes + case.states).collect();
    let subsets = (0u32..1 << states.len()).filter(|set| set.count_ones() as usize == case.width);
    let subsets = subsets
        .map(|set| (0..states.len()).filter(|i| set >> i & 1 == 1).map(|i| states[i]).collect::<BTreeSet<usize>>());
    let serves = |set: &BTreeSet<usize>| {
        (1..=case.lanes).all(|lane| case.system.edges[lane].iter().any(|to| *to == 0 || set.contains(to)))
    };
    let mut counts: BTreeMap<BTreeSet<usize>, u64> = subsets.filter(serves).map(|set| (set, 0)).collect();
    for seed in 0..draws {
        let slice = draw(Highway { width: case.width, degrade_depth: None, seed, is_beam: false });
        let set = slice.states.into_iter().filter(|node| states.contains(node)).collect();
        *counts.get_mut(&set).expect("a set that may be drawn") += 1;
    }
    let even = 1.0 / counts.len() as f64;
    let distance = counts.values().map(|&count| (count as f64 / draws as f64 - even).abs()).sum::<f64>() / 2.0;
    // The mean of the distance that even draws have.
    let noise = counts.len() as f64 / 2.0 * (2.0 * even * (1.0 - even) / (std::f64::consts::PI * draws as f64)).sqrt();
    (distance, noise)
}

#[test]
fn slices_are_drawn_evenly() {
    let draws = 3_000;
    let mut bias: f64 = 0.0;
    for (number, case) in enumerables().iter().enumerate() {
        let (ours, noise) = distance(case, draws, &|highway| slice(&case.system, highway));
        let (theirs, _) = distance(case, draws, &|highway| bent(&case.system, highway, Bend::RepresentativesFirst));
        println!("case {number}: {ours:.4}, representatives first {theirs:.4}, noise {noise:.4}");
        assert!(ours < 1.5 * noise, "case {number}: {ours} from even, of which {noise} is noise");
        bias = bias.max(theirs - 1.5 * noise);
    }
    assert!(bias > 0.02, "representatives first would pass");
}

/// Levels that threads share: the slice is the same for any number of threads, and what must be so of every slice is. In the
/// widest, most new states are not even noted.
#[test]
fn slices_do_not_depend_on_threads() {
    let mut full = 0;
    let small = (0..30).map(|seed| (seed, 2 + seed as usize % 4, 300 + seed as usize, 8 + seed as usize % 12));
    for (seed, fan, nodes, width) in small.chain([(31, 3, 60_000, 4_100)]) {
        let mut random = Random::new(seed);
        let mut system = Graph::with_ends(&[0], vec![Vec::new(); nodes]);
        for node in 0..nodes {
            // Lanes of one successor are seldom served by chance.
            let many = if node % 3 == 0 { 1 } else { fan };
            system.edges[node] = (0..many).map(|_| random.below(nodes)).collect();
        }
        let highway = Highway { width, degrade_depth: None, seed, is_beam: false };
        let run = |threads| {
            let grain = if nodes < 1_000 { 1 } else { 256 };
            let (slice, hunt) = hunted(&system, highway, Limits { threads, grain, ..Limits::NONE });
            (slice, hunt.outcomes, hunt.stats.transitions, hunt.fired)
        };
        let alone = run(1);
        assert_eq!(fault(&system, highway, &alone.0), None);
        full += alone.0.levels.iter().filter(|&&lanes| lanes == width as u64).count();
        for threads in [2, 3] {
            assert!(run(threads) == alone, "{threads} threads visit another slice than one");
        }
    }
    assert!(full > 100, "only {full} levels are full");
}

#[test]
fn more_initial_states_than_lanes() {
    let system = Graph::with_ends(&[0, 1, 2, 3], [4, 5, 6, 7, 0, 1, 2, 3].map(|to| vec![to]).to_vec());
    let mut starts = BTreeSet::new();
    for seed in 0..40 {
        let slice = slice(&system, Highway { width: 1, degrade_depth: None, seed, is_beam: false });
        assert!(slice.states.len() == 2 && !slice.complete);
        starts.extend(slice.states);
    }
    assert_eq!(starts.len(), 8, "each is drawn at some time");
}
