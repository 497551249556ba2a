/* Functions as tables of instructions (mbfmu/runtime/tape.py), and their interpreter.

   A descriptor has plain tapes: operation and operands of each instruction, as numbers of variable length. When a
   model is loaded, a tape is reordered into runs: instructions of one operation, with results side by side, so that
   the interpreter decides once for many of them; where they need each other, they stand in their order. What follows
   next is the operation that the longest remaining chain of runs waits for. Sums of products - the terms of products
   of vectors and matrices - and sums of three become one instruction, rounded after every operation as the separate
   ones are: results are those of compiled functions to the last bit. So do sine and cosine of one angle, which math
   libraries have as one function.

   Instructions that depend on parameters and constants alone are early: they are runs of their own, the preparation,
   which is worked through anew when parameters have changed; results of theirs that others use are kept between
   calls. Other results are in scratch, where a place is free again when all that use it are done.

   A tape may call others, which lie in front of it in the model: a called tape has its constants and then its arguments
   at the begin of scratch of its own, behind that of the caller, and nothing early, as arguments differ from call to
   call. Where its guard is 0, all of its results are, and it is not called. */

#include "tape.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "optimize.h"

enum { MOST_OPERANDS = 7 };

/* Instructions, constants or places of a tape; calls within each other, each of which takes from the stack. */
enum { ENOUGH = 1 << 28, MOST_NESTED = 64 };

/* Instructions of a tape with those of all its calls: what takes longer takes for ever. */
#define MOST_OPERATIONS 1e9

#define NOT_YET UINT_MAX            /* a place that there will be */

/* Operands of each operation that stands in runs. */
static int operands_of(unsigned operation)
{
    switch (operation) {
#define OPERANDS(operation, n) case operation: return n;
    TAPE_OPERANDS
#undef OPERANDS
    case TAPE_CONST: case TAPE_INPUT: return 0;
    case RUN_MULADD: case RUN_MULSUB: case RUN_SUBMUL: case RUN_SUM: return 3;
    case RUN_MULADDMUL: case RUN_MULSUBMUL: return 4;
    case RUN_ADDADD: case RUN_ADDSUB: case RUN_SUBADD: case RUN_SUBSUB: case RUN_MULSUBMULADD: return 5;
    case RUN_DOT: return 6;
    case RUN_DOTADD: return MOST_OPERANDS;
    case TAPE_CALL: return 0;       /* see operands_in */
    default: return 1;
    }
}

/* An instruction while a tape is read: results are known by their instruction. */
typedef struct {
    unsigned short operation;
    unsigned short early;           /* it depends on parameters and constants alone */
    int operand[MOST_OPERANDS];     /* behind that of RUN_SINCOS, the cosine; of a call, where its operands begin and
                                       which tape it calls; behind that of a result of one, which it is */
    int uses;                       /* by instructions that are needed; at last, by those that are not in a run yet */
    int height;                     /* runs of the longest chain that begins here; 0: nothing needs it */
    int waits;                      /* operands that are not there yet */
    unsigned kept;                  /* an early one that others use: the place where it stays + 1, or NOT_YET */
    int next;                       /* in the list of those of one operation that are ready; at last, the place */
} Node;

/* An entry of the list of constants, inputs or results: sorted by vector, then by element. */
typedef struct {
    unsigned vector, element;
    int node;
} Port;

typedef struct {
    Port *ports;
    int n;
} Ports;

/* What tape_load works with. */
typedef struct {
    Node *nodes;
    int n;
    Ports constants, inputs, outputs;
    const Tape *called;             /* tapes that it may call */
    int ncalled;
    int *passed, npassed;           /* operands of all calls */
    int *angles, nangles;           /* nodes that are a sine or a cosine */
    int *users, *first_user;        /* of the result of each node: those that are as early as it is */
    int ready[RUN_OPERATIONS], urgency[RUN_OPERATIONS];
    int *run;                       /* nodes of a run */
    int *kept, nkept;               /* nodes that are, in the order of their places */
    unsigned begin;                 /* number of the first place of scratch */
    unsigned char *taken;           /* which of its places are */
    unsigned places;                /* so many have been, at most */
} Schedule;

/* How many operands an instruction has, and one of them. */
static int operands_in(const Schedule *plan, const Node *node)
{
    return node->operation == TAPE_CALL ? (int)plan->called[node->operand[1]].narguments : operands_of(node->operation);
}

static int operand_in(const Schedule *plan, const Node *node, int k)
{
    return node->operation == TAPE_CALL ? plan->passed[node->operand[0] + k] : node->operand[k];
}

