active proctype P() { byte c; STDIN?c }
