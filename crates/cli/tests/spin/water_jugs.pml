/* twin of water_jugs.bir */
/* spin states 16 */
#define SMALL 3
#define LARGE 5
#define LESS(a, b) ((a) < (b) -> (a) : (b))
byte small, large;

active proctype hands() {
  byte poured;
  do
  :: d_step { small < SMALL -> small = SMALL }
  :: d_step { large < LARGE -> large = LARGE }
  :: d_step { small > 0 -> small = 0 }
  :: d_step { large > 0 -> large = 0 }
  :: d_step {
       small > 0 && large < LARGE ->
       poured = LESS(small, LARGE - large);
       small = small - poured;
       large = large + poured;
       poured = 0
     }
  :: d_step {
       large > 0 && small < SMALL ->
       poured = LESS(large, SMALL - small);
       large = large - poured;
       small = small + poured;
       poured = 0
     }
  od
}
