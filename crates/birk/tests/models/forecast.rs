//! How often the truth lies in the bracket that is given for the next depth, over the whole corpus.

use std::fs;
use std::path::Path;

use birk_engine::{BoundedStats, EngineStats, Job, Limits, Stats};
use birk_search::engine;
use birk_search::forecast::Forecast;

use crate::hunt_with;

/// Sizes of the levels of every model in a folder of the corpus.
fn levels_of(folder: &str) -> Vec<Vec<u64>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let entries = fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.expect("readable").path());
    let models = entries.filter(|path| path.extension().is_some_and(|end| end == "bir"));
    let levels = models.map(|path| {
        let text = fs::read_to_string(&path).expect("readable");
        let program = birk_lang::load(&text, &[]).program.expect("the models of the corpus load");
        let job = Job { keep_going: true, ..Job::new(0, Limits::NONE) };
        let bfs = engine("bfs").expect("it is in the table");
        hunt_with(bfs, &program, &[], &job).stats.levels
    });
    levels.collect()
}

/// A search that ended at a depth limit knows the levels up to it.
fn forecast(levels: &[u64]) -> Forecast {
    Forecast::of(&Stats { levels: levels.to_vec(), ..Stats::default() })
}

/// How many brackets hold the truth, and of how many; and the middle one of what the ends of a bracket differ by.
fn hits(all: &[Vec<u64>]) -> (usize, usize, f64) {
    let (mut hits, mut widths) = (0, Vec::new());
    for levels in all {
        for next in 1..levels.len() {
            let Some(guess) = forecast(&levels[..next]).after(next as u32 - 1) else { continue };
            assert_eq!((guess.depth, guess.within), (next as u32, levels[..next].iter().sum()));
            hits += usize::from((guess.states.0..=guess.states.1).contains(&levels[next]));
            widths.push((guess.states.1 + 1) as f64 / (guess.states.0 + 1) as f64);
        }
    }
    widths.sort_by(f64::total_cmp);
    (hits, widths.len(), widths[widths.len() / 2])
}

/// The manual says "97 of 100", and that the ends differ by a factor of about two.
#[test]
fn the_truth_lies_in_nearly_all_brackets_of_the_corpus() {
    let (hits, all, width) = hits(&levels_of("."));
    println!("{hits} of {all}, ends {width:.2} apart");
    assert!(all > 1500, "{all}");
    assert!((0.96..0.98).contains(&(hits as f64 / all as f64)), "{hits} of {all}");
    assert!(width < 2.5, "{width}");
}

/// The rule was not chosen by looking at these.
#[test]
fn the_truth_lies_in_nearly_all_brackets_of_other_models() {
    let (hits, all, width) = hits(&levels_of("beem"));
    println!("{hits} of {all}, ends {width:.2} apart");
    assert!(all > 400 && hits * 100 >= all * 95, "{hits} of {all}, ends {width:.2} apart");
}

#[test]
fn what_is_known_is_exact_and_too_little_gives_no_estimate() {
    let levels = [1, 3, 7, 12, 20, 31];
    let all = forecast(&levels);
    let known = all.after(3).expect("the next level is known");
    assert_eq!((known.depth, known.states, known.within), (4, (20, 20), 23));
    assert_eq!(forecast(&levels[..4]).after(3), None);
    assert_eq!(all.after(9), None);
    assert_eq!(Forecast::default().after(0), None);
    let guess = all.after(5).expect("five levels suffice");
    assert!(guess.states.0 < 48 && 48 < guess.states.1, "{guess:?}");
}

/// Bounds that lie several steps apart.
#[test]
fn the_next_bound_is_guessed_from_those_before() {
    let within = |depth: u32| u64::from(depth).pow(2) + 1;
    let bounds: Vec<(u32, u64)> = (0..=6).map(|i| (10 * i, within(10 * i))).collect();
    let engine = EngineStats::Bounded(BoundedStats { bounds, ..BoundedStats::default() });
    let guess = Forecast::of(&Stats { engine, ..Stats::default() }).after(60).expect("six bounds suffice");
    let truth = within(70) - within(60);
    assert_eq!((guess.depth, guess.within), (70, within(60)));
    assert!(guess.states.0 <= truth && truth <= guess.states.1, "{guess:?}, and there are {truth}");
}
