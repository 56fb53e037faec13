/* twin of bounded_buffer.bir */
/* spin states 2880 */
#define PRODUCERS 2
#define CONSUMERS 2
#define SIZE      3
#define NUMBERS   2
byte from[SIZE], number[SIZE], head, used, expected[PRODUCERS];
#define TAIL ((head + used) % SIZE)

active [PRODUCERS] proctype producer() {
  byte fresh;
  do
  :: skip;
     d_step {
       used < SIZE ->
       from[TAIL] = _pid;
       number[TAIL] = fresh;
       used++;
       fresh = (fresh + 1) % NUMBERS
     }
  od
}

active [CONSUMERS] proctype consumer() {
  do
  :: d_step {
       used > 0 ->
       assert(number[head] == expected[from[head]]);
       expected[from[head]] = (expected[from[head]] + 1) % NUMBERS;
       from[head] = 0;
       number[head] = 0;
       head = (head + 1) % SIZE;
       used--
     };
     skip
  od
}
