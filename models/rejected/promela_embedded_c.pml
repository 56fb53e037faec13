byte x; active proctype P() { c_code { now.x = 1; } }