/* Does an instruction not stand in runs, as another one has its result? */
static int is_beside(const Node *node) { return node->operation == RUN_WITH_SINE || node->operation == TAPE_RESULT; }

static void add_port(Ports *list, unsigned vector, unsigned element, int node)
{
    Port *port = list->ports + list->n++;
    port->vector = vector;
    port->element = element;
    port->node = node;
}

static void make_ready(Schedule *plan, int i)
{
    Node *node = plan->nodes + i;
    if (is_beside(node)) return;
    node->next = plan->ready[node->operation];
    plan->ready[node->operation] = i;
    if (node->height > plan->urgency[node->operation]) plan->urgency[node->operation] = node->height;
}

/* Put `part`, of which nothing else makes use, into the sum `node`: its operands, then operands[0..n-1]. */
static void absorb(Node *node, Node *part, unsigned operation, const int *operands, int n)
{
    int own = operands_of(part->operation), rest[2];
    memcpy(rest, operands, sizeof(int) * (size_t)n);  /* they may be those of the node */
    memcpy(node->operand, part->operand, sizeof(int) * (size_t)own);
    memcpy(node->operand + own, rest, sizeof(int) * (size_t)n);
    node->operation = operation;
    part->uses = 0;
}

/* May it be evaluated with `node`, one of its users? */
static int is_part(const Node *part, const Node *node) { return part->uses == 1 && part->early == node->early; }

/* Join what a sum alone uses with it: products, and shorter sums. */
static void fuse(Node *nodes, Node *node)
{
    Node *a, *b;
    int first, second;
    if (node->operation != TAPE_ADD && node->operation != TAPE_SUB) return;
    a = nodes + node->operand[0];
    b = nodes + node->operand[1];
    first = a->operation == TAPE_MUL && is_part(a, node);
    second = b->operation == TAPE_MUL && is_part(b, node) && b != a;
    if (first && second) {
        node->operation = node->operation == TAPE_ADD ? RUN_MULADDMUL : RUN_MULSUBMUL;
        node->operand[2] = b->operand[0];
        node->operand[3] = b->operand[1];
        node->operand[0] = a->operand[0];
        node->operand[1] = a->operand[1];
        a->uses = b->uses = 0;
    } else if (first || second) {
        Node *product = first ? a : b, *other = first ? b : a;
        int adds = node->operation == TAPE_ADD;
        unsigned whole = !is_part(other, node) || (first && !adds) ? RUN_END
                       : other->operation == RUN_MULADDMUL && adds ? RUN_DOT
                       : other->operation == RUN_MULADD ? (adds ? RUN_ADDADD : RUN_ADDSUB)
                       : other->operation == RUN_SUBMUL ? (adds ? RUN_SUBADD : RUN_SUBSUB) : RUN_END;
        if (whole != RUN_END) {
            product->uses = 0;
            absorb(node, other, whole, product->operand, 2);
        } else {
            absorb(node, product, adds ? RUN_MULADD : first ? RUN_MULSUB : RUN_SUBMUL, node->operand + first, 1);
        }
    } else if (node->operation == TAPE_ADD && a != b) {
        for (int k = 0; k < 2; ++k) {
            Node *part = k ? b : a;
            unsigned whole = part->operation == TAPE_ADD ? RUN_SUM
                           : part->operation == RUN_DOT ? RUN_DOTADD
                           : part->operation == RUN_MULSUBMUL ? RUN_MULSUBMULADD : RUN_END;
            if (whole == RUN_END || !is_part(part, node)) continue;
            absorb(node, part, whole, node->operand + !k, 1);
            return;
        }
    }
}

/* Join sine and cosine of one angle; `sines` [n] is scratch. */
static void join_sines(const Schedule *plan, int *sines)
{
    Node *nodes = plan->nodes;
    for (int i = 0; i < plan->nangles; ++i) sines[nodes[plan->angles[i]].operand[0]] = -1;
    for (int i = 0; i < plan->nangles; ++i) {
        const Node *node = nodes + plan->angles[i];
        if (node->uses && node->operation == TAPE_SIN) sines[node->operand[0]] = plan->angles[i];
    }
    for (int i = 0; i < plan->nangles; ++i) {
        Node *node = nodes + plan->angles[i];
        int *sine = sines + node->operand[0];
        if (!node->uses || node->operation != TAPE_COS || *sine < 0) continue;
        nodes[*sine].operation = RUN_SINCOS;
        nodes[*sine].operand[1] = plan->angles[i];
        node->operation = RUN_WITH_SINE;
        *sine = -1;
    }
}

