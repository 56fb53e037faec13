//! Codes of warnings: what is allowed but probably not meant.

use super::Code;

pub(super) const W0001: Code = Code {
    code: "W0001",
    title: "unreachable location",
    explanation: "\
No chain of jumps leads from the first location of the thread to this one, whatever the guards
are. A jump to it was forgotten, or it can be removed. Locations that no execution reaches
although jumps lead there are listed at the end of the report instead.

A label on the first statement of an alternative of `either` names no location: the alternative is
chosen by its first step, so a thread that has not taken it is before the `either`, and one that has
is behind that statement. Put the label before the `either`.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
    loc resting:
      do { floor := 0; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor == 3 do { } goto resting;
    loc resting:
      do { floor := 0; } goto moving;
  }
}",
};

pub(super) const W0002: Code = Code {
    code: "W0002",
    title: "a variable that is never read",
    explanation: "\
No guard, action or property reads the variable, so it decides nothing, but every value it takes
makes a state of its own: the search gets slower and finds nothing new. Remove it, or read it
where you meant to.",
    example: "\
system Lift {
  byte floor;
  boolean used;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; used := true; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const W0003: Code = Code {
    code: "W0003",
    title: "a variable that is never written",
    explanation: "\
No action writes the variable, so it keeps its initial value forever. If that is intended, make it
a constant, which can be overridden with `-D`. If not, an assignment is missing.",
    example: "\
system Lift {
  byte floor;
  byte top := 3;

  active thread Motor() {
    loc moving:
      when floor < top do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;
  const top = 3;

  active thread Motor() {
    loc moving:
      when floor < top do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const W0004: Code = Code {
    code: "W0004",
    title: "a guard that is always true",
    explanation: "\
The types and constants alone decide that the guard is true in every state. Leave it out if the
step is always enabled; otherwise there is an error in the guard, such as a comparison that the
type of the variable makes pointless.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor <= 3 do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const W0005: Code = Code {
    code: "W0005",
    title: "a guarded command that can never fire",
    explanation: "\
The types and constants alone decide that the guard is false in every state, so this step is never
taken. If a constant switches it off, nothing is wrong. Otherwise look for an error in the guard
or in the bounds of a type.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor > 3 do { floor := 0; } goto moving;
  }
}",
    fix: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor == 3 do { floor := 0; } goto moving;
  }
}",
};

pub(super) const W0006: Code = Code {
    code: "W0006",
    title: "a property that is vacuous",
    explanation: "\
The types and constants alone decide the property: the invariant is true, or the `reachable`
condition false, whatever the threads do. No search can refute it, so its verdict says nothing
about the model. State something that could turn out otherwise.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }

  invariant in_house: floor >= 0;
}",
    fix: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }

  invariant below_roof: floor < 3;
}",
};

pub(super) const W0007: Code = Code {
    code: "W0007",
    title: "no thread runs from the start",
    explanation: "\
Only threads declared `active` run from the start; the others wait until a running thread starts
them. In this system none is active, so nothing ever happens and every property is decided by the
first state.",
    example: "\
system Lift {
  byte floor;

  thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const W0008: Code = Code {
    code: "W0008",
    title: "`fair` on what is not a step",
    explanation: "\
Under `--fairness weak`, a step that is declared `fair` and stays enabled is eventually taken.
`fair` applies to a whole guarded command, or to a statement that is a step of its own; for `if`
and `while` that is the step which tests the condition. `either`, `for`, `while (true)`, calls and
jumps are not steps, what is inside `atomic` or the braces of a guarded command is only a part of
one, and a rendezvous is a step of the thread that sends. There `fair` has no effect.",
    example: "\
system Lamp {
  boolean lit;

  active thread Switch() {
    while (true) {
      fair either { lit := true; } or { lit := false; }
    }
  }

  ltl shines: [] <> lit;
}",
    fix: "\
system Lamp {
  boolean lit;

  active thread Switch() {
    while (true) {
      either { fair lit := true; } or { lit := false; }
    }
  }

  ltl shines: [] <> lit;
}",
};
