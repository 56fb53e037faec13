/* twin of leader_election.bir -D N=4 */
/* spin states 258 */
#define N      4
#define NEXT   ((_pid + 1) % N)
#define NUMBER (N - _pid)
#define MINE   (_pid * N + head[_pid])
#define THEIRS (NEXT * N + (head[NEXT] + used[NEXT]) % N)
byte slot[16], head[N], used[N];
bool leads[N];

active [N] proctype node() {
  byte heard;
  d_step { used[NEXT] < N -> slot[THEIRS] = NUMBER; used[NEXT]++ };
  do
  :: d_step {
       used[_pid] > 0 ->
       heard = slot[MINE];
       slot[MINE] = 0;
       head[_pid] = (head[_pid] + 1) % N;
       used[_pid]--
     };
     if
     :: d_step { heard < NUMBER -> heard = 0 }
     :: d_step { heard > NUMBER && used[NEXT] < N -> slot[THEIRS] = heard; used[NEXT]++; heard = 0 }
     :: d_step { heard == NUMBER -> leads[_pid] = true; heard = 0 }; break
     fi
  od;
  false /* returned */
}
