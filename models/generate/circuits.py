#!/usr/bin/env python3
"""Writes asynchronous circuits as BIR models: the distributed mutual exclusion ring and the tree arbiter.

  circuits.py dme CELLS [--bug 1|2|3|5] [--step gate|module] [--fuse N]    print one model
  circuits.py tree USERS [--buggy] [--step gate|module] [--fuse N]         print one model (USERS: a power of two)
      [--pair I J]                                                         exclusion of these two users only
  circuits.py corpus [--check]                                             write, or compare, the files of models/

A circuit is a list of modules, a module a list of gates. In one step either one gate moves ("gate") or one
module, that is any non-empty subset of its excited gates at once ("module"). A gate is excited when its output is
not what its inputs ask for; it may stay so for any time, so whatever holds does not depend on the speed of gates.
A wrong circuit has glitches, and with them millions of states; `--fuse N` lets the model stop after N steps.
"""

import argparse
import pathlib
import sys
from dataclasses import dataclass, field

WIDTH = 100  # of a line, as `birk fmt` has it


@dataclass
class Gate:
    """An output and the function that it follows; `start` is its value at power-on."""

    name: str
    kind: str  # "follow": the expression; "join": a C element of two inputs; "grant": one side of an arbiter
    inputs: tuple
    start: bool = False
    rival: str = ""  # of a "grant": the other side

    def target(self):
        """What the output follows, where it may follow."""
        return self.inputs[0]

    def excited(self, alone):
        """When it can move; `alone` if nothing else moves in the same step."""
        if self.kind == "join":
            first, second = self.inputs
            return f"{first} == {second} && {self.name} != {first}"
        if self.kind == "grant" and alone and self.rival:
            return f"{self.name} != ({self.target()} && !{self.rival})"
        if self.target().startswith("!") and " " not in self.target():
            return f"{self.name} == {self.target()[1:]}"
        return f"{self.name} != {parenthesised(self.target())}"


@dataclass
class Circuit:
    system: str
    about: list
    modules: list = field(default_factory=list)  # (name, [Gate])
    invariant: list = field(default_factory=list)  # of conditions that must all hold


def parenthesised(expression):
    return f"({expression})" if " " in expression else expression


def dme(cells, bug):
    """A ring of cells; the token is in cell 0. Whoever holds it may let its user in."""
    about = [
        f"Distributed mutual exclusion: a ring of {cells} cells of 18 gates each passes a token to whoever asks",
        "(A. J. Martin's circuit, in the gates of the DME example that came with the first SMV).",
        "u is the user's request and r its grant; p asks the right neighbour for the token and q grants it",
        "to the left one; the cell with m holds the token. Two users must never be granted at once.",
    ]
    faults = {
        0: [],
        1: ["BUG 1: c = a instead of a && !q, so a user is served although the token is being handed on."],
        2: ["BUG 2: d = b instead of b && !r, so the token is handed on although the user still has it."],
        3: ["BUG 3: the arbiter of user and neighbour lets both through."],
        5: ["BUG 5: cell 1 has a token as well."],
    }
    circuit = Circuit("DistributedMutualExclusion", about + faults[bug])
    for cell in range(cells):
        left, right = (cell + 1) % cells, (cell - 1) % cells
        v = lambda name, at=cell: f"{name}_{at}"
        rival = lambda name: v(name) if bug != 3 else ""
        token = cell == 0 or (bug == 5 and cell == 1)
        gates = [
            Gate(v("u"), "follow", (f"!{v('r')}",)),
            Gate(v("a"), "grant", (v("u"),), rival=rival("b")),
            Gate(v("b"), "grant", (v("p", left),), rival=rival("a")),
            Gate(v("c"), "follow", (v("a") if bug == 1 else f"{v('a')} && !{v('q')}",)),
            Gate(v("d"), "follow", (v("b") if bug == 2 else f"{v('b')} && !{v('r')}",)),
            Gate(v("g"), "follow", (f"{v('c')} || {v('d')}",)),
            Gate(v("e"), "join", (v("c"), v("i"))),
            Gate(v("f"), "join", (v("d"), v("i"))),
            Gate(v("h"), "join", (v("g"), v("j"))),
            Gate(v("k"), "follow", (f"{v('g')} && !{v('h')}",)),
            Gate(v("i"), "follow", (f"{v('h')} && !{v('j')}",)),
            Gate(v("l"), "follow", (f"{v('k')} && {v('m')}",)),
            Gate(v("j"), "follow", (f"{v('l')} || {v('q', right)}",)),
            Gate(v("p"), "follow", (f"{v('k')} && {v('n')}",)),
            Gate(v("n"), "follow", (f"!{v('e')} && !{v('m')}",), start=not token),
            Gate(v("m"), "follow", (f"!{v('f')} && !{v('n')}",), start=token),
            Gate(v("r"), "follow", (f"{v('e')} && {v('m')}",)),
            Gate(v("q"), "follow", (f"{v('f')} && {v('n')}",)),
        ]
        circuit.modules.append((f"Cell{cell}", gates))
    circuit.invariant = never_two([f"r_{cell}" for cell in range(cells)])
    return circuit