static int compare_ports(const void *left, const void *right)
{
    const Port *a = left, *b = right;
    if (a->vector != b->vector) return a->vector < b->vector ? -1 : 1;
    return a->element < b->element ? -1 : a->element > b->element;
}

/* A plain tape that is read. */
typedef struct {
    const unsigned char *at, *end;
} Bytes;

/* The next number: 7 bits of each byte, the lowest first, until one is below 128; UINT_MAX where there is none. */
static unsigned next_number(Bytes *bytes)
{
    unsigned number = 0;
    for (int shift = 0; bytes->at < bytes->end && shift < 28; shift += 7) {
        unsigned byte = *bytes->at++;
        number |= (byte & 127) << shift;
        if (byte < 128) return number;
    }
    return UINT_MAX;
}

/* The instruction whose result is the next operand of instruction i; -1 where there is none. */
static int next_operand(Bytes *bytes, const Node *nodes, int i)
{
    unsigned distance = next_number(bytes);
    if (distance < 1 || distance > (unsigned)i || nodes[i - (int)distance].operation == TAPE_OUTPUT) return -1;
    return i - (int)distance;
}

/* Room for n operands more of calls; 0 where there is no memory. */
static int make_room_to_pass(Schedule *plan, int n)
{
    int *more = realloc(plan->passed, sizeof(int) * ((size_t)plan->npassed + (size_t)n + 1));
    if (more) plan->passed = more;
    return more != NULL;
}

/* Take what a plain tape holds into the schedule; 0 where it is damaged: an operand that was not made, an element beyond
   its vector. */
static int read_nodes(Schedule *plan, Bytes *bytes, const Shape *shape)
{
    Node *nodes = plan->nodes;
    for (int i = 0; i < plan->n; ++i) {
        Node *node = nodes + i;
        unsigned operation = next_number(bytes);
        if (operation >= TAPE_OPERATIONS) return 0;
        node->operation = (unsigned short)operation;
        node->early = !shape->is_called;
        if (operation == TAPE_CONST) {
            unsigned number = next_number(bytes);
            if (number >= shape->nconstants) return 0;
            add_port(&plan->constants, 0, number, i);
        } else if (operation == TAPE_INPUT) {
            unsigned vector = next_number(bytes), element = next_number(bytes);
            if (vector >= (unsigned)shape->narguments || element >= shape->arguments[vector]) return 0;
            node->early = !shape->is_called && (int)vector == shape->parameters;
            add_port(&plan->inputs, vector, element, i);
        } else if (operation == TAPE_CALL) {
            unsigned number = next_number(bytes);
            if (number >= (unsigned)plan->ncalled) return 0;
            node->operand[0] = plan->npassed;
            node->operand[1] = (int)number;
            if (plan->called[number].narguments > (size_t)(bytes->end - bytes->at)) return 0;
            if (!make_room_to_pass(plan, (int)plan->called[number].narguments)) return 0;
            for (unsigned k = 0; k < plan->called[number].narguments; ++k) {
                int operand = next_operand(bytes, nodes, i);
                if (operand < 0 || nodes[operand].operation == TAPE_CALL) return 0;
                plan->passed[plan->npassed++] = operand;
                node->early &= nodes[operand].early;
            }
        } else {
            for (int k = 0; k < operands_of(operation); ++k) {
                if ((node->operand[k] = next_operand(bytes, nodes, i)) < 0) return 0;
                node->early &= nodes[node->operand[k]].early;
                if (nodes[node->operand[k]].operation == TAPE_CALL && operation != TAPE_RESULT) return 0;
            }
        }
        if (operation == TAPE_SQ) {
            node->operation = TAPE_MUL;
            node->operand[1] = node->operand[0];
        } else if (operation == TAPE_SIN || operation == TAPE_COS) {
            plan->angles[plan->nangles++] = i;
        } else if (operation == TAPE_RESULT) { /* they stand right behind their call */
            const Node *call = nodes + node->operand[0];
            unsigned which = next_number(bytes);
            if (call->operation != TAPE_CALL || which >= plan->called[call->operand[1]].nresults) return 0;
            if (node->operand[0] != i - 1 && nodes[i - 1].operation != TAPE_RESULT) return 0;
            if (nodes[i - 1].operation == TAPE_RESULT && nodes[i - 1].operand[0] != node->operand[0]) return 0;
            node->operand[1] = (int)which;
        } else if (operation == TAPE_OUTPUT) {
            unsigned vector = next_number(bytes), element = next_number(bytes);
            if (vector >= (unsigned)shape->nresults || element >= shape->results[vector]) return 0;
            add_port(&plan->outputs, vector, element, node->operand[0]);
        }
    }
    return bytes->at == bytes->end;
}

