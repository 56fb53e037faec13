/* twin of barrier.bir -D N=4 */
/* spin states 316 */
#define N 4
bool sense;
byte arrived;

active [N] proctype worker() {
  bool mine;
  byte phase;
  do
  :: d_step { arrived < N - 1 -> arrived++; mine = !mine };
     d_step { sense == mine -> phase = (phase + 1) % 4 }
  :: d_step { arrived == N - 1 -> arrived = 0; mine = !mine; sense = mine; phase = (phase + 1) % 4 }
  od
}
