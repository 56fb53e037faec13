chan c = [1] of { byte }; byte x; active proctype P() { c!1 } trace { c!x; x == 0; accept: c!1 } notrace { c!2 }
