byte x; byte x; active proctype P() { x = 1 }
