/* twin of proper_end.bir */
/* spin states 81 */
active [4] proctype walker() {
  byte steps;
  do
  :: d_step { steps == 0 -> steps = 1 }
  :: d_step { steps == 1 -> steps = 2 }
  od
}