/* Which instructions results need, how often, and which become one. */
static void fuse_all(Schedule *plan)
{
    Node *nodes = plan->nodes;
    for (int i = 0; i < plan->outputs.n; ++i) ++nodes[plan->outputs.ports[i].node].uses;
    for (int i = plan->n - 1; i >= 0; --i)
        if (nodes[i].uses)
            for (int k = 0; k < operands_in(plan, nodes + i); ++k) ++nodes[operand_in(plan, nodes + i, k)].uses;
    for (int i = 0; i < plan->n; ++i) if (nodes[i].uses) fuse(nodes, nodes + i);
    join_sines(plan, plan->run);
}

/* Find what instructions wait for, and what is early and used by others. Returns how long code may become. */
static size_t make_schedule(Schedule *plan)
{
    enum { ENDS = 2, RUN_HEAD = 3, CALL_HEAD = 2, INPUT = 2, OUTPUT = RUN_HEAD + 3 }; /* of an input or result with the vector, too */
    Node *nodes = plan->nodes;
    int *first_user = plan->first_user, before = 0;
    size_t length = ENDS + RUN_HEAD + INPUT * (size_t)plan->inputs.n + OUTPUT * (size_t)plan->outputs.n;
    for (int k = 0; k < RUN_OPERATIONS; ++k) plan->ready[k] = -1;
    for (int i = 0; i < plan->outputs.n; ++i)
        if (nodes[plan->outputs.ports[i].node].early) nodes[plan->outputs.ports[i].node].kept = NOT_YET;
    for (int i = plan->n - 1; i >= 0; --i) {
        Node *node = nodes + i;
        if (!node->uses) continue;
        if (!node->height) node->height = 1;
        length += RUN_HEAD + CALL_HEAD + (size_t)operands_in(plan, node);
        for (int k = 0; k < operands_in(plan, node); ++k) {
            Node *operand = nodes + operand_in(plan, node, k);
            int height;
            if (operand->early != node->early) {
                operand->kept = NOT_YET;
                continue;
            }
            height = node->height + (operand->operation != node->operation);
            if (height > operand->height) operand->height = height;
            if (!is_beside(node)) ++first_user[operand_in(plan, node, k)];
        }
    }
    for (int i = 0; i < plan->n; ++i) {
        Node *node = nodes + i;
        int kept = node->kept == NOT_YET;
        node->uses = first_user[i] + kept;
        plan->begin += (unsigned)kept;
        length += (size_t)kept;
        before = first_user[i] += before;
        if (node->operation == RUN_SINCOS && nodes[node->operand[1]].height > node->height)
            node->height = nodes[node->operand[1]].height;
    }
    first_user[plan->n] = before;
    for (int i = plan->n - 1; i >= 0; --i) {
        Node *node = nodes + i;
        if (!node->height || is_beside(node)) continue;
        for (int k = 0; k < operands_in(plan, node); ++k) {
            int operand = operand_in(plan, node, k);
            if (nodes[operand].early != node->early) continue;
            ++node->waits;
            plan->users[--first_user[operand]] = i;
        }
    }
    for (int i = 0; i < plan->outputs.n; ++i) ++nodes[plan->outputs.ports[i].node].uses; /* results stay */
    return length;
}

/* The result of node i is there: what has waited for nothing else is ready. */
static void release_users(Schedule *plan, int i)
{
    for (int j = plan->first_user[i]; j < plan->first_user[i + 1]; ++j)
        if (--plan->nodes[plan->users[j]].waits == 0) make_ready(plan, plan->users[j]);
}

/* The first n places of scratch side by side that are free. */
static unsigned take_places(Schedule *plan, int n)
{
    unsigned char *at = plan->taken, *const end = at + plan->places;
    while (at < end) {
        unsigned char *gap = memchr(at, 0, (size_t)(end - at)), *other = NULL;
        at = gap ? gap : end;
        if (gap) other = memchr(gap, 1, end - gap < n ? (size_t)(end - gap) : (size_t)n);
        if (!other) break;
        at = other;
    }
    memset(at, 1, (size_t)n);
    if (at + n > end) plan->places = (unsigned)(at + n - plan->taken);
    return (unsigned)(at - plan->taken);
}

