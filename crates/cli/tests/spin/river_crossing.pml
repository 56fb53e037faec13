/* twin of river_crossing.bir */
/* spin states 10 */
bool farmer, wolf, goat, cabbage;

active proctype boat() {
  do
  :: d_step { wolf != goat && goat != cabbage -> farmer = !farmer }
  :: d_step { farmer == wolf && goat != cabbage -> farmer = !farmer; wolf = farmer }
  :: d_step { farmer == goat -> farmer = !farmer; goat = farmer }
  :: d_step { farmer == cabbage && wolf != goat -> farmer = !farmer; cabbage = farmer }
  od
}
