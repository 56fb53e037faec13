//! Codes about structured threads, channels, records and libraries.

use super::Code;

pub(super) const E0046: Code = Code {
    code: "E0046",
    title: "a loop without a step",
    explanation: "\
The thread can loop forever here without taking a step. A loop needs at least one step in each
iteration: an assignment, an `await`, or `skip;`. To wait for a condition, write `await` instead
of an empty loop.",
    example: "\
system Door {
  boolean open;

  active thread Guest() {
    while (true) { }
  }

  active thread Porter() {
    open := true;
  }

  reachable welcome: open;
}",
    fix: "\
system Door {
  boolean open;

  active thread Guest() {
    await open;
  }

  active thread Porter() {
    open := true;
  }

  reachable welcome: open;
}",
};

pub(super) const E0047: Code = Code {
    code: "E0047",
    title: "a loop inside one step",
    explanation: "\
The body of `atomic` is one step, and a step must terminate: a `while` in it might loop forever.
Use `for` with constant bounds, which is unrolled, or make each iteration a step of its own by
putting the `while` outside and `atomic` inside.",
    example: "\
system Sum {
  const N = 3;
  int (0, 9) i;
  int total;

  active thread Adder() {
    atomic {
      while (i < N) {
        i := i + 1;
        total := total + i;
      }
    }
  }

  reachable done: total == 6;
}",
    fix: "\
system Sum {
  const N = 3;
  int total;

  active thread Adder() {
    atomic {
      for (i : 1 .. N) {
        total := total + i;
      }
    }
  }

  reachable done: total == 6;
}",
};

pub(super) const E0048: Code = Code {
    code: "E0048",
    title: "a label where no thread can be",
    explanation: "\
A label names one place where a thread is between two steps. Inside `atomic` there is no such
place, and procedures and `for` are expanded several times, so a label in them would name several
places. Put the label before the step, or outside the procedure or loop.",
    example: "\
system Counter {
  byte x;

  active thread Adder() {
    while (x < 3) {
      atomic {
        x := x + 1;
        adding: skip;
      }
    }
  }

  reachable seen: Adder@adding;
}",
    fix: "\
system Counter {
  byte x;

  active thread Adder() {
    while (x < 3) {
      adding: atomic {
        x := x + 1;
        skip;
      }
    }
  }

  reachable seen: Adder@adding;
}",
};

pub(super) const E0049: Code = Code {
    code: "E0049",
    title: "break outside a loop",
    explanation: "\
`break` leaves the innermost `while` around it, in the same thread or procedure. Here there is
none. To end the thread or procedure, write `return`; to go elsewhere, `goto` a label.",
    example: "\
system Door {
  boolean open;

  active thread Porter() {
    open := true;
    break;
  }

  reachable welcome: open;
}",
    fix: "\
system Door {
  boolean open;

  active thread Porter() {
    open := true;
    return;
  }

  reachable welcome: open;
}",
};

pub(super) const E0050: Code = Code {
    code: "E0050",
    title: "cannot be imported",
    explanation: "\
`import \"path\";` reads a library: a file that is `library NAME { … }`, with types, functions and
procedures. The path is relative to the model, and `std/…` is the standard library, which is part of
Birk. A system cannot be imported, and a library cannot be checked on its own.",
    example: "\
import \"std/mutx.bir\";

system Room {
  boolean door;

  active [2] thread Guest() {
    inside: door := true;
    door := false;
  }
}",
    fix: "\
import \"std/mutex.bir\";

system Room {
  boolean door;

  active [2] thread Guest() {
    lock(door);
    inside: unlock(door);
  }
}",
};

pub(super) const E0051: Code = Code {
    code: "E0051",
    title: "not a channel",
    explanation: "\
`send`, `receive`, `len`, `full`, `empty` and `peek` need a channel, declared in the system as in
`channel of byte [2] c;`. A channel with capacity 0 is a rendezvous: it holds no messages, so
there is nothing to query.",
    example: "\
system Post {
  byte box;
  byte got;

  active thread Sender() {
    send box (7);
  }

  active thread Receiver() {
    await box > 0;
    got := box;
  }

  reachable delivered: got == 7;
}",
    fix: "\
system Post {
  channel of byte [1] box;
  byte got;

  active thread Sender() {
    send box (7);
  }

  active thread Receiver() {
    receive box (?got);
  }

  reachable delivered: got == 7;
}",
};

