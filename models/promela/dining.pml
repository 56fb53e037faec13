// Three philosophers, each of whom takes the left fork first: all can wait for each other.
// expected: deadlock violated, fault holds
#define N 3

bool taken[N];

active [N] proctype Philosopher() {
  byte left = _pid;
  byte right = (_pid + 1) % N;

think:
  atomic { !taken[left] -> taken[left] = true };
  atomic { !taken[right] -> taken[right] = true };
eat:
  taken[right] = false;
  taken[left] = false;
  goto think
}
