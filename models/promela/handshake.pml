// A request and its answer by rendezvous; the server goes on forever, which its label says.
// expected: deadlock holds, fault holds, answered holds, busy holds
mtype = { request, answer };

chan link = [0] of { mtype, byte };
byte served;

active proctype Client() {
  byte number;
  do
  :: number < 3 ->
     link!request, number;
     link?answer, eval(number);
     number++
  :: else -> break
  od
}

active proctype Server() {
  byte number;
end:
  do
  :: link?request, number ->
     served = number + 1;
     link!answer, number
  od
}

ltl answered { <> (served == 3) }
ltl busy { [] <> Server@end }
