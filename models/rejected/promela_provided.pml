byte x, a[2]; active proctype P() provided (a[x] == 0) { x = 1 }
