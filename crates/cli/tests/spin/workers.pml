/* twin of workers.bir -D JOBS=6 -D SLOTS=3 */
/* spin states 1072 */
#define JOBS  6
#define SLOTS 3
#define IDLE  0
byte running;
bool finished[JOBS];
byte place[SLOTS]; /* where the worker in each slot is: not running, working, leaving */
byte job[SLOTS];   /* its job */

/* `start` takes the lowest free slot. */
active proctype boss() {
  byte n, s;
  do
  :: d_step {
       n < JOBS && running < SLOTS ->
       s = 0;
       do
       :: place[s] != IDLE -> s++
       :: else -> break
       od;
       place[s] = 1;
       job[s] = n;
       s = 0;
       running++;
       n++
     }
  :: d_step {
       n == JOBS && running == 0 -> n = 0;
       assert(finished[0] && finished[1] && finished[2] && finished[3] && finished[4] && finished[5])
     };
     break
  od;
  false /* returned */
}

active [SLOTS] proctype slot() {
  do
  :: d_step { place[_pid - 1] == 1 -> finished[job[_pid - 1]] = true; place[_pid - 1] = 2 }
  :: d_step { place[_pid - 1] == 2 -> running--; job[_pid - 1] = 0; place[_pid - 1] = IDLE }
  od
}
