//! Codes about the mapping of a system to its specification.

use super::Code;

pub(super) const E0058: Code = Code {
    code: "E0058",
    title: "a mapping that says nothing, or too much",
    explanation: "\
`refines NAME { variable = expression; }` says what the variables of a specification are in each
state of this system; `birk refine` checks it. A system has one such block, which maps at least one
variable, and each variable or element of an array once. Elements are mapped together by a range:
`votes[i : 0 .. 2] = …;`.",
    example: "\
system Door {
  boolean open;

  active thread Porter() {
    open := true;
  }

  refines Gate { }
}",
    fix: "\
system Door {
  boolean open;

  active thread Porter() {
    open := true;
  }

  refines Gate {
    closed = !open;
  }
}",
};

pub(super) const E0059: Code = Code {
    code: "E0059",
    title: "a mapping that does not fit the specification",
    explanation: "\
The left sides of a `refines` block are global variables of the specification, arrays element by
element; variables of threads and locations are hidden. The right sides are expressions over the
state of this system, of the same kind: boolean, integer, enumerator or set. Enumerators are mapped
by their names, so both files declare them. A value outside of the variable's range is not an error
here: it is reported as a step that the specification does not have.",
    example: "\
// birk refine example.bir models/refinement/atomic_commit.bir
system Vote {
  boolean done;

  active thread Voter() {
    done := true;
  }

  refines AtomicCommit {
    outcome = done;
  }
}",
    fix: "\
// birk refine example.bir models/refinement/atomic_commit.bir
system Vote {
  enum Outcome { open, committed }
  boolean done;

  active thread Voter() {
    done := true;
  }

  refines AtomicCommit {
    outcome[0] = done ? Outcome.committed : Outcome.open;
  }
}",
};
