//! `--symmetry auto`: the same answers from representatives, which are called so; and where threads are not interchangeable, the
//! line that tells them apart.

use crate::binary::birk;

#[test]
fn a_search_up_to_symmetry_says_what_it_can_claim() {
    birk("check models/peers/peterson.bir -D N=4").exits(0).prints("A, exhaustive: every reachable state");
    let found = birk("check models/peers/peterson.bir -D N=4 --symmetry auto").exits(0);
    let covered = "A, complete up to symmetry: a violation would have been met; 898 representatives visited";
    assert!(found.out.contains(covered), "{}", found.out);
    for claim in ["every reachable state", "never", "unexplored", "next:"] {
        assert!(!found.out.contains(claim), "`{claim}` in\n{}", found.out);
    }
    let json = birk("check models/peers/peterson.bir -D N=4 --symmetry auto --format json").exits(0).json();
    assert_eq!((&json["coverage"]["symmetry"], &json["unreached"]), (&true.into(), &serde_json::Value::Null));
}

/// The traces are those of real threads, as short as without symmetry.
#[test]
fn engines_find_witnesses_that_are_as_short() {
    for search in ["bfs", "bfs --threads 2"] {
        let check = format!("check models/german.bir --search {search} --symmetry auto");
        let found = birk(&check).exits(0).prints("up to symmetry");
        assert!(found.out.contains("5,115 representatives"), "{search}: {}", found.out);
        assert!(found.out.contains("12 steps") && found.out.contains("4 steps"), "{search}: {}", found.out);
    }
    for search in ["dfs", "depth"] {
        birk(&format!("check models/german.bir --search {search} --symmetry auto"))
            .exits(0)
            .prints("5,115 representatives");
    }
}

#[test]
fn both_reductions_can_be_combined() {
    let found = birk("check models/german.bir --property deadlock --reduce auto --symmetry auto").exits(0);
    assert!(found.out.contains("A, complete by reduction and up to symmetry"), "{}", found.out);
}

#[test]
fn where_symmetry_is_not_used_a_note_says_why() {
    let peterson = "check models/peers/peterson.bir --symmetry auto";
    birk(&format!("{peterson} --keep-going")).exits(0).says("symmetry was not used: --keep-going counts all states");
    birk(&format!("{peterson} --search astar")).exits(0).says("symmetry was not used: heuristic estimates");
    let bakery = birk("check models/bakery.bir --symmetry auto").exits(0).prints("every reachable state");
    assert!(bakery.err.contains("not all interchangeable: models/bakery.bir:"), "{}", bakery.err);
}
