/* twin of hanoi.bir */
/* spin states 243 */
#define DISKS 5
byte peg[DISKS];
#define TO(k)       ((peg[_pid] + k) % 3)
#define THIRD(k)    (3 - peg[_pid] - TO(k))
#define AWAY(d, k)  (d >= _pid || peg[d] == THIRD(k))
#define FREE(k)     (AWAY(0, k) && AWAY(1, k) && AWAY(2, k) && AWAY(3, k))

active [DISKS] proctype disk() {
  do
  :: d_step { FREE(1) -> peg[_pid] = TO(1) }
  :: d_step { FREE(2) -> peg[_pid] = TO(2) }
  od
}
