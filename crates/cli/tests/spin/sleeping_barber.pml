/* twin of sleeping_barber.bir -D CUSTOMERS=4 -D CHAIRS=2 */
/* spin states 120 */
#define CUSTOMERS 4
#define CHAIRS    2
byte waiting;
bool called, seated, done;

active proctype barber() {
  do
  :: d_step { waiting > 0 -> waiting--; called = true };
     seated;
     done = true;
     !seated
  od
}

active [CUSTOMERS] proctype customer() {
  do
  :: waiting == CHAIRS
  :: d_step { waiting < CHAIRS -> waiting++ };
     d_step { called -> called = false; seated = true };
     d_step { done -> done = false; seated = false }
  od
}
