/* twin of philosophers_ring.bir -D N=6 */
/* spin states 1297 */
#define N 6
#define LEFT  _pid
#define RIGHT ((_pid + 1) % N)
bool taken[N];

active [N] proctype philosopher() {
  do
  :: d_step { !taken[LEFT] -> taken[LEFT] = true };
     d_step { !taken[RIGHT] -> taken[RIGHT] = true };
     taken[RIGHT] = false;
     taken[LEFT] = false
  od
}
