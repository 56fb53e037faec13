active proctype P() { d_step { skip; goto out }; out: skip }
