bool b; active proctype P() { b!1 }
