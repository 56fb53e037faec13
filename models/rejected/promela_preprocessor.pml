#if 1
active proctype P() { skip }
