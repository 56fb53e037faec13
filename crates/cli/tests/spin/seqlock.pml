/* twin of seqlock.bir -D MODULUS=4 */
/* spin states 236 */
#define WRITES  3
#define MODULUS 4
byte sequence, left, right;

active proctype writer() {
  do
  :: d_step { left < WRITES -> sequence = (sequence + 1) % MODULUS };
     left++;
     right = left;
     sequence = (sequence + 1) % MODULUS
  :: left == WRITES; break
  od;
  false /* returned */
}

/* A torn read is a failed assertion and leads to no state. */
active proctype reader() {
  byte before, one, two;
  do
  :: d_step { sequence % 2 == 0 -> before = sequence };
     one = left;
     two = right;
     if
     :: d_step { sequence == before && one == two -> before = 0; one = 0; two = 0 }
     :: d_step { sequence != before -> before = 0; one = 0; two = 0 }
     fi
  od
}
