byte x; active proctype P() { enabled(0) -> x = 1 }
