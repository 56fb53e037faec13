/* twin of pathfinder.bir */
/* spin states 15 */
#define PATIENCE 3
#define IDLE     0
#define READY    1
#define WAITING  2
#define HOLDING  3
#define YIELDED  (high == IDLE || high == WAITING)
byte high, low, blocked;
bool medium;

active proctype high_task() {
  do
  :: d_step { high == IDLE -> high = READY }
  :: d_step { high == READY && low == HOLDING -> high = WAITING }
  :: d_step { high == READY && low != HOLDING -> high = HOLDING }
  :: d_step { high == HOLDING -> high = IDLE }
  od
}

/* The watchdog's reset is a failed assertion and leads to no state. */
active proctype medium_task() {
  do
  :: d_step { !medium -> medium = true }
  :: d_step { medium && high == IDLE -> medium = false }
  :: d_step { medium && high == WAITING && blocked < PATIENCE -> blocked++ }
  od
}

active proctype low_task() {
  do
  :: d_step { low == IDLE && YIELDED && !medium -> low = HOLDING }
  :: d_step {
       low == HOLDING && YIELDED && !medium ->
       low = IDLE;
       high = (high == WAITING -> HOLDING : high);
       blocked = 0
     }
  od
}
