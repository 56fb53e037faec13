//! The usual lists of formulas: the 55 patterns of Dwyer, Avrunin and Corbett (1999), and the lists of Etessami and
//! Holzmann (2000) and of Somenzi and Bloem (2000).

/// All, each with its list.
pub(crate) fn all() -> Vec<(&'static str, &'static str)> {
    let lists = [("Dwyer", DWYER), ("Etessami-Holzmann", ETESSAMI_HOLZMANN), ("Somenzi-Bloem", SOMENZI_BLOEM)];
    lists.into_iter().flat_map(|(name, list)| list.iter().map(move |text| (name, *text))).collect()
}

#[test]
fn the_lists_are_whole() {
    assert_eq!((DWYER.len(), ETESSAMI_HOLZMANN.len(), SOMENZI_BLOEM.len()), (55, 12, 27));
}

/// Absence, existence, bounded existence, universality, precedence, response, chains; each globally, before, after,
/// between and after-until. p0 is the event, p1 and p2 close and open the scope or are further events.
const DWYER: &[&str] = &[
    // Absence of p0: globally, before p1, after p2, between p2 and p1, after p2 until p1.
    "[] !p0",
    "<>p1 -> (!p0 U p1)",
    "[](p2 -> [] !p0)",
    "[]((p2 && !p1 && <>p1) -> (!p0 U p1))",
    "[]((p2 && !p1) -> (!p0 W p1))",
    // Existence.
    "<>p0",
    "!p1 W (p0 && !p1)",
    "[](!p2) || <>(p2 && <>p0)",
    "[]((p2 && !p1) -> (!p1 W (p0 && !p1)))",
    "[]((p2 && !p1) -> (!p1 U (p0 && !p1)))",
    // At most two.
    "!p0 W (p0 W (!p0 W (p0 W [] !p0)))",
    "<>p1 -> ((!p0 && !p1) U (p1 || ((p0 && !p1) U (p1 || ((!p0 && !p1) U (p1 || ((p0 && !p1) U (p1 || (!p0 U p1)))))))))",
    "<>p2 -> (!p2 U (p2 && (!p0 W (p0 W (!p0 W (p0 W [] !p0))))))",
    "[]((p2 && <>p1) -> ((!p0 && !p1) U (p1 || ((p0 && !p1) U (p1 || ((!p0 && !p1) U (p1 || ((p0 && !p1) U (p1 || (!p0 U p1))))))))))",
    "[](p2 -> ((!p0 && !p1) U (p1 || ((p0 && !p1) U (p1 || ((!p0 && !p1) U (p1 || ((p0 && !p1) U (p1 || (!p0 W p1) || [] p0)))))))))",
    // Universality.
    "[] p0",
    "<>p1 -> (p0 U p1)",
    "[](p2 -> [] p0)",
    "[]((p2 && !p1 && <>p1) -> (p0 U p1))",
    "[]((p2 && !p1) -> (p0 W p1))",
    // p3 precedes p0.
    "!p0 W p3",
    "<>p1 -> (!p0 U (p3 || p1))",
    "[] !p2 || <>(p2 && (!p0 W p3))",
    "[]((p2 && !p1 && <>p1) -> (!p0 U (p3 || p1)))",
    "[]((p2 && !p1) -> (!p0 W (p3 || p1)))",
    // p3 responds to p0.
    "[](p0 -> <>p3)",
    "<>p1 -> ((p0 -> (!p1 U (p3 && !p1))) U p1)",
    "[](p2 -> [](p0 -> <>p3))",
    "[]((p2 && !p1 && <>p1) -> ((p0 -> (!p1 U (p3 && !p1))) U p1))",
    "[]((p2 && !p1) -> ((p0 -> (!p1 U (p3 && !p1))) W p1))",
    // p3, p4 precede p0.
    "<>p0 -> (!p0 U (p3 && !p0 && X (!p0 U p4)))",
    "<>p1 -> (!p0 U (p1 || (p3 && !p0 && X (!p0 U p4))))",
    "([] !p2) || (!p2 U (p2 && (<>p0 -> (!p0 U (p3 && !p0 && X (!p0 U p4))))))",
    "[]((p2 && <>p1) -> (!p0 U (p1 || (p3 && !p0 && X (!p0 U p4)))))",
    "[](p2 -> (<>p0 -> (!p0 U (p1 || (p3 && !p0 && X (!p0 U p4))))))",
    // p0 precedes p3, p4.
    "(<>(p3 && X <>p4)) -> ((!p3) U p0)",
    "<>p1 -> ((!(p3 && (!p1) && X (!p1 U (p4 && !p1)))) U (p1 || p0))",
    "([] !p2) || ((!p2) U (p2 && ((<>(p3 && X <>p4)) -> ((!p3) U p0))))",
    "[]((p2 && <>p1) -> ((!(p3 && (!p1) && X (!p1 U (p4 && !p1)))) U (p1 || p0)))",
    "[](p2 -> ((!(p3 && (!p1) && X (!p1 U (p4 && !p1)))) U (p1 || p0) || [](!(p3 && X <>p4))))",
    // p0 responds to p3, p4.
    "[](p3 && X <>p4 -> X (<>(p4 && <>p0)))",
    "<>p1 -> ((p3 && X (!p1 U p4) -> X (!p1 U (p4 && <>p0))) U p1)",
    "[](p2 -> [](p3 && X <>p4 -> X (!p4 U (p4 && <>p0))))",
    "[]((p2 && <>p1) -> ((p3 && X (!p1 U p4) -> X (!p1 U (p4 && <>p0))) U p1))",
    "[](p2 -> ((p3 && X (!p1 U p4) -> X (!p1 U (p4 && <>p0))) U (p1 || [](p3 && X (!p1 U p4) -> X (!p1 U (p4 && <>p0))))))",
    // p3, p4 respond to p0.
    "[](p0 -> <>(p3 && X <>p4))",
    "<>p1 -> ((p0 -> (!p1 U (p3 && !p1 && X (!p1 U p4)))) U p1)",
    "[](p2 -> [](p0 -> (p3 && X <>p4)))",
    "[]((p2 && <>p1) -> ((p0 -> (!p1 U (p3 && !p1 && X (!p1 U p4)))) U p1))",
    "[](p2 -> ((p0 -> (!p1 U (p3 && !p1 && X (!p1 U p4)))) U (p1 || [](p0 -> (p3 && X <>p4)))))",
    // p3, p4 without p5 between respond to p0.
    "[](p0 -> <>(p3 && !p5 && X (!p5 U p4)))",
    "<>p1 -> ((p0 -> (!p1 U (p3 && !p1 && !p5 && X ((!p1 && !p5) U p4)))) U p1)",
    "[](p2 -> [](p0 -> (p3 && !p5 && X (!p5 U p4))))",
    "[]((p2 && <>p1) -> ((p0 -> (!p1 U (p3 && !p1 && !p5 && X ((!p1 && !p5) U p4)))) U p1))",
    "[](p2 -> ((p0 -> (!p1 U (p3 && !p1 && !p5 && X ((!p1 && !p5) U p4)))) U (p1 || [](p0 -> (p3 && !p5 && X (!p5 U p4))))))",
];

