/* twin of hyman.bir */
/* spin states 30 */
bool wants[2];
byte turn;

active [2] proctype process() {
idle:
  wants[_pid] = true;
looking:
  if
  :: turn == _pid
  :: turn != _pid; !wants[1 - _pid]; turn = _pid; goto looking
  fi;
  wants[_pid] = false;
  goto idle
}
