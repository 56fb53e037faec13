/* twin of division_by_zero.bir */
/* spin states 16 */
byte sum, count, average;

active proctype sampler() {
  do
  :: d_step { count < 3 -> sum = sum + 2; count++ }
  :: d_step { count == 3 -> sum = 0; count = 0 }
  od
}

/* A division by zero is a fault and leads to no state. */
active proctype reporter() {
  do
  :: count > 0;
     d_step { count > 0 -> average = sum / count; assert(average == 0 || average == 2) }
  od
}
