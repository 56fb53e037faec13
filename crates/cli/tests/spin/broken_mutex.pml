/* twin of broken_mutex.bir -D N=3 */
/* spin states 96 */
#define N 3
bool locked;
byte inside;

/* Entering when somebody is inside is a failed assertion and leads to no state. */
active [N] proctype process() {
  do
  :: !locked;
     locked = true;
     d_step { inside == 0 -> inside++ };
     d_step { inside--; locked = false }
  od
}
