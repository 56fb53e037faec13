// Processes that end make room: each worker runs alone, and all have the same number.
// expected: deadlock holds, fault holds
byte done;
pid last;

proctype Worker(byte job) {
  assert(_pid == 1);
  done = done + job
}

init {
  byte i;
  for (i : 1 .. 3) {
    last = run Worker(i);
    assert(last == 1);
    _nr_pr == 1
  }
  assert(done == 6)
}
