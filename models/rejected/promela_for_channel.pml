chan c = [2] of { byte }; active proctype P() { byte x; for (x in c) { skip } }
