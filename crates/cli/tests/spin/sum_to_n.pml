/* twin of sum_to_n.bir */
/* spin states 15320 */
#define N 2
byte x = 1, t1, t2;

/* A failed assertion leads to no state: only the good case goes on. */
active proctype thread0() {
  x != N;
  false
}

active [2] proctype adder() {
  do
  :: t1 = x;
     t2 = x;
     x = t1 + t2
  od
}