/* The place of an operand of instructions that are early or not. Early results are kept in the order of use. */
static unsigned place_of(Schedule *plan, int i, int early)
{
    Node *node = plan->nodes + i;
    if (node->early == early) return plan->begin + (unsigned)node->next;
    if (node->kept == NOT_YET) {
        plan->kept[plan->nkept++] = i;
        node->kept = (unsigned)plan->nkept;
    }
    return node->kept - 1;
}

/* One use of an operand is done: after the last one its place is free. What is kept has been copied only in the end. */
static void used(Schedule *plan, int i, int early)
{
    Node *node = plan->nodes + i;
    if (node->early == early && --node->uses == 0) plan->taken[node->next] = 0;
}

static int is_result(const Schedule *plan, int i) { return i < plan->n && plan->nodes[i].operation == TAPE_RESULT; }

/* The next run: instructions that are ready, and those of the same operation that they make ready. Returns how many
   there are, 0 where all is done. */
static int next_run(Schedule *plan, unsigned *operation)
{
    Node *nodes = plan->nodes;
    int *run = plan->run, chosen = -1, n = 0;
    for (int k = 0; k < RUN_OPERATIONS; ++k)
        if (plan->ready[k] >= 0 && (chosen < 0 || plan->urgency[k] > plan->urgency[chosen])) chosen = k;
    if (chosen < 0) return 0;
    for (int i = 0; i < n || plan->ready[chosen] >= 0; ++i) {
        if (i == n) {
            for (int j = plan->ready[chosen]; j >= 0; j = nodes[j].next) run[n++] = j;
            plan->ready[chosen] = -1;
        }
        release_users(plan, run[i]);
        if (chosen == RUN_SINCOS) release_users(plan, nodes[run[i]].operand[1]);
        if (chosen == TAPE_CALL)
            for (int j = run[i] + 1; is_result(plan, j); ++j) release_users(plan, j);
    }
    plan->urgency[chosen] = 0;
    *operation = (unsigned)chosen;
    return n;
}

/* Calls as a run: the tape that each of them calls, the place of its results, and those of its operands. Results that
   nobody reads have places while they are written. */
static unsigned *write_calls(Schedule *plan, int early, int n, unsigned *code)
{
    Node *nodes = plan->nodes;
    *code++ = TAPE_CALL;
    *code++ = (unsigned)n;
    *code++ = 0;
    for (int i = 0; i < n; ++i) {
        const Node *call = nodes + plan->run[i];
        unsigned place = take_places(plan, (int)plan->called[call->operand[1]].nresults);
        *code++ = (unsigned)call->operand[1];
        *code++ = plan->begin + place;
        nodes[plan->run[i]].next = (int)place;
        for (int j = plan->run[i] + 1; is_result(plan, j); ++j) nodes[j].next = (int)place + nodes[j].operand[1];
        for (int k = 0; k < operands_in(plan, call); ++k) *code++ = place_of(plan, operand_in(plan, call, k), early);
    }
    for (int i = 0; i < n; ++i) {
        const Node *call = nodes + plan->run[i];
        memset(plan->taken + call->next, 0, plan->called[call->operand[1]].nresults);
        for (int j = plan->run[i] + 1; is_result(plan, j); ++j) if (nodes[j].uses) plan->taken[nodes[j].next] = 1;
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < operands_in(plan, nodes + plan->run[i]); ++k)
            used(plan, operand_in(plan, nodes + plan->run[i], k), early);
    return code;
}

/* The runs of early instructions, or of the others, written to `code`; returns where they end. */
static unsigned *write_runs(Schedule *plan, int early, unsigned *code)
{
    Node *nodes = plan->nodes;
    const int *run = plan->run;
    unsigned operation;
    for (int n; (n = next_run(plan, &operation)) > 0;) {
        int operands = operands_of(operation);
        if (operation == TAPE_CALL) {
            code = write_calls(plan, early, n, code);
            continue;
        }
        unsigned place = take_places(plan, operation == RUN_SINCOS ? 2 * n : n);
        *code++ = operation;
        *code++ = (unsigned)n;
        *code++ = plan->begin + place;
        for (int i = 0; i < n; ++i) {
            nodes[run[i]].next = (int)place++;
            if (operation == RUN_SINCOS) nodes[nodes[run[i]].operand[1]].next = (int)place++;
        }
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < operands; ++k) *code++ = place_of(plan, nodes[run[i]].operand[k], early);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < operands; ++k) used(plan, nodes[run[i]].operand[k], early);
    }
    return code;
}

