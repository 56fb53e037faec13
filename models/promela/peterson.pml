// Peterson's algorithm for two processes, with what it promises as formulas and a never claim.
// expected: deadlock holds, fault holds, exclusion holds, served holds, both holds
bool wants[2];
byte turn;

active [2] proctype Process() {
  byte other = 1 - _pid;
idle:
  do
  :: wants[_pid] = true;
     turn = other;
     (!wants[other] || turn == _pid);
critical:
     wants[_pid] = false
  od
}

ltl exclusion { [] !(Process[0]@critical && Process[1]@critical) }
ltl served { [] (wants[0] -> <> Process[0]@critical) }

never both {
  do
  :: Process[0]@critical && Process[1]@critical -> break
  :: else
  od
}
