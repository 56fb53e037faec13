/* The ring of models/philosophers_ring.bir on BuDDy alone: the same pieces (what is written is forgotten and then set), the
 * bits of each philosopher beside those of his fork, and chaining, from the first philosopher to the last (the faster way round) until nothing is new.
 *
 *   phil N      prints: philosophers, log10 of the states, rounds, nodes of all states, processor seconds
 */
#include <bdd.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

struct piece { BDD guard, written, set; };

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
    return made;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 5;
    clock_t start = clock();
    bdd_init(1 << 20, 1 << 18);
    bdd_setmaxincrease(1 << 20);
    bdd_gbc_hook(NULL);
    bdd_setvarnum(3 * n);
    struct piece *pieces = malloc(sizeof(struct piece) * 4 * n);
    for (int i = 0; i < n; i++) {
        pieces[4 * i + 0] = piece(i, THINKING, fork_of(i), 0);
        pieces[4 * i + 1] = piece(i, HUNGRY, fork_of(i + 1), 0);
        pieces[4 * i + 2] = piece(i, EATING, fork_of(i + 1), 1);
        pieces[4 * i + 3] = piece(i, SATED, fork_of(i), 1);
    }
    BDD reached = bddtrue;
    for (int i = 3 * n - 1; i >= 0; i--) {
        BDD more = bdd_addref(bdd_and(reached, bdd_nithvar(i)));
        bdd_delref(reached);
        reached = more;
    }
    int rounds = 0;
    BDD before;
    do {
        before = reached;
        bdd_addref(before);
        for (int p = 0; p < 4 * n; p++) {
            BDD image = bdd_addref(bdd_appex(reached, pieces[p].guard, bddop_and, pieces[p].written));
            BDD set = bdd_addref(bdd_and(image, pieces[p].set));
            BDD more = bdd_addref(bdd_or(reached, set));
            bdd_delref(image);
            bdd_delref(set);
            bdd_delref(reached);
            reached = more;
        }
        rounds++;
        bdd_delref(before);
    } while (reached != before);
    double digits = bdd_satcountln(reached) * log10(2.0);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%d %.6f %d %d %.3f\n", n, digits, rounds, bdd_nodecount(reached), seconds);
    return 0;
}
