//! Codes of the lexer and the parser: what is no BIR text.

use super::Code;

pub(super) const E0001: Code = Code {
    code: "E0001",
    title: "unknown character",
    explanation: "\
This character has no meaning in BIR. Outside comments and strings, BIR is written in ASCII:
letters, digits, `_` and operators. Mathematical symbols (`≤`, `∧`, `□`) have an ASCII spelling,
which the message gives; names are made of `a`-`z`, `A`-`Z`, `0`-`9` and `_`. In a string, an
unknown escape such as `\\q` has this code too.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor ≤ 3 do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor <= 3 do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0002: Code = Code {
    code: "E0002",
    title: "an unterminated comment or string",
    explanation: "\
A comment that begins with `/*` needs a `*/`, and a string that begins with `\"` needs another
`\"` on the same line. Comments do not nest: the first `*/` ends the comment. Everything after it
is swallowed, so fix this error first.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { assert floor < 9, \"too high; floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { assert floor < 9, \"too high\"; floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0003: Code = Code {
    code: "E0003",
    title: "a number that cannot be read",
    explanation: "\
Numbers are 32-bit: from -2147483648 to 2147483647. They are written in decimal (`42`), in
hexadecimal (`0x2a`), and with `_` between digits (`1_000`). Larger numbers have this code, and so
do words that begin with a digit, which are neither numbers nor names.",
    example: "\
system Clock {
  int time;

  active thread Tick() {
    loc waiting:
      when time < 3000000000 do { time := time + 1; } goto waiting;
  }
}",
    fix: "\
system Clock {
  int time;

  active thread Tick() {
    loc waiting:
      when time < 30 do { time := time + 1; } goto waiting;
  }
}",
};

pub(super) const E0004: Code = Code {
    code: "E0004",
    title: "unexpected token",
    explanation: "\
Something else was expected here; the message says what was expected and what was found. Often the
cause is just before this place: a word is missing or misspelt, a bracket was closed too early, or
a keyword (`start`, `loc`, `choose`, …) is used as a name. Threads need at least one location, and
locations at least one guarded command.",
    example: "\
system Lift {
  byte start;

  active thread Motor() {
    loc moving:
      do { skip; } goto moving;
  }
}",
    fix: "\
system Lift {
  active thread Motor() {
    loc moving:
      do { skip; } goto moving;
  }
}",
};

pub(super) const E0005: Code = Code {
    code: "E0005",
    title: "missing semicolon",
    explanation: "\
Declarations, actions and jumps end with a `;`. The parser found the beginning of the next one and
continues as if the `;` were there, so the rest of the file is checked as well.",
    example: "\
system Lift {
  byte floor

  active thread Motor() {
    loc moving:
      do { floor := floor + 1; } goto moving;
  }

  reachable upstairs: floor == 3;
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { floor := floor + 1; } goto moving;
  }

  reachable upstairs: floor == 3;
}",
};

pub(super) const E0006: Code = Code {
    code: "E0006",
    title: "a bracket that is not closed",
    explanation: "\
Every `{`, `(` and `[` needs its partner. The message shows where the closing bracket was
expected, and the bracket it belongs to. A missing `}` is often noticed only at the end of the
file; then Birk looks at the indentation to guess which block was left open.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when (floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when (floor < 3) do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0007: Code = Code {
    code: "E0007",
    title: "a guarded command without a jump",
    explanation: "\
Every guarded command says where its thread continues: `goto LOCATION;`, or `return;` to terminate
it. The jump comes after the braces or at the end of what is inside them. To stay at a location,
jump to it.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; }
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

pub(super) const E0008: Code = Code {
    code: "E0008",
    title: "a second jump",
    explanation: "\
A guarded command has exactly one jump. It may be inside the braces or after them, but not in both
places, and not twice. If the thread has to choose between two locations, write two guarded
commands; both may be enabled at the same time.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { floor := floor + 1; goto moving; } goto standing;
    loc standing:
      do { } return;
  }

  reachable upstairs: floor == 3;
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { floor := floor + 1; } goto moving;
      do { } goto standing;
    loc standing:
      do { } return;
  }

  reachable upstairs: floor == 3;
}",
};

