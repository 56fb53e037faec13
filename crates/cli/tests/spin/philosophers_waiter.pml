/* twin of philosophers_waiter.bir -D SEATS=4 */
/* spin states 466 */
#define N     4
#define SEATS 4
#define LEFT  _pid
#define RIGHT ((_pid + 1) % N)
byte seated;
bool taken[N];

active [N] proctype philosopher() {
  do
  :: d_step { seated < SEATS -> seated++ };
     d_step { !taken[LEFT] -> taken[LEFT] = true };
     d_step { !taken[RIGHT] -> taken[RIGHT] = true };
     d_step { taken[LEFT] = false; taken[RIGHT] = false };
     seated--
  od
}
