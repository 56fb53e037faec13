/* twin of philosophers_swapped.bir -D N=5 */
/* spin states 261 */
#define N 5
#define FIRST  (_pid == N - 1 -> 0 : _pid)
#define SECOND (_pid == N - 1 -> _pid : _pid + 1)
bool taken[N];

active [N] proctype philosopher() {
  do
  :: d_step { !taken[FIRST] -> taken[FIRST] = true };
     d_step { !taken[SECOND] -> taken[SECOND] = true };
     taken[SECOND] = false;
     taken[FIRST] = false
  od
}