pub(super) const E0009: Code = Code {
    code: "E0009",
    title: "nested too deeply",
    explanation: "\
Expressions may be 200 levels deep, so that no later pass runs out of stack. Long chains of `&&`
and of `||` do not count. Expressions written by hand never come close; a generated one can be
split by naming parts of it with `function`.",
    example: "\
system Deep {
  boolean flag;

  active thread Toggle() {
    loc loc0: // … stands for 200 more
      do { flag := (…flag…); } goto loc0;
  }
}",
    fix: "\
system Deep {
  boolean flag;

  active thread Toggle() {
    loc loc0:
      do { flag := !flag; } goto loc0;
  }

  reachable raised: flag;
}",
};

pub(super) const E0010: Code = Code {
    code: "E0010",
    title: "not one system",
    explanation: "\
A file is one system: `system NAME { … }`, with nothing but comments before or after it. Text
after the system often means that there is one `}` too many, which closed the system too early. A
second system belongs in a file of its own. A model in another language, such as Promela or TLA+, is
recognised; it has to be written in BIR.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { floor := floor + 1; } goto moving;
  }
}
  invariant low: floor < 9;
}",
    fix: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      do { floor := floor + 1; } goto moving;
  }

  invariant low: floor < 9;
}",
};

pub(super) const E0011: Code = Code {
    code: "E0011",
    title: "chained comparison",
    explanation: "\
In mathematics `0 < x < 3` means that `x` lies between 0 and 3. As an expression it would compare
the boolean `0 < x` with 3, which is never intended. Write both comparisons and join them with
`&&`.",
    example: "\
system Lift {
  byte floor := 1;

  active thread Motor() {
    loc moving:
      when 0 < floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
    fix: "\
system Lift {
  byte floor := 1;

  active thread Motor() {
    loc moving:
      when 0 < floor && floor < 3 do { floor := floor + 1; } goto moving;
  }
}",
};

pub(super) const E0012: Code = Code {
    code: "E0012",
    title: "a construct of another language",
    explanation: "\
This is how another language writes it; the message says how BIR does. Assignment is `:=`,
comparison is `==`, and a constant is declared with `=`. The logical operators are `!`, `&&` and
`||`, the remainder is `%`. There are no `x++` and `x += 1`: write `x := x + 1`. A type goes before
the name, with the length of an array: `int[3] a;`.",
    example: "\
system Lift {
  byte floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor = floor + 1; } goto moving;
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

pub(super) const E0013: Code = Code {
    code: "E0013",
    title: "temporal operator in the wrong place",
    explanation: "\
`[]`, `<>`, `G`, `F`, `X`, `U`, `W` and `R` are about executions, not about one state. They are
allowed only in `ltl` properties, and there only where a formula is: combined by `!`, `&&`, `||`,
`->`, `<->` and each other, never inside a comparison or a sum: they bind more tightly, so write
`<> (x == 3)`. An `invariant` has its `[]` built in. Each
logic has its own operators: `AX`, `AF`, `AG`, `EX`, `EF`, `EG`, `A [p U q]` and `E [p U q]`
belong to `ctl` properties, `[-]`, `<->`, `mu X.` and `nu X.` to `mu` properties.",
    example: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor > 0 do { floor := floor - 1; } goto moving;
  }

  invariant not_lost: [] (floor != 2);
}",
    fix: "\
system Lift {
  int (0, 3) floor;

  active thread Motor() {
    loc moving:
      when floor < 3 do { floor := floor + 1; } goto moving;
      when floor > 0 do { floor := floor - 1; } goto moving;
  }

  ltl not_lost: [] (floor != 2);
}",
};

pub(super) const E0014: Code = Code {
    code: "E0014",
    title: "too many errors",
    explanation: "\
The file has so many errors that reporting more would help nobody: it is probably not BIR at all,
or a generator went wrong. Fix the first errors and check again.",
    example: "\
system Shout {
  // … stands for 200 more lines like the next
  all wrong here;
}",
    fix: "\
system Shout {
  boolean loud;

  active thread Voice() {
    loc silent:
      do { loud := true; } goto silent;
  }

  reachable heard: loud;
}",
};
