/* twin of bakery_overflow.bir -D MAX=7 */
/* spin states 53 */
#define MAX   7
#define OTHER (1 - _pid)
byte number[2];

/* A number above MAX is a range fault and leads to no state. */
active [2] proctype customer() {
  do
  :: d_step { number[OTHER] < MAX -> number[_pid] = number[OTHER] + 1 };
     number[OTHER] == 0 || number[_pid] < number[OTHER] || (number[0] == number[1] && _pid == 0);
     number[_pid] = 0
  od
}
