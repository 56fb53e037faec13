//! Random programs with threads that are alike, most of them interchangeable: numbers of threads are stored, compared, chosen, put
//! into sets and used as indices. Now and then something tells threads apart, and some programs have threads in a ring.

use std::fmt::Write as _;

use crate::random::{Draw as _, Random};

/// Conditions of a thread called `me`.
const OWN_GUARDS: &[&str] = &[
    "last == me",
    "last != me",
    "a[me]",
    "!a[me]",
    "x[me] < 2",
    "x[me] == x[last]",
    "me in s",
    "!(me in s)",
    "holder == me",
    "next[me] == last",
    "next[me] == me",
    "a[next[me]]",
    "seen[me][last]",
    "(forall (k : 0 .. N - 1) k == me || !a[k])",
    "(exists (k : 0 .. N - 1) k != me && P[k]@l1)",
    "(count (k : 0 .. N - 1) x[k] == x[me]) < 3",
    "(forall (k in s) x[k] <= x[me])",
];

/// Conditions of anybody.
const GUARDS: &[&str] = &[
    "true",
    "true",
    "n > 0",
    "n < 2",
    "holder == N",
    "holder != N",
    "size(s) < 2",
    "s == {}",
    "a[last]",
    "P[last]@l0",
    "next[last] == last",
    "(sum (k : 0 .. N - 1) x[k]) < 3",
    "s != {last}",
];

/// Actions of a thread called `me`.
const OWN_ACTIONS: &[&str] = &[
    "a[me] := !a[me];",
    "a[me] := true;",
    "last := me;",
    "holder := me;",
    "s := s + {me};",
    "s := s - {me};",
    "x[me] := (x[me] + 1) % 3;",
    "x[me] := x[last];",
    "next[me] := last;",
    "next[last] := me;",
    "next[me] := next[last];",
    "a[next[me]] := false;",
    "seen[me][last] := true;",
    "seen[last][me] := false;",
    "last := next[me];",
    "c := choose(0, N - 1); a[c] := true; c := 0;",
    "c := choose(0, N - 1); last := c;",
    "last := c;",
    "assert !a[me] || n < 2;",
];

/// Actions of anybody.
const ACTIONS: &[&str] = &[
    "n := (n + 1) % 3;",
    "n := n + 1;",
    "n := 0;",
    "holder := N;",
    "s := {};",
    "s := s + {last};",
    "a[last] := true;",
    "x[last] := n;",
    "last := choose(0, N - 1);",
    "if (s != {}) { last := choose(s); }",
    "n := size(s);",
    "next[last] := last;",
    "assume !a[last];",
];

/// What tells threads apart.
const BREAKS: &[&str] =
    &["a[0] := true;", "last := 0;", "x[1] := 2;", "s := s + {1};", "holder := N - 1;", "if (last < 1) { n := 2; }"];
const OWN_BREAKS: &[&str] =
    &["last := (me + 1) % N;", "x[me] := me;", "if (me == 0) { a[me] := false; }", "if (me > last) { n := 1; }"];

/// What only neighbours in a ring do, and is asked of them.
const RING_GUARDS: &[&str] = &[
    "a[(me + 1) % N]",
    "!a[(me + N - 1) % N]",
    "last == (me + 1) % N",
    "x[(me + 1) % N] == x[me]",
    "P[(me + 1) % N]@l1",
    "(me + 1) % N in s",
    "(exists (k : 0 .. N - 1) a[k] && !a[(k + 1) % N])",
];
const RING_ACTIONS: &[&str] = &[
    "a[(me + 1) % N] := true;",
    "x[(me + 1) % N] := x[me];",
    "last := (me + N - 1) % N;",
    "last := (last + 1) % N;",
    "last := (last + 1) % N;",
    "token := token + 1;",
    "token := me;",
    "s := s + {(me + 1) % N};",
    "next[me] := (me + 1) % N;",
    "next[me] := (next[me] + 2) % N;",
    "if (token == me) { n := (n + 1) % 3; }",
];
const RING_PROPERTIES: &[&str] = &[
    "invariant p: forall (i : 0 .. N - 1) !(a[i] && a[(i + 1) % N]);",
    "reachable p: exists (i : 0 .. N - 1) P[i]@l1 && P[(i + 1) % N]@l1 && x[i] != x[(i + 1) % N];",
    "reachable p: token == (last + 1) % N && n == 1;",
    "reachable p: forall (i : 0 .. N - 1) P[i]@l1;",
    "reachable p: a[token] && P[last]@l1;",
];

