// Stop-and-wait over a channel that loses messages: the sender sends again when nothing else can happen.
// expected: deadlock holds, fault holds, delivered violated
chan data = [1] of { bit };
chan ack = [1] of { bit };
byte received;

active proctype Sender() {
  bit number, got;
  do
  :: received < 3 ->
     data!number;
     if
     :: ack?got ->
        if
        :: got == number -> number = 1 - number
        :: else
        fi
     :: timeout
     fi
  :: else -> break
  od
}

active proctype Medium() {
end:
  do
  :: data?_
  od
}

active proctype Receiver() {
  bit number, wanted;
end:
  do
  :: data?number ->
     if
     :: number == wanted -> wanted = 1 - wanted; received = (received < 3 -> received + 1 : 3)
     :: else
     fi;
     ack!number
  od
}

ltl delivered { <> (received == 3) }
