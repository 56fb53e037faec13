/* twin of ticket_lock.bir -D N=4 */
/* spin states 516 */
#define N 4
byte dispenser, called;

active [N] proctype customer() {
  byte mine;
  do
  :: d_step { mine = dispenser; dispenser = (dispenser + 1) % N };
     called == mine;
     d_step { called = (called + 1) % N; mine = 0 }
  od
}
