//! The codes of diagnostics about DVE, with what `birk explain` says of them.

use birk_ir::Code;

/// All codes, in order.
pub const CODES: &[Code] = &[
    Code {
        code: "E1001",
        title: "unknown character, or a comment without an end",
        explanation: "\
This character has no meaning in DVE. Names are made of `a`-`z`, `A`-`Z`, `0`-`9` and `_`; a
comment is `// …` up to the end of the line, or `/* … */`, which does not nest. A comment without
an end swallows everything after it, so fix this error first.",
        example: "\
byte x;
process P {
  state q; init q;
  trans q -> q { guard x ≠ 3; effect x = x + 1; };
}
system async;",
        fix: "\
byte x;
process P {
  state q; init q;
  trans q -> q { guard x != 3; effect x = x + 1; };
}
system async;",
    },
    Code {
        code: "E1002",
        title: "unexpected text",
        explanation: "\
Something else was expected here. A system is made of variables, channels and processes, and ends
with `system async;`. A process has variables, then `state`, `init`, and as needed `accept`,
`commit`, `assert` and `trans`. Transitions are separated by commas and end with a semicolon; each
part of one, `guard`, `sync` and `effect`, ends with a semicolon.",
        example: "\
byte x;
process P {
  state q, r; init q;
  trans
    q -> r { guard x < 3 effect x = x + 1; },
    r -> q {};
}
system async;",
        fix: "\
byte x;
process P {
  state q, r; init q;
  trans
    q -> r { guard x < 3; effect x = x + 1; },
    r -> q {};
}
system async;",
    },
    Code {
        code: "E1003",
        title: "an expression that is nested too deep",
        explanation: "\
Expressions are nested at most 200 deep, counting parentheses, operators and indices. Generated
models reach this with one long sum: assign a part of it to a variable first. In the example, the
dots stand for 200 parentheses more.",
        example: "\
byte x;
process P {
  state q; init q;
  trans q -> q { effect x = (…1…); };
}
system async;",
        fix: "\
byte x;
process P {
  state q; init q;
  trans q -> q { effect x = (1); };
}
system async;",
    },
    Code {
        code: "E1004",
        title: "a name that is declared twice",
        explanation: "\
Within a process, and among the variables, channels and processes of the system, every name is
declared once. A variable of a process may have the name of one of the system, which it hides.",
        example: "\
byte turn;
channel turn;
process P {
  state q; init q;
  trans q -> q { effect turn = 1; };
}
system async;",
        fix: "\
byte turn;
channel go;
process P {
  state q; init q;
  trans q -> q { effect turn = 1; };
}
system async;",
    },
    Code {
        code: "E1005",
        title: "a name that is not declared, or a declaration that is missing",
        explanation: "\
There is no variable, channel, process or state of this name where it is used. A process knows its
own variables and those of the system; what belongs to another process is written `P.q` for its
states and `P->x` for its variables. Every process needs `state` and `init`.",
        example: "\
byte turn;
process P {
  state wait, critical; init wait;
  trans
    wait -> critical { guard trun == 0; },
    critical -> wait { effect turn = 1; };
}
system async;",
        fix: "\
byte turn;
process P {
  state wait, critical; init wait;
  trans
    wait -> critical { guard turn == 0; },
    critical -> wait { effect turn = 1; };
}
system async;",
    },
    Code {
        code: "E1006",
        title: "a number that is not possible here",
        explanation: "\
The length of an array, the capacity of a channel and the initial value of a variable are constant:
they are made of numbers and of what is declared with `const`. An array has at least one element; a
state has at most 1048576; a channel holds at most 256 messages.",
        example: "\
byte n = 3;
byte fork[n];
process P {
  state q; init q;
  trans q -> q { effect fork[0] = 1; };
}
system async;",
        fix: "\
const byte n = 3;
byte fork[n];
process P {
  state q; init q;
  trans q -> q { effect fork[0] = 1; };
}
system async;",
    },
    Code {
        code: "E1007",
        title: "a name of another kind",
        explanation: "\
The name stands for something that cannot be used in this way: a channel as a value, a variable with
an index that is no array, a constant that is assigned to. Only a variable of the process or of the
system, or one element of an array, can be assigned to or receive a value.",
        example: "\
byte fork;
process P {
  state q; init q;
  trans q -> q { guard fork[0] == 0; effect fork = 1; };
}
system async;",
        fix: "\
byte fork[3];
process P {
  state q; init q;
  trans q -> q { guard fork[0] == 0; effect fork[0] = 1; };
}
system async;",
    },
    Code {
        code: "E1008",
        title: "something that Birk does not support",
        explanation: "\
Three things of DVE are refused: `system sync`, in which all processes move at once; probabilistic
transitions, `q => { r:1, s:2 }`; and other conditions of acceptance than that of Büchi automata.",
        example: "\
byte x;
process P {
  state q; init q;
  trans q -> q { guard x < 3; effect x = x + 1; };
}
system sync;",
        fix: "\
byte x;
process P {
  state q; init q;
  trans q -> q { guard x < 3; effect x = x + 1; };
}
system async;",
    },
    Code {
        code: "E1009",
        title: "a property that does more than to watch",
        explanation: "\
The process after `property` is a Büchi automaton: it moves along with every step of the system and
accepts the executions that must not happen. It has states, `accept`, and transitions with guards
about the system. It has no variables, no `sync` and no `effect`, and nobody asks for its states.",
        example: "\
byte x;
process P {
  state q; init q;
  trans q -> q { effect x = 1 - x; };
}
process Never {
  state a, b; init a; accept b;
  trans a -> a {}, a -> b { guard x == 1; effect x = 0; }, b -> b {};
}
system async property Never;",
        fix: "\
byte x;
process P {
  state q; init q;
  trans q -> q { effect x = 1 - x; };
}
process Never {
  state a, b; init a; accept b;
  trans a -> a {}, a -> b { guard x == 1; }, b -> b {};
}
system async property Never;",
    },
    Code {
        code: "E1010",
        title: "a wrong value for a constant",
        explanation: "\
With `-D NAME=VALUE` the command line sets what is declared with `const`; a constant of a process is
called `P.NAME`. Either there is no such constant, or the value does not fit its type.",
        example: "\
// birk check ring.dve -D M=4
const byte N = 3;
byte x;
process P {
  state q; init q;
  trans q -> q { guard x < N; effect x = x + 1; };
}
system async;",
        fix: "\
// birk check ring.dve -D N=4
const byte N = 3;
byte x;
process P {
  state q; init q;
  trans q -> q { guard x < N; effect x = x + 1; };
}
system async;",
    },
    Code {
        code: "E1011",
        title: "another number of values than the channel transmits",
        explanation: "\
Whoever sends to a channel and whoever receives from it agree on how many values are transmitted.
Where the channel has types, these say how many; otherwise its first use does.",
        example: "\
channel c;
process P {
  state q; init q;
  trans q -> q { sync c!1; };
}
process Q {
  state q; init q;
  trans q -> q { sync c?; };
}
system async;",
        fix: "\
channel c;
process P {
  state q; init q;
  trans q -> q { sync c!1; };
}
process Q {
  byte x;
  state q; init q;
  trans q -> q { sync c?x; };
}
system async;",
    },
    Code {
        code: "W1001",
        title: "operators of one level",
        explanation: "\
In DVE, `&&` and `||` bind equally, from left to right, and so do `&`, `|` and `^`. In C, and in
most languages, `a || b && c` means `a || (b && c)`; here it means `(a || b) && c`. Parentheses
make the order visible.",
        example: "\
byte a, b, c;
process P {
  state q; init q;
  trans q -> q { guard a == 1 || b == 1 && c == 1; };
}
system async;",
        fix: "\
byte a, b, c;
process P {
  state q; init q;
  trans q -> q { guard (a == 1 || b == 1) && c == 1; };
}
system async;",
    },
    Code {
        code: "W1002",
        title: "more values than elements",
        explanation: "\
An array is initialised with more values than it has elements. Those that are left over are ignored,
as DiVinE does; some models of the BEEM benchmark have them. Elements without a value are 0.",
        example: "\
byte slot[2] = {1, 0, 0};
process P {
  state q; init q;
  trans q -> q { effect slot[0] = 0; };
}
system async;",
        fix: "\
byte slot[2] = {1, 0};
process P {
  state q; init q;
  trans q -> q { effect slot[0] = 0; };
}
system async;",
    },
    Code {
        code: "W1003",
        title: "an initial value that does not fit",
        explanation: "\
A `byte` is a number from 0 to 255, an `int` one from -32768 to 32767. Other values wrap when they
are stored, here and in every assignment.",
        example: "\
byte x = 256;
process P {
  state q; init q;
  trans q -> q { effect x = 1; };
}
system async;",
        fix: "\
int x = 256;
process P {
  state q; init q;
  trans q -> q { effect x = 1; };
}
system async;",
    },
    Code {
        code: "W1004",
        title: "a rendezvous with nobody",
        explanation: "\
This transition waits for a partner at a channel that no other process uses in the other
direction, so it is never taken. A process does not meet itself.",
        example: "\
channel go;
process P {
  state q; init q;
  trans q -> q { sync go!; };
}
system async;",
        fix: "\
channel go;
process P {
  state q; init q;
  trans q -> q { sync go!; };
}
process Q {
  state q; init q;
  trans q -> q { sync go?; };
}
system async;",
    },
    Code {
        code: "W1005",
        title: "an array without an index",
        explanation: "\
An array without an index is its first element, as in DiVinE; the train gate of the BEEM benchmark
relies on it. An index says so to the reader.",
        example: "\
byte fork[3];
process P {
  state q; init q;
  trans q -> q { guard fork == 0; effect fork[0] = 1; };
}
system async;",
        fix: "\
byte fork[3];
process P {
  state q; init q;
  trans q -> q { guard fork[0] == 0; effect fork[0] = 1; };
}
system async;",
    },
];