/* Inputs, early or not, as runs: one for each vector. What waits for nothing else is ready then. */
static unsigned *write_inputs(Schedule *plan, int early, unsigned *code)
{
    const Port *at = plan->inputs.ports, *end = at + plan->inputs.n;
    while (at < end) {
        unsigned place;
        int n = 0;
        while (at + n < end && at[n].vector == at->vector) ++n;
        if (plan->nodes[at->node].early == early) {
            place = take_places(plan, n);
            *code++ = TAPE_INPUT;
            *code++ = (unsigned)n;
            *code++ = plan->begin + place;
            *code++ = at->vector;
            for (int i = 0; i < n; ++i) {
                *code++ = at[i].element;
                plan->nodes[at[i].node].next = (int)place++;
                release_users(plan, at[i].node);
            }
        }
        at += n;
    }
    return code;
}

/* Results as runs: one for each vector. */
static unsigned *write_outputs(Schedule *plan, unsigned *code)
{
    const Port *at = plan->outputs.ports, *end = at + plan->outputs.n;
    while (at < end) {
        int n = 0;
        while (at + n < end && at[n].vector == at->vector) ++n;
        *code++ = TAPE_OUTPUT;
        *code++ = (unsigned)n;
        *code++ = 0;
        *code++ = at->vector;
        for (int i = 0; i < n; ++i) {
            *code++ = at[i].element;
            *code++ = place_of(plan, at[i].node, 0);
        }
        at += n;
    }
    *code++ = RUN_END;
    return code;
}

/* The preparation. Constants are at the begin of scratch, and stay, as some stand in a tape more than once; in the end
   what others use goes to where it is kept. */
static void write_preparation(Schedule *plan, unsigned nconstants, unsigned *code)
{
    memset(plan->taken, 0, plan->places);
    take_places(plan, (int)nconstants);
    for (int i = 0; i < plan->constants.n; ++i) {
        const Port *constant = plan->constants.ports + i;
        plan->nodes[constant->node].next = (int)constant->element;
        ++plan->nodes[constant->node].uses;
        release_users(plan, constant->node);
    }
    code = write_runs(plan, 1, write_inputs(plan, 1, code));
    *code++ = RUN_KEEP;
    *code++ = (unsigned)plan->nkept;
    *code++ = 0;
    for (int i = 0; i < plan->nkept; ++i) *code++ = plan->begin + (unsigned)plan->nodes[plan->kept[i]].next;
    *code = RUN_END;
}

/* Constants, and then arguments, of a called tape: they are at the begin of scratch, and stay. */
static void place_given(Schedule *plan, const Shape *shape)
{
    unsigned first[] = {0, shape->nconstants};
    const Ports *lists[] = {&plan->constants, &plan->inputs};
    take_places(plan, (int)shape->nconstants + (int)shape->arguments[0]);
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < lists[k]->n; ++i) {
            const Port *port = lists[k]->ports + i;
            plan->nodes[port->node].next = (int)(first[k] + port->element);
            ++plan->nodes[port->node].uses;
            release_users(plan, port->node);
        }
}

/* Inputs that nothing needs are none. */
static void leave_out_unused(Schedule *plan)
{
    Ports *inputs = &plan->inputs;
    int n = 0;
    for (int i = 0; i < inputs->n; ++i)
        if (plan->nodes[inputs->ports[i].node].uses) inputs->ports[n++] = inputs->ports[i];
    inputs->n = n;
}

static void sort_ports(Ports *list) { qsort(list->ports, (size_t)list->n, sizeof *list->ports, compare_ports); }

static void free_schedule(Schedule *plan)
{
    free(plan->nodes);
    free(plan->constants.ports);
    free(plan->inputs.ports);
    free(plan->outputs.ports);
    free(plan->angles);
    free(plan->passed);
    free(plan->users);
    free(plan->first_user);
    free(plan->run);
    free(plan->kept);
    free(plan->taken);
}

/* Memory for n instructions; 0 where there is none. */
static int make_room(Schedule *plan, size_t n)
{
    plan->n = (int)n;
    plan->nodes = calloc(n + 1, sizeof(Node));
    plan->constants.ports = malloc((n + 1) * sizeof(Port));
    plan->inputs.ports = malloc((n + 1) * sizeof(Port));
    plan->outputs.ports = malloc((n + 1) * sizeof(Port));
    plan->angles = malloc((n + 1) * sizeof(int));
    plan->first_user = calloc(n + 1, sizeof(int));
    plan->run = malloc((n + 1) * sizeof(int));
    plan->kept = malloc((n + 1) * sizeof(int));
    return plan->nodes && plan->constants.ports && plan->inputs.ports && plan->outputs.ports && plan->angles
        && plan->first_user && plan->run && plan->kept;
}

