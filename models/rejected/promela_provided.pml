byte x; active proctype P() provided (x == 0) { x = 1 }
