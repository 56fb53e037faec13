/* twin of range_fault.bir -D CLERKS=3 */
/* spin states 42 */
byte remaining = 2;

/* Selling a seat too many is a range fault and leads to no state. */
active [3] proctype clerk() {
  do
  :: remaining > 0;
     d_step { remaining > 0 -> remaining-- }
  :: remaining == 0; break
  od;
  false /* returned */
}
