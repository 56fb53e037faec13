/* twin of cache_msi.bir -D N=3 */
/* spin states 260 */
#define N        3
#define NOBODY   N
#define INVALID  0
#define SHARED   1
#define MODIFIED 2
byte line[N], bus = NOBODY, owner = NOBODY;
bool copy[N], memory, latest;

inline write_back() { memory = copy[owner]; line[owner] = SHARED; owner = NOBODY }

active [N] proctype cache() {
  byte other;
  do
  :: d_step { line[_pid] == INVALID && bus == NOBODY -> bus = _pid };
     do
     :: d_step { owner != NOBODY -> write_back() }
     :: d_step { owner == NOBODY -> copy[_pid] = memory; line[_pid] = SHARED; bus = NOBODY }; break
     od
  :: d_step { line[_pid] != MODIFIED && bus == NOBODY -> bus = _pid };
     do
     :: d_step { owner != NOBODY -> write_back() }
     :: owner == NOBODY; break
     od;
     do
     :: d_step { other < N && other != _pid -> line[other] = INVALID; copy[other] = false; other++ }
     :: d_step { other == _pid -> other++ }
     :: d_step {
          other == N ->
          line[_pid] = MODIFIED;
          owner = _pid;
          copy[_pid] = !latest;
          latest = copy[_pid];
          other = 0;
          bus = NOBODY
        };
        break
     od
  :: d_step { line[_pid] == MODIFIED && bus == NOBODY -> copy[_pid] = !copy[_pid]; latest = copy[_pid] }
  :: d_step {
       line[_pid] == MODIFIED && bus == NOBODY ->
       memory = copy[_pid];
       copy[_pid] = false;
       line[_pid] = INVALID;
       owner = NOBODY
     }
  od
}
