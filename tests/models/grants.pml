/* SPDX-License-Identifier: MIT */
/* docs/daemon.md, "Who is served, and when" and "A page per client", as a model: one resource, three clients that want three, two units
 * and one, in every order in which their steps and the daemon's can come. Client 0 is a task, 1 and 2 are not; once, a reload of the config makes
 * client 1 the most urgent. One client may die at any time, one may keep its units for ever.
 * Checked: units that count are of one client, `depth` of them at most; who is served is first; and whoever waits is served in the end,
 * since a search that ends while a client waits is an error.
 * Each macro NO_... takes out a rule: docs/models.md. */
#define N 3
#define DEPTH 2
#define NOBODY N
#ifdef NO_DEPTH
#define BELOW_DEPTH(c_) true
#else
#define BELOW_DEPTH(c_) (page[c_].units < DEPTH)
#endif
typedef page_t { byte units; bool leased; bool ask } /* common/wire.h: shared by a client and the daemon */
page_t page[N];
bool request[N], look[N], granted[N];   /* messages, and the slot in which a grant is written */
byte out[N];                            /* units that are out, in truth, and count */
byte late[N];                           /* units that have been taken back and run on */
bool dead[N], noticed[N], keeps[N];
byte urgency[N];                       /* by the config */
bool deaths = true, liars = true, reloads = true;

/* the daemon's own */
byte holder = NOBODY, known = 0, earlier = 0; /* known: units out, while it has been asked back */
bool asked = false, waits[N], behind[N];
byte line[N];                           /* whose priority is what, in the line */
byte best, c;

#define RANK(p_, c_) (behind[c_] -> 0 : 1 + p_)
#ifdef NO_PRIORITY
#define BEFORE(a_, b_) (a_ > b_)
#else
#define BEFORE(a_, b_) (RANK(line[a_], a_) > RANK(line[b_], b_))
#endif
#define OTHER_WAITS ((holder != 0 && waits[0]) || (holder != 1 && waits[1]) || (holder != 2 && waits[2]))
#define ANY_WAITS (waits[0] || waits[1] || waits[2])

inline one_more(c_) {
  out[c_]++;
  assert(out[c_] <= DEPTH);
  assert((out[0] > 0) + (out[1] > 0) + (out[2] > 0) <= 1) }

inline first() {
  best = NOBODY; c = 0;
  do
  :: c < N ->
     if
     :: waits[c] && (best == NOBODY || BEFORE(c, best)) -> best = c
     :: else
     fi; c++
  :: c == N -> break
  od; c = 0 }

/* the generation is counted up: units of an earlier one are `late` */
inline end_lease() { page[holder].leased = false; page[holder].ask = false; page[holder].units = 0;
  holder = NOBODY; asked = false; known = 0 }

inline ask_back() {
  if
  :: !asked ->
#ifdef NO_ATOMIC
     known = earlier;             /* what was out some time before */
#else
     known = page[holder].units; /* one atomic OR, which also says what is out */
#endif
#ifndef NO_ASK
     page[holder].ask = true;
#endif
     asked = true
  :: else
  fi }

inline give(c_) {
  c = 0;
  do
  :: c < N -> assert(!(waits[c] && RANK(urgency[c], c) > RANK(urgency[c_], c_))); c++ /* nobody overtakes who is first */
  :: c == N -> break
  od; c = 0;
  waits[c_] = false;
  if
  :: holder == NOBODY ->
     holder = c_; page[c_].leased = true; page[c_].units = 1; known = 1;
     asked = ANY_WAITS; page[c_].ask = asked
  :: else -> page[c_].units++; known++
  fi;
  granted[c_] = true;
  if :: !dead[c_] -> one_more(c_) :: else fi }

