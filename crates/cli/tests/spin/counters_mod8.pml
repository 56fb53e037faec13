/* twin of counters_mod8.bir -D K=4 */
/* spin states 4096 */
#define K 4
byte counter[K];

active [K] proctype count() {
  do
  :: counter[_pid] = (counter[_pid] + 1) % 8
  od
}
