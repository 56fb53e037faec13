//! Codes about threads that crash.

use super::Code;

pub(super) const E0060: Code = Code {
    code: "E0060",
    title: "something about crashes in a thread that does not crash",
    explanation: "\
`durable`, `on crash { … }` and `on restart { … }` say what happens to a thread that crashes. They
have no meaning in a thread that does not: declare that it may, by `crashes` behind its parameters.",
    example: "\
system Counter {
  byte shown;

  active thread Server() {
    durable byte count;

    while (true) {
      count := count + 1;
      shown := count;
    }
  }

  reachable far: shown == 9;
}",
    fix: "\
system Counter {
  byte shown;

  active thread Server() crashes {
    durable byte count;

    while (true) {
      count := count + 1;
      shown := count;
    }
  }

  reachable far: shown == 9;
}",
};

pub(super) const E0061: Code = Code {
    code: "E0061",
    title: "a jump in `on crash`",
    explanation: "\
`on crash { … }` is done in the step of a crash, which leads to the place `crashed`, and nowhere
else. What the thread does when it runs again is `on restart { … }`: it may jump.",
    example: "\
system Counter {
  byte count;

  active thread Server() crashes when count < 3 {
    on crash {
      count := count + 1;
      goto again;
    }

    skip;
    again: count := count + 1;
  }
}",
    fix: "\
system Counter {
  byte count;

  active thread Server() crashes when count < 3 {
    on crash {
      count := count + 1;
    }
    on restart {
      goto again;
    }

    skip;
    again: count := count + 1;
  }
}",
};
