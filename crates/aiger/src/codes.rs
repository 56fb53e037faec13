//! The codes of diagnostics about AIGER, with what `birk explain` says of them.

use birk_ir::Code;

/// All codes, in order.
pub const CODES: &[Code] = &[
    Code {
        code: "E3001",
        title: "a header that is not one",
        explanation: "\
A file in AIGER begins with a line such as `aag 7 2 1 2 4`: the format, `aag` for ASCII and `aig`
for binary, then the largest variable, and how many inputs, latches, outputs and gates there are.
Up to four numbers may follow: bad state properties, invariant constraints, justice properties,
fairness constraints. The largest variable is at least the sum of inputs, latches and gates; in a
binary file it is the sum. In the example, one variable cannot be both a latch and a gate.",
        example: "\
aag 1 0 1 1 1
2 4
2
4 2 2
",
        fix: "\
aag 2 0 1 1 1
2 4
2
4 2 2
",
    },
    Code {
        code: "E3002",
        title: "unexpected text",
        explanation: "\
Something else was expected here. The lines stand in the order of the header: inputs, latches,
outputs, bad state properties, invariant constraints, for each justice property how many literals
it has, all literals of those, fairness constraints, gates. A number is followed by exactly what
its line needs. Behind the gates are names, `l0 ready` for latch 0, and behind a line `c` a
comment. In a binary file gates are bytes, not text: a place there is given as the number of a
byte, and the usual cause is that the file was cut off, or changed on its way, as by a conversion
of line ends.",
        example: "\
aag 1 0 1 1 0
2 three
2
",
        fix: "\
aag 1 0 1 1 0
2 3
2
",
    },
    Code {
        code: "E3003",
        title: "a literal that is too large",
        explanation: "\
A literal is twice a variable, or that plus 1 for its negation. The first number of the header is
the largest variable, so that no literal is larger than twice that plus 1.",
        example: "\
aag 1 0 1 1 0
2 3
4
",
        fix: "\
aag 1 0 1 1 0
2 3
3
",
    },
    Code {
        code: "E3004",
        title: "a variable that is defined twice, or cannot be defined",
        explanation: "\
Every variable is one input, one latch or one gate. What is defined has an even literal: an odd
one is a negation, and 0 and 1 are constants.",
        example: "\
aag 2 1 1 1 0
2
2 2
2
",
        fix: "\
aag 2 1 1 1 0
2
4 2
4
",
    },
    Code {
        code: "E3005",
        title: "a variable that is never defined",
        explanation: "\
A literal is used whose variable is neither an input, nor a latch, nor a gate. Gates may stand in
any order, but all of them must be there.",
        example: "\
aag 3 1 1 1 0
2
4 6
4
",
        fix: "\
aag 3 1 1 1 1
2
4 6
4
6 2 5
",
    },
    Code {
        code: "E3006",
        title: "a circuit that is too large",
        explanation: "\
At most 4194304 variables are read, and of these at most 262144 inputs and as many latches. A
circuit of that size would not be checked in reasonable time: reduce it first, for example by
leaving out what no property depends on.",
        example: "\
aag 9000000 0 1 1 0
2 3
2
",
        fix: "\
aag 1 0 1 1 0
2 3
2
",
    },
    Code {
        code: "E3007",
        title: "a reset value that is none",
        explanation: "\
Behind what a latch becomes there may be what it begins with: 0, as without it, 1, or the latch's
own literal, where it may begin with either. Other signals are not possible.",
        example: "\
aag 2 1 1 1 0
2
4 2 3
4
",
        fix: "\
aag 2 1 1 1 0
2
4 2 4
4
",
    },
    Code {
        code: "E3008",
        title: "a constant, or a condition beside the file",
        explanation: "\
A circuit has no constants, so that -D has nothing to set. Nor are there conditions about a
circuit in another text, as of an automaton or of the explorer: make an output, or a bad state
property, of what you want to ask, and name it in the symbol table.",
        example: "\
aag 1 0 1 1 0
2 3
2
c
// birk check toggle.aag -D WIDTH=4
",
        fix: "\
aag 1 0 1 1 0
2 3
2
c
// birk check toggle.aag
",
    },
    Code {
        code: "E3009",
        title: "a gate that depends on itself",
        explanation: "\
The inputs of gates must not lead in a circle: a gate has one value in each cycle. What is kept
from one cycle to the next is a latch.",
        example: "\
aag 3 1 0 1 2
2
4
4 2 6
6 2 5
",
        fix: "\
aag 3 1 1 1 1
2
6 4
4
4 2 6
",
    },
    Code {
        code: "E3010",
        title: "nothing is asked",
        explanation: "\
The file has no bad state property, no justice property and no output, so that there is nothing
to check. In a file without bad state properties and justice properties, every output is taken
for one.",
        example: "\
aag 1 0 1 0 0
2 3
",
        fix: "\
aag 1 0 1 1 0
2 3
2
",
    },
];