/* How many places of scratch there may be at most. */
static size_t most_places(const Schedule *plan, const Shape *shape)
{
    size_t places = (size_t)plan->n + shape->nconstants + (shape->is_called ? shape->arguments[0] : 0) + 1;
    for (int i = 0; i < plan->n; ++i)
        if (plan->nodes[i].operation == TAPE_CALL) places += plan->called[plan->nodes[i].operand[1]].nresults;
    return places;
}

/* What is known only when all instructions are: places of scratch, and who uses what. */
static int make_room_for_places(Schedule *plan, size_t places)
{
    plan->taken = calloc(places, 1);
    plan->users = malloc((2 * (size_t)plan->n + (size_t)plan->npassed + 1) * sizeof(int));
    return plan->taken && plan->users;
}

/* Is each of n results there, once? */
static int gives_all(const Ports *outputs, unsigned n)
{
    if ((unsigned)outputs->n != n) return 0;
    for (unsigned i = 0; i < n; ++i)
        if (outputs->ports[i].element != i) return 0;
    return 1;
}

/* What its calls ask for: scratch behind its own, and how many of them are within each other. Returns what is wrong. */
static const char *add_calls(const Schedule *plan, Tape *tape)
{
    unsigned deepest = 0;
    tape->operations = plan->n;
    for (int i = 0; i < plan->n; ++i) {
        if (plan->nodes[i].operation != TAPE_CALL) continue;
        const Tape *called = plan->called + plan->nodes[i].operand[1];
        if (called->depth > deepest) deepest = called->depth;
        if (called->nesting >= tape->nesting) tape->nesting = called->nesting + 1;
        tape->operations += called->operations;
    }
    tape->depth = tape->work + deepest;
    if (tape->nesting > MOST_NESTED) return "functions call each other too deeply";
    if (tape->operations > MOST_OPERATIONS || tape->depth > ENOUGH) return "a function is too long";
    return NULL;
}

INTERNAL const char *tape_load(Model *model, Tape *tape, const unsigned char *plain, size_t size, size_t n,
                               const double *constants, const Shape *shape)
{
    Schedule plan;
    Bytes bytes = {plain, plain + size};
    size_t length, places;
    unsigned *code;
    const char *wrong = NULL;
    memset(&plan, 0, sizeof plan);
    plan.called = model->called;
    plan.ncalled = model->ncalled;
    plan.begin = shape->is_called ? 0 : model->kept;
    if (n > size / 2) return "the instructions of a function are damaged";
    if (n >= ENOUGH || shape->nconstants >= ENOUGH) return "a function is too long";
    if (!make_room(&plan, n)) {
        wrong = "no memory";
        goto finish;
    }
    if (!read_nodes(&plan, &bytes, shape)) {
        wrong = "the instructions of a function are damaged";
        goto finish;
    }
    places = most_places(&plan, shape);
    if (places > ENOUGH) {
        wrong = "a function is too long";
        goto finish;
    }
    if (!make_room_for_places(&plan, places)) {
        wrong = "no memory";
        goto finish;
    }
    fuse_all(&plan);
    length = make_schedule(&plan);
    leave_out_unused(&plan);
    sort_ports(&plan.inputs);
    sort_ports(&plan.outputs);
    if (shape->is_called && !gives_all(&plan.outputs, shape->results[0])) {
        wrong = "the instructions of a function are damaged";
        goto finish;
    }
    code = model_allocate(model, length * sizeof *code);
    if (!code) {
        wrong = "no memory";
        goto finish;
    }
    tape->code = code;
    if (shape->is_called) {
        place_given(&plan, shape);
        write_outputs(&plan, write_runs(&plan, 0, code));
    } else {
        code = write_outputs(&plan, write_runs(&plan, 0, write_inputs(&plan, 0, code)));
        tape->preparation = code;
        write_preparation(&plan, shape->nconstants, code);
        model->kept = plan.begin;
    }
    tape->constants = constants;
    tape->nconstants = shape->nconstants;
    tape->kept = (unsigned)plan.nkept;
    tape->begin = plan.begin;
    tape->work = plan.places;
    wrong = add_calls(&plan, tape);
finish:
    free_schedule(&plan);
    return wrong;
}

