//! Searches that are interrupted anywhere and taken up again, against those that are left alone.

use std::io::Read;
use std::ops::ControlFlow;

use birk_search::job::{Progress, Save};
use birk_search::{Observer, Storage};

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

    fn resume(&mut self) -> Option<Box<dyn Read>> {
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

fn hunt(graph: &Graph, limits: Limits, keeper: &mut Keeper) -> (Hunt, BTreeSet<usize>) {
    let job = Job { goals: 1, stop_at: GoalSet::default(), keep_going: true, limits };
    let (hunt, frontier) = with_frontier(graph, &job, keeper);
    (hunt, frontier.iter().map(|state| state[0] as usize).collect())
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
    let mut random = Random(17);
    graphs(10_000, 400, |graph, depth| {
        let more_words = [0, 1, 40][random.below(3)];
        let graph =
            Graph { more_words, edges: graph.edges.clone(), initial: graph.initial.clone(), ..Graph::default() };
        let storage = [Storage::Exact, Storage::Compact][random.below(2)];
        let waiting = Some(WAITING[random.below(3)]);
        let limits = Limits { depth, increment: 1 + random.below(3) as u32, storage, waiting, ..Limits::NONE };
        let mut keeper = Keeper::default();
        let alone = hunt(&graph, limits, &mut keeper);
        assert!(!keeper.kept.is_empty());
        for bytes in &keeper.kept {
            let again = hunt(&graph, limits, &mut Keeper { from: Some(bytes.clone()), ..Keeper::default() });
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
    let mut random = Random(19);
    let mut pieces = 0;
    graphs(10_000, 700, |graph, depth| {
        let more_words = [0, 40][random.below(2)];
        let graph =
            Graph { more_words, edges: graph.edges.clone(), initial: graph.initial.clone(), ..Graph::default() };
        let limits = Limits { depth, increment: 1 + random.below(6) as u32, ..Limits::NONE };
        let alone = hunt(&graph, limits, &mut Keeper::default());
        graph.judged.lock().unwrap().clear();
        let mut keeper = Keeper::default();
        let mut states = graph.initial.len() as u64;
        // What was found before is judged again when it is read.
        let mut again = 0;
        let last = loop {
            keeper.kept.clear();
            let answer = hunt(&graph, Limits { states, ..limits }, &mut keeper);
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
        let judged = graph.judged.lock().unwrap();
        let visited: BTreeSet<usize> = judged.iter().copied().collect();
        assert_eq!((judged.len() - again, visited), (visited_once(&graph, depth), graph.truth(depth).visited));
    });
    assert!(pieces > 1000, "{pieces}");
}

fn visited_once(graph: &Graph, depth: u32) -> usize {
    graph.truth(depth).visited.len()
}

/// The same with threads, on graphs that are large enough, interrupted by the observer.
#[test]
fn threads_that_are_interrupted_go_on() {
    let mut random = Random(23);
    for number in 0..8 {
        let nodes = 6000 + random.below(4000);
        let edges = (0..nodes).map(|_| (0..1 + random.below(4)).map(|_| random.below(nodes)).collect()).collect();
        let graph = Graph { edges, initial: vec![0, 1, 2], more_words: [0, 30][number % 2], ..Graph::default() };
        let limits = Limits { increment: 3, threads: 1 + number % 3, waiting: Some(Waiting::Tree), ..Limits::NONE };
        let alone = hunt(&graph, limits, &mut Keeper::default());
        graph.judged.lock().unwrap().clear();
        let mut keeper = Keeper::default();
        let (mut pieces, mut again) = (0, 0);
        let last = loop {
            keeper.kept.clear();
            keeper.looks = Some(1 + random.below(12) as u32);
            let answer = hunt(&graph, limits, &mut keeper);
            if answer.0.stopped != Stop::Interrupt {
                break answer;
            }
            pieces += 1;
            keeper.from = keeper.kept.pop();
            // What was found before is judged again when it is read.
            again += usize::from(keeper.from.is_some() && matches!(answer.0.outcomes[0], Outcome::Found(_)));
        };
        same(&alone, &last);
        assert!(pieces > 2, "{pieces}");
        assert_eq!(graph.judged.lock().unwrap().len() - again, visited_once(&graph, NO_LIMIT), "judged once");
    }
}
