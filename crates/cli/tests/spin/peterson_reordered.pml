/* twin of peterson_reordered.bir */
/* spin states 32 */
bool wants[2];
byte turn;

active [2] proctype process() {
  do
  :: turn = 1 - _pid;
     wants[_pid] = true;
     !wants[1 - _pid] || turn == _pid;
     wants[_pid] = false
  od
}
