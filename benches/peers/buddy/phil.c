/* The ring of models/philosophers_ring.bir on BuDDy alone: the same pieces (what is written is forgotten and then set), the bits
 * of each philosopher beside those of his fork.
 *
 *   phil N chain       each piece on the whole set, from the first philosopher to the last, until nothing is new
 *   phil N saturate    each piece on the parts of the diagram that begin at its first bit, those below to their end first
 *
 * It prints: philosophers, log10 of the states, nodes of the set of all states, processor seconds.
 */
#include <bdd.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THINKING, HUNGRY, EATING, SATED };

static int n;

/* The fork to the left of a philosopher, and the two bits of where he is. */
static int fork_of(int i) { return 3 * (i % n); }

static BDD at(int i, int place) {
    BDD high = place & 2 ? bdd_ithvar(3 * i + 1) : bdd_nithvar(3 * i + 1);
    BDD low = place & 1 ? bdd_ithvar(3 * i + 2) : bdd_nithvar(3 * i + 2);
    return bdd_addref(bdd_and(high, low));
}

/* What happens where, the bits that are written, and what they become; `first` is the first bit of all these. */
struct piece { BDD guard, written, set; int first; };

static struct piece *pieces;

/* From one place to the next, while the fork is as it is said; afterwards it is the other way. */
static struct piece piece(int i, int from, int fork, int taken) {
    BDD before = taken ? bdd_ithvar(fork) : bdd_nithvar(fork);
    BDD after = taken ? bdd_nithvar(fork) : bdd_ithvar(fork);
    int written[3] = {fork, 3 * i + 1, 3 * i + 2};
    struct piece made;
    /* Putting a fork down does not ask whether it is taken. */
    made.guard = bdd_addref(taken ? at(i, from) : bdd_and(at(i, from), before));
    made.written = bdd_addref(bdd_makeset(written, 3));
    made.set = bdd_addref(bdd_and(at(i, (from + 1) % 4), after));
    made.first = fork < 3 * i + 1 ? fork : 3 * i + 1;
    return made;
}

static int by_first(const void *a, const void *b) {
    return ((const struct piece *)a)->first - ((const struct piece *)b)->first;
}

/* With one more step of a piece. Whoever gets a set holds it. */
static BDD image(BDD states, const struct piece *piece) {
    BDD image = bdd_addref(bdd_appex(states, piece->guard, bddop_and, piece->written));
    BDD set = bdd_addref(bdd_and(image, piece->set));
    bdd_delref(image);
    return set;
}

static BDD with(BDD states, BDD more) {
    BDD both = bdd_addref(bdd_or(states, more));
    bdd_delref(states);
    bdd_delref(more);
    return both;
}

static BDD chain(BDD reached) {
    BDD before = bddfalse;
    while (reached != before) {
        bdd_delref(before);
        before = bdd_addref(reached);
        for (int p = 0; p < 4 * n; p++) reached = with(reached, image(reached, &pieces[p]));
    }
    return reached;
}

/* What is known of parts: for the first piece and a part, all to which it and those behind it lead. */
struct known { int piece; BDD part, closed; };

static struct known *table;
static size_t room = 1 << 16, used;

static struct known *find(int piece, BDD part) {
    size_t place = ((size_t)piece * 2654435761u + (size_t)part * 40503u) & (room - 1);
    while (table[place].piece >= 0 && (table[place].piece != piece || table[place].part != part))
        place = (place + 1) & (room - 1);
    return &table[place];
}

static void make_room(void) {
    struct known *old = table;
    size_t size = old ? room : 0;
    if (old) room *= 2;
    table = malloc(room * sizeof *table);
    for (size_t i = 0; i < room; i++) table[i].piece = -1;
    for (size_t i = 0; i < size; i++)
        if (old[i].piece >= 0) *find(old[i].piece, old[i].part) = old[i];
    free(old);
}

static BDD saturate(int from, BDD part) {
    if (from == 4 * n || part == bddfalse || part == bddtrue) return bdd_addref(part);
    struct known *known = find(from, part);
    if (known->piece >= 0) return bdd_addref(known->closed);
    BDD closed;
    if (bdd_var(part) < pieces[from].first) {
        BDD high = saturate(from, bdd_high(part)), low = saturate(from, bdd_low(part));
        closed = bdd_addref(bdd_ite(bdd_ithvar(bdd_var(part)), high, low));
        bdd_delref(high);
        bdd_delref(low);
    } else {
        int next = from;
        while (next < 4 * n && pieces[next].first == pieces[from].first) next++;
        closed = saturate(next, part);
        for (BDD before = bddfalse; before != closed;) {
            before = closed;
            for (int p = from; p < next; p++) {
                BDD reached = image(closed, &pieces[p]);
                BDD new = bdd_addref(bdd_apply(reached, closed, bddop_diff));
                bdd_delref(reached);
                closed = with(closed, saturate(next, new));
                bdd_delref(new);
            }
        }
    }
    if (2 * ++used > room) make_room();
    *find(from, part) = (struct known){from, bdd_addref(part), bdd_addref(closed)};
    return closed;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 5;
    int saturates = argc > 2 && !strcmp(argv[2], "saturate");
    clock_t start = clock();
    bdd_init(1 << 20, 1 << 18);
    bdd_setmaxincrease(1 << 20);
    bdd_gbc_hook(NULL);
    bdd_setvarnum(3 * n);
    pieces = malloc(sizeof(struct piece) * 4 * n);
    for (int i = 0; i < n; i++) {
        pieces[4 * i + 0] = piece(i, THINKING, fork_of(i), 0);
        pieces[4 * i + 1] = piece(i, HUNGRY, fork_of(i + 1), 0);
        pieces[4 * i + 2] = piece(i, EATING, fork_of(i + 1), 1);
        pieces[4 * i + 3] = piece(i, SATED, fork_of(i), 1);
    }
    BDD initial = bddtrue;
    for (int i = 3 * n - 1; i >= 0; i--) {
        BDD more = bdd_addref(bdd_and(initial, bdd_nithvar(i)));
        bdd_delref(initial);
        initial = more;
    }
    BDD reached;
    if (saturates) {
        qsort(pieces, 4 * n, sizeof *pieces, by_first);
        make_room();
        reached = saturate(0, initial);
    } else {
        reached = chain(initial);
    }
    double digits = bdd_satcountln(reached) * log10(2.0);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%d %.6f %d %.3f\n", n, digits, bdd_nodecount(reached), seconds);
    return 0;
}
