//! What is never drawn is never tested: how many random programs contain each production, and in how many it happens.

use std::collections::{BTreeMap, HashSet};

use birk_ir::{FaultKind, PropertyKind};
use birk_lang::ast::System;

use crate::bent_programs;
use birk_agreement::case::{self, Case, Made};
use birk_agreement::meaning::{Meaning, Outcome, State, Step};

/// So many programs are examined; every other one is rich.
const PROGRAMS: u64 = 600;

/// At least so many of them contain each of these pieces, which have two blanks between them.
const WRITTEN: &[(usize, &str)] = &[
    (
        60,
        "const N =  boolean  byte  int  int (  int wrap (  [2]  active thread  active [2] thread  [2] thread  (int me)  loc l0:  \
        : end  when  ; goto l1; }  return;  := choose(  assert  assume  start T1(  skip;  invariant  reachable  T0@l0  forall (  \
        exists (  !  true  false",
    ),
    (
        10,
        "const P {  typealias Alias0  enum Hue {  [N]  function f0(  accept  progress  do { }  ; } goto l1;  \"must be so\"  P.A  \
        Hue.green  ]@l0  ].x  T0.me  .. g0)  2147483647  ][  twice(",
    ),
    (
        20,
        "set of  record Rec {  channel of  procedure p0(  if (  while (  for (k :  either {  } or {  atomic {  await  send c0  \
        receive c0  (?  _)  := {  + {  (v in  count (  sum (",
    ),
    (
        5,
        "symmetric typealias Id  record Outer {  Rec[  typealias Row  Row[2] grid  lossy  duplicating  reordering  [0] c  [2] c  [0][2] c  \
        [1][2] c  const SPREAD  [2 * SPREAD + 1] w  * SPREAD]  fair active  fair when  } else if (  } else {  while (true)  \
        break;  goto l  l0: end  : accept  : progress  receive c0[  send c0[  ) when  p0(g  p1(  (Rec q  int via)  send via  receive via  \
        via)  := choose(s)  choose(Id)  size(  len(c  full(c  empty(c  peek(c  let w =  in Id)  (e in  r0 := r1  := Rec(  := Outer(  rs[  \
        .r.  .r :=  z.f  r0.f  := z  .z;  a0 := a1  grid[  [Id]  (Id me)  {}  in {",
    ),
    (
        5,
        "sequence of  sequence of Rec [  ][2] q0  typealias Log sequence  map of  map of Id to  map of Key to  to Rec  record Bag {  \
        Log own  bag0 := bag1  append(q  append(append(  append(tail(  tail(q  head(  last(  len(q  full(q  empty(q  (u in q  (u in m  in q  \
        q0[  == q0  keys(m  remove(m  size(m  in m0  m0[  broadcast c  ) except",
    ),
    (2, "fair do  fair g  [3] c  (Rec(  q.f  r0 == r1  a0 != a1  rs :=  qs :=  o0 := o1  send d0  receive d0 (?"),
];
const OPERATORS: &str = "+ - * / % < <= > >= == != && || => ? : in";

/// At least so many programs have runs in which this happens.
const HAPPENS: &[(usize, &str)] = &[
    (15, "a rendezvous"),
    (10, "a rendezvous with several that could receive"),
    (4, "a rendezvous at one of several channels"),
    (30, "a channel holds messages"),
    (10, "a channel of an array holds messages"),
    (10, "the environment meddles with messages"),
    (40, "a thread is started"),
    (10, "several instances of a thread were started"),
    (30, "an outcome is cut"),
    (10, "an outcome is cut in a body of statements"),
    (10, "an assertion fails in a body of statements"),
    (40, "a step has several outcomes"),
    (5, "a set has the last of many members"),
    (6, "a wide array is written"),
    (30, "a sequence has elements"),
    (15, "a sequence has several elements"),
    (30, "a map has keys"),
    (8, "a map has several keys"),
    (8, "a message is broadcast"),
];

