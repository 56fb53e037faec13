//! Codes about values, sizes and limits: what is known to be wrong before the search.

use super::Code;

pub(super) const E0030: Code = Code {
    code: "E0030",
    title: "a constant outside its range",
    explanation: "\
The value is known before the search, and the type can never hold it: whenever this is evaluated,
it would be a runtime error. `int (lo, hi)` holds `lo` to `hi`, both included. A type that wraps
around to its lower bound is written `int wrap (lo, hi)`; `byte` is `int wrap (0, 255)`.",
    example: "\
system Lift {
  int (0, 3) floor := 4;

  active thread Motor() {
    loc moving:
      when floor > 0 do { floor := floor - 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  int (0, 4) floor := 4;

  active thread Motor() {
    loc moving:
      when floor > 0 do { floor := floor - 1; } goto moving;
  }
}",
};

pub(super) const E0031: Code = Code {
    code: "E0031",
    title: "a constant index outside its array",
    explanation: "\
An array of N elements has the indices 0 to N - 1, and so do the N instances of a thread. This
index is known before the search and is never among them. An index that is outside in some states
only is a runtime error, which the search finds, with a trace to it.",
    example: "\
system Doors {
  boolean[3] open;

  active thread Porter() {
    loc idle:
      do { open[3] := true; } goto idle;
  }

  reachable all_open: open[0] && open[1] && open[2];
}",
    fix: "\
system Doors {
  boolean[3] open;

  active thread Porter() {
    loc idle:
      do { open[2] := true; } goto idle;
  }

  reachable all_open: open[0] && open[1] && open[2];
}",
};

pub(super) const E0032: Code = Code {
    code: "E0032",
    title: "an empty range",
    explanation: "\
A type needs at least one value, an array at least one element, and `choose` at least one number to
choose from. The lower bound comes first, and both bounds belong to the range: `int (0, 3)` has
four values.",
    example: "\
system Lift {
  int (3, 0) floor;

  active thread Motor() {
    loc moving:
      when floor > 0 do { floor := floor - 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  int (0, 3) floor := 3;

  active thread Motor() {
    loc moving:
      when floor > 0 do { floor := floor - 1; } goto moving;
  }
}",
};

pub(super) const E0033: Code = Code {
    code: "E0033",
    title: "an index too many or too few",
    explanation: "\
An array is not a single value: in an expression name one of its elements, with one index for each
dimension. A single value has no elements and takes no index. To say something about all elements,
use `forall (i : 0 .. N - 1)`.",
    example: "\
system Doors {
  boolean[3] open;

  active thread Porter() {
    loc idle:
      when !open do { open[0] := true; } goto idle;
  }

  reachable welcome: open[0];
}",
    fix: "\
system Doors {
  boolean[3] open;

  active thread Porter() {
    loc idle:
      when !open[0] do { open[0] := true; } goto idle;
  }

  reachable welcome: open[0];
}",
};

pub(super) const E0034: Code = Code {
    code: "E0034",
    title: "which instance of a thread?",
    explanation: "\
The thread has several instances, so its location and its variables need an index: `T[i]@loc`,
`T[i].x`. To refer to all of them or any of them, use a quantifier:
`forall (i : 0 .. 2) T[i]@loc`, `exists (i : 0 .. 2) T[i]@loc`.",
    example: "\
system Library {
  active [3] thread Reader() {
    loc idle:
      do { } goto reading;
    loc reading:
      do { } goto idle;
  }

  invariant quiet: !Reader@reading;
}",
    fix: "\
system Library {
  active [3] thread Reader() {
    loc idle:
      do { } goto reading;
    loc reading:
      do { } goto idle;
  }

  invariant quiet: forall (i : 0 .. 2) !Reader[i]@reading;
}",
};

pub(super) const E0035: Code = Code {
    code: "E0035",
    title: "unknown member",
    explanation: "\
After the dot comes a value of an enumeration, a constant of a block, or a variable of a thread.
What is before the dot has no member with this name, or no members at all. The message suggests a
similar name or lists the members.",
    example: "\
system Light {
  enum Colour { red, green }
  Colour light;

  active thread Timer() {
    loc waiting:
      when light == Colour.red do { light := Colour.yellow; } goto waiting;
  }
}",
    fix: "\
system Light {
  enum Colour { red, yellow, green }
  Colour light;

  active thread Timer() {
    loc waiting:
      when light == Colour.red do { light := Colour.yellow; } goto waiting;
  }
}",
};

pub(super) const E0037: Code = Code {
    code: "E0037",
    title: "parameters of an active thread",
    explanation: "\
An active thread runs from the start, so nothing passes it arguments. It may have one parameter,
an integer, which is the number of the instance: `active [3] thread T(int index)` makes instances
with index 0, 1 and 2. A thread that needs other arguments is not active; another thread starts it
with `start T(…)`.",
    example: "\
system Lifts {
  byte[2] floor;

  active [2] thread Motor(int index, int speed) {
    loc moving:
      when floor[index] < 3 do { floor[index] := floor[index] + speed; } goto moving;
  }
}",
    fix: "\
system Lifts {
  const speed = 1;
  byte[2] floor;

  active [2] thread Motor(int index) {
    loc moving:
      when floor[index] < 3 do { floor[index] := floor[index] + speed; } goto moving;
  }
}",
};

