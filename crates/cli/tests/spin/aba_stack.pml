/* twin of aba_stack.bir */
/* spin states 17079 */
#define NODES 3
#define NIL   NODES
byte top, below[NODES], owner[NODES];
byte linked; /* the first steps: link node 0 to 1, 1 to 2, 2 to nothing, start both processes */
#define ME      (_pid + 1)
#define RUNNING (linked > NODES)

active [2] proctype process() {
  byte seen, rest;
  do
  :: d_step { RUNNING && top != NIL -> seen = top };
     rest = below[seen];
     if
     :: d_step {
          top == seen && (rest == NIL || owner[rest % NODES] == 0) ->
          top = rest;
          owner[seen] = ME;
          seen = 0;
          rest = 0
        }
     :: d_step { top != seen -> seen = 0; rest = 0 }
     fi
  :: d_step { RUNNING && owner[0] == ME -> below[0] = top; owner[0] = 0; top = 0 }
  :: d_step { RUNNING && owner[1] == ME -> below[1] = top; owner[1] = 0; top = 1 }
  :: d_step { RUNNING && owner[2] == ME -> below[2] = top; owner[2] = 0; top = 2 }
  od
}

active proctype setup() {
  do
  :: d_step { linked < NODES -> below[linked] = linked + 1; linked++ }
  :: d_step { linked == NODES -> linked++ }
  od
}