/* Two places that stand side by side, the first in the lower half: numbers are little-endian, as in descriptors. What
   limits the interpreter are loads, and this spares one in four. */
static unsigned long long two_places(const unsigned *code)
{
    unsigned long long two;
    memcpy(&two, code, sizeof two);
    return two;
}

/* The places k and k + 1 of those that an operation has, and the operands there. */
#define PLACES(k, operands) ((operands) > (k) + 1 ? two_places(code + (k)) : (operands) > (k) ? code[k] : 0)
#define LOWER(places, k, operands) ((operands) > (k) ? w[(unsigned)(places)] : 0)
#define UPPER(places, k, operands) ((operands) > (k) ? w[(places) >> 32] : 0)

#define FUNCTION RUN
#define RUN(operation, operands, expression) \
    case operation: \
        for (unsigned i = 0; i < n; ++i, code += operands) { \
            const unsigned long long ab = PLACES(0, operands), cd = PLACES(2, operands), \
                                     ef = PLACES(4, operands), gh = PLACES(6, operands); \
            const double a = LOWER(ab, 0, operands), b = UPPER(ab, 1, operands), c = LOWER(cd, 2, operands), \
                         d = UPPER(cd, 3, operands), e = LOWER(ef, 4, operands), f = UPPER(ef, 5, operands), \
                         g = LOWER(gh, 6, operands); \
            (void)b; (void)c; (void)d; (void)e; (void)f; (void)g; \
            to[i] = expression; \
        } \
        break;

/* Work through runs. Arguments and results may be NULL, as those of compiled functions. Tapes that are called have their
   scratch from `spare` on. */
ALIGNED static int interpret(const unsigned *code, const double **arg, double **res, double *w, const Tape *called,
                             double *spare)
{
    for (;;) {
        unsigned operation = code[0], n;
        double *to;
        if (operation == RUN_END) return 0;
        n = code[1];
        to = w + code[2];
        code += 3;
        switch (operation) {
        case TAPE_INPUT: {
            const double *from = arg[*code++];
            for (unsigned i = 0; i < n; ++i) to[i] = from ? from[code[i]] : 0;
            code += n;
            break;
        }
        case TAPE_OUTPUT: {
            double *result = res[*code++];
            if (result)
                for (unsigned i = 0; i < n; ++i) {
                    const unsigned long long two = two_places(code + 2 * (size_t)i);
                    result[(unsigned)two] = w[two >> 32];
                }
            code += 2 * (size_t)n;
            break;
        }
        case RUN_SINCOS:
            for (unsigned i = 0; i < n; ++i) {
                const double a = w[code[i]];
                to[2 * i] = sin(a);
                to[2 * i + 1] = cos(a);
            }
            code += n;
            break;
        case TAPE_CALL: {
            const Tape *last = NULL;
            for (unsigned i = 0; i < n; ++i) {
                const Tape *tape = called + code[0];
                const unsigned *operands = code + 2;
                double *results = w + code[1], *arguments = spare + tape->nconstants;
                code += 2 + tape->narguments;
                if (tape->guard >= 0 && !(w[operands[tape->guard]] != 0)) {
                    for (unsigned k = 0; k < tape->nresults; ++k) results[k] = 0;
                    continue;
                }
                if (tape != last && tape->nconstants)
                    memcpy(spare, tape->constants, tape->nconstants * sizeof *spare);
                last = tape;
                for (unsigned k = 0; k < tape->narguments; ++k) arguments[k] = w[operands[k]];
                if (interpret(tape->code, NULL, &results, spare, called, spare + tape->work)) return 1;
            }
            break;
        }
        RUNS
        default: return 1;
        }
    }
}

INTERNAL int run_tape(const Model *model, const Tape *tape, const double **arg, double **res, double *work,
                      char *prepared)
{
    double *spare = work + tape->work;
    Compiled *compiled = compiled_of(&tape->compiled);
    double *w = work - tape->begin;
    if (compiled) return compiled(arg, res);
    if (!tape->code) return 1;
    if (!*prepared) {
        if (tape->nconstants) memcpy(work, tape->constants, tape->nconstants * sizeof *work);
        if (interpret(tape->preparation, arg, res, w, model->called, spare)) return 1;
        *prepared = 1;
    }
    return interpret(tape->code, arg, res, w, model->called, spare);
}

#undef RUN
#undef FUNCTION
#undef PLACES
#undef LOWER
#undef UPPER