/// What happens in the runs of a program.
struct Happenings<'m> {
    meaning: &'m Meaning<'m>,
    faults: Vec<FaultKind>,
    events: HashSet<&'static str>,
}

impl Happenings<'_> {
    fn of(system: &System) -> (Vec<FaultKind>, HashSet<&'static str>) {
        let meaning = Meaning::new(system);
        let mut happenings = Happenings { meaning: &meaning, faults: Vec::new(), events: HashSet::new() };
        let mut stack = meaning.initial_states();
        let mut seen: HashSet<State> = stack.iter().cloned().collect();
        while let Some(state) = stack.pop() {
            let steps = meaning.steps(&state);
            happenings.in_state(&state);
            happenings.meetings(&steps);
            for step in steps {
                happenings.step(&step);
                for outcome in step.outcomes {
                    match outcome {
                        Outcome::State(next) if seen.insert(next.clone()) => stack.push(next),
                        Outcome::Fault(kind) if !happenings.faults.contains(&kind) => happenings.faults.push(kind),
                        _ => {}
                    }
                }
            }
        }
        (happenings.faults, happenings.events)
    }

    fn note(&mut self, event: &'static str, happens: bool) {
        if happens {
            self.events.insert(event);
        }
    }

    fn in_state(&mut self, state: &State) {
        let mut values = self.meaning.names.iter().zip(state);
        let holds = |name: &str| name.starts_with("len(c");
        self.note("a channel holds messages", values.clone().any(|(name, value)| holds(name) && *value > 0));
        let is_one_of_several = |name: &str| holds(name) && name.contains('[');
        let several = values.clone().any(|(name, value)| is_one_of_several(name) && *value > 0);
        self.note("a channel of an array holds messages", several);
        self.note("a wide array is written", values.any(|(name, value)| name.starts_with("w[") && *value > 0));
        self.note(
            "a set has the last of many members",
            state.iter().any(|value| 1 << 29 <= *value && *value < 1 << 31),
        );
        self.in_collections(state);
        for kind in self.meaning.kinds.iter().filter(|kind| !kind.tree.active) {
            let counters = &state[kind.counter..kind.counter + kind.copies as usize];
            let running = counters.iter().filter(|place| **place != kind.idle()).count();
            self.note("a thread is started", running > 0);
            self.note("several instances of a thread were started", running > 1);
        }
    }

    fn in_collections(&mut self, state: &State) {
        for (name, value) in self.meaning.names.iter().zip(state) {
            // All channels of random programs begin with these letters.
            if name.starts_with("len(") && !["len(c", "len(d"].iter().any(|channel| name.starts_with(channel)) {
                self.note("a sequence has elements", *value > 0);
                self.note("a sequence has several elements", *value > 1);
            }
            if name.starts_with("keys(") {
                self.note("a map has keys", *value > 0);
                self.note("a map has several keys", value.count_ones() > 1);
            }
        }
    }

    /// Steps of one sender from one place, which differ in who receives.
    fn meetings(&mut self, steps: &[Step]) {
        let mut count: BTreeMap<(usize, i64, usize, usize), usize> = BTreeMap::new();
        for step in steps.iter().filter(|step| step.kind < self.meaning.kinds.len()) {
            let way = &self.meaning.kinds[step.kind].code.places[step.location].ways[step.ordinal];
            let Some((_, channel)) = way.meets else { continue };
            *count.entry((step.kind, step.copy, step.location, step.ordinal)).or_default() += 1;
            self.note("a rendezvous", true);
            let shape = &self.meaning.globals[channel].shape;
            self.note(
                "a rendezvous at one of several channels",
                matches!(shape, birk_agreement::meaning::shape::Shape::Array(2.., _)),
            );
        }
        self.note("a rendezvous with several that could receive", count.values().any(|&partners| partners > 1));
    }

    fn step(&mut self, step: &Step) {
        let Some(kind) = self.meaning.kinds.get(step.kind) else {
            return self.note("the environment meddles with messages", true);
        };
        let broadcasts = kind.code.places[step.location].ways[step.ordinal].broadcasts();
        self.note("a message is broadcast", broadcasts);
        let structured = !kind.tree.body.is_empty();
        let has = |outcome: &Outcome| step.outcomes.contains(outcome);
        self.note("an outcome is cut", has(&Outcome::Cut));
        self.note("an outcome is cut in a body of statements", structured && has(&Outcome::Cut));
        let fails = has(&Outcome::Fault(FaultKind::Assertion));
        self.note("an assertion fails in a body of statements", structured && fails);
        self.note("a step has several outcomes", step.outcomes.len() > 1);
    }
}

