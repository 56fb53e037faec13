/* twin of bounded_buffer_flag.bir */
/* spin states 10 */
bool filled, locked;

active proctype producer() {
  do
  :: d_step { !locked -> locked = true };
     if
     :: d_step { filled -> locked = false }
     :: filled == false; filled = true; locked = false
     fi
  od
}

active proctype consumer() {
  do
  :: d_step { !locked -> locked = true };
     if
     :: d_step { !filled -> locked = false }
     :: filled == true; filled = false; locked = false
     fi
  od
}
