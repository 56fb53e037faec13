byte a[2]; active proctype P() { a = 1 }
