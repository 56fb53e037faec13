//! Models on which a reduction goes wrong that forgets one of its conditions.

/// A model, and in how many steps what can be found in it is found.
pub(crate) struct Trap {
    /// What is forgotten.
    pub(crate) about: &'static str,
    /// Properties whose goals can be reached, and how soon.
    pub(crate) expected: &'static [(&'static str, u32)],
    pub(crate) text: &'static str,
}

pub(crate) const TRAPS: &[Trap] = &[
    Trap {
        about: "A loop that nobody cares about must not put off the violation for ever.",
        expected: &[("never", 1)],
        text: r"
system T01 {
            boolean x;
            boolean y;
            active thread Loop() { loc a: do { x := !x; } goto a; }
            active thread Bad() { loc b: do { y := true; } goto c; loc c: do { } goto c; }
            invariant never: !y;
}
        ",
    },
    Trap {
        about: "C depends on A but is disabled; B enables it. {A} alone is not stubborn: C's deadlock is lost.",
        expected: &[("deadlock", 3)],
        text: r"
system T02 {
            boolean x;
            boolean y;
            active thread A() { loc a: do { x := true; } goto a2; loc a2: end when false do { } goto a2; }
            active thread B() { loc b: do { y := true; } goto b2; loc b2: end when false do { } goto b2; }
            active thread C() { loc c: end when y && !x do { } goto bad; loc bad: when false do { } goto bad; }
}
        ",
    },
    Trap {
        about: "A chooses which cell it writes; only one of the choices meets B.",
        expected: &[("never", 2)],
        text: r"
system T03 {
            boolean[2] a;
            boolean seen;
            active thread A() { int (0, 1) k; loc l: do { k := choose(0, 1); a[k] := true; } goto m; loc m: end when false do { } goto m; }
            active thread B() { loc b: do { seen := a[1]; } goto b2; loc b2: end when false do { } goto b2; }
            invariant never: !seen;
}
        ",
    },
    Trap {
        about: "Whether C's step exists is decided by a condition behind a write in it.",
        expected: &[("deadlock", 3)],
        text: r"
system T04 {
            boolean x;
            boolean y;
            boolean z;
            channel of boolean [1] c;
            active thread A() { loc a: do { x := true; } goto a2; loc a2: end when false do { } goto a2; }
            active thread B() { loc b: do { send c (true); } goto b2; loc b2: end when false do { } goto b2; }
            active thread C() { boolean v; loc l: end do { z := true; receive c (?v); assume !x; } goto bad; loc bad: when false do { } goto bad; }
}
        ",
    },
    Trap {
        about: "The step of A has no guard on x and writes nothing B reads; but its check reads x.",
        expected: &[("fault", 2)],
        text: r"
system T05 {
            int (0, 1) x;
            int (0, 1) done;
            active thread A() { loc a: do { assert x == 0; done := 1; } goto a2; loc a2: end when false do { } goto a2; }
            active thread B() { loc b: do { x := 1; } goto b2; loc b2: end when false do { } goto b2; }
}
        ",
    },
    Trap {
        about: "A's step faults now and always; the invariant is violated by B. With --keep-going both must be found.",
        expected: &[("fault", 1), ("never", 1)],
        text: r"
system T06 {
            boolean y;
            active thread A() { loc a: do { assert false; } goto a; }
            active thread B() { loc b: do { y := true; } goto b2; loc b2: end when false do { } goto b2; }
            invariant never: !y;
}
        ",
    },
    Trap {
        about: "A's only outcome is cut by assume while x is false. {A} must not count as a step that was taken.",
        expected: &[("never", 2)],
        text: r"
system T07 {
            boolean x;
            boolean y;
            active thread A() { loc a: do { assume x; } goto a; }
            active thread B() { loc b: do { x := true; } goto b2; loc b2: do { y := true; } goto b3; loc b3: do { } goto b3; }
            invariant never: !y;
}
        ",
    },
    Trap {
        about: "For the goal alone nothing needs to move in the initial state (no step can make it true): it is not stuck, though no successor is shown.",
        expected: &[],
        text: r"
system T13 {
            boolean x;
            boolean y;
            active thread A() { loc a: do { x := !x; } goto a; }
            active thread B() { loc b: when x do { y := !y; } goto b; }
            active thread C() { loc c: end when false do { } goto bad; loc bad: when false do { } goto bad; }
            invariant never: !C@bad;
}
        ",
    },
    Trap {
        about: "The counter of a started thread is written by the one who starts it.",
        expected: &[("never", 2)],
        text: r"
system T14 {
            boolean x;
            boolean bad;
            active thread Main() { loc m: do { start W(); } goto m2; loc m2: end when false do { } goto m2; }
            thread W() { loc w: do { bad := !x; } goto w2; loc w2: end when false do { } goto w2; }
            active thread X() { loc a: do { x := true; } goto a2; loc a2: end when false do { } goto a2; }
            invariant never: !bad;
}
        ",
    },
    Trap {
        about: "At a rendezvous the sender's step moves the receiver too: who moves a counter is seen from writes, not from `thread`.",
        expected: &[("deadlock", 2)],
        text: r"
system T15 {
            channel of boolean [0] c;
            boolean x;
            active thread S() { loc s: do { send c (true); } goto t; loc t: end when false do { } goto t; }
            active thread R() { boolean b; loc r: do { receive c (?b); } goto q; when x do { } goto dead; loc q: end when false do { } goto q; loc dead: when false do { } goto dead; }
            active thread X() { loc u: do { x := true; } goto v; loc v: end when false do { } goto v; }
}
        ",
    },
    Trap {
        about: "Which element is written depends on i, which B changes.",
        expected: &[("never", 3)],
        text: r"
system T16 {
            int (0, 2) i;
            boolean[3] a;
            active thread W() { loc w: do { a[i] := true; } goto w2; loc w2: end when false do { } goto w2; }
            active thread B() { loc b: do { i := 1; } goto b2; loc b2: do { i := 2; } goto b3; loc b3: end when false do { } goto b3; }
            invariant never: !a[2];
}
        ",
    },
    Trap {
        about: "x + 1 and x - 1 commute as numbers, not as steps: at the bound one of them faults first.",
        expected: &[("fault", 1)],
        text: r"
system T17 {
            int (0, 3) x := 3;
            active thread Up() { loc u: do { x := x + 1; } goto u2; loc u2: end when false do { } goto u2; }
            active thread Down() { loc d: do { x := x - 1; } goto d2; loc d2: end when false do { } goto d2; }
}
        ",
    },
    Trap {
        about: "Down first, then Up twice faults only in one order: distances must be kept.",
        expected: &[("fault", 2)],
        text: r"
system T18 {
            int (0, 3) x := 2;
            active thread Up() { loc u: do { x := x + 1; } goto u2; loc u2: do { x := x + 1; } goto u3; loc u3: end when false do { } goto u3; }
            active thread Down() { loc d: when x > 0 do { x := x - 1; } goto d2; loc d2: end when false do { } goto d2; }
}
        ",
    },
    Trap {
        about: "Two steps that commute, but only one order passes through the bad state.",
        expected: &[("together", 1)],
        text: r"
system T19 {
            boolean x;
            boolean y;
            active thread A() { loc a: do { x := true; } goto a2; loc a2: end when false do { } goto a2; }
            active thread B() { loc b: do { y := true; } goto b2; loc b2: end when false do { } goto b2; }
            invariant together: x || !y;
}
        ",
    },
    Trap {
        about: "An invariant that cannot be evaluated is a fault as well, and nobody else waits for the step that makes it one.",
        expected: &[("fault", 1), ("within", 1)],
        text: r"
system T25 {
            int (0, 3) i;
            boolean[3] a;
            boolean x;
            active thread Loop() { loc a: do { x := !x; } goto a; }
            active thread Bad() { loc b: do { i := 3; } goto b2; loc b2: end when false do { } goto b2; }
            invariant within: !a[i];
}
        ",
    },
    Trap {
        about: "W writes a[2] through an index that is not a constant; it disables R. {W} alone is not stubborn.",
        expected: &[("deadlock", 3)],
        text: r"
system T27 {
            int (0, 2) i := 2;
            boolean[3] a;
            active thread W() { loc w: do { a[i] := true; } goto w2; loc w2: end when false do { } goto w2; }
            active thread R() { loc r: end when !a[2] do { } goto bad; loc bad: when false do { } goto bad; }
            active thread X() { loc x: end when a[2] do { i := 0; } goto x2; loc x2: end when false do { } goto x2; }
}
        ",
    },
];
