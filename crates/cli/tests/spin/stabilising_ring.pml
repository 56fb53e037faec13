/* twin of stabilising_ring.bir */
/* spin states 125 */
#define N 3
#define K 4
byte count[N], settled;

active [N] proctype machine() {
  if
  :: d_step { count[_pid] = 0; settled++ }
  :: d_step { count[_pid] = 1; settled++ }
  :: d_step { count[_pid] = 2; settled++ }
  :: d_step { count[_pid] = 3; settled++ }
  fi;
  do
  :: d_step { settled == N && _pid == 0 && count[0] == count[N - 1] -> count[0] = (count[0] + 1) % K }
  :: d_step {
       settled == N && _pid > 0 && count[_pid] != count[(_pid + N - 1) % N] ->
       count[_pid] = count[_pid - 1]
     }
  od
}