const ETESSAMI_HOLZMANN: &[&str] = &[
    "p0 U (p1 && []p2)",
    "p0 U (p1 && X (p2 U p3))",
    "p0 U (p1 && X (p2 && (<>(p3 && X (<>(p4 && X (<>(p5 && X (<>p6)))))))))",
    "<>(p0 && X []p1)",
    "<>(p0 && X (p1 && X <>p2))",
    "<>(p0 && X (p1 U p2))",
    "(<>[]p0) || ([]<>p1)",
    "[](p0 -> (p1 U p2))",
    "[](p0 && X <>(p1 && X <>(p2 && X <>p3)))",
    "([]<>p0) && ([]<>p1) && ([]<>p2) && ([]<>p3) && ([]<>p4)",
    "(p0 U (p1 U p2)) || (p1 U (p2 U p0)) || (p2 U (p0 U p1))",
    "[](p0 -> (p1 U ([]p2 || []p3)))",
];

const SOMENZI_BLOEM: &[&str] = &[
    "p0 U p1",
    "p0 U (p1 U p2)",
    "!(p0 U (p1 U p2))",
    "[]<>p0 -> []<>p1",
    "<>p0 U []p1",
    "[]p0 U p1",
    "!(<><>p0 -> <>p0)",
    "!([]<>p0 -> []<>p1)",
    "!([]<>p0 -> []<>p0)",
    "(<>p0 R <>p1)",
    "[](p0 -> <>p1)",
    "!([](p0 -> <>p1))",
    "<>[]p0 || <>[]p1",
    "[]<>p0 && []<>p1",
    "<>p0 U <>p1",
    "[](p0 || X []p1) && [](p2 || X [] !p1)",
    "[](p0 || (X p1 && X !p1))",
    "[](<>p0 && <>p1)",
    "p0 R (p1 || p2)",
    "(X p0 U X p1) || !(X (p0 U p1))",
    "(X p0 U p1) || !(X (p0 U (p0 && p1)))",
    "[](p0 -> <>p1) && ((X p0 U X p1) || !(X (p0 U p1)))",
    "[](p0 -> <>p1) && ((X p0 U X p1) || !(X (p0 U (p0 && p1))))",
    "!(p0 U (p1 && X !p2))",
    "(<>p0 && <>(!p0)) || []p0",
    "[](p0 && <>(!p0 && X p1))",
    "p0 U (p1 && [](p0 -> X p2))",
];
