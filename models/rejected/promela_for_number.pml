byte a; active proctype P() { byte x; for (x in a) { skip } }