pub(super) const E0038: Code = Code {
    code: "E0038",
    title: "number of instances",
    explanation: "\
`active [N] thread` makes N instances, and `[N] thread` lets at most N of them run at once. N must
be in 0 to 1000. More could not be searched in a lifetime: each instance multiplies the number of
states.",
    example: "\
system Library {
  byte inside;

  active [5000] thread Reader() {
    loc outside:
      do { inside := inside + 1; } goto reading;
    loc reading:
      do { inside := inside - 1; } goto outside;
  }
}",
    fix: "\
system Library {
  byte inside;

  active [5] thread Reader() {
    loc outside:
      do { inside := inside + 1; } goto reading;
    loc reading:
      do { inside := inside - 1; } goto outside;
  }
}",
};

pub(super) const E0039: Code = Code {
    code: "E0039",
    title: "too large",
    explanation: "\
A state has at most 262144 elements, a `choose` at most 65536 values, a quantifier over formulas
at most 1000, and constants and expressions must not become too large when they are evaluated and
functions are expanded. Make the array, the range, or the number of instances smaller. Small
models find most bugs.",
    example: "\
system Guess {
  int secret;

  active thread Player() {
    loc thinking:
      do { secret := choose(1, 1000000); } goto thinking;
  }

  reachable lucky: secret == 7;
}",
    fix: "\
system Guess {
  int secret;

  active thread Player() {
    loc thinking:
      do { secret := choose(1, 10); } goto thinking;
  }

  reachable lucky: secret == 7;
}",
};

pub(super) const E0040: Code = Code {
    code: "E0040",
    title: "-D names no constant",
    explanation: "\
`-D NAME=VALUE` overrides a constant, and the system declares no constant with this name.
Variables and types cannot be changed this way. A constant in a block is named with its block, as
in `-D Param.N=5`; its own name is enough if no other constant has it.",
    example: "\
// birk check lift.bir -D FLORS=5
system Lift {
  const FLOORS = 4;
  int (1, FLOORS) floor;

  active thread Motor() {
    loc moving:
      when floor < FLOORS do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
// birk check lift.bir -D FLOORS=5
system Lift {
  const FLOORS = 4;
  int (1, FLOORS) floor;

  active thread Motor() {
    loc moving:
      when floor < FLOORS do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0041: Code = Code {
    code: "E0041",
    title: "-D names several constants",
    explanation: "\
Two blocks have a constant of this name, so the short name does not say which one is meant. Write
the block too: `-D Param.N=5`.",
    example: "\
// birk check hotel.bir -D N=2
system Hotel {
  const Guests { N = 3; }
  const Rooms { N = 4; }
  int (0, Rooms.N) taken;

  active [Guests.N] thread Guest() {
    loc arriving:
      when taken < Rooms.N do { taken := taken + 1; } return;
  }
}",
    fix: "\
// birk check hotel.bir -D Guests.N=2
system Hotel {
  const Guests { N = 3; }
  const Rooms { N = 4; }
  int (0, Rooms.N) taken;

  active [Guests.N] thread Guest() {
    loc arriving:
      when taken < Rooms.N do { taken := taken + 1; } return;
  }
}",
};

pub(super) const E0042: Code = Code {
    code: "E0042",
    title: "-D gives a value of another type",
    explanation: "\
A constant keeps its type when `-D NAME=VALUE` changes it: `true` or `false` for a boolean, a
decimal number for a number, and the name of a value for an enumeration.",
    example: "\
// birk check lift.bir -D FLOORS=many
system Lift {
  const FLOORS = 4;
  int (1, FLOORS) floor;

  active thread Motor() {
    loc moving:
      when floor < FLOORS do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
// birk check lift.bir -D FLOORS=9
system Lift {
  const FLOORS = 4;
  int (1, FLOORS) floor;

  active thread Motor() {
    loc moving:
      when floor < FLOORS do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0043: Code = Code {
    code: "E0043",
    title: "a constant expression that goes wrong",
    explanation: "\
The value is known before the search, and computing it divides by zero or leaves the 32 bits of
`int`. `&&`, `||`, `=>` and `?:` evaluate only what they need, so a condition can protect the
expression: `N == 0 ? 0 : 8 / N`.",
    example: "\
system Share {
  const GUESTS = 0;
  const SLICES = 8 / GUESTS;
  int (0, 8) eaten;

  active thread Cook() {
    loc serving:
      when eaten < SLICES do { eaten := eaten + 1; } goto serving;
  }
}",
    fix: "\
system Share {
  const GUESTS = 4;
  const SLICES = 8 / GUESTS;
  int (0, 8) eaten;

  active thread Cook() {
    loc serving:
      when eaten < SLICES do { eaten := eaten + 1; } goto serving;
  }
}",
};

pub(super) const E0062: Code = Code {
    code: "E0062",
    title: "an initial value is chosen where that is not possible",
    explanation: "\
Variables of the system can begin with one of several values: the model then has an initial state
for each. A local of a thread begins with one value whenever its thread starts; the thread chooses
another in its first step.",
    example: "\
system Guess {
  int (0, 9) secret := choose(0, 9);

  active thread Player() {
    int (0, 9) guess := choose(0, 9);
    assert guess != secret;
  }
}",
    fix: "\
system Guess {
  int (0, 9) secret := choose(0, 9);

  active thread Player() {
    int (0, 9) guess;
    guess := choose(0, 9);
    assert guess != secret;
  }
}",
};
