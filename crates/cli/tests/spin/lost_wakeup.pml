/* twin of lost_wakeup.bir */
/* spin states 52 */
bool filled, consumer_sleeps, producer_sleeps;

active proctype producer() {
  do
  :: filled == true;
     producer_sleeps = true;
     !producer_sleeps
  :: filled == false;
     filled = true;
     consumer_sleeps = false
  od
}

active proctype consumer() {
  do
  :: filled == false;
     consumer_sleeps = true;
     !consumer_sleeps
  :: filled == true;
     filled = false;
     producer_sleeps = false
  od
}
