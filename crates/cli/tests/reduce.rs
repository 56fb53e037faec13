//! `--reduce auto`: the same answers from fewer states, and no word about states that were not visited.

mod binary;

use binary::birk;

#[test]
fn a_reduced_search_says_what_it_can_claim() {
    let full = birk("check models/peers/phil.bir -D N=9 --property deadlock").exits(0).prints("19,683 states");
    assert!(full.out.contains("A, exhaustive: every reachable state"), "{}", full.out);
    let reduced = birk("check models/peers/phil.bir -D N=9 --property deadlock --reduce auto").exits(0);
    assert!(reduced.out.contains("A, complete by reduction: a violation would have been met; 196 states visited"));
    for claim in ["every reachable state", "never", "unexplored", "next:"] {
        assert!(!reduced.out.contains(claim), "`{claim}` in\n{}", reduced.out);
    }
    let json =
        birk("check models/peers/phil.bir -D N=9 --property deadlock --reduce auto --format json").exits(0).json();
    assert_eq!((&json["coverage"]["reduced"], &json["unreached"]), (&true.into(), &serde_json::Value::Null));
}

/// The trace is one of the model as it is written, as short as without a reduction.
#[test]
fn engines_find_a_trace_that_is_as_short() {
    for search in ["bfs", "depth", "astar"] {
        let check = format!("check models/philosophers_ring.bir --search {search} --reduce auto");
        let covered = birk(&check).exits(1).prints("`deadlock` (5 steps").out;
        assert!(covered.contains("by reduction") || covered.contains("by a reduced search"), "{covered}");
    }
    birk("check models/philosophers_ring.bir --search dfs --reduce auto").exits(1).prints("deadlock");
    birk("check models/philosophers_ring.bir --store bitstate --search dfs --reduce auto").exits(1).prints("deadlock");
}

#[test]
fn where_nothing_is_reduced_a_note_says_why() {
    let whole = |answer: binary::Answer| answer.prints("every reachable state");
    let peterson = "check models/peers/peterson.bir -D N=4 --property deadlock --reduce auto";
    whole(birk(peterson).exits(0)).says("not reduced: nearly all steps depend on each other");
    whole(birk(&format!("{peterson} --keep-going")).exits(0)).says("not reduced: --keep-going counts all states");
}
