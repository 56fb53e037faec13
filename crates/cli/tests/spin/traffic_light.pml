/* twin of traffic_light.bir */
/* spin states 10 */
#define RED       0
#define RED_AMBER 1
#define GREEN     2
#define AMBER     3
byte light[2], right_of_way;

active [2] proctype road() {
  do
  :: d_step { light[_pid] == RED && right_of_way == _pid -> light[_pid] = RED_AMBER };
     light[_pid] = GREEN;
     light[_pid] = AMBER;
     light[_pid] = RED;
     right_of_way = 1 - _pid
  od
}
