/* twin of two_phase_commit_crash.bir -D N=3 */
/* spin states 167 */
#define N      3
#define COMMIT 1
#define ABORT  2
bool voted[N];
byte told[N], outcome[N];

active [N] proctype participant() {
  voted[_pid] = true;
  d_step { told[_pid] != 0 -> outcome[_pid] = told[_pid] };
  false /* returned */
}

active proctype coordinator() {
  byte i, order;
  if
  :: d_step { voted[0] && voted[1] && voted[2] -> order = COMMIT }
  :: order = ABORT
  :: goto returned
  fi;
  do
  :: d_step { i < N -> told[i] = order; i++ }
  :: d_step { i = 0; order = 0 }; break
  od;
returned:
  false
}
