/* twin of lamport_fast_mutex.bir -D N=3 */
/* spin states 6727 */
#define N  3
#define ME (_pid + 1)
bool busy[N];
byte x, y;

active [N] proctype process() {
  byte other;
idle:
  busy[_pid] = true;
  x = ME;
  if
  :: y == 0
  :: d_step { y != 0 -> busy[_pid] = false }; goto standing
  fi;
  y = ME;
  if
  :: x == ME
  :: d_step { x != ME -> busy[_pid] = false };
     do
     :: d_step { other < N && !busy[other] -> other++ }
     :: d_step { other == N -> other = 0 }; break
     od;
     if
     :: y == ME
     :: y != ME; goto standing
     fi
  fi;
  y = 0;
  busy[_pid] = false;
  goto idle;
standing:
  y == 0;
  goto idle
}
