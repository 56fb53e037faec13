/* twin of dekker.bir */
/* spin states 56 */
bool wants[2];
byte turn;

active [2] proctype process() {
idle:
  wants[_pid] = true;
looking:
  if
  :: !wants[1 - _pid]
  :: wants[1 - _pid];
     if
     :: turn == _pid; goto looking
     :: d_step { turn != _pid -> wants[_pid] = false };
        turn == _pid;
        wants[_pid] = true;
        goto looking
     fi
  fi;
  turn = 1 - _pid;
  wants[_pid] = false;
  goto idle
}
