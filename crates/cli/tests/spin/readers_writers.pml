/* twin of readers_writers.bir -D NUM_READERS=3 -D NUM_WRITERS=3 */
/* spin states 33 */
#define READERS 3
#define WRITERS 3
int nr, nw;

active [READERS] proctype reader() {
  do
  :: d_step { nw == 0 -> nr++ };
     skip;
     nr--
  od
}

active [WRITERS] proctype writer() {
  do
  :: d_step { nr == 0 && nw < 1 -> nw++ };
     skip;
     nw--
  od
}
