/* twin of elevator.bir */
/* spin states 320 */
#define FLOORS 4
bool called[FLOORS], upwards = true, doors_open, moving;
byte storey;
#define AHEAD(f) (called[f] && (upwards -> f > storey : f < storey))
#define ANY      (called[0] || called[1] || called[2] || called[3])
#define ANYAHEAD (AHEAD(0) || AHEAD(1) || AHEAD(2) || AHEAD(3))

active [FLOORS] proctype button() {
  do
  :: d_step { !called[_pid] -> called[_pid] = true }
  od
}

active proctype cabin() {
  do
  :: d_step { called[storey] -> doors_open = true; called[storey] = false };
     doors_open = false
  :: d_step { !called[storey] && ANYAHEAD -> moving = true };
     d_step { storey = (upwards -> storey + 1 : storey - 1); moving = false }
  :: d_step { !called[storey] && ANY && !ANYAHEAD -> upwards = !upwards }
  od
}
