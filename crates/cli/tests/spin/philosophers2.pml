/* twin of philosophers2.bir */
/* spin states 10 */
bool fork1, fork2;

active proctype philosopher1() {
  do
  :: d_step { !fork1 -> fork1 = true };
     d_step { !fork2 -> fork2 = true };
     fork2 = false;
     fork1 = false
  od
}

active proctype philosopher2() {
  do
  :: d_step { !fork2 -> fork2 = true };
     d_step { !fork1 -> fork1 = true };
     fork1 = false;
     fork2 = false
  od
}
