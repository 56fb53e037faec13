/* twin of shared_table.bir */
/* spin states 106 */
#define THREADS 2
#define KEYS    3
#define SLOTS   3
byte slot[SLOTS], fresh[4];

active [THREADS] proctype inserter() {
  byte key, at;
  if
  :: d_step { key = 1; at = 0 }
  :: d_step { key = 2; at = 1 }
  :: d_step { key = 3; at = 1 }
  fi;
looking:
  if
  :: slot[at] == 0;
     if
     :: d_step { slot[at] == 0 -> slot[at] = key; fresh[key]++; key = 0; at = 0 }
     :: slot[at] != 0; goto looking
     fi
  :: d_step { slot[at] == key -> key = 0; at = 0 }
  :: d_step { slot[at] != 0 && slot[at] != key -> at = (at + 1) % SLOTS }; goto looking
  fi;
  fresh[1] > 1 || fresh[2] > 1 || fresh[3] > 1 /* returned, and never stirs again */
}
