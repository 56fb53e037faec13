/* twin of peterson_filter.bir -D N=4 */
/* spin states 4752 */
#define N 4
byte level[N], last[N];
#define BEHIND(k) (k == _pid || level[k] < level[_pid])
#define FIRST     (BEHIND(0) && BEHIND(1) && BEHIND(2) && BEHIND(3))
#define PASS      (last[level[_pid]] != _pid || FIRST)

active [N] proctype process() {
idle:
  level[_pid] = 1;
entering:
  last[level[_pid]] = _pid;
  if
  :: d_step { level[_pid] < N - 1 && PASS -> level[_pid]++ }; goto entering
  :: level[_pid] == N - 1 && PASS
  fi;
  level[_pid] = 0;
  goto idle
}
