/* twin of idle_server.bir -D CLIENTS=4 */
/* spin states 297 */
#define CLIENTS 4
#define NOBODY  CLIENTS
byte customer = NOBODY;
bool answered[CLIENTS];

active [CLIENTS] proctype client() {
  d_step { customer == NOBODY -> customer = _pid };
  answered[_pid];
  false /* returned */
}

active proctype server() {
  do
  :: customer != NOBODY;
     d_step { answered[customer] = true; customer = NOBODY }
  od
}
