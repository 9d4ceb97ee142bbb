/* SPDX-License-Identifier: MIT */
/* docs/coherence.md as a model: one root of 2 blocks, places 0 (home) and 1, two in-order queues of an application that orders, by its own
 * events, commands that touch the same block. State is recorded when a command is enqueued; the work is done later, in any order that the
 * events allow. The search begins in every state that invariant 1 allows, and takes every program of K commands.
 * Checked: each part and each read finds what one device would have had, and in the end each place holds what is recorded as valid there.
 * Each macro NO_RULE... takes out a rule: docs/models.md. */
#ifndef K
#define K 2
#endif
#define NOPS 20
#define CPY 1
#define WR  2
#define RD  3
#define PART 4
#define KEEP 5
#define MERGE 6
#define FILL 7
#define REDUCE 8
#define OLD 255 /* no version of any command */
#define NOTHING 254 /* the element that changes nothing */
typedef op_t { byte kind; byte at; byte from; byte b; byte both; byte want; byte ver; int deps }
op_t op[NOPS];
byte n = 0; int doneset = 0;
byte kept[2];
byte mem[4];                    /* place * 2 + block */
bool valid[4];
byte last[2]; byte ver = 0;     /* of one device, after the last command enqueued */
int qend[2]; int lastw[2]; int readers[2]; int all = 0; int arr[2]; bool over = false;

inline add(k_, at_, from_, b_, both_, want_, ver_, d_) {
  op[n].kind = k_; op[n].at = at_; op[n].from = from_; op[n].b = b_; op[n].both = both_; op[n].want = want_; op[n].ver = ver_; op[n].deps = d_;
  all = all | (1 << n); n++ }

/* rule 3: what the source held before the launch, not what another transfer of it brings */
bool held[4];
#ifdef NO_RULE3
#define BOTH(p_,b_) (valid[(1-p_)*2+(1-b_)] && valid[p_*2+(1-b_)])
#else
#define BOTH(p_,b_) (held[(1-p_)*2+(1-b_)] && valid[p_*2+(1-b_)])
#endif
/* Make block b_ valid at place p_; what waits for it waits for w_ more. A transfer takes the gap along if its source holds it. */
inline fetch(p_, b_, d_, w_) {
  if
  :: !valid[p_*2+b_] ->
     w_ = w_ | (1 << n); arr[p_] = arr[p_] | (1 << n);
     add(CPY, p_, 1-p_, b_, BOTH(p_,b_), 0, 0, d_);
     valid[p_*2+b_] = true
  :: else
  fi;
#ifndef NO_RULE4_READ /* rule 4, who reads */
  w_ = w_ | arr[p_]
#endif
}
inline wrote(p_, b_) { valid[p_*2+b_] = true;
#ifndef NO_RULE7 /* rule 7: valid there and nowhere else */
  valid[(1-p_)*2+b_] = false
#endif
}

