/* twin of bank_transfer.bir */
/* spin states 46 */
byte balance[2] = 2, in_transit;
bool locked[2];
#define OTHER (1 - _pid)

active [2] proctype clerk() {
  do
  :: d_step { !locked[_pid] -> locked[_pid] = true };
     d_step { !locked[OTHER] -> locked[OTHER] = true };
     if
     :: d_step { balance[_pid] > 0 -> balance[_pid]--; in_transit = 1 };
        d_step { balance[OTHER]++; in_transit = 0 }
     :: balance[_pid] == 0
     fi;
     d_step { locked[0] = false; locked[1] = false }
  od
}
