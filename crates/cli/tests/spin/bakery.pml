/* twin of bakery.bir */
/* spin states 441 */
#define N   2
#define MAX 3
bool choosing[N];
byte number[N];
#define AFTER_ME (number[other] == 0 || number[other] > number[_pid] \
                  || (number[other] == number[_pid] && other >= _pid))

active [N] proctype customer() {
  byte highest, other;
idle:
  choosing[_pid] = true;
looking:
  if
  :: d_step { other < N && number[other] > highest -> highest = number[other]; other++ };
     goto looking
  :: d_step { other < N && number[other] <= highest -> other++ }; goto looking
  :: d_step { other == N && highest < MAX -> number[_pid] = highest + 1; highest = 0; other = 0 }
  fi;
  choosing[_pid] = false;
waiting:
  if
  :: other < N && !choosing[other];
     d_step { AFTER_ME -> other++ };
     goto waiting
  :: d_step { other == N -> other = 0 }
  fi;
  number[_pid] = 0;
  goto idle
}
