/* twin of alternating_bit.bir -D ITEMS=5 */
/* spin states 390 */
#define ITEMS 5
bool data_sent, ack_sent;
byte data_bit, data_item, ack_bit;

inline clear_data() { data_sent = false; data_bit = 0; data_item = 0 }
inline clear_ack() { ack_sent = false; ack_bit = 0 }

active proctype sender() {
  byte mark, item;
  do
  :: d_step { !data_sent -> data_sent = true; data_bit = mark; data_item = item };
waiting:
     if
     :: d_step { ack_sent && ack_bit == mark -> clear_ack(); mark = 1 - mark; item = (item + 1) % ITEMS }
     :: d_step { ack_sent && ack_bit != mark -> clear_ack() }; goto waiting
     :: skip
     fi
  od
}

active proctype receiver() {
  byte mark, expected;
  do
  :: if
     :: d_step {
          data_sent && data_bit == mark ->
          assert(data_item == expected);
          expected = (expected + 1) % ITEMS;
          mark = 1 - mark;
          clear_data()
        }
     :: d_step { data_sent && data_bit != mark -> clear_data() }
     fi;
     d_step { !ack_sent -> ack_sent = true; ack_bit = 1 - mark }
  od
}

active proctype weather() {
  do
  :: d_step { data_sent -> clear_data() }
  :: d_step { ack_sent -> clear_ack() }
  od
}