inline serve() {
  do
  :: first();
     if
     :: best == NOBODY -> break
     :: best != NOBODY && holder == NOBODY -> give(best)
     :: else ->
        ask_back();
        if
        :: holder == best && known < DEPTH -> give(best)
        :: holder != best && known == 0 -> end_lease(); give(best)
        :: else -> break
        fi
     fi
  od;
  if /* a holder that nobody makes wait any more need not ask */
  :: holder != NOBODY && asked && !ANY_WAITS -> asked = false; page[holder].ask = false
  :: else
  fi; best = 0 }

/* Events of client i_. */
#ifndef NO_DEATH /* its socket closes: what it held passes on */
#define DIES(i_) atomic { dead[i_] && !noticed[i_] -> noticed[i_] = true; waits[i_] = false; request[i_] = false; look[i_] = false; \
     if :: holder == i_ -> end_lease() :: else fi; serve() }
#else
#define DIES(i_) false
#endif
#define EVENTS(i_) \
  :: atomic { request[i_] && !noticed[i_] -> request[i_] = false; waits[i_] = true; serve() } \
  :: atomic { look[i_] -> look[i_] = false; \
     if :: holder == i_ && asked && page[i_].units < known -> known = page[i_].units; serve() :: else fi } \
  :: DIES(i_) \
  :: atomic { behind[i_] -> behind[i_] = false; serve() } /* its time is over */

active proctype daemon() {
end: do
  EVENTS(0) EVENTS(1) EVENTS(2)
#ifndef NO_PATIENCE /* who keeps others waiting for too long is taken back from, and stands behind all others */
  :: atomic { holder != NOBODY && asked && known > 0 && keeps[holder] && OTHER_WAITS ->
     late[holder] = late[holder] + out[holder]; out[holder] = 0;
     if :: urgency[holder] == 0 -> behind[holder] = true :: else fi;
     end_lease(); serve() }
#endif
  :: atomic { reloads -> reloads = false; urgency[1] = 2;
#ifndef NO_RELOAD
     line[1] = 2;
#endif
     serve() }
#ifdef NO_ATOMIC
  :: atomic { holder != NOBODY && !asked && earlier != page[holder].units -> earlier = page[holder].units }
#endif
  od }

proctype client(byte me; byte todo) {
  bool waiting = false;
  do
  /* the fast path: a compare-and-swap */
  :: atomic { todo > 0 && !waiting && !dead[me] && page[me].leased && !page[me].ask && BELOW_DEPTH(me) ->
     page[me].units++; todo--; one_more(me) }
  :: atomic { todo > 0 && !waiting && !dead[me] && (!page[me].leased || page[me].ask || !BELOW_DEPTH(me)) ->
     request[me] = true; waiting = true; todo-- }
  :: atomic { waiting && granted[me] && !dead[me] -> granted[me] = false; waiting = false }
  /* a unit ends: its generation is the page's */
  :: atomic { out[me] > 0 && !granted[me] && !keeps[me] && !dead[me] -> out[me]--; page[me].units--;
#ifndef NO_LOOK
     if :: page[me].ask -> look[me] = true :: else fi
#endif
     }
  /* one that has been taken back ends: the page has another generation */
  :: atomic { late[me] > 0 && !dead[me] -> late[me]--;
#ifdef NO_GENERATION
     if :: page[me].units > 0 -> page[me].units--; if :: page[me].ask -> look[me] = true :: else fi :: else fi
#else
     skip
#endif
     }
  :: atomic { liars && out[me] > 0 && !granted[me] && !dead[me] -> liars = false; keeps[me] = true }
  :: atomic { keeps[me] && out[me] == 0 && !dead[me] -> keeps[me] = false }
  :: atomic { deaths && !dead[me] -> deaths = false; dead[me] = true; out[me] = 0; late[me] = 0 }
  :: dead[me] -> break
  :: keeps[me] -> break /* and waits for itself, at most */
  :: todo == 0 && !waiting && late[me] == 0 && out[me] == 0 -> break
  od }

init { atomic { urgency[0] = 1; line[0] = 1; run client(0, 3); run client(1, 2); run client(2, 1) } }