const PROPERTIES: &[&str] = &[
    "invariant p: !(a[last] && n == 2);",
    "invariant p: forall (i : 0 .. N - 1) (forall (j : 0 .. N - 1) i == j || !(P[i]@l1 && P[j]@l1));",
    "reachable p: size(s) == N;",
    "reachable p: forall (i : 0 .. N - 1) P[i]@l1;",
    "reachable p: exists (i : 0 .. N - 1) next[i] != i && a[i] && x[i] == 1;",
    "reachable p: P[0]@l1 && a[0];",
    "invariant p: last == 0 || holder != 1;",
    "reachable p: forall (i : 0 .. N - 1) x[i] >= i;",
];

/// The text of a seed.
pub fn symmetric(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0b17);
    let is_ring = seed / 8 % 4 == 3;
    let n = random.between(2, 4) + i64::from(is_ring);
    // Arrays that are not used do no harm: they are left out, so that states stay small.
    let mut out = String::new();
    let breaks = if random.chance(30) { 12 } else { 0 };
    let is_pointing = random.chance(35);
    let is_squared = random.chance(15);
    let line = |own: bool, random: &mut Random| {
        loop {
            let (actions, bad) = if own { (OWN_ACTIONS, OWN_BREAKS) } else { (ACTIONS, BREAKS) };
            let actions = if is_ring && own && random.chance(50) { RING_ACTIONS } else { actions };
            let text = if random.chance(breaks) { *random.pick(bad) } else { *random.pick(actions) };
            if (is_pointing || !text.contains("next")) && (is_squared || !text.contains("seen")) {
                return text;
            }
        }
    };
    let guard = |own: bool, random: &mut Random| loop {
        let guards = if own { OWN_GUARDS } else { GUARDS };
        let guards = if is_ring && own && random.chance(40) { RING_GUARDS } else { guards };
        let text = *random.pick(guards);
        if (is_pointing || !text.contains("next")) && (is_squared || !text.contains("seen")) {
            return text;
        }
    };
    let _ = writeln!(out, "system Alike {{\n  const N = {n};\n  int (0, N - 1) last;\n  int (0, N) holder := N;");
    let _ = writeln!(
        out,
        "  boolean[N] a;\n  int (0, 2)[N] x;\n  int (0, 2) n;\n  typealias Group set of 0 .. N - 1;\n  Group s;"
    );
    if is_ring {
        let _ = writeln!(out, "  int wrap (0, N - 1) token;");
    }
    if is_pointing {
        let _ = writeln!(out, "  int (0, N - 1)[N] next;");
    }
    if is_squared {
        let _ = writeln!(out, "  boolean[N][N] seen;");
    }
    let _ = writeln!(out, "  active [N] thread P(int me) {{\n    int (0, N - 1) c;");
    for location in 0..2 {
        let _ = writeln!(out, "    loc l{location}:{}", if random.chance(20) { " end" } else { "" });
        for _ in 0..random.between(1, 2) {
            let is_own = random.chance(70);
            let (mut when, mut act) = (guard(is_own, &mut random).to_owned(), String::new());
            if random.chance(30) {
                let is_own = random.chance(70);
                when = format!("{when} && {}", guard(is_own, &mut random));
            }
            for _ in 0..random.between(1, 2) {
                let is_own = random.chance(75);
                act += line(is_own, &mut random);
                act.push(' ');
            }
            let to = random.between(0, 1);
            let _ = writeln!(out, "      when {when} do {{ {act}}} goto l{to};");
        }
    }
    out += "  }\n";
    if random.chance(50) {
        let _ = writeln!(out, "  active thread Q() {{");
        let _ = writeln!(
            out,
            "    loc q: when {} do {{ {} }} goto q;",
            guard(false, &mut random),
            line(false, &mut random)
        );
        let _ = writeln!(
            out,
            "      when {} do {{ {} }} goto q;\n  }}",
            guard(false, &mut random),
            line(false, &mut random)
        );
    }
    for position in 0..random.between(1, 2) {
        let property = loop {
            let properties = if is_ring && random.chance(70) { RING_PROPERTIES } else { PROPERTIES };
            let text = *random.pick(properties);
            if is_pointing || !text.contains("next") {
                break text;
            }
        };
        let _ = writeln!(out, "  {}", property.replacen(" p:", &format!(" p{position}:"), 1));
    }
    out + "}\n"
}
