// Accepted, with a warning.
hidden byte x; active proctype P() { x = 1 }
