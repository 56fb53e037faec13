//! What `birk explain` says of Promela's codes.

use birk_ir::Code;

/// All codes, in order.
pub const CODES: &[Code] = &[
    Code {
        code: "E2001",
        title: "the text does not follow Promela's grammar",
        explanation: "\
The parser expected something else at this place. Often a `;`, a bracket, or the `fi` or `od` of a
selection is missing before it. After an error the parser goes on at the next statement, so one run
shows all errors that do not depend on each other.",
        example: "active proctype P() { byte x; x = ; }",
        fix: "active proctype P() { byte x; x = 1; }",
    },
    Code {
        code: "E2002",
        title: "a name is declared twice",
        explanation: "\
Two variables of one block, two labels of one process, two types, processes or properties have the
same name. In Promela only `{ … }` opens a block: the options of `if` and `do` do not.",
        example: "byte x; byte x; active proctype P() { x = 1 }",
        fix: "byte x; byte y; active proctype P() { x = 1; y = 1 }",
    },
    Code {
        code: "E2003",
        title: "a channel or a list of values behind a statement",
        explanation: "\
SPIN creates channels, and sets arrays to lists of values, when a process starts. Such a declaration
stands before the first statement of its process.",
        example: "active proctype P() { skip; chan c = [1] of { byte }; c!1 }",
        fix: "active proctype P() { chan c = [1] of { byte }; skip; c!1 }",
    },
    Code {
        code: "E2004",
        title: "a range that has no values, or no array",
        explanation: "\
`for (x in a)` goes over the indices of an array or the messages of a channel, and
`select (i : a .. b)` needs a value between its bounds.",
        example: "byte a; active proctype P() { byte x; for (x in a) { skip } }",
        fix: "byte a[2]; active proctype P() { byte x; for (x in a) { a[x] = 1 } }",
    },
    Code {
        code: "E2005",
        title: "`break` outside of a loop",
        explanation: "\
`break` leaves the innermost `do` or `for` around it. Outside of a loop there is nothing to leave:
write `goto` and a label instead.",
        example: "active proctype P() { break }",
        fix: "active proctype P() { do :: break od }",
    },
    Code {
        code: "E2006",
        title: "two `else` in one selection",
        explanation: "\
`else` is the option that is taken when no other can be: a selection has one of them at most.",
        example: "byte x; active proctype P() { if :: else -> x = 1 :: else -> x = 2 fi }",
        fix: "byte x; active proctype P() { if :: x == 0 -> x = 1 :: else -> x = 2 fi }",
    },
    Code {
        code: "E2007",
        title: "a label that is not there",
        explanation: "\
`goto` leads to a label of the same process, and `P[i]@label` names one of `P`. Jumps that lead to
each other without a statement between are refused, too.",
        example: "active proctype P() { goto done }",
        fix: "active proctype P() { goto done; done: skip }",
    },
    Code {
        code: "E2008",
        title: "a jump into or out of a `d_step`",
        explanation: "A `d_step` is one step. It begins at its first statement and ends behind its last.",
        example: "active proctype P() { d_step { skip; goto out }; out: skip }",
        fix: "active proctype P() { d_step { skip; skip }; out: skip }",
    },
    Code {
        code: "E2009",
        title: "a size that is not constant, or too large",
        explanation: "\
The length of an array, the capacity of a channel and the number of processes are constant
expressions. Arrays have at most 65536 elements, channels room for 255 messages, and there are at
most 255 channels and processes, as in SPIN.",
        example: "byte n; byte a[n]; active proctype P() { a[0] = 1 }",
        fix: "\
#define N 3
byte a[N]; active proctype P() { a[0] = 1 }",
    },
    Code {
        code: "E2010",
        title: "a line of the preprocessor",
        explanation: "\
Birk has a preprocessor of its own: `#define` with and without parameters, `#undef`, `#include`,
`#if`, `#ifdef`, `#ifndef`, `#elif`, `#else` and `#endif`.",
        example: "\
#if 1
active proctype P() { skip }",
        fix: "\
#if 1
active proctype P() { skip }
#endif",
    },
    Code {
        code: "E2011",
        title: "an included file cannot be read",
        explanation: "\
The name stands in quotes, and is relative to the folder of the model. Check its spelling, and
that the file is there.",
        example: "\
#include \"other.h\"
active proctype P() { skip }",
        fix: "active proctype P() { skip }",
    },
    Code {
        code: "E2020",
        title: "a name that is not declared",
        explanation: "\
Nothing of this name is visible here: no variable of the process or of the model, no name of an
`mtype`, no proctype.",
        example: "active proctype P() { x = 1 }",
        fix: "byte x; active proctype P() { x = 1 }",
    },
    Code {
        code: "E2021",
        title: "a variable used as what it is not",
        explanation: "\
An array needs an index, anything else has none; a record needs a field. Channels that a declaration
creates can be assigned to other variables of type `chan`, not the other way round.",
        example: "byte a[2]; active proctype P() { a = 1 }",
        fix: "byte a[2]; active proctype P() { a[0] = 1 }",
    },
    Code {
        code: "E2022",
        title: "not a channel",
        explanation: "\
`!` and `?` need a channel, or a variable of type `chan`. Other variables hold numbers, which
nothing can be sent to.",
        example: "bool b; active proctype P() { b!1 }",
        fix: "chan b = [1] of { byte }; active proctype P() { b!1 }",
    },
    Code {
        code: "E2023",
        title: "`run` inside an expression",
        explanation: "\
`run P()` stands alone, or alone behind `=`. Birk makes one step of it; in a larger expression
SPIN's order of evaluation would matter.",
        example: "proctype Q() { skip } init { (run Q()) + 1 > 0 }",
        fix: "proctype Q() { skip } init { byte p; p = run Q() }",
    },
    Code {
        code: "E2024",
        title: "a formula where none can stand",
        explanation: "\
The operators of `ltl` join formulas: `&&`, `||`, `!`, `->`, `<->`, `[]`, `<>`, `U`, `V`, `W`,
`X`. Arithmetic and comparisons have conditions over one state inside. Mind that `[]` and `<>`
bind as tightly as `!`.",
        example: "byte x; active proctype P() { x = 1 } ltl p { <> x == 1 }",
        fix: "byte x; active proctype P() { x = 1 } ltl p { <> (x == 1) }",
    },
    Code {
        code: "E2025",
        title: "another number of values",
        explanation: "\
A message has at most as many values as its channel declares fields, and a process as many arguments
as its proctype has parameters. The name of a record stands for all its fields.",
        example: "chan c = [1] of { byte, byte }; active proctype P() { c!1,2,3 }",
        fix: "chan c = [1] of { byte, byte }; active proctype P() { c!1,2 }",
    },
    Code {
        code: "E2026",
        title: "a never claim with an effect",
        explanation: "\
A claim watches: it consists of conditions, `skip`, jumps and assertions. It assigns nothing and
neither sends nor receives.",
        example: "byte x; active proctype P() { x = 1 } never { x = 2 }",
        fix: "byte x; active proctype P() { x = 1 } never { do :: x == 1 -> break :: else od }",
    },
    Code {
        code: "E2032",
        title: "`priority` is not supported",
        explanation: "SPIN's priorities restrict which process may run. Birk explores every order of the processes.",
        example: "active proctype P() priority 2 { skip }",
        fix: "active proctype P() { skip }",
    },
    Code {
        code: "E2033",
        title: "a `provided` condition that may go wrong",
        explanation: "\
The condition decides in every state whether the process may move, so it cannot divide by what may
be 0, nor use an index that may lie outside of its array.",
        example: "byte x, a[2]; active proctype P() provided (a[x] == 0) { x = 1 }",
        fix: "byte x, a[2]; active proctype P() provided (a[x % 2] == 0) { x = 1 }",
    },
    Code {
        code: "E2034",
        title: "a `trace` with something other than messages",
        explanation: "\
A `trace` or `notrace` describes the order of messages: it consists of plain sends and receives,
and of choices and loops among them. A field is a constant, `eval(…)`, or `_` for any value. A
model has one, and its labels say only where a run may end.",
        example: "chan c = [1] of { byte }; active proctype P() { c!1 } trace { c!1; true }",
        fix: "chan c = [1] of { byte }; active proctype P() { c!1 } trace { c!1 }",
    },
    Code {
        code: "E2035",
        title: "embedded C is not supported",
        explanation: "\
`c_code`, `c_decl`, `c_state`, `c_track` and `c_expr` need a compiler and can change anything.
Birk calls no compiler; say it in Promela.",
        example: "byte x; active proctype P() { c_code { now.x = 1; } }",
        fix: "byte x; active proctype P() { x = 1 }",
    },
    Code {
        code: "E2036",
        title: "a rendezvous in a `d_step`",
        explanation: "\
A rendezvous needs two processes, and a `d_step` is one step of one process that nobody else takes
part in: send before it or behind it.",
        example: "\
chan c = [0] of { byte };
active proctype P() { d_step { skip; c!1 } }
active proctype Q() { byte x; c?x }",
        fix: "\
chan c = [0] of { byte };
active proctype P() { d_step { skip; skip }; c!1 }
active proctype Q() { byte x; c?x }",
    },
    Code {
        code: "E2037",
        title: "something of SPIN's that Birk does not have",
        explanation: "\
`enabled`, `pc_value`, `np_`, `_last`, `_priority`, `set_priority`, `get_priority` and `return`
look into SPIN's own search. Labels and `P[i]@label` say where a process is; a label that begins
with `progress` says what `np_` asks.",
        example: "byte x; active proctype P() { enabled(0) -> x = 1 }",
        fix: "byte x; active proctype P() { x = 1 }",
    },
    Code {
        code: "E2038",
        title: "input is not supported",
        explanation: "\
`STDIN` reads what a user types during a simulation: a state space has no user. Choose a value with
`select` or `if` instead.",
        example: "active proctype P() { byte c; STDIN?c }",
        fix: "chan in = [1] of { byte }; active proctype P() { byte c; in!7; in?c }",
    },
    Code {
        code: "W2001",
        title: "a hidden variable is part of the state",
        explanation: "\
SPIN leaves `hidden` variables out of its states, so that it may take different states for one.
Birk keeps them: nothing is lost, and its count may be larger.",
        example: "hidden byte x; active proctype P() { x = 1 }",
        fix: "byte x; active proctype P() { x = 1 }",
    },
    Code {
        code: "W2002",
        title: "a message with fewer values than fields",
        explanation: "\
SPIN accepts it, and reports an error when it is executed. So does Birk: it is a runtime error. Give
each field a value, and each value that is received a variable or `_`.",
        example: "chan c = [1] of { byte, byte }; active proctype P() { c!1 }",
        fix: "chan c = [1] of { byte, byte }; active proctype P() { c!1, 0 }",
    },
];
