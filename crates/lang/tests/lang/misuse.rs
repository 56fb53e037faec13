//! What the front end says of each misuse of statements, procedures, records, channels, sets, symmetric types, imports.
//!
//! Each snapshot shows fragments with their messages. Warnings are left out: they are not what these texts are about.

use birk_lang::load;

/// `code line:col message | label | help (line:col related)`, one line per diagnostic; columns count from 1.
fn messages(text: &str) -> String {
    let place = |offset: usize| {
        let before = text.get(..offset).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        format!("{}:{}", before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    };
    let mut out = String::new();
    for diagnostic in load(text, &[]).diagnostics.iter().filter(|found| !found.is_warning()) {
        let at = place(diagnostic.span.start as usize);
        out += &format!("    {} {at} {} | {}", diagnostic.code, diagnostic.message, diagnostic.label);
        if let Some(help) = &diagnostic.help {
            out += &format!(" | {help}");
        }
        for (span, label) in &diagnostic.related {
            out += &format!(" ({} {label})", place(span.start as usize));
        }
        out.push('\n');
    }
    if out.is_empty() { "    fine\n".into() } else { out }
}

/// The fragments with what is said of them; each stands in a system at `{}`, on a line of its own.
fn report(frame: &str, fragments: &[&str]) -> String {
    let mut out = String::new();
    for fragment in fragments {
        let text = frame.replacen("{}", &format!("\n{fragment}\n"), 1);
        out += &format!("{fragment}\n{}", messages(&text));
    }
    out
}

const BODY: &str = "system S { int (0, 9) x; boolean b; active thread T() {{}} }";
const ITEM: &str = "system S { int (0, 9) x; boolean b; {} active thread T() { skip; } }";

#[test]
fn conditions_and_loops() {
    insta::assert_snapshot!(report(
        BODY,
        &[
            "if (b) { skip; } else if (x > 1) { skip; } else { skip; }",
            "if (b) x := 1;",
            "if (b) { skip; } else x := 1;",
            "if { skip; }",
            "if (b) { skip; } else if { skip; }",
            "if (b) { skip; } elseif (b) { skip; }",
            "if (b { skip; }",
            "if (x) { skip; }",
            "if (b) then { skip; }",
            "else { skip; }",
            "while (b) skip;",
            "while { skip; }",
            "while b do { skip; }",
            "while (x) { skip; }",
            "while (true) { }",
            "while (true) { either { } or { } }",
            "l: goto l;",
            "break;",
            "atomic { break; }",
            "while (b) { atomic { break; } }",
            "continue;",
            "for (i : 0 .. 3) { x := i; }",
            "for (i : 0 .. 3) skip;",
            "for (i = 0; i < 3; i++) { skip; }",
            "for i : 0 .. 3 { skip; }",
            "for (i in 0 .. 3) { skip; }",
            "for (i : 0, 3) { skip; }",
            "for (i : 0) { skip; }",
            "for (i : 0 .. x) { skip; }",
            "for (i : 0 .. 3) { i := 1; }",
            "for (i : 0 .. 5000) { skip; }",
            "repeat { skip; }",
            "switch (x) { skip; }",
        ],
    ));
}

#[test]
fn choices_and_steps() {
    insta::assert_snapshot!(report(
        BODY,
        &[
            "either { skip; } or { skip; } or { skip; }",
            "either { skip; }",
            "either { skip; } and { skip; }",
            "either skip; or skip;",
            "or { skip; }",
            "await;",
            "await x;",
            "await b { skip; }",
            "atomic skip;",
            "atomic { while (b) { skip; } }",
            "atomic { l: skip; }",
            "atomic { for (i : 0 .. 1) { l: skip; } }",
            "for (i : 0 .. 1) { l: skip; }",
            "goto nowhere;",
            "l: skip; goto m;",
            "l: skip; l: skip;",
            "l:",
            "l: ;",
            "l: await b",
            "{ skip; }",
            "return 1;",
            "x := choose(b);",
            "x := choose(1, 2, 3);",
            "skip; int y;",
            "skip; loc a: do { } return;",
            "loc a: do { } goto a; skip;",
            "loc a: do { while (b) { skip; } } goto a;",
            "loc a: do { if (b) { goto c; } } goto a;",
            "loc a: do { l: skip; } goto a;",
            "fair b := true; fair;",
            "stop: skip; star: skip; goto stop;",
            "skp;",
            "either {\nskip;\nor {\nskip;\n}\nx := y;",
            "either { skip; } or skip;\nx := y;",
            "either skip;\nor skip;\nx := y;",
            "await not (b); b := not b;",
            "await x =< 3;",
            "# skip\nskip;",
        ],
    ));
}

#[test]
fn procedures() {
    let frame = "system S { int (0, 9) x; boolean b; function f(): int = 1; procedure one(int a) { x := a; } \
                 procedure set(int a) { a := 1; } procedure again() { again(); } procedure ping() { pong(); } \
                 procedure pong() { ping(); } procedure named() { l: skip; } procedure leave() { break; } \
                 procedure hidden() { y := 1; } active thread T() {{}} }";
    let calls = report(
        frame,
        &[
            "one(1); set(x);",
            "one();",
            "one(1, 2);",
            "one(b);",
            "set(1);",
            "again();",
            "ping();",
            "named();",
            "while (b) { leave(); }",
            "int y; hidden();",
            "nowhere();",
            "onne(1);",
            "asert(b);",
            "x();",
            "f();",
            "x := one(1);",
            "one 1;",
        ],
    );
    let declarations = report(
        ITEM,
        &[
            "procedure p { skip; }",
            "procedure p() skip;",
            "procedure () { skip; }",
            "procedure p(int a, int a) { skip; }",
            "procedure p() { loc a: do { } return; }",
            "procedure p() { int y; y := 1; }",
            "procedure p() { skip; } procedure p() { skip; }",
            "procedure p(a) { skip; }",
        ],
    );
    insta::assert_snapshot!(format!("{calls}{declarations}"));
}

#[test]
fn sequences_and_maps() {
    let declarations = report(
        ITEM,
        &[
            "sequence of byte s;",
            "sequence of byte [0] s;",
            "sequence of byte [1001] s;",
            "sequence of byte [2] s := {};",
            "sequence byte [2] s;",
            "sequence of channel of byte [1] [2] s;",
            "sequence of Nothing [2] s;",
            "record R { sequence of R [2] r; }",
            "typealias A sequence of byte [1000]; typealias B sequence of A [1000]; sequence of B [1000] s;",
            "map of 0 .. 3 m;",
            "map of 0 .. 40 to byte m;",
            "map of boolean to byte m;",
            "map of 3 .. 0 to byte m;",
            "map of 0 .. 3 to channel of byte [1] m;",
            "function f(byte[f(1)] x): int = 1;",
            "function f(int x): int (0, f(1)) = 1;",
        ],
    );
    let uses = report(
        "system S { sequence of byte [2] s; sequence of byte [2][2] q; map of 1 .. 3 to byte m; byte x; byte[3] a; \
         channel of byte [1][2] c; channel of byte [0][2] d; channel of byte [1][2][2] e; active thread T() {{}} }",
        &[
            "s := append(s);",
            "s := append(m, 1);",
            "s := append(s, true);",
            "s := remove(m, 1);",
            "s := tail(s, 1);",
            "m := append(s, 1);",
            "s := {1, 2, 3};",
            "s := q;",
            "s := s + {1};",
            "s := 1;",
            "x := s;",
            "x := s[2];",
            "x := s[true];",
            "x := q[0];",
            "x := q.length;",
            "x := head(x);",
            "x := head(m);",
            "x := head(s, s);",
            "x := last(q);",
            "x := len(m);",
            "x := size(s);",
            "x := size(keys(s));",
            "m := {1};",
            "m[4] := 1;",
            "m[1][1] := 1;",
            "x := m[0];",
            "assert true in s;",
            "assert true in {1, 2};",
            "assert forall (k in x) true;",
            "a := {1, 2};",
            "a := {1, 2, true};",
            "broadcast c[0] (1);",
            "broadcast d (1);",
            "broadcast x (1);",
            "broadcast c (1, 2);",
            "broadcast c (1) except true;",
            "broadcast e (1) except 0;",
            "broadcast (1);",
            "broadcast c;",
        ],
    );
    insta::assert_snapshot!(format!("{declarations}{uses}"));
}

#[test]
fn records() {
    let declarations = report(
        ITEM,
        &[
            "record R { }",
            "record R { int a }",
            "record R { int a; int a; }",
            "record R { R r; }",
            "record R { Q q; } record Q { R[2] r; }",
            "record { int a; }",
            "record R { int a := 1; }",
            "record R { channel of byte [1] c; }",
            "record R { int (0, 3) a; } R r := 1;",
            "record R { Nothing n; }",
        ],
    );
    let frame = "system S { int (0, 9) x; boolean b; record R { int (0, 3) a; boolean c; } record Q { int (0, 3) a; } \
                 R r; R[2] rs; Q q; active thread T() {{}} }";
    let uses = report(
        frame,
        &[
            "r := R(1, true); rs[0] := r; b := r == rs[1]; r.a := rs[x].a;",
            "r := R(1);",
            "r := R(true, 1);",
            "r := R(7, true);",
            "r := 1;",
            "r := q;",
            "r := rs;",
            "r.d := 1;",
            "r.cc := true;",
            "x := r;",
            "x := r + 1;",
            "b := r < r;",
            "b := r == 1;",
            "b := r == q;",
            "x.a := 1;",
            "rs.a := 1;",
            "rs[5] := r;",
            "R.a := 1;",
            "r[0] := 1;",
            "r(1) := 1;",
        ],
    );
    insta::assert_snapshot!(format!("{declarations}{uses}"));
}

#[test]
fn channels() {
    let declarations = report(
        ITEM,
        &[
            "channel of byte c;",
            "channel byte [1] c;",
            "channel of byte [-1] c;",
            "channel of byte [b] c;",
            "channel of channel of byte [1] [1] c;",
            "channel of byte [1] c := 1;",
            "lossy int y;",
            "lossy channel of byte [0] c;",
            "channel of Nothing [1] c;",
        ],
    );
    let frame = "system S { int (0, 9) x; boolean b; record R { int (0, 3) a; boolean c; } channel of byte [1] c; \
                 channel of byte [1][2] cs; channel of R [1] r; channel of byte [0] hand; active thread T() {{}} }";
    let uses = report(
        frame,
        &[
            "send c (1); receive c (?x); send cs[1] (x); send r (1, b); receive r (_, ?b) when b; send hand (2);",
            "send c (1, 2);",
            "send c ();",
            "send c (b);",
            "send c 1;",
            "send c;\nx := y;",
            "send (1);\nx := y;",
            "send c (1;\nx := y;",
            "receive c;\nx := y;",
            "receive c ?x;\nx := y;",
            "receive (?x);\nx := y;",
            "receive c (?x;\nx := y;",
            "receive c (?x, ;\nx := y;",
            "c ! 1;\nc ? x;\nx := y;",
            "atomic { send hand (1); receive hand (?x); }",
            "send r (1);",
            "send r (b, 1);",
            "send x (1);",
            "send cs (1);",
            "send c[0] (1);",
            "send nowhere (1);",
            "receive x (?x);",
            "receive c (?b);",
            "receive c (b);",
            "receive c (?x, _);",
            "receive c ();",
            "receive c (?1);",
            "receive c (?x) if b;",
            "receive c (?x) when x;",
            "x := receive c;",
            "c := 1;",
            "x := c;",
            "b := c == c;",
            "x := len(x);",
            "x := len(hand);",
            "await full(hand);",
            "x := peek(r);",
            "channel of byte [1] own; skip;",
        ],
    );
    insta::assert_snapshot!(format!("{declarations}{uses}"));
}

#[test]
fn sets_and_quantifiers() {
    let declarations = report(
        ITEM,
        &["set of 0 .. 100 s;", "set of 3 .. 0 s;", "set of boolean s;", "set 0 .. 3 s;", "set of 0, 3 s;"],
    );
    let frame =
        "system S { int (0, 9) x; boolean b; set of 0 .. 3 s; set of 0 .. 7 t; byte[3] a; active thread T() {{}} }";
    let uses = report(
        frame,
        &[
            "s := {1, x % 2} + s - {0}; b := x in s && s <= {1} && size(s) == 2; b := forall (y in s) y < 3;",
            "s := {5};",
            "s := {x};",
            "s := 1;",
            "s := s + 1;",
            "s := t;",
            "s := s * t;",
            "b := s == t;",
            "b := b in s;",
            "b := 1 in x;",
            "s := {b};",
            "s := {1, 2;",
            "x := size(x);",
            "b := s < s;",
            "b := !s;",
            "b := {} == {};",
            "b := forall (y in x) b;",
            "b := exists (y : s) b;",
            "x := sum (y in s) b;",
            "x := count (y in s) y;",
            "x := sum (y in a) y;",
            "a := s;",
            "x := let y = 1;",
            "x := let y = 1 in z;",
            "x := let y := 1 in y;",
            "x := choose(s);",
            "b := choose(s);",
        ],
    );
    insta::assert_snapshot!(format!("{declarations}{uses}"));
}

#[test]
fn symmetric_types() {
    let declarations = report(
        ITEM,
        &[
            "symmetric typealias C int;",
            "symmetric typealias C int (1, 3);",
            "symmetric typealias C boolean;",
            "symmetric typealias C int wrap (0, 3);",
            "symmetric int y;",
        ],
    );
    let frame = "system S { int (0, 9) x; boolean b; symmetric typealias C int (0, 2); C c; C d; boolean[C] has; \
                 active thread T() {{}} }";
    let uses = report(
        frame,
        &[
            "c := d; b := c == d && has[c]; c := choose(C); b := forall (e in C) has[e];",
            "c := c + 1;",
            "c := 1;",
            "b := c < d;",
            "x := c;",
            "b := c == 1;",
            "c := choose(0, 2);",
            "for (i in C) { skip; }",
        ],
    );
    let frame = "system S { int (0, 2) x; boolean b; symmetric typealias C int (0, 2); symmetric typealias D int (0, 2); \
                 C c; D d; boolean[C] has; boolean[3] row; record R { boolean y; } R[C] many; channel of boolean [1][C] lines; \
                 active [C] thread W(C me) { boolean y; here: y := has[me] || many[me].y || W[me]@here; } \
                 active thread T() {{}} }";
    let indices = report(
        frame,
        &[
            "has[c] := W[c]@here && W[c].y && many[c].y; send lines[c] (true); b := forall (e in C) has[e];",
            "has[0] := true;",
            "has[x] := true;",
            "b := has[d];",
            "b := row[c];",
            "b := W[0]@here;",
            "b := W[x].y;",
            "b := W[d]@here;",
            "b := T[c]@here;",
            "many[1].y := true;",
            "send lines[2] (true);",
            "b := forall (k : 0 .. 2) has[k];",
            "has := row;",
            "b := has == row;",
        ],
    );
    insta::assert_snapshot!(format!("{declarations}{uses}{indices}"));
}

#[test]
fn files() {
    let mut out = String::new();
    for text in [
        "import \"std/mutex.bir\";\nsystem S { boolean b; active thread T() { lock(b); unlock(b); } }",
        "import \"nowhere.bir\";\nsystem S { active thread T() { skip; } }",
        "import \"std/mutx.bir\";\nsystem S { active thread T() { skip; } }",
        "import nowhere;\nsystem S { active thread T() { skip; } }",
        "import \"std/mutex.bir\"\nsystem S { active thread T() { skip; } }",
        "import \"std/mutex.bir\";\nsystem S { boolean lock; active thread T() { lock := true; } }",
        "system S { import \"std/mutex.bir\"; active thread T() { skip; } }",
        "library L { procedure p() { skip; } }",
        "library { }",
        "fair system S { }",
    ] {
        out += &format!("{text}\n{}", messages(text));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn declarations() {
    insta::assert_snapshot!(report(
        "system S { int (0, 9) x; boolean b; {}\nactive thread T() { x := z; } }",
        &[
            "const N N = 3;",
            "const int N = 3;",
            "const P N = 3; M = 4; }",
            "const P { N = 3; M = 4; }",
            "active Foo() { skip; }",
            "active [2] Foo(int i) { skip; }",
            "active Foo { skip; }",
            "# comment",
        ],
    ));
}

#[test]
fn formulas_about_branching() {
    insta::assert_snapshot!(report(
        "system S { int (0, 9) x; boolean b; boolean A; {}\nactive [2] thread T() { here: b := !b; } active thread U() { loc l: do { x := 1; A := b; } goto l; } }",
        &[
            "ctl p: AG (b -> AF !b);",
            "ctl p: AG x;",
            "ctl p: AG (1 + EF b == 2);",
            "ctl p: b U !b;",
            "ctl p: AG (b U !b);",
            "ctl p: A [b && !b];",
            "ctl p: A [b U !b] || E [b R !b];",
            "ctl p: AG y;",
            "ctl p: <-> b;",
            "ctl p: AG b",
            "ctl p AG b;",
            "ctl AG b;",
            "ctl p: forall (i : 0 .. 5000) AG (x == i);",
            "ctl p: forall (i in {1}) AG (x == i);",
            "mu p: nu X. [-] X && b;",
            "mu p: nu X. !X;",
            "mu p: nu X. !(mu Y. !X || <-> Y);",
            "mu p: nu X. b <-> [-] X;",
            "mu p: nu X. [-] X -> b;",
            "mu p: nu X. (X ? b : b);",
            "mu p: nu X. [-] X == b;",
            "mu p: nu X. x > X;",
            "mu p: nu X. [-] Y;",
            "mu p: nu X. mu X. [-] X;",
            "mu p: nu x. [-] x;",
            "mu p: (nu X. [-] X) && (mu X. <-> X || b);",
            "mu p: <U> b;",
            "mu p: <T> b && [T[0]] b && <T[1]@here> b && [U@l] b;",
            "mu p: <T[2]> b;",
            "mu p: <T[x]> b;",
            "mu p: forall (i : 0 .. 1) <T[i]> b;",
            "mu p: <T@there> b;",
            "mu p: <x> b;",
            "mu p: <V> b;",
            "mu p: <> b;",
            "mu p: [] b;",
            "mu p: nu X [-] X;",
            "mu p: nu X.;",
            "mu mu: nu nu. [-] nu;",
            "ctl p: AG b; ctl p: AF b;",
        ],
    ));
}
