/* twin of index_out_of_range.bir */
/* spin states 11 */
#define SIZE 2
bool item[SIZE];
byte top;

/* A push onto a full stack is an index fault and leads to no state. */
active [2] proctype pusher() {
  do
  :: top < SIZE;
     d_step { top < SIZE -> item[top] = true; top++ }
  od
}

active proctype popper() {
  do
  :: d_step { top > 0 -> top--; item[top] = false }
  od
}
