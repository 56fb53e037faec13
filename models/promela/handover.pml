// A rendezvous inside `atomic` passes control: the receiver goes on at once, and nobody sees `shared` between its statements.
// expected: deadlock holds, fault holds, unseen holds
chan pass = [0] of { bit };
byte shared;

active proctype Giver() {
  atomic { shared = 1; pass!1; shared = 3 }
}

active proctype Taker() {
  atomic { pass?1 -> assert(shared == 1); shared = 2; assert(shared == 2); shared = 4 }
}

active proctype Watcher() {
  byte seen = 0;
  do
  :: seen != shared -> seen = shared
  :: seen >= 3 -> break
  od
}

ltl unseen { [] (shared != 1) }