/// Counts of programs.
#[derive(Default)]
struct Counts {
    usable: usize,
    states: Vec<u64>,
    written: BTreeMap<String, usize>,
    happens: BTreeMap<&'static str, usize>,
    faults: HashSet<FaultKind>,
    /// For each kind of property, whether it was ever not found, and found.
    found: [[bool; 2]; 4],
}

impl Counts {
    fn count(&mut self, text: &str, case: &Case, pieces: &[(usize, String)]) {
        self.usable += 1;
        self.states.push(case.answer.states);
        for (_, piece) in pieces.iter().filter(|(_, piece)| text.contains(piece.as_str())) {
            *self.written.entry(piece.clone()).or_default() += 1;
        }
        let (faults, events) = Happenings::of(&case.system);
        self.faults.extend(faults);
        events.into_iter().for_each(|event| *self.happens.entry(event).or_default() += 1);
        for (property, shortest) in case.program.properties.iter().zip(&case.answer.shortest) {
            let kind = match property.kind {
                PropertyKind::Deadlock => 0,
                PropertyKind::Fault => 1,
                PropertyKind::Invariant(_) => 2,
                _ => 3,
            };
            self.found[kind][usize::from(shortest.is_some())] = true;
        }
    }
}

#[test]
fn random_programs_use_the_whole_language() {
    let mut pieces: Vec<(usize, String)> = Vec::new();
    for (least, written) in WRITTEN {
        pieces.extend(written.split("  ").map(|piece| (*least, piece.to_owned())));
    }
    pieces.extend(OPERATORS.split(' ').map(|operator| (20, format!(" {operator} "))));
    let mut counts = Counts::default();
    for seed in 0..PROGRAMS {
        let text = case::draw(seed).1;
        if let Made::Usable(case) = case::make(&text) {
            counts.count(&text, &case, &pieces);
        }
    }
    counts.states.sort_unstable();
    let middle = counts.states[counts.states.len() / 2];
    println!("{} usable, the middle one has {middle} states", counts.usable);
    println!("{:?}\n{:?}", counts.written, counts.happens);
    assert!(counts.usable * 20 > PROGRAMS as usize * 19, "only {} programs are of use", counts.usable);
    assert!(middle >= 20, "half of the programs have at most {middle} states");
    let too_few = |found: usize, least: &usize| found < *least;
    let written =
        pieces.iter().map(|(least, piece)| (counts.written.get(piece).copied().unwrap_or(0), least, &piece[..]));
    let happens = HAPPENS.iter().map(|(least, event)| (counts.happens.get(event).copied().unwrap_or(0), least, *event));
    let rare: Vec<_> = written.chain(happens).filter(|(found, least, _)| too_few(*found, least)).collect();
    assert!(rare.is_empty(), "too few random programs (found, needed) contain {rare:?}");
    for kind in bent_programs::FAULTS {
        assert!(counts.faults.contains(&kind), "no random program reaches a fault of kind {kind:?}");
    }
    assert_eq!(counts.found, [[true; 2]; 4], "each kind of property is sometimes found and sometimes not");
}
