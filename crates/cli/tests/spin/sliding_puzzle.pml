/* twin of sliding_puzzle.bir */
/* spin states 360 */
#define COLUMNS 3
#define CELLS   6
byte offset[CELLS], gap;
#define TILE(c)       ((c + offset[c]) % CELLS)
#define HOME(cell)    ((CELLS - cell) % CELLS)
#define FILL_FROM(c)  offset[gap] = (TILE(c) + CELLS - gap) % CELLS; gap = c; offset[gap] = HOME(gap)

active proctype player() {
  do
  :: d_step { gap % COLUMNS > 0 -> FILL_FROM((gap - 1)) }
  :: d_step { gap % COLUMNS < COLUMNS - 1 -> FILL_FROM((gap + 1)) }
  :: d_step { FILL_FROM(((gap + COLUMNS) % CELLS)) }
  od
}