pub(super) const E0052: Code = Code {
    code: "E0052",
    title: "a channel or record in the wrong place",
    explanation: "\
Channels are shared, so they are declared in the system: not in a thread, not as a field of a
record, and not as what another channel carries. Neither channels nor records nor fields have
initial values of their own; their parts begin with the defaults of their types. A rendezvous
(capacity 0) holds nothing, so it cannot lose or repeat anything. The condition of a `receive`
cannot ask about a record or an array that is received as a whole: receive its parts one by one.",
    example: "\
system Post {
  byte got;

  active thread Clerk() {
    channel of byte [1] box;
    send box (7);
    receive box (?got);
  }

  reachable delivered: got == 7;
}",
    fix: "\
system Post {
  channel of byte [1] box;
  byte got;

  active thread Clerk() {
    send box (7);
    receive box (?got);
  }

  reachable delivered: got == 7;
}",
};

pub(super) const E0053: Code = Code {
    code: "E0053",
    title: "misuse of a symmetric type",
    explanation: "\
The values of a symmetric type have no order and no arithmetic: they can be compared for equality
and used as indices, so that states which differ only in their names count as one. Such a type is
a range from 0: `symmetric typealias Id int (0, N - 1);`. An array or a thread that is declared with
it, `boolean[Id] lit;`, is indexed by its values and by no number; nothing else is indexed by them.
A variable that may hold none of them is declared `Id or nobody`; `Id.nobody` is that value.",
    example: "\
system Lamps {
  symmetric typealias Lamp int (1, 3);
  boolean[4] lit;

  active thread Lighter() {
    lit[1] := true;
  }

  reachable bright: lit[1];
}",
    fix: "\
system Lamps {
  symmetric typealias Lamp int (0, 2);
  boolean[Lamp] lit;

  active [Lamp] thread Lighter(Lamp own) {
    lit[own] := true;
  }

  invariant dark: forall (l in Lamp) !lit[l];
}",
};

pub(super) const E0054: Code = Code {
    code: "E0054",
    title: "a second rendezvous in one step",
    explanation: "\
A channel with capacity 0 is a rendezvous: sender and receiver take one step together. Two of them
in one `atomic` would need two partners at once. Make it two steps, or give one of the channels a
capacity.",
    example: "\
system Couple {
  channel of byte [0] left;
  channel of byte [0] right;
  byte got;

  active thread Sender() {
    send left (1);
    send right (2);
  }

  active thread Receiver() {
    atomic {
      receive left (?got);
      receive right (?got);
    }
  }

  reachable both: got == 2;
}",
    fix: "\
system Couple {
  channel of byte [0] left;
  channel of byte [0] right;
  byte got;

  active thread Sender() {
    send left (1);
    send right (2);
  }

  active thread Receiver() {
    receive left (?got);
    receive right (?got);
  }

  reachable both: got == 2;
}",
};

pub(super) const E0057: Code = Code {
    code: "E0057",
    title: "`timeout` outside a guard",
    explanation: "\
`timeout` is true where nothing else in the system can move: no other step of any thread, and
nothing that happens to a message on its way. That is asked before a step is taken, so `timeout`
stands in the condition of `await` or `when`, alone or joined with others by `&&` and `||`. The test
of an `if` or `while` can always move, so it would never be true there; `!timeout` would always be.
A variable or constant of this name is an ordinary name.",
    example: "\
system Lossy {
  lossy channel of byte [1] line;
  byte got;

  active thread Sender() {
    send line (7);
    while (got == 0) {
      if (timeout) { send line (7); }
    }
  }

  active thread Receiver() {
    receive line (?got);
  }

  reachable delivered: got == 7;
}",
    fix: "\
system Lossy {
  lossy channel of byte [1] line;
  byte got;

  active thread Sender() {
    send line (7);
    while (true) {
      either { await got == 7; break; } or { await timeout; send line (7); }
    }
  }

  active thread Receiver() {
    receive line (?got);
  }

  reachable delivered: got == 7;
}",
};
