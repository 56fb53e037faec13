//! Small programs that were once wrong, or that a random program seldom contains. All must agree.

/// What each is about, and its text.
pub(crate) const PROGRAMS: &[(&str, &str)] = &[
    (
        "a branch of a restart without a step goes on with the steps of the location behind it",
        "system S {
           boolean b;
           active thread T() crashes {
             on restart { either { } or { b := true; } }
             loc ready: do { b := false; } goto done;
             loc done: do { } goto done;
           }
         }",
    ),
    (
        "a record that is wanted is made as a whole before it is compared, and cannot have a value beyond the range of a field",
        "system S {
           record Rec { boolean f; int (5, 7) g; }
           int (0, 1) low;
           channel of Rec [1] box;
           active thread Sender() { send box (Rec(true, 5)); }
           active thread Receiver() { receive box (Rec(false, low)); }
         }",
    ),
    (
        "a value that no message can have is not equal to any: nobody, and what is beyond the elements of an array",
        "system S {
           symmetric typealias Id int (0, 1);
           Id id;
           Id or nobody who;
           typealias Pair int (0, 1)[2];
           Pair sent;
           int (0, 3)[2] wanted := {0, 3};
           channel of Id [0] meet;
           channel of Id [1] box;
           channel of Pair [1] pairs;
           active thread Sender() { send box (id); send pairs (sent); send meet (id); }
           active thread Receiver() { receive meet (who); }
           active thread Conditional() { receive meet (sent[0] == 0 ? who : id); }
           active thread Boxes() { receive box (who); }
           active thread Pairs() { receive pairs (wanted); }
         }",
    ),
    (
        "the number of a copy that does not exist is a bad index",
        "system S {
           int (0, 2) i := 2;
           active [2] thread T(int me) { loc a: end when T[i].me == 2 do { i := 0; } goto a; }
         }",
    ),
    (
        "the same in a property",
        "system S {
           int (0, 2) i;
           active [2] thread T(int me) { loc a: end do { i := choose(0, 2); } goto a; }
           invariant small: T[i].me < 2;
         }",
    ),
    (
        "the place of a choice is found before the choice: one fault, not one for each value",
        "system S {
           int (0, 3) i;
           boolean[2] seen;
           int (0, 9)[2] a;
           active thread T() {
             loc a: end
               when i < 3 do { i := i + 1; } goto a;
               do { a[i] := choose(0, 9); } goto a;
           }
         }",
    ),
    (
        "all arguments are evaluated before the first parameter is written",
        "system S {
           active thread Boss() {
             loc go: do { start Worker(2, Worker.a); } goto done;
             loc done: end when false do { } goto done;
           }
           thread Worker(int (0, 3) a, int (0, 3) b) { loc work: end when false do { } goto work; }
           reachable copied: Worker.b == 2;
         }",
    ),
    (
        "the same among several copies",
        "system S {
           active thread Boss() {
             loc go: do { start W(1, true); } goto again;
             loc again: do { start W(W[1].n + 2, W[1].n == 0); } goto done;
             loc done: end when false do { } goto done;
           }
           [2] thread W(int (0, 3) n, boolean b) { loc work: end when false do { } goto work; }
           invariant fresh: W[1]@work => W[1].b;
         }",
    ),
    (
        "nothing lies beyond the depth limit, although some of the last level are reached late",
        "system S {
           int (0, 199) x;
           int (0, 2) y;
           active thread T() {
             loc a: do { x := choose(0, 199); } goto b;
             loc b: do { y := choose(1, 2); } goto c;
             loc c: do { x := 199; } goto c;
           }
         }",
    ),
    (
        "what a guard says of an element does not outlive a write through an index",
        "system S {
           int (0, 3)[2] a;
           int (0, 1) i;
           active thread T() {
             loc l: end
               when a[0] < 3 do { a[i] := 3; a[0] := a[0] + 1; } goto l;
               do { i := choose(0, 1); } goto l;
               do { a[0] := choose(0, 3); } goto l;
           }
         }",
    ),
    (
        "what a guard says of a variable does not outlive a write, a choice or another step of the same kind",
        "system S {
           int (0, 3) x;
           int wrap (0, 2) y;
           active [2] thread T(int me) {
             int (0, 3) z;
             loc l: end
               when x < 3 do { x := x + 1; x := x + 1; } goto l;
               when x == 0 do { x := choose(0, 3); x := x + 1; } goto l;
               when x > 0 && y < 2 do { y := y + 2; x := x - 1; x := x - y; } goto l;
               when z < 3 do { z := z + 1; x := T[1 - me].z; } goto l;
               do { assert x < 4; assume y < 2; y := y + 1; x := y == 2 ? 0 : 4; } goto l;
           }
         }",
    ),
    (
        "the lowest free copy of three is started",
        "system S {
           active thread Boss() {
             loc go: end
               do { start W(1); } goto go;
               when W[0]@work && W[1]@work do { start W(2); } goto go;
           }
           [3] thread W(int (0, 2) n) { loc work: do { } return; when n == 2 do { n := 1; } goto work; }
           invariant in_order: W[2]@work => W[0].n + W[1].n > 0;
         }",
    ),
    (
        "a thread of which there is no copy, with locals",
        "system S {
           const N = 0;
           boolean done;
           active [N] thread T(int me) { boolean x; loc a: do { x := !x; done := x; } goto a; }
           [N] thread U(int p) { loc a: do { done := p > 0; } return; }
           active thread V() { loc a: end do { done := !done; } goto a; do { start U(1); } goto a; }
         }",
    ),
    (
        "a thread may start itself again after it has returned, and is reset",
        "system S {
           boolean again;
           active thread T(int me) { int (0, 3) x := 2; loc a: do { x := 1; again := true; } goto b; loc b: do { } return; }
           active thread U() { loc a: end when again do { start T(7); again := false; } goto a; }
           invariant zero_or_seven: T.me == 0 || T.me == 7;
           reachable restarted: T@a && T.x == 2 && T.me == 7;
         }",
    ),
    (
        "a state whose outcomes are all cut is no deadlock",
        "system S { int (0, 1) x; active thread T() { loc a: do { x := choose(0, 1); assume x == 2; } goto a; } }",
    ),
    (
        "a guard that goes wrong is a step that goes wrong",
        "system S { int (0, 1) x; active thread T() { loc a: end when 1 / x == 1 do { } goto a; do { x := 1; } goto a; } }",
    ),
    (
        "what && and ?: do not reach does not go wrong",
        "system S {
           int (0, 3) x;
           int (0, 1)[2] a;
           active thread T() {
             loc l: end
               when x < 2 && a[x] == 0 do { x := x == 0 ? 1 : 2 / x; } goto l;
               when x > 1 || a[x] == 1 do { x := 0; } goto l;
               when x != 0 => 3 / x > 0 do { x := choose(0, 3); } goto l;
           }
         }",
    ),
    (
        "32 bits end at -2147483648, whose negation does not fit",
        "system S {
           int x := -2147483648;
           active thread T() {
             loc a: end
               do { x := x + 1; x := -x; x := -x - 1; } goto a;
               do { x := -x; } goto a;
               when x / -1 > 0 do { } goto a;
               when x % -1 == 0 do { x := x * 1; } goto a;
           }
         }",
    ),
    (
        "every value of a quantifier is examined, also after the answer is known",
        "system S {
           int (0, 3) n;
           active thread T() {
             loc a: end
               when n < 3 do { n := n + 1; } goto a;
               when exists (i : 0 .. n) 6 / (2 - i) == 3 do { n := 0; } goto a;
           }
         }",
    ),
    (
        "ranges wrap and check when arguments are passed and results returned",
        "system S {
           int (0, 7) x;
           function low(int (0, 3) p): int wrap (0, 2) = p + 1;
           function odd(int wrap (0, 1) p): boolean = p == 1;
           active thread T() {
             loc a: end
               do { x := low(x); } goto a;
               when x < 7 do { x := x + 1; } goto a;
               when odd(x) do { x := 0; } goto a;
           }
           reachable wraps: low(3) == 1;
         }",
    ),
    (
        "the place of a choice is found before its bounds: which fault it is",
        "system S {
           int (5, 7)[2] a;
           active [2] thread T(int me) { loc l: end do { a[a[0]] := choose(1, me); } goto l; }
         }",
    ),
    (
        "two branches of an `either` that end the thread at once are one step",
        "system S {
           boolean b;
           active thread T() {
             b := true;
             either { for (k : 1 .. 0) { skip; } } or { return; } or { b := false; }
           }
           active thread U() { b := false; either { } or { } b := true; }
         }",
    ),
    (
        "a procedure sees the names of the system, also where its caller has such names, and a set as its parameter",
        "system S {
           typealias Some set of 0 .. 2;
           Some g;
           Some h;
           procedure put(Some s, int x) { s := s + {x}; g := g - {0}; await s != {}; }
           procedure twice(Some t, int x) { put(t, x); put(t, x); assume t == {x} || size(t) > 1; }
           active thread T() { int (0, 1)[2] g; Some x; twice(h, g[1]); twice(x, 2); look(h + {1}); }
           procedure look(Some s) { assert s == {0, 1} || 2 in s; }
         }",
    ),
    (
        "an argument may contain the name of its parameter",
        "system S {
           boolean[2] a;
           procedure flip(boolean a) { a := !a; await a == true || true; }
           active thread T() { flip(a[0]); flip(a[1]); }
         }",
    ),
    (
        "the index of a channel is computed once, also if what is received changes it",
        "system S {
           channel of int (0, 1) [2][2] c;
           int (0, 1) i;
           active thread T() { send c[0] (1); send c[0] (1); receive c[i] (?i); i := 0; receive c[i] (?i) when i == 1; }
           active thread U() { send c[1] (0); }
         }",
    ),
    (
        "a set in braces is not examined in the branch that is not taken",
        "system S {
           set of 0 .. 2 s;
           int (0, 5) x;
           active thread T() { while (true) { s := x <= 2 ? {x} : s; x := x < 5 ? x + 1 : 0; } }
           active thread U() { await x == 4 && (x > 2 ? s : {x}) == s; }
         }",
    ),
    (
        "a message that no number in a pattern can be is waited for",
        "system S {
           channel of int (0, 1) [1] c;
           channel of int wrap (0, 1) [1] d;
           int (0, 3) x := 2;
           active thread T() { send c (1); send d (0); x := choose(0, 3); }
           active thread U() { either { receive c (x); } or { receive d (x); } or { receive d (2); } }
         }",
    ),
    (
        "arrays of different ranges are compared by their elements",
        "system S {
           int (0, 1)[2] a;
           int (0, 5)[2] b;
           active thread T() { b[0] := choose(0, 5); await a == b || b[0] > 4; a := b; }
         }",
    ),
    (
        "at a rendezvous, what the receiver does comes between what the sender does before and after",
        "system S {
           channel of int (0, 3) [0][2] c;
           int (0, 3) x;
           int (0, 1) k;
           active thread T() { atomic { x := 1; send c[k] (x + 1); x := x == 3 ? 0 : 1; } }
           active [2] thread U(int me) { int (0, 3) got; atomic { await x == 1; receive c[me] (?got) when got > 1; x := 3; } }
           active thread V() { k := 1; }
         }",
    ),
    (
        "records and arrays are assigned and compared whole, part by part, and put together",
        "system S {
           record Rec { int (0, 2) f; boolean g; }
           Rec r0;
           Rec r1;
           Rec[2] rs;
           int (0, 2)[2] a0;
           int (0, 2)[2] a1;
           int (0, 1) i;
           active thread T() {
             r1.f := choose(0, 2);
             atomic { r0 := r1; a1[i] := r0.f; }
             a0 := a1;
             rs[i] := Rec(a0[0], r0 == r1);
             assert rs[0] == rs[1] => r0 == rs[0];
             atomic { r0 := rs[0]; await a0 == a1 && r1 != rs[1]; }
           }
           active thread U() { i := 1; }
         }",
    ),
    (
        "totals, and a name for a value that is computed once",
        "system S {
           typealias Some set of 0 .. 3;
           Some s;
           int (0, 9)[2] a;
           int (0, 9) x;
           function both(int p): int = let q = p + 1 in q * 2;
           active thread T() {
             a[1] := choose(1, 2);
             s := s + {0, 3} + {a[1]};
             x := let w = a[1] in w + w;
             x := sum (i : 0 .. 2) (i * a[1]);
             x := count (v in s) (v > 0) + sum (e in a) e;
             assert both(a[1]) == 4 || both(size(s)) == 8;
           }
         }",
    ),
    (
        "what goes wrong in the index of a channel goes wrong, also where its value is known",
        "system S {
           channel of int (0, 1) [1][2] c;
           active thread A(int me) { loc a: end when false do { } goto a; }
           active [2] thread B(int me) { send c[A[me].me] (1); }
           active [2] thread C(int me) { int (0, 1) x; receive c[A[me].me] (?x); }
         }",
    ),
    (
        "records in records, arrays of them, and rows, as wholes and as messages",
        "system S {
           record Rec { int (0, 1) f; boolean[2] g; }
           record Outer { Rec[2] r; int (0, 2) k; }
           typealias Row int (0, 1)[2];
           Rec[2] rs;
           Outer o0, o1;
           Row a0, a1;
           channel of Outer [1][2][1] c;
           channel of Row [0] d;
           procedure pass(Rec q, int via) { q.f := 1; send via (Outer(rs, 1)); }
           active thread T() {
             pass(rs[o0.k], c[1][0]);
             a0[1] := choose(0, 1);
             send d (a0);
             atomic { o1.r := rs; o1.r[0].g[1] := true; }
           }
           active thread U() {
             receive c[1][0] (_, ?o0.k);
             either { receive d (a1); } or { receive d (?a1); }
             o1 := o0;
             assert o1.r != rs || a1 == a0;
           }
         }",
    ),
    (
        "a known value that a receiver at a rendezvous refuses is not its error",
        "system S {
           channel of int (-1, 3) [0] c;
           boolean[2] a;
           active thread One() { send c (-1); }
           active thread Two() { send c (1); }
           active thread Picky() { int (0, 3) x; receive c (?x) when x >= 0 && !a[x]; a[x] := true; }
           active thread Rest() { int (0, 3) y; receive c (?y); }
         }",
    ),
    (
        "the last of as many members as a set can have",
        "system S {
           typealias Some set of -1 .. 29;
           Some s := {29};
           int (-1, 31) n;
           active thread T() {
             s := s + {-1, 28};
             n := size(s);
             s := s - {-1};
             n := choose(s);
             assert size(s) == 2 && n in s * {28, 29} && (sum (v in s) v) == 57;
           }
         }",
    ),
    (
        "the place of a record is found once, also if its index is part of what is written",
        "system S {
           record Rec { int (0, 1) f; int (0, 3) g; }
           Rec[2] rs;
           int (0, 3) n;
           channel of Rec [1] c;
           active thread T() {
             rs[rs[0].f] := Rec(1, 2);
             atomic { rs[0].f := 0; send c (1, 3); }
             receive c (?rs[rs[0].f]);
             n := rs[0].g;
           }
         }",
    ),
    (
        "the place of a record is found before its values, as that of a single value",
        "system S {
           record Rec { int (0, 1) f; int (0, 3) g; }
           Rec[2] rs;
           int (0, 3) i;
           active thread T() { i := choose(0, 3); rs[i] := Rec(1 / i, 2); }
           active thread U() { i := choose(0, 3); rs[i] := Rec(1 / (i - 3), i); }
         }",
    ),
    (
        "what was in a sequence leaves no trace behind its last element",
        "system S {
           sequence of int (1, 3) [3] q0, q1;
           int (0, 6) n;
           active thread T() {
             q0 := append(append(q0, 3), 2);
             q0 := tail(q0);
             q0[0] := choose(1, 3);
             q1 := {3, 2, 1};
             q1 := tail(tail(q1));
             if (q0 == q1) { n := len(q1); } else { n := head(q0) + last(q0); }
             assert !(n in q1) || (forall (x in q1) x < 2) && (sum (x in q1) x) == 1;
             q0 := {1, 2};
             assert q0 != {2, 1} && head(q0) == 1 && last(q0) == 2 && !full(q0);
             q0 := {};
             assert empty(q0) && q0 == {} && q0 != q1;
           }
         }",
    ),
    (
        "what goes wrong with sequences, and what goes wrong first",
        "system S {
           sequence of int (0, 2) [2] q0;
           int (-1, 3) i;
           int (0, 9) n;
           active thread T() {
             loc a: end
               do { i := choose(-1, 3); } goto a;
               when !full(q0) do { q0 := append(q0, i); } goto a;
               do { q0 := append(q0, 2 / i); } goto a;
               do { q0 := append(append(q0, 1), i); } goto a;
               do { q0 := tail(q0); } goto a;
               do { q0 := append(tail(q0), 3 / i); } goto a;
               do { q0[i] := 6 / i; } goto a;
               do { n := q0[i] + 6 / i; } goto a;
               do { n := 6 / i + head(q0); } goto a;
               do { n := last(q0) + 6 / i; } goto a;
           }
           invariant small: q0[0] < 2;
         }",
    ),
    (
        "what was in a map leaves no trace",
        "system S {
           map of -1 .. 1 to int (1, 3) m0, m1;
           set of -1 .. 1 seen;
           int (-1, 9) k;
           active thread T() {
             m0[0] := 2;
             m0[k] := choose(1, 3);
             k := choose(-1, 1);
             m0 := remove(m0, k);
             m1 := m0;
             m1[1] := 3;
             seen := keys(m0) + {1};
             assert keys(m1) == seen && size(m1) == size(seen) && (forall (x in m1) x in m0 || x == 1);
             if (k in m1) { k := m1[k] + (sum (x in m1) m1[x]); }
             m0 := {};
             m1 := remove(remove(remove(m1, 0), 1), -1);
             assert m0 == m1 && m1 == {} && size(m0) == 0;
           }
         }",
    ),
    (
        "what goes wrong with maps, and what goes wrong first",
        "system S {
           map of 1 .. 2 to int (0, 2) m0;
           int (-1, 3) i;
           int (0, 9) n;
           active thread T() {
             loc a: end
               do { i := choose(-1, 3); } goto a;
               do { m0[i] := 2 / (i - 3); } goto a;
               do { m0[i] := i; } goto a;
               do { m0[i] := choose(1, i); } goto a;
               do { m0 := remove(m0, i); } goto a;
               do { n := m0[i] + 6 / i; } goto a;
               do { n := 6 / i + m0[i]; } goto a;
               do { n := choose(keys(m0)); } goto a;
               when i in m0 do { m0[3 - i] := m0[i]; } goto a;
           }
           invariant small: m0[1] < 2;
         }",
    ),
    (
        "a key is added by whatever writes its value, and by nothing else",
        "system S {
           record Rec { int (0, 2) f; int (0, 1) g; }
           map of 1 .. 2 to int (0, 1) m0;
           map of 1 .. 1 to Rec m1;
           int (0, 2) k;
           channel of Rec [1] c;
           procedure count(int v) { v := 0; v := v + 1; }
           active thread T() {
             loc a: end
               do { k := choose(0, 2); } goto a;
               do { send c (k, 1); } goto a;
               do { receive c (?m0[k], ?k) when k > 0; } goto a;
               do { receive c (?m1[k]); } goto a;
               do { m1[k].f := 1; } goto a;
               do { m0[k] := choose(1, k); } goto a;
               do { count(m0[k]); } goto a;
               do { m0 := remove(m0, k); m1 := {}; } goto a;
           }
         }",
    ),
    (
        "records in sequences and maps, as wholes and by their fields",
        "system S {
           record Rec { int (0, 1) f; int (0, 2)[2] g; }
           sequence of Rec [2] q0, q1;
           map of 0 .. 1 to Rec m0;
           Rec r0;
           int (0, 2) n;
           procedure fill(Rec r, int x) { r := r0; x := 1; }
           active thread T() {
             r0.g[1] := choose(0, 2);
             q0 := append(q0, r0);
             q0[0].f := 1;
             fill(m0[n], q0[n].g[0]);
             q1 := {r0, head(q0)};
             m0[1] := last(q1);
             m0[1].g[n] := last(q0).g[1];
             n := head(q1).g[1];
             assert m0[0] == head(q1) && m0[1].f == 1 && q0[0] == last(q1);
             m0[n].f := 1;
             q1[1 - n] := q0[n];
           }
         }",
    ),
    (
        "sequences and maps as locals, in arrays, in records, in each other, and as messages",
        "system S {
           typealias Log sequence of int (0, 1) [2];
           record Bag { Log q; map of 0 .. 1 to boolean m; }
           Log[2] logs;
           Bag bag0, bag1;
           map of 0 .. 1 to Log m0;
           sequence of Log [2] q0;
           channel of Log [2] c;
           procedure push(Log l, int x) { l := append(l, x); l[0] := x; }
           active [2] thread T(int me) {
             Log own;
             own := append(own, me);
             logs[1 - me] := append(own, 1);
             atomic { bag0.q := own; bag0.m[me] := full(logs[me]); }
             send c (own);
             m0[me] := {me};
             push(m0[me], len(T[0].own));
             either { receive c (?own); } or { receive c ({1}); q0 := append(q0, m0[me]); }
             bag1 := Bag({1, me}, bag0.m);
             assert bag1 != bag0 && (me in bag0.m => m0[me] != q0[0]);
           }
         }",
    ),
    (
        "a message for all channels waits for room in all of them, but not in the one that is left out",
        "system S {
           record Rec { int (0, 3) f; boolean g; }
           channel of Rec [1][2] c;
           lossy channel of int (0, 1) [2][2][2] d;
           int (0, 2) i;
           active thread T() {
             send c[1] (1, true);
             i := choose(0, 2);
             broadcast c (2, false) except i;
             broadcast d (1);
             broadcast d[i - 1] (len(d[0][0])) except 6 / i - 3;
             broadcast c (i, full(c[0]));
           }
           active [2] thread U(int me) { Rec r; receive c[me] (?r); receive d[me][0] (?r.f) when r.f > 0; }
         }",
    ),
    (
        "who declares a function of that name means it",
        "system S {
           sequence of int (0, 3) [2] q0;
           int (0, 9) n;
           function head(int x): int = x + 1;
           function append(int x, int y): int = x * y;
           active thread T() {
             q0 := {2};
             n := head(append(last(q0), 2)) + len(q0);
             q0 := tail(q0);
           }
           invariant small: n < 7;
         }",
    ),
    (
        "maps by names: interchangeable threads that store and remove each other",
        "system S {
           symmetric typealias Id int (0, 1);
           map of Id to Id m0;
           sequence of Id [2] q0;
           channel of Id [1][Id] c;
           active [Id] thread T(Id me) {
             Id other;
             other := choose(Id);
             either { m0[me] := other; } or { await other in m0; m0 := remove(m0, m0[other]); }
             atomic { await !full(q0) && !(me in q0); q0 := append(q0, me); }
             if (head(q0) == me) { broadcast c (me) except me; } else { receive c[me] (?other); }
             atomic { await !empty(q0); q0 := tail(q0); }
           }
           invariant alone: forall (k in m0) m0[k] != k || size(m0) < 2;
         }",
    ),
    (
        "which array a quantifier ranges over may go wrong, also where no element is asked for",
        "system S {
           byte[2][2] grid;
           int (0, 2) i;
           boolean b;
           active thread T() { i := choose(0, 2); b := exists (x in grid[i]) b; }
           active thread U() { await b || (forall (x in grid[i]) i < 3); }
         }",
    ),
];
