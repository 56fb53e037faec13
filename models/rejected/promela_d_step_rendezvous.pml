chan c = [0] of { byte };
active proctype P() { d_step { skip; c!1 } }
active proctype Q() { byte x; c?x }
