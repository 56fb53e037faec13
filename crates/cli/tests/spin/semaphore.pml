/* twin of semaphore.bir -D N=8 -D PERMITS=3 */
/* spin states 93 */
byte free = 3;

active [8] proctype process() {
  do
  :: d_step { free > 0 -> free-- };
     free++
  od
}