def tree(users, buggy, watched=None):
    """A tree of arbiter cells; the root acknowledges itself. Cell i has the children 2 i + 1 and 2 i + 2."""
    about = [
        f"A tree arbiter for {users} users: each cell lets one of its two sides through, asks its parent and",
        "hands the acknowledgement back down (two C elements, cross inhibition, one arbiter). A released",
        "acknowledgement falls late, so exclusion is about users that still ask: u and the acknowledgement.",
    ]
    if buggy:
        about.append("BUG: no cross inhibition, so a cell turns to its other side before the first has let go.")
        about += ["With two users nothing comes of it."] if users == 2 else []
    cells = users - 1
    first_leaf = users // 2 - 1
    circuit = Circuit("TreeArbiter", about)
    for cell in range(cells):
        v = lambda name, at=cell: f"{name}_{at}"
        is_leaf = cell >= first_leaf
        user = lambda side: 2 * (cell - first_leaf) + side - 1
        ask = lambda side: f"u_{user(side)}" if is_leaf else v("r", 2 * cell + side)
        ack = v("r") if cell == 0 else v("a2" if cell % 2 == 0 else "a1", (cell - 1) // 2)
        inhibited = lambda side: v(f"m{side}") if buggy else f"{v(f'm{side}')} && !{v(f'a{3 - side}')}"
        gates = [Gate(f"u_{user(side)}", "follow", (f"!{v(f'a{side}')}",)) for side in (1, 2) if is_leaf]
        gates += [Gate(v(f"m{side}"), "grant", (ask(side),), rival=v(f"m{3 - side}")) for side in (1, 2)]
        gates += [Gate(v(f"y{side}"), "follow", (inhibited(side),)) for side in (1, 2)]
        gates += [Gate(v("r"), "follow", (f"{v('y1')} || {v('y2')}",))]
        gates += [Gate(v(f"a{side}"), "join", (v(f"y{side}"), ack)) for side in (1, 2)]
        circuit.modules.append((f"Cell{cell}", gates))
    holds = [f"(u_{user} && a{1 + user % 2}_{first_leaf + user // 2})" for user in range(users)]
    if watched:
        circuit.about.append(f"Only users {watched[0]} and {watched[1]} are watched.")
        holds = [holds[user] for user in watched]
    circuit.invariant = never_two(holds)
    return circuit


def never_two(conditions):
    pairs = [(one, other) for i, one in enumerate(conditions) for other in conditions[i + 1 :]]
    return [f"!({one} && {other})" for one, other in pairs]


def header(circuit, step, fuse, expect):
    lines = circuit.about + {
        "gate": ["One step moves one gate."],
        "module": ["One step moves one cell: any of its excited gates at once."],
    }[step]
    if fuse:
        lines += ["The glitches of a wrong circuit make millions of states, so it stops after STEPS steps (0 = never)."]
    lines += ["Written by models/generate/circuits.py; do not edit."]
    return [f"// {line}" for line in lines] + [f"// expect{line}" for line in expect]


def by_gate(gates, fuse):
    lines = ["    loc running: end" if fuse else "    loc running:"]
    may, spend = ("left >= COST && ", ["left := left - COST;"]) if fuse else ("", [])
    for gate in gates:
        value = gate.target() if gate.kind == "join" else f"!{gate.name}"
        lines += transformation(f"when {may}{gate.excited(True)}", [f"{gate.name} := {value};", *spend])
    return lines


def transformation(guard, actions):
    """On one line where it fits, as `birk fmt` has it."""
    line = f"      {guard} do {{ {' '.join(actions)} }} goto running;"
    if len(line) <= WIDTH:
        return [line]
    return [f"      {guard} do {{", *[f"        {action}" for action in actions], "      } goto running;"]


def by_module(gates, fuse):
    """All choices are made before anything moves, so that every gate sees the old values."""
    if fuse:
        lines = ["    loc running: end", "      when left >= COST do {", "        left := left - COST;"]
    else:
        lines = ["    loc running:", "      do {"]
    lines += [f"        moves[{n}] := choose(0, {gate.excited(False)} ? 1 : 0);" for n, gate in enumerate(gates)]
    lines += [f"        await exists (n : 0 .. {len(gates) - 1}) moves[n] == 1;"]
    place = {gate.name: n for n, gate in enumerate(gates)}
    for n, gate in enumerate(gates):
        if gate.rival and n < place[gate.rival]:
            other = place[gate.rival]
            next_of = lambda name, at: f"{name} != (moves[{at}] == 1)"
            lines += [f"        await !(({next_of(gate.name, n)}) && ({next_of(gate.rival, other)}));"]
    lines += [f"        {gate.name} := {gate.name} != (moves[{n}] == 1);" for n, gate in enumerate(gates)]
    lines += [f"        moves[{n}] := 0;" for n in range(len(gates))]
    return lines + ["      } goto running;"]


def model(circuit, step, fuse, expect=()):
    lines = header(circuit, step, fuse, expect)
    lines += [f"system {circuit.system} {{"]
    if fuse:
        lines += [f"  const STEPS = {fuse};", "  const COST = STEPS == 0 ? 0 : 1;", ""]
        lines += ["  int (0, STEPS) left := STEPS;", ""]
    for _, gates in circuit.modules:
        lines += [f"  boolean {gate.name}{' := true' if gate.start else ''};" for gate in gates]
        lines += [""]
    if step == "module":
        most = max(len(gates) for _, gates in circuit.modules)
        lines += [f"  int (0, 1)[{most}] moves; // of the step that is being taken; 0 between steps", ""]
    for name, gates in circuit.modules:
        lines += [f"  active thread {name}() {{"]
        lines += by_gate(gates, fuse) if step == "gate" else by_module(gates, fuse)
        lines += ["  }", ""]
    lines += invariant("exclusion", circuit.invariant) + ["}"]
    return "\n".join(lines) + "\n"


def invariant(name, conditions):
    """On one line where it fits, otherwise filled, as `birk fmt` has it."""
    line = f"  invariant {name}: {' && '.join(conditions)};"
    if len(line) <= WIDTH:
        return [line]
    lines, last = [f"  invariant {name}:"], "   "
    for condition, end in zip(conditions, [" &&"] * (len(conditions) - 1) + [";"]):
        if len(f"{last} {condition}{end}") > WIDTH:
            lines, last = lines + [last], "   "
        last += f" {condition}{end}"
    return lines + [last]


# The files of the corpus: name, circuit, step, fuse, and what is expected (measured; `corpus.rs` checks it).
CORPUS = [
    ("dme_2", dme(2, 0), "gate", 0, ": holds; 502 states, 904 transitions, depth 88"),
    ("dme_3", dme(3, 0), "gate", 0, ": holds; 6579 states, 17124 transitions, depth 114"),
    ("dme_module_2", dme(2, 0), "module", 0, ": holds; 502 states, 976 transitions, depth 83"),
    ("dme_bug1_2", dme(2, 1), "gate", 45, ": violated exclusion in 45; 997 states, 1972 transitions, depth 45"),
    ("dme_bug2_2", dme(2, 2), "gate", 47, ": violated exclusion in 47; 1888 states, 4742 transitions, depth 47"),
    ("dme_bug3_2", dme(2, 3), "gate", 44, ": violated exclusion in 44; 4307 states, 10393 transitions, depth 44"),
    ("dme_bug5_2", dme(2, 5), "gate", 0, ": violated exclusion in 28; 484 states, 968 transitions, depth 42"),
    ("dme_module_bug1_2", dme(2, 1), "module", 39, ": violated exclusion in 39; 3832 states, 16223 transitions, depth 39"),
    ("dme_module_bug5_2", dme(2, 5), "module", 0, ": violated exclusion in 28; 484 states, 968 transitions, depth 42"),
    ("tree_arbiter_2", tree(2, False), "gate", 0, ": holds; 42 states, 68 transitions, depth 11"),
    ("tree_arbiter_4", tree(4, False), "gate", 0, ": holds; 3268 states, 10104 transitions, depth 38"),
    ("tree_arbiter_buggy_2", tree(2, True), "gate", 0, ": holds; 61 states, 103 transitions, depth 16"),
    ("tree_arbiter_buggy_4", tree(4, True), "gate", 26, ": violated exclusion in 26; 9385 states, 28818 transitions, depth 26"),
    ("tree_arbiter_module_4", tree(4, False), "module", 0, ": holds; 3268 states, 12804 transitions, depth 33"),
    ("tree_arbiter_module_buggy_4", tree(4, True), "module", 22, ": violated exclusion in 22; 27495 states, 100846 transitions, depth 22"),
]

# Too many states to look at one by one in a test (`sets.rs` checks them).
LARGE = [
    ("large/dme_module_4", dme(4, 0), "module", 0, ": holds; 75172 states, 278616 transitions, depth 133"),
    ("large/dme_bug5_4", dme(4, 5), "gate", 0, ": violated exclusion in 28"),
    ("large/tree_arbiter_module_8", tree(8, False), "module", 0, ": holds; 12399056 states, 92791008 transitions, depth 95"),
    ("large/tree_arbiter_module_buggy_8", tree(8, True), "module", 0, ": violated exclusion in 26"),
    # The states were counted by another program, too; the transitions only by `bdd-chain`.
    ("large/tree_arbiter_16", tree(16, False), "gate", 0, ": holds; 133108342565120 states, 1605335165921280 transitions"),
    ("large/tree_arbiter_module_buggy_16", tree(16, True), "module", 0, ": violated exclusion in 30"),
]


def corpus(check):
    folder = pathlib.Path(__file__).resolve().parent.parent
    (folder / "large").mkdir(exist_ok=True)
    stale = []
    for name, circuit, step, fuse, expect in CORPUS + LARGE:
        path, text = folder / f"{name}.bir", model(circuit, step, fuse, [expect])
        if check:
            stale += [] if path.exists() and path.read_text() == text else [name]
        else:
            path.write_text(text)
    if stale:
        sys.exit("not as this script writes them: " + ", ".join(stale))


def main():
    parser = argparse.ArgumentParser(description="Asynchronous circuits as BIR models.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    ring = kinds.add_parser("dme")
    ring.add_argument("cells", type=int)
    ring.add_argument("--bug", type=int, choices=[0, 1, 2, 3, 5], default=0)
    arbiter = kinds.add_parser("tree")
    arbiter.add_argument("users", type=int)
    arbiter.add_argument("--buggy", action="store_true")
    arbiter.add_argument("--pair", type=int, nargs=2)
    for kind in (ring, arbiter):
        kind.add_argument("--step", choices=["gate", "module"], default="gate")
        kind.add_argument("--fuse", type=int, default=0)
    kinds.add_parser("corpus").add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.kind == "corpus":
        corpus(args.check)
    elif args.kind == "dme" and args.cells >= 2:
        print(model(dme(args.cells, args.bug), args.step, args.fuse), end="")
    elif args.kind == "tree" and args.users >= 2 and args.users & (args.users - 1) == 0:
        print(model(tree(args.users, args.buggy, args.pair), args.step, args.fuse), end="")
    else:
        parser.error("a ring has at least 2 cells; a tree has 2, 4, 8, ... users")


if __name__ == "__main__":
    main()
