byte x; active proctype P() { x = 1 } never { x = 2 }
