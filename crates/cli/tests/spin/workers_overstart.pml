/* twin of workers_overstart.bir */
/* spin states 31 */
#define JOBS  3
#define SLOTS 2
byte place[SLOTS]; /* where the worker in each slot is: not running, working, leaving */

/* `start` takes the lowest free slot; without one it is a fault and leads to no state. */
active proctype boss() {
  byte job;
  do
  :: d_step { job < JOBS && place[0] == 0 -> place[0] = 1; job++ }
  :: d_step { job < JOBS && place[0] != 0 && place[1] == 0 -> place[1] = 1; job++ }
  :: d_step { job == JOBS -> job = 0 }; break
  od;
  false /* returned */
}

active [SLOTS] proctype slot() {
  do
  :: d_step { place[_pid - 1] == 1 -> place[_pid - 1] = 2 }
  :: d_step { place[_pid - 1] == 2 -> place[_pid - 1] = 0 }
  od
}