active proctype app() {
  byte q, b, i, pl; int before, own, w, end, dp; byte k = 0;
  atomic {
     /* which places hold block 0, which block 1: one of them or both; a place that doesn't hold a block has other bytes there */
     if :: valid[0] = true :: valid[2] = true; mem[0] = OLD :: valid[0] = true; valid[2] = true fi;
     if :: valid[1] = true :: valid[3] = true; mem[1] = OLD :: valid[1] = true; valid[3] = true fi;
     if :: !valid[2] -> mem[2] = OLD :: else fi;
     if :: !valid[3] -> mem[3] = OLD :: else fi }
  do
  :: k < K -> atomic {
     if :: q = 0 :: q = 1 fi; k++; w = 0; end = 0; held[0] = valid[0]; held[1] = valid[1]; held[2] = valid[2]; held[3] = valid[3];
     if
     :: /* write a block */ if :: b = 0 :: b = 1 fi;
        own = qend[q] | lastw[b] | readers[b];
#ifndef NO_RULE4_WRITE /* rule 4, who writes */
        own = own | arr[0];
#endif
        ver++; last[b] = ver; end = (1 << n); add(WR, 0, 0, b, 0, 0, ver, own); wrote(0, b); lastw[b] = end; readers[b] = 0
     :: /* read a block */ if :: b = 0 :: b = 1 fi;
        own = qend[q] | lastw[b];
        before = own;
#ifndef NO_RULE1
        if :: !valid[b] -> before = all :: else fi;
#endif
        fetch(0, b, before, w);
        end = (1 << n); add(RD, 0, 0, b, 0, last[b], 0, own | w); readers[b] = readers[b] | end
     :: /* a split launch: block i by place i, or crosswise; each part reads and writes its block */
        if :: b = 0 :: b = 1 fi;
        own = qend[q] | lastw[0] | lastw[1] | readers[0] | readers[1];
#ifdef NO_RULE1
        before = own;
#else
        before = all;
#endif
        /* transfers first, from the places that hold it before the launch (rule 3) */
        dp = 0; w = 0;
        i = 0; pl = (i + b) % 2; fetch(pl, i, before, dp);
        i = 1; pl = (i + b) % 2; fetch(pl, i, before, w);
        i = 0; pl = (i + b) % 2; ver++; end = end | (1 << n); add(PART, pl, 0, i, 0, last[i], ver, before | dp); last[i] = ver;
        i = 1; pl = (i + b) % 2; ver++;
#ifndef NO_RULE2
        end = end | (1 << n);
#endif
        add(PART, pl, 0, i, 0, last[i], ver, before | w); last[i] = ver;
        i = 0; pl = (i + b) % 2; wrote(pl, i); i = 1; pl = (i + b) % 2; wrote(pl, i);
        lastw[0] = end; lastw[1] = end; readers[0] = 0; readers[1] = 0
     :: /* a split launch of which one part is not empty: it reads and writes block b at place pl */
        if :: b = 0 :: b = 1 fi; if :: pl = 0 :: pl = 1 fi;
        own = qend[q] | lastw[b] | readers[b];
#ifdef NO_RULE1
        before = own;
#else
        before = all;
#endif
        dp = 0; fetch(pl, b, before, dp);
        ver++; end = (1 << n); add(PART, pl, 0, b, 0, last[b], ver, before | dp); last[b] = ver; wrote(pl, b); lastw[b] = end; readers[b] = 0
     :: /* a launch whose writes aren't known: its part at place pl reads and writes block b; home is compared with a copy afterwards */
        if :: b = 0 :: b = 1 fi; if :: pl = 0 :: pl = 1 fi;
        own = qend[q] | lastw[b] | readers[b];
#ifdef NO_RULE1
        before = own;
#else
        before = all;
#endif
        w = 0; fetch(0, 0, before, w); fetch(0, 1, before, w); fetch(1, 0, before, w); fetch(1, 1, before, w);
        dp = before | w; w = (1 << n); add(KEEP, 0, 0, 0, 0, 0, 0, dp);
        ver++; end = (1 << n);
#ifdef NO_RULE9
        dp = before | arr[pl];
#else
        dp = dp | w; /* rule 9: no part begins before all transfers and the copy have ended */
#endif
        add(PART, pl, 0, b, 0, last[b], ver, dp); last[b] = ver;
        w = w | end; end = (1 << n); add(MERGE, 0, 0, 0, 0, 0, 0, before | w);
#ifndef NO_RULE10 /* rule 10: who comes later waits for the merge, as for a transfer into home */
        arr[0] = arr[0] | end;
#endif
        wrote(0, 0); wrote(0, 1); lastw[b] = end; readers[b] = 0
     :: /* a launch of atomics on block b: home's part works on home's, the other on a copy at place 1 that begins with nothing */
        if :: b = 0 :: b = 1 fi;
        own = qend[q] | lastw[b] | readers[b];
#ifdef NO_RULE1
        before = own;
#else
        before = all;
#endif
        dp = 0; fetch(0, b, before, dp);
        w = (1 << n);
#ifdef NO_RULE11
        add(FILL, 1, 0, b, 0, 0, 0, before);
#else
        add(FILL, 1, 0, b, 0, 0, 0, before | dp | arr[1]); /* rule 11: after what home gets from there, and what comes there */
#endif
        ver++; end = (1 << n); add(PART, 1, 0, b, 0, NOTHING, ver, before | w);
        end = end | (1 << n); add(PART, 0, 0, b, 0, last[b], ver, before | dp);
        ver++; w = end; end = (1 << n); add(REDUCE, 0, 1, b, 0, ver - 1, ver, before | w); arr[0] = arr[0] | end;
        last[b] = ver; wrote(0, b); lastw[b] = end; readers[b] = 0
     fi;
     qend[q] = end; q = 0; b = 0; i = 0; pl = 0; before = 0; own = 0; w = 0; end = 0; dp = 0; held[0] = 0; held[1] = 0; held[2] = 0; held[3] = 0 }
  :: k == K -> over = true; break
  od }

active proctype devices() {
  byte x;
  do
  :: atomic {
     x < n && !(doneset & (1 << x)) && (op[x].deps & doneset) == op[x].deps ->
     if
     :: op[x].kind == CPY -> mem[op[x].at*2+op[x].b] = mem[op[x].from*2+op[x].b];
        if :: op[x].both -> mem[op[x].at*2+1-op[x].b] = mem[op[x].from*2+1-op[x].b] :: else fi
     :: op[x].kind == WR -> mem[op[x].b] = op[x].ver
     :: op[x].kind == RD -> assert(mem[op[x].b] == op[x].want)
     :: op[x].kind == PART -> assert(mem[op[x].at*2+op[x].b] == op[x].want); mem[op[x].at*2+op[x].b] = op[x].ver
     :: op[x].kind == KEEP -> kept[0] = mem[0]; kept[1] = mem[1]
     :: op[x].kind == FILL -> mem[op[x].at*2+op[x].b] = NOTHING
     :: op[x].kind == REDUCE ->
        assert(mem[op[x].b] == op[x].want && mem[2+op[x].b] == op[x].want); mem[op[x].b] = op[x].ver
     :: op[x].kind == MERGE ->
        if :: mem[2] != kept[0] -> mem[0] = mem[2] :: else fi;
        if :: mem[3] != kept[1] -> mem[1] = mem[3] :: else fi
     fi; doneset = doneset | (1 << x); x = 0 }
  :: atomic { x < n -> x++ }
  :: atomic { x > 0 -> x = 0 }
  :: over && doneset == all ->
     assert(!valid[0] || mem[0] == last[0]); assert(!valid[1] || mem[1] == last[1]);
     assert(!valid[2] || mem[2] == last[0]); assert(!valid[3] || mem[3] == last[1]);
     assert((valid[0] || valid[2]) && (valid[1] || valid[3]));
     break
  od }
