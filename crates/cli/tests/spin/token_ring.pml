/* twin of token_ring.bir -D N=6 */
/* spin states 768 */
#define N 6
byte token;
bool pending[N];

active [N] proctype station() {
  do
  :: d_step { !pending[_pid] -> pending[_pid] = true }
  :: d_step { token == _pid && !pending[_pid] -> token = (token + 1) % N }
  :: token == _pid && pending[_pid];
     pending[_pid] = false;
     token = (token + 1) % N
  od
}
