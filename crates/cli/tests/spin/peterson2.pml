/* twin of peterson2.bir */
/* spin states 20 */
bool wants[2];
byte turn;

active [2] proctype process() {
  do
  :: wants[_pid] = true;
     turn = 1 - _pid;
     !wants[1 - _pid] || turn == _pid;
     wants[_pid] = false
  od
}
