//! Codes about names and types: what is declared, and whether uses agree with it.

use super::Code;

pub(super) const E0020: Code = Code {
    code: "E0020",
    title: "unknown name",
    explanation: "\
Nothing with this name is declared where it is used. The message suggests a similar name if there
is one. Variables of a thread are visible only inside it; from outside write `T.x`, or `T[i].x` if
there are several instances. The values of an enumeration are written `Colour.red`, the constants
of a block `Param.N`, and `T@loc` asks whether a thread is at a location.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when flor < 3 do { floor := floor + 1; } goto moving;
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

pub(super) const E0021: Code = Code {
    code: "E0021",
    title: "declared twice",
    explanation: "\
A name stands for one thing. All declarations of a system share one set of names, and so do the
locations of a thread, its parameters and variables, the values of an enumeration, the constants
of a block, the fields of a record, and the properties. `deadlock` and `fault` are properties that
every system has. The variable of a fixpoint (`mu X. …`) needs a name that is used neither in the
system nor by an enclosing fixpoint.",
    example: "\
system Lift {
  byte floor;
  boolean floor;

  active thread Motor() {
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

pub(super) const E0022: Code = Code {
    code: "E0022",
    title: "wrong type",
    explanation: "\
Types are never converted silently: a guard must be `boolean`, `+` needs numbers, both sides of
`==` must have the same type, and values of different enumerations are different. To test a
number, compare it (`x != 0`); to count a truth value, write `b ? 1 : 0`. The same code is used if
a name stands for something else than is needed, for example a thread where a value is expected.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor do { floor := floor - 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor := 3;

  active thread Motor() {
    loc moving:
      when floor != 0 do { floor := floor - 1; } goto moving;
  }
}",
};

pub(super) const E0023: Code = Code {
    code: "E0023",
    title: "unknown type",
    explanation: "\
The types are `boolean`, `byte`, `int`, `int (lo, hi)`, `int wrap (lo, hi)`, sets, channels, the
names that `enum`, `record` and `typealias` declare, and arrays, as in `byte[4]`. There are no
strings and no fractions: a model should have as few states as possible.",
    example: "\
system Lift {
  bool moves;

  active thread Motor() {
    loc standing:
      do { moves := !moves; } goto standing;
  }
}",
    fix: "\
system Lift {
  boolean moves;

  active thread Motor() {
    loc standing:
      do { moves := !moves; } goto standing;
  }
}",
};

pub(super) const E0024: Code = Code {
    code: "E0024",
    title: "not a constant",
    explanation: "\
Initial values, bounds of types, lengths of arrays and numbers of instances must be known before
the search begins. They are computed from numbers, constants and functions of these, not from
variables or locations of threads. Constants can be overridden with `-D NAME=VALUE`.",
    example: "\
system Lift {
  byte top := 3;
  int (0, top) floor;

  active thread Motor() {
    loc moving:
      when floor < top do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  const top = 3;
  int (0, top) floor;

  active thread Motor() {
    loc moving:
      when floor < top do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0025: Code = Code {
    code: "E0025",
    title: "a declaration that depends on itself",
    explanation: "\
To compute a constant, the constants in it are computed first, and to know a type, the types in
it. The message shows the cycle: each of the declarations shown needs the next, and the last needs
the first. Give one of them a value that does not need the others.",
    example: "\
system Lift {
  const TOP = FLOORS - 1;
  const FLOORS = TOP + 1;
  int (0, TOP) floor;

  active thread Motor() {
    loc moving:
      when floor < TOP do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  const FLOORS = 4;
  const TOP = FLOORS - 1;
  int (0, TOP) floor;

  active thread Motor() {
    loc moving:
      when floor < TOP do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0026: Code = Code {
    code: "E0026",
    title: "unknown location",
    explanation: "\
`goto` leads to a location of the same thread, and `T@loc` names a location of `T`. The message
suggests a similar name if the thread has one. Other threads cannot be sent anywhere: set a
variable that their guards read.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc standing:
      when floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc standing:
      when floor < 3 do { floor := floor + 1; } goto standing;
  }
}",
};

pub(super) const E0027: Code = Code {
    code: "E0027",
    title: "wrong number of arguments",
    explanation: "\
A function is called, and a thread is started, with one argument for each of its parameters, in
their order. There are no default values.",
    example: "\
system Lift {
  byte floor;
  function higher(int a, int b): int = a > b ? a : b;

  active thread Motor() {
    loc moving:
      do { floor := higher(floor); } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;
  function higher(int a, int b): int = a > b ? a : b;

  active thread Motor() {
    loc moving:
      do { floor := higher(floor, 2); } goto moving;
  }
}",
};

pub(super) const E0028: Code = Code {
    code: "E0028",
    title: "recursive function",
    explanation: "\
A function is an expression with a name, and its calls are replaced by that expression. This would
never end for a function that calls itself, directly or indirectly. What has to be repeated
belongs in a thread, as a location with a `goto` back to it; for ranges there are `forall` and
`exists`.",
    example: "\
system Tower {
  int moves;
  function cost(int n): int = n == 0 ? 0 : 2 * cost(n - 1) + 1;

  active thread Monk() {
    loc idle:
      do { moves := cost(3); } goto idle;
  }

  reachable done: moves == 7;
}",
    fix: "\
system Tower {
  int moves;
  int (0, 3) n;

  active thread Monk() {
    loc adding:
      when n < 3 do { n := n + 1; moves := 2 * moves + 1; } goto adding;
  }

  reachable done: moves == 7;
}",
};

pub(super) const E0029: Code = Code {
    code: "E0029",
    title: "cannot be assigned",
    explanation: "\
Only variables can be assigned: those of the system, and those of the thread itself. Constants,
values of enumerations, and the number of an instance (the parameter of an active thread) never
change. The variables of another thread can be read, as `T.x`, but only that thread writes them.",
    example: "\
system Lift {
  const TOP = 3;
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < TOP do { floor := floor + 1; TOP := 2; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte top := 3;
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < top do { floor := floor + 1; top := 2; } goto moving;
  }
}",
};

pub(super) const E0055: Code = Code {
    code: "E0055",
    title: "a fixpoint whose variable is negated",
    explanation: "\
`mu X. …` is the least fixpoint of its body, a set of states, and `nu X. …` the greatest. They
exist if the body is monotone in `X`: if `X` occurs below an even number of negations only. `!`,
the left side of `->`, both sides of `<->` and the condition of `?:` negate. Often the other
fixpoint is intended: `!(mu X. p || <-> X)` is `nu X. !p && [-] X`.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor > 0 do { floor := floor - 1; } goto moving;
  }

  mu never_on_top: nu X. floor < 3 && !(<-> X);
}",
    fix: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor > 0 do { floor := floor - 1; } goto moving;
  }

  mu never_on_top: nu X. floor < 3 && [-] X;
}",
};

pub(super) const E0056: Code = Code {
    code: "E0056",
    title: "an expectation about nothing",
    explanation: "\
`expect` says what a check should find: `expect violated safe in 3;`, also with other values of
constants: `expect (N = 3): holds, 167 states;`. The properties and constants that it names must
be declared; `deadlock` and `fault` are properties of every system.",
    example: "\
system Lift {
  const TOP = 3;

  int (0, TOP) floor;

  active thread Motor() {
    while (floor < TOP) { floor := floor + 1; }
  }

  reachable on_top: floor == TOP;
  expect (TOP = 2): reached top in 2;
}",
    fix: "\
system Lift {
  const TOP = 3;

  int (0, TOP) floor;

  active thread Motor() {
    while (floor < TOP) { floor := floor + 1; }
  }

  reachable on_top: floor == TOP;
  expect (TOP = 2): reached on_top in 2;
}",
};
