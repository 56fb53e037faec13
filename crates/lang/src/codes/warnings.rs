//! Codes of warnings: what is allowed but probably not meant.

use super::Code;

pub(super) const W0001: Code = Code {
    code: "W0001",
    title: "unreachable location",
    explanation: "\
No chain of jumps leads from the first location of the thread to this one, whatever the guards
are. A jump to it was forgotten, or it can be removed. Locations that no run reaches although
jumps lead there are listed at the end of the report instead.",
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
    cure: "\
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
makes a state of its own: the search gets slower and finds nothing more. Remove it, or read it
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
    cure: "\
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
No action writes the variable, so it keeps its initial value for ever. If that is meant, make it a
constant, which says so and can be changed with `-D`. If not, the assignment is missing.",
    example: "\
system Lift {
  byte floor;
  byte top := 3;

  active thread Motor() {
    loc moving:
      when floor < top do { floor := floor + 1; } goto moving;
  }
}",
    cure: "\
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
step is always possible; otherwise there is a slip in the guard, such as a comparison that the
type of the variable makes pointless.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor <= 3 do { floor := floor + 1; } goto moving;
  }
}",
    cure: "\
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
    title: "a transformation that can never fire",
    explanation: "\
The types and constants alone decide that the guard is false in every state, so this step is never
taken. If that is due to a constant which switches it off, nothing is wrong. Otherwise look for a
slip in the guard or in the bounds of a type.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor > 3 do { floor := 0; } goto moving;
  }
}",
    cure: "\
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
    title: "a property that says nothing",
    explanation: "\
The types and constants alone decide the property: the invariant is true, or the target false,
whatever the threads do. The search cannot refute it, so that it holds (or fails) is no news about
the model. Say something that could turn out otherwise.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }

  invariant in_house: floor >= 0;
}",
    cure: "\
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
Only threads marked `active` run from the start; the others wait until a running thread starts
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
    cure: "\
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
`fair` promises, under `--fairness weak`, that a step which can always be taken is taken. It marks
a whole transformation, or a statement that is a step of its own; for `if` and `while` that is the
step which tests the condition. `either`, `for`, `while (true)`, calls and jumps are not steps,
what is inside `atomic` or the braces of a transformation is only a part of one, and a rendezvous
is a step of the thread that sends. There the mark promises nothing.",
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
    cure: "\
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
