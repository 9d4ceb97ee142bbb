/* SPDX-License-Identifier: MIT */
/* docs/coherence.md, rules 5 and 6, as a model: user events, and commands that fail. One root of two blocks, home (place 0) and a replica
 * (place 1), two in-order queues, one user event. The search begins in every state that invariant 1 allows, and takes every program of K
 * commands, of which any may wait for the event once it is made. The application orders, by its own events, commands on the same block of
 * which one writes. It sets the event at any time, well or badly, or only after any command has ended that doesn't come after the event.
 * Work is done in any order that the events allow; what waits for a failed command fails, which the order of a queue alone doesn't cause.
 * Checked: who reads finds what one device would have; all commands end; none fails that wouldn't on one device.
 * Each macro NO_RULE... takes out a rule: docs/models.md. */
#ifndef K
#define K 2
#endif
#define NOPS 12
#define CPY 1
#define WR 2
#define RD 3
#define PART 4
#define OLD 255
typedef op_t { byte kind; byte at; byte b; bool both; byte want; byte ver; int hard; int soft; int own }
op_t op[NOPS];
byte n = 1;                       /* op 0 is the user event */
int ended = 0, failed = 0, all = 0;
byte mem[4]; bool valid[4];       /* place * 2 + block */
byte last[2]; byte ver = 0;
int qend[2], lastw[2], readers[2], arr[2];
int home = 0;                     /* what brings everything home for the user event */
int gated = 0;                    /* commands that come after the user event in the application's own order */
int commands = 0;
bool made = false, over = false;
#define IS_PENDING (made && !(ended & 1))
#ifdef NO_RULE5_SPLIT
#define MAY_SPLIT true
#else
#define MAY_SPLIT (!IS_PENDING) /* rule 5: nothing is split meanwhile, and nothing leaves home */
#endif
#define BIT(x_) (1 << (x_))

/* Rule 6: what the application doesn't let it wait for is waited for however it ends. */
#ifdef NO_RULE6
#define OTHERS hard
#else
#define OTHERS soft
#endif

inline add(k_, at_, b_, want_, ver_) {
  op[n].kind = k_; op[n].at = at_; op[n].b = b_; op[n].want = want_; op[n].ver = ver_; all = all | BIT(n); n++ }

/* Makes block b_ valid at place p_; a transfer takes the other one along if both places hold it. */
inline fetch(p_, b_) {
  if
  :: !valid[p_*2+b_] ->
     op[n].both = valid[p_*2+(1-b_)] && valid[(1-p_)*2+(1-b_)];
     op[n].OTHERS = op[n].OTHERS | before_hard | before_soft | home;
     arr[p_] = arr[p_] | BIT(n); add(CPY, p_, b_, 0, 0); valid[p_*2+b_] = true
  :: else
  fi }

active proctype app() {
  byte q, b, k = 0, kind, j; int hard, before_hard, before_soft; bool waits, splits;
  atomic {
     if :: valid[0] = true :: valid[2] = true; mem[0] = OLD :: valid[0] = true; valid[2] = true fi;
     if :: valid[1] = true :: valid[3] = true; mem[1] = OLD :: valid[1] = true; valid[3] = true fi;
     if :: !valid[2] -> mem[2] = OLD :: else fi;
     if :: !valid[3] -> mem[3] = OLD :: else fi }
  do
  :: atomic { k < K && !made -> made = true;
     before_hard = 0; before_soft = all;
#ifndef NO_RULE5_HOME /* rule 5: everything comes home, and later commands of every queue wait for that */
     fetch(0, 0); fetch(0, 1); home = arr[0];
#endif
     before_soft = 0 }
  :: atomic { IS_PENDING -> ended = ended | 1; if :: true :: failed = failed | 1 fi }
  :: k < K -> atomic {
     if :: q = 0 :: q = 1 fi; if :: b = 0 :: b = 1 fi; if :: kind = WR :: kind = RD :: kind = PART fi;
     if :: waits = false :: made -> waits = true fi; k++;
     hard = lastw[b]; if :: kind != RD -> hard = hard | readers[b] :: else fi; if :: waits -> hard = hard | 1 :: else fi;
     before_hard = hard; before_soft = qend[q];
     splits = kind == PART && MAY_SPLIT;
     if /* rule 1; while a user event is pending other queues' markers aren't taken */
     :: !IS_PENDING -> before_soft = before_soft | (all & ~hard)
     :: else
     fi;
     if :: splits -> fetch(1, b) :: else -> fetch(0, b) fi;
     op[n].hard = hard; op[n].own = hard; op[n].soft = qend[q] | home | arr[(splits -> 1 : 0)];
     if :: splits -> op[n].OTHERS = op[n].OTHERS | before_soft :: else fi;
     if :: (hard | qend[q]) & (gated | 1) -> gated = gated | BIT(n) :: else fi; commands = commands | BIT(n);
     if :: kind == RD -> readers[b] = readers[b] | BIT(n) :: else -> lastw[b] = BIT(n); readers[b] = 0; ver++ fi;
     qend[q] = BIT(n);
     add(kind, (splits -> 1 : 0), b, last[b], ver);
     if
     :: kind != RD -> last[b] = ver;
        if :: splits -> valid[2+b] = true; valid[b] = false :: else -> valid[b] = true; valid[2+b] = false fi
     :: else
     fi;
     q = 0; b = 0; kind = 0; hard = 0; before_hard = 0; before_soft = 0; waits = false; splits = false }
  :: k == K -> break
  od;
  /* A pending event is set after a command has ended that doesn't come after it. */
  if
  :: IS_PENDING ->
     atomic { j = 1;
     do
     :: j < n && (commands & ~gated & BIT(j)) -> break
     :: j < n -> j++
     :: j >= n -> j = 0; break
     od };
     atomic { j == 0 || (ended & BIT(j)) -> ended = ended | 1; if :: true :: failed = failed | 1 fi }
  :: else
  fi;
  over = true
}

inline carry_out(x_) {
  if
  :: op[x_].hard & failed -> failed = failed | BIT(x_);
     /* one device's fails too: by the event, or by a command that has failed and that it was let wait for */
     assert(!(commands & BIT(x_)) || (op[x_].own & failed))
  :: else ->
     if
     :: op[x_].kind == CPY -> mem[op[x_].at*2+op[x_].b] = mem[(1-op[x_].at)*2+op[x_].b];
        if :: op[x_].both -> mem[op[x_].at*2+1-op[x_].b] = mem[(1-op[x_].at)*2+1-op[x_].b] :: else fi
     :: op[x_].kind == RD -> assert(mem[op[x_].b] == op[x_].want)
     :: op[x_].kind == WR -> mem[op[x_].b] = op[x_].ver
     :: op[x_].kind == PART -> assert(mem[op[x_].at*2+op[x_].b] == op[x_].want); mem[op[x_].at*2+op[x_].b] = op[x_].ver
     fi
  fi; ended = ended | BIT(x_) }
#define RUN(x_) :: atomic { x_ < n && !(ended & BIT(x_)) && ((op[x_].hard | op[x_].soft) & ended) == (op[x_].hard | op[x_].soft) -> carry_out(x_) }

active proctype devices() {
  do
  RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) RUN(7) RUN(8) RUN(9)
  :: over && (ended | 1) == (all | 1) -> break
  od }
