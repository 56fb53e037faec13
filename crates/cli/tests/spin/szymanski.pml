/* twin of szymanski.bir */
/* spin states 392 */
#define N 3
byte flag[N];
#define ALL(test)  (test(0) && test(1) && test(2))
#define ANY(value) (flag[0] == value || flag[1] == value || flag[2] == value)
#define LOW(j)     (flag[j] < 3)
#define FRONT(j)   (j >= _pid || flag[j] < 2)
#define BACK(j)    (j <= _pid || flag[j] < 2 || flag[j] == 4)

active [N] proctype process() {
  do
  :: flag[_pid] = 1;
     ALL(LOW);
     flag[_pid] = 3;
     if
     :: d_step { ANY(1) -> flag[_pid] = 2 }; ANY(4)
     :: !ANY(1)
     fi;
     flag[_pid] = 4;
     ALL(FRONT);
     ALL(BACK);
     flag[_pid] = 0
  od
}
