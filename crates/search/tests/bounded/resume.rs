//! Searches that are interrupted anywhere and taken up again, against those that are left alone.

use std::io::Read;
use std::ops::ControlFlow;

use birk_engine::{Hunt, Job, Limits, Observer, Outside, Progress, Save, Storage};

use super::*;

/// Keeps every checkpoint, and interrupts after some looks.
#[derive(Default)]
struct Keeper {
    from: Option<Vec<u8>>,
    kept: Vec<Vec<u8>>,
    looks: Option<u32>,
}

impl Observer for Keeper {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<Stop> {
        match &mut self.looks {
            // It is still being read.
            Some(_) if progress.transitions == 0 => {}
            Some(0) => return ControlFlow::Break(Stop::Interrupt),
            Some(looks) => *looks -= 1,
            None => {}
        }
        ControlFlow::Continue(())
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        Some(self)
    }
}

impl Outside for Keeper {
    fn saved(&mut self) -> Option<Box<dyn Read>> {
        self.from.clone().map(|bytes| Box::new(std::io::Cursor::new(bytes)) as Box<dyn Read>)
    }

    fn refuse(&mut self, reason: &str) {
        panic!("what was saved is refused: {reason}");
    }

    fn checkpoint(&mut self, save: &mut Save<'_>, _is_last: bool) {
        let mut bytes = Vec::new();
        save(&mut bytes).expect("memory takes everything");
        self.kept.push(bytes);
    }
}

fn hunt(graph: &Graph, job: &Job, keeper: &mut Keeper) -> (Hunt, BTreeSet<usize>) {
    let (hunt, frontier) = with_frontier(graph, job, keeper);
    (hunt, frontier.iter().map(|state| graph.node(state)).collect())
}

/// What does not depend on where a search was interrupted.
#[track_caller]
fn same(one: &(Hunt, BTreeSet<usize>), other: &(Hunt, BTreeSet<usize>)) {
    let of = |(hunt, frontier): &(Hunt, BTreeSet<usize>)| {
        let is_found = matches!(hunt.outcomes[0], Outcome::Found(_));
        let (stats, coverage) = (&hunt.stats, hunt.coverage.clone());
        let counts = (stats.states, stats.transitions, stats.cut);
        (counts, coverage, hunt.stopped, hunt.fired.clone(), is_found, frontier.clone())
    };
    assert_eq!(of(one), of(other));
}

#[test]
fn from_every_completed_bound_the_search_goes_on_as_if_nothing_had_happened() {
    let mut random = Random::new(17);
    graphs(10_000, 400, |graph, depth| {
        let more_words = [0, 1, 40][random.below(3)];
        let graph = Graph { more_words, ..super::graph(graph.edges.clone(), &graph.initial) };
        let storage = [Storage::Exact, Storage::Compact][random.below(2)];
        let frontier = FRONTIERS[random.below(3)];
        let job = with(frontier, job(Limits { depth, ..Limits::NONE }, 1 + random.below(3) as u32));
        let job = Job { storage, ..job };
        let mut keeper = Keeper::default();
        let alone = hunt(&graph, &job, &mut keeper);
        assert!(!keeper.kept.is_empty());
        for bytes in &keeper.kept {
            let again = hunt(&graph, &job, &mut Keeper { from: Some(bytes.clone()), ..Keeper::default() });
            same(&alone, &again);
            assert_eq!(
                (alone.0.stats.revisits, alone.0.stats.max_depth),
                (again.0.stats.revisits, again.0.stats.max_depth)
            );
        }
    });
}

/// A limit on the states ends a search in the middle of a bound, again and again.
#[test]
fn a_search_in_pieces_visits_everything_once() {
    let mut random = Random::new(19);
    let mut pieces = 0;
    graphs(10_000, 700, |graph, depth| {
        let more_words = [0, 40][random.below(2)];
        let graph = Graph { more_words, ..super::graph(graph.edges.clone(), &graph.initial) };
        let job = job(Limits { depth, ..Limits::NONE }, 1 + random.below(6) as u32);
        let alone = hunt(&graph, &job, &mut Keeper::default());
        graph.take_evaluated();
        let mut keeper = Keeper::default();
        let mut states = graph.initial.len() as u64;
        // What was found before is evaluated again when it is read.
        let mut again = 0;
        let last = loop {
            keeper.kept.clear();
            let limits = Limits { states, ..job.limits };
            let answer = hunt(&graph, &Job { limits, ..job.clone() }, &mut keeper);
            if answer.0.stopped != Stop::States {
                break answer;
            }
            pieces += 1;
            again += usize::from(matches!(answer.0.outcomes[0], Outcome::Found(_)));
            states += 1 + random.below(3) as u64;
            keeper.from = keeper.kept.pop();
            assert!(keeper.from.is_some(), "what was done is saved");
        };
        same(&alone, &last);
        let evaluated = graph.evaluated.lock().unwrap();
        let visited: BTreeSet<usize> = evaluated.iter().copied().collect();
        assert_eq!((evaluated.len() - again, visited), (visited_once(&graph, depth), truth(&graph, depth).visited));
    });
    assert!(pieces > 1000, "{pieces}");
}

fn visited_once(graph: &Graph, depth: u32) -> usize {
    truth(graph, depth).visited.len()
}

/// The same with threads, on graphs that are large enough, interrupted by the observer.
#[test]
fn threads_that_are_interrupted_go_on() {
    let mut random = Random::new(23);
    for number in 0..8 {
        let nodes = 6000 + random.below(4000);
        let edges = (0..nodes).map(|_| (0..1 + random.below(4)).map(|_| random.below(nodes)).collect()).collect();
        let graph = Graph { more_words: [0, 30][number % 2], ..super::graph(edges, &[0, 1, 2]) };
        let job = with("tree", job(Limits { threads: 1 + number % 3, ..Limits::NONE }, 3));
        let alone = hunt(&graph, &job, &mut Keeper::default());
        graph.take_evaluated();
        let mut keeper = Keeper::default();
        let (mut pieces, mut again) = (0, 0);
        let last = loop {
            keeper.kept.clear();
            keeper.looks = Some(1 + random.below(12) as u32);
            let answer = hunt(&graph, &job, &mut keeper);
            if answer.0.stopped != Stop::Interrupt {
                break answer;
            }
            pieces += 1;
            keeper.from = keeper.kept.pop();
            // What was found before is evaluated again when it is read.
            again += usize::from(keeper.from.is_some() && matches!(answer.0.outcomes[0], Outcome::Found(_)));
        };
        same(&alone, &last);
        assert!(pieces > 2, "{pieces}");
        assert_eq!(graph.evaluated.lock().unwrap().len() - again, visited_once(&graph, NO_LIMIT), "evaluated once");
    }
}
