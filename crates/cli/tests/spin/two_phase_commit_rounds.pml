/* twin of two_phase_commit_rounds.bir */
/* spin states 237 */
#define N      3
#define YES    1
#define NO     2
#define COMMIT 1
#define ABORT  2
bool asked[N];
byte vote[N], told[N], outcome[N];

active [N] proctype participant() {
  if
  :: d_step { asked[_pid] -> vote[_pid] = YES };
     d_step { told[_pid] != 0 -> outcome[_pid] = told[_pid] }
  :: d_step { asked[_pid] -> vote[_pid] = NO; outcome[_pid] = ABORT }
  fi;
  false /* returned */
}

active proctype coordinator() {
  byte i;
  do
  :: d_step { i < N -> asked[i] = true; i++ }
  :: d_step { i == N -> i = 0 }; break
  od;
  if
  :: vote[0] == NO || vote[1] == NO || vote[2] == NO;
     do
     :: d_step { i < N -> told[i] = ABORT; i++ }
     :: d_step { i == N -> i = 0 }; break
     od
  :: vote[0] == YES && vote[1] == YES && vote[2] == YES;
     do
     :: d_step { i < N -> told[i] = COMMIT; i++ }
     :: d_step { i == N -> i = 0 }; break
     od
  fi;
  false /* returned */
}
