#!/usr/bin/env python3
"""Writes the circuits of models/aiger: AIGER in ASCII, and one of them in binary.

  clocked.py [--check]    write, or compare, the files of models/aiger

A circuit is built from signals: numbers, even for a variable and odd for its negation, as in AIGER.
"""

import argparse
import pathlib
import sys

FALSE, TRUE = 0, 1


class Circuit:
    """Inputs and latches are declared before the first gate."""

    def __init__(self, comment):
        self.comment, self.expected = comment, "holds"
        self.inputs, self.latches, self.gates = [], [], []
        self.outputs, self.bads, self.constraints, self.justice, self.fairness = [], [], [], [], []

    def variable(self):
        return 2 * (len(self.inputs) + len(self.latches) + len(self.gates))

    def input(self, name):
        self.inputs.append(name)
        return self.variable()

    def latch(self, name, reset=0):
        """`reset` is 0, 1 or None, where either is possible."""
        self.latches.append([name, FALSE, reset])
        return self.variable()

    def word(self, name, bits, reset=0):
        return [self.latch(f"{name}[{bit}]", None if reset is None else reset >> bit & 1) for bit in range(bits)]

    def become(self, latch, value):
        self.latches[latch // 2 - len(self.inputs) - 1][1] = value

    def become_word(self, latches, values):
        for latch, value in zip(latches, values, strict=True):
            self.become(latch, value)

    def both(self, a, b):
        a, b = max(a, b), min(a, b)
        if b == FALSE or a == b ^ 1:
            return FALSE
        if b == TRUE or a == b:
            return a
        if (a, b) not in self.gates:
            self.gates.append((a, b))
        return 2 * (len(self.inputs) + len(self.latches) + self.gates.index((a, b)) + 1)

    def all(self, signals):
        result = TRUE
        for signal in signals:
            result = self.both(result, signal)
        return result

    def any(self, signals):
        return self.all([signal ^ 1 for signal in signals]) ^ 1

    def choose(self, condition, yes, no):
        return self.any([self.both(condition, yes), self.both(condition ^ 1, no)])

    def choose_word(self, condition, yes, no):
        return [self.choose(condition, a, b) for a, b in zip(yes, no, strict=True)]

    def differ(self, a, b):
        return self.choose(a, b ^ 1, b)

    def equal(self, word, value):
        return self.all([bit if value >> at & 1 else bit ^ 1 for at, bit in enumerate(word)])

    def same(self, a, b):
        return self.all([self.differ(x, y) ^ 1 for x, y in zip(a, b, strict=True)])

    def increment(self, word, carry=TRUE):
        result = []
        for bit in word:
            result.append(self.differ(bit, carry))
            carry = self.both(bit, carry)
        return result

    def decrement(self, word):
        return [bit ^ 1 for bit in self.increment([bit ^ 1 for bit in word])]

    def header(self, form):
        parts = [self.variable() // 2, len(self.inputs), len(self.latches), len(self.outputs), len(self.gates)]
        more = [len(self.bads), len(self.constraints), len(self.justice), len(self.fairness)]
        while more and more[-1] == 0:
            more.pop()
        return " ".join([form] + [str(number) for number in parts + more]) + "\n"

    def text(self, binary=False):
        lines = []
        if not binary:
            lines += [str(2 * number + 2) for number in range(len(self.inputs))]
        for number, (_, value, reset) in enumerate(self.latches):
            latch = 2 * (len(self.inputs) + number + 1)
            written = [] if reset == 0 else [str(latch if reset is None else reset)]
            lines.append(" ".join(([] if binary else [str(latch)]) + [str(value)] + written))
        for _, signal in self.outputs + self.bads + self.constraints:
            lines.append(str(signal))
        lines += [str(len(signals)) for _, signals in self.justice]
        lines += [str(signal) for _, signals in self.justice for signal in signals]
        lines += [str(signal) for _, signal in self.fairness]
        out = (self.header("aig" if binary else "aag") + "".join(line + "\n" for line in lines)).encode()
        first = len(self.inputs) + len(self.latches) + 1
        for number, (a, b) in enumerate(self.gates, first):
            if not binary:
                out += f"{2 * number} {a} {b}\n".encode()
                continue
            for difference in (2 * number - a, a - b):
                while difference > 0x7F:
                    out += bytes([difference & 0x7F | 0x80])
                    difference >>= 7
                out += bytes([difference])
        return out + self.symbols().encode()

    def symbols(self):
        kinds = [
            ("i", self.inputs),
            ("l", [latch[0] for latch in self.latches]),
            ("o", [name for name, _ in self.outputs]),
            ("b", [name for name, _ in self.bads]),
            ("c", [name for name, _ in self.constraints]),
            ("j", [name for name, _ in self.justice]),
            ("f", [name for name, _ in self.fairness]),
        ]
        lines = [f"{kind}{number} {name}\n" for kind, names in kinds for number, name in enumerate(names)]
        return "".join(lines) + "c\n" + self.comment + "\n// expect: " + self.expected + "\n"


def counter():
    """Sixteen cycles, that of the bad included, until it overflows."""
    c = Circuit("A counter of four bits. It overflows in the sixteenth cycle at the earliest.")
    c.expected = "violated overflow in 16"
    enable, reset = c.input("enable"), c.input("reset")
    count = c.word("count", 4)
    next_count = c.choose_word(reset, [FALSE] * 4, c.increment(count, enable))
    c.become_word(count, next_count)
    c.bads.append(("overflow", c.all([enable, reset ^ 1, c.equal(count, 15)])))
    c.bads.append(("reset_fails", c.both(reset, c.any(next_count))))
    return c


def arbiter(clients, is_fair):
    """Whether the last client may wait forever."""
    c = Circuit("")
    c.expected = "holds" if is_fair else "violated starves"
    asks = [c.input(f"ask[{i}]") for i in range(clients)]
    guess = c.input("guess")
    token = [c.latch(f"token[{i}]", int(i == 0)) for i in range(clients)]
    waits = [c.latch(f"waits[{i}]") for i in range(clients)]
    watching, was_granted = c.latch("watching"), c.latch("was_granted")
    wants = [c.any([asks[i], waits[i]]) for i in range(clients)]
    granted = []
    for i in range(clients):
        c.become(token[i], token[i - 1])
        turn = token[i] if is_fair else c.all([wants[j] ^ 1 for j in range(i)])
        granted.append(c.both(wants[i], turn))
        c.become(waits[i], c.both(wants[i], granted[i] ^ 1))
    last = clients - 1
    starved = c.both(wants[last], granted[last] ^ 1)
    # From a cycle that is guessed on, the last client waits in every cycle.
    c.become(watching, c.both(starved, c.any([watching, c.both(guess, was_granted ^ 1)])))
    c.become(was_granted, c.any([was_granted, c.both(watching, starved ^ 1)]))
    c.bads.append(("two_granted", c.any([c.both(granted[i], granted[j]) for i in range(clients) for j in range(i)])))
    c.justice.append(("starves", [watching]))
    c.fairness.append(("somebody_asks", c.any(asks)))
    turn = "Whoever has the token, which goes round, is granted" if is_fair else "The client with the lowest number is granted"
    c.comment = (
        f"An arbiter of {clients} clients. {turn} if it asks; a request stays until then.\n"
        "`starves` is that the last client waits from some cycle on, which is guessed, forever."
    )
    return c


def fifo(is_broken):
    comment = "A queue of four bits that cannot be read when empty. What it holds first is not known.\n"
    comment += "It can be written when full: then the oldest bit is lost." if is_broken else "It cannot be written when full."
    c = Circuit(comment)
    c.expected = "violated wrong_bit in 7" if is_broken else "holds"
    push, pop, data, mark = c.input("push"), c.input("pop"), c.input("data"), c.input("mark")
    memory = [c.latch(f"memory[{i}]", None) for i in range(4)]
    head, tail, count = c.word("head", 2), c.word("tail", 2), c.word("count", 3)
    # One bit that is written is remembered, with its place.
    marked, value, place = c.latch("marked"), c.latch("value"), c.word("place", 2)
    full, empty = count[2], c.equal(count, 0)
    pushes = push if is_broken else c.both(push, full ^ 1)
    pops = c.both(pop, empty ^ 1)
    for i in range(4):
        c.become(memory[i], c.choose(c.both(pushes, c.equal(tail, i)), data, memory[i]))
    c.become_word(tail, c.increment(tail, pushes))
    c.become_word(head, c.increment(head, pops))
    up = c.choose_word(c.all([pushes, pops ^ 1, full ^ 1]), c.increment(count), count)
    c.become_word(count, c.choose_word(c.both(pops, pushes ^ 1), c.decrement(count), up))
    begins = c.all([mark, pushes, marked ^ 1])
    leaves = c.all([marked, pops, c.same(head, place)])
    c.become(marked, c.both(c.any([marked, begins]), leaves ^ 1))
    c.become(value, c.choose(begins, data, value))
    c.become_word(place, c.choose_word(begins, tail, place))
    read = c.any([c.both(memory[i], c.equal(head, i)) for i in range(4)])
    c.bads.append(("wrong_bit", c.both(leaves, c.differ(read, value))))
    c.bads.append(("beyond_four", c.both(count[2], c.any(count[:2]))))
    return c


def handshake():
    c = Circuit(
        "A sender and a receiver with a request and an acknowledgement. The environment promises to keep a request until it is\n"
        "acknowledged, and not to acknowledge without one; a timer of three bits runs while it waits."
    )
    c.expected = "violated late in 8"
    request, acknowledge = c.input("request"), c.input("acknowledge")
    was, timer, done = c.latch("was_requested"), c.word("timer", 3), c.latch("done")
    c.become(was, c.both(request, acknowledge ^ 1))
    waits = c.both(request, acknowledge ^ 1)
    c.become_word(timer, c.choose_word(waits, c.increment(timer), [FALSE] * 3))
    c.become(done, acknowledge)
    c.bads.append(("gives_up", c.both(was, request ^ 1)))
    c.bads.append(("late", c.both(c.equal(timer, 7), waits)))
    c.bads.append(("done_without_request", c.all([acknowledge, request ^ 1])))
    c.constraints.append(("patient", c.any([was ^ 1, request])))
    c.constraints.append(("honest", c.any([acknowledge ^ 1, request])))
    return c


def shift():
    c = Circuit("A register of eight bits, of the time when outputs were what is asked.")
    c.expected = "violated all_set in 9"
    data = c.input("in")
    register = [c.latch(f"bit[{i}]", int(i % 3 == 1)) for i in range(8)]
    c.become_word(register, [data] + register[:-1])
    c.outputs.append(("all_set", c.all(register)))
    return c


MODELS = {
    "counter.aag": lambda: counter().text(),
    "arbiter_token.aag": lambda: arbiter(3, True).text(),
    "arbiter_priority.aag": lambda: arbiter(3, False).text(),
    "fifo.aag": lambda: fifo(False).text(),
    "fifo_broken.aag": lambda: fifo(True).text(),
    "handshake.aag": lambda: handshake().text(),
    "shift.aig": lambda: shift().text(binary=True),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    folder = pathlib.Path(__file__).parent.parent / "aiger"
    folder.mkdir(exist_ok=True)
    differ = []
    for name, make in MODELS.items():
        path = folder / name
        if not args.check:
            path.write_bytes(make())
        elif not path.exists() or path.read_bytes() != make():
            differ.append(str(path))
    if differ:
        sys.exit("these differ from what the script writes: " + ", ".join(differ))


if __name__ == "__main__":
    main()
