/* Functions as tables of instructions (mbfmu/runtime/tape.py), and their interpreter.

   A descriptor has plain tapes: operation and operands of each instruction, as numbers of variable length. When a model
   is loaded, a tape is reordered into runs: instructions of one operation that do not need each other, with results
   side by side, so that the interpreter decides once for many of them. What follows next is the operation that
   the longest remaining chain of instructions waits for. Sums of products - the terms of products of vectors and
   matrices - and sums of three become one instruction, rounded after every operation as the separate ones are: results
   are those of compiled functions to the last bit. So do sine and cosine of one angle, which math libraries have as one
   function. */

enum {
    RUN_MULADD = TAPE_OPERATIONS,   /* a * b + c */
    RUN_MULSUB,                     /* a * b - c */
    RUN_SUBMUL,                     /* c - a * b */
    RUN_ADDADD,                     /* c + a * b + d * e */
    RUN_ADDSUB,                     /* c + a * b - d * e */
    RUN_SUBADD,                     /* c - a * b + d * e */
    RUN_SUBSUB,                     /* c - a * b - d * e */
    RUN_MULADDMUL,                  /* a * b + c * d */
    RUN_MULSUBMUL,                  /* a * b - c * d */
    RUN_MULSUBMULADD,               /* a * b - c * d + e */
    RUN_DOT,                        /* a * b + c * d + e * f */
    RUN_DOTADD,                     /* a * b + c * d + e * f + g */
    RUN_SUM,                        /* a + b + c */
    RUN_SINCOS,                     /* sin(a) and, beside it, cos(a) */
    RUN_WITH_SINE,                  /* a cosine that RUN_SINCOS has: it does not stand in runs */
    RUN_END,
    RUN_OPERATIONS
};

enum { MOST_OPERANDS = 7 };

/* Operands of each operation that stands in runs. */
static int operands_of(unsigned operation)
{
    switch (operation) {
    case TAPE_CONST: case TAPE_INPUT: return 0;
    case TAPE_ADD: case TAPE_SUB: case TAPE_MUL: case TAPE_DIV: case TAPE_POW: case TAPE_CONSTPOW: case TAPE_ATAN2:
    case TAPE_HYPOT: case TAPE_COPYSIGN: case TAPE_FMOD: case TAPE_FMIN: case TAPE_FMAX: case TAPE_LT: case TAPE_LE:
    case TAPE_EQ: case TAPE_NE: case TAPE_AND: case TAPE_OR: case TAPE_IF_ELSE_ZERO: return 2;
    case RUN_MULADD: case RUN_MULSUB: case RUN_SUBMUL: case RUN_SUM: return 3;
    case RUN_MULADDMUL: case RUN_MULSUBMUL: return 4;
    case RUN_ADDADD: case RUN_ADDSUB: case RUN_SUBADD: case RUN_SUBSUB: case RUN_MULSUBMULADD: return 5;
    case RUN_DOT: return 6;
    case RUN_DOTADD: return MOST_OPERANDS;
    default: return 1;
    }
}

/* An instruction while a tape is read: results are known by their instruction. */
typedef struct {
    unsigned operation;
    int operand[MOST_OPERANDS];
    int uses;                       /* by instructions that are needed */
    int height;                     /* instructions of the longest chain that begins here */
    int waits;                      /* operands that are not there yet */
    int cosine;                     /* of RUN_SINCOS */
    int next;                       /* in the list of those of one operation that are ready; at last, the place */
} Node;

/* What tape_load works with. */
typedef struct {
    Node *nodes;
    int n;
    int *users, *first_user;        /* of the result of each node */
    int ready[RUN_OPERATIONS], urgency[RUN_OPERATIONS];
} Schedule;

static void make_ready(Schedule *plan, int i)
{
    Node *node = plan->nodes + i;
    if (node->operation == RUN_WITH_SINE) return;
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

/* Join what a sum alone uses with it: products, and shorter sums. */
static void fuse(Node *nodes, Node *node)
{
    Node *a, *b;
    int first, second;
    if (node->operation != TAPE_ADD && node->operation != TAPE_SUB) return;
    a = nodes + node->operand[0];
    b = nodes + node->operand[1];
    first = a->operation == TAPE_MUL && a->uses == 1;
    second = b->operation == TAPE_MUL && b->uses == 1 && b != a;
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
        unsigned whole = other->uses != 1 || (first && !adds) ? RUN_END
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
            if (whole == RUN_END || part->uses != 1) continue;
            absorb(node, part, whole, node->operand + !k, 1);
            return;
        }
    }
}

/* Join sine and cosine of one angle; `sines` [n] is scratch. */
static void join_sines(Node *nodes, int n, int *sines)
{
    for (int i = 0; i < n; ++i) sines[i] = -1;
    for (int i = 0; i < n; ++i)
        if (nodes[i].uses && nodes[i].operation == TAPE_SIN) sines[nodes[i].operand[0]] = i;
    for (int i = 0; i < n; ++i) {
        int *sine = sines + nodes[i].operand[0];
        if (!nodes[i].uses || nodes[i].operation != TAPE_COS || *sine < 0) continue;
        nodes[*sine].operation = RUN_SINCOS;
        nodes[*sine].cosine = i;
        nodes[i].operation = RUN_WITH_SINE;
        *sine = -1;
    }
}

/* One entry of the list of inputs or results: sorted by vector, then by element. */
typedef struct {
    unsigned vector, element;
    int node;
} Port;

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

/* What a plain tape holds, read into nodes. `ports` takes the results. Returns the number of results, -1 where the tape
   is damaged: an operand that was not made, an element beyond its vector. */
static int read_nodes(Bytes *bytes, int n, unsigned nconstants, const size_t *argument_lengths, int arguments,
                      const size_t *result_lengths, int results, Node *nodes, Port *ports)
{
    int count = 0;
    for (int i = 0; i < n; ++i) {
        Node *node = nodes + i;
        node->operation = next_number(bytes);
        if (node->operation >= TAPE_OPERATIONS || node->operation == TAPE_ASSIGN) return -1;
        if (node->operation == TAPE_CONST) {
            unsigned number = next_number(bytes);
            if (number >= nconstants) return -1;
            node->operand[0] = (int)number;
        } else if (node->operation == TAPE_INPUT) {
            unsigned vector = next_number(bytes), element = next_number(bytes);
            if (vector >= (unsigned)arguments || element >= argument_lengths[vector]) return -1;
            node->operand[0] = (int)vector;
            node->operand[1] = (int)element;
        } else {
            for (int k = 0; k < operands_of(node->operation); ++k)
                if ((node->operand[k] = next_operand(bytes, nodes, i)) < 0) return -1;
        }
        if (node->operation == TAPE_SQ) {
            node->operation = TAPE_MUL;
            node->operand[1] = node->operand[0];
        } else if (node->operation == TAPE_OUTPUT) {
            unsigned vector = next_number(bytes), element = next_number(bytes);
            if (vector >= (unsigned)results || element >= result_lengths[vector]) return -1;
            ports[count].vector = vector;
            ports[count].element = element;
            ports[count++].node = node->operand[0];
        }
    }
    return bytes->at == bytes->end ? count : -1;
}

/* The result of node i is there: what has waited for nothing else is ready. */
static void release_users(Schedule *plan, int i)
{
    for (int j = plan->first_user[i]; j < plan->first_user[i + 1]; ++j)
        if (--plan->nodes[plan->users[j]].waits == 0) make_ready(plan, plan->users[j]);
}

/* The runs of a schedule, written to `code`; returns where they end. */
static unsigned *write_runs(Schedule *plan, unsigned *code, unsigned *place, int *run)
{
    Node *nodes = plan->nodes;
    for (;;) {
        int chosen = -1, n = 0, operands;
        for (int k = 0; k < RUN_OPERATIONS; ++k)
            if (plan->ready[k] >= 0 && (chosen < 0 || plan->urgency[k] > plan->urgency[chosen])) chosen = k;
        if (chosen < 0) return code;
        for (int i = plan->ready[chosen]; i >= 0; i = nodes[i].next) run[n++] = i;
        plan->ready[chosen] = -1;
        plan->urgency[chosen] = 0;
        *code++ = (unsigned)chosen;
        *code++ = (unsigned)n;
        *code++ = *place;
        operands = operands_of((unsigned)chosen);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < operands; ++k) *code++ = (unsigned)nodes[nodes[run[i]].operand[k]].next;
        for (int i = 0; i < n; ++i) {
            nodes[run[i]].next = (int)(*place)++;
            if (chosen == RUN_SINCOS) nodes[nodes[run[i]].cosine].next = (int)(*place)++;
        }
        for (int i = 0; i < n; ++i) {
            release_users(plan, run[i]);
            if (chosen == RUN_SINCOS) release_users(plan, nodes[run[i]].cosine);
        }
    }
}

/* Inputs or results as runs: one for each vector. */
static unsigned *write_ports(unsigned operation, const Port *ports, int n, unsigned *code, Node *nodes, unsigned *place)
{
    for (int begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && ports[end].vector == ports[begin].vector; ++end) {}
        *code++ = operation;
        *code++ = (unsigned)(end - begin);
        *code++ = operation == TAPE_INPUT ? *place : 0;
        *code++ = ports[begin].vector;
        for (int i = begin; i < end; ++i) {
            *code++ = ports[i].element;
            if (operation == TAPE_OUTPUT) *code++ = (unsigned)nodes[ports[i].node].next;
            else nodes[ports[i].node].next = (int)(*place)++;
        }
    }
    return code;
}

/* Make the runs of a plain tape of n instructions in `size` bytes. Returns NULL, or what is wrong. */
static const char *tape_load(Model *model, Tape *tape, const unsigned char *plain, size_t size, size_t n,
                             const double *constants, unsigned nconstants, const size_t *argument_lengths, int arguments,
                             const size_t *result_lengths, int results)
{
    enum { ENOUGH = 1 << 28 };
    Schedule plan;
    size_t operands = 0, longest;
    Bytes bytes = {plain, plain + size};
    int nresults, ninputs = 0, *run = NULL;
    Port *outputs = NULL, *inputs = NULL;
    unsigned *code, *end, place = nconstants;
    const char *wrong = NULL;
    memset(&plan, 0, sizeof plan);
    if (n > size / 2) return "the instructions of a function are damaged";
    if (n >= ENOUGH || nconstants >= ENOUGH) return "a function is too long";
    plan.n = (int)n;
    plan.nodes = calloc(n + 1, sizeof(Node));
    plan.first_user = calloc(n + 2, sizeof(int));
    plan.users = calloc(4 * n + 1, sizeof(int));
    run = calloc(n + 1, sizeof(int));
    outputs = calloc(n + 1, sizeof(Port));
    inputs = calloc(n + 1, sizeof(Port));
    if (!plan.nodes || !plan.first_user || !plan.users || !run || !outputs || !inputs) {
        wrong = "no memory";
        goto finish;
    }
    nresults = read_nodes(&bytes, plan.n, nconstants, argument_lengths, arguments, result_lengths, results, plan.nodes,
                          outputs);
    if (nresults < 0) {
        wrong = "the instructions of a function are damaged";
        goto finish;
    }
    Node *nodes = plan.nodes;
    for (int i = 0; i < nresults; ++i) ++nodes[outputs[i].node].uses;
    for (int i = plan.n - 1; i >= 0; --i)
        if (nodes[i].uses && nodes[i].operation != TAPE_CONST && nodes[i].operation != TAPE_INPUT)
            for (int k = 0; k < operands_of(nodes[i].operation); ++k) ++nodes[nodes[i].operand[k]].uses;
    for (int i = 0; i < plan.n; ++i) if (nodes[i].uses && nodes[i].operation != TAPE_OUTPUT) fuse(nodes, nodes + i);
    join_sines(nodes, plan.n, run);

    for (int k = 0; k < RUN_OPERATIONS; ++k) plan.ready[k] = -1;
    for (int i = plan.n - 1; i >= 0; --i) {
        if (!nodes[i].uses || nodes[i].operation == TAPE_OUTPUT) continue;
        nodes[i].height += 1;
        for (int k = 0; k < operands_of(nodes[i].operation); ++k) {
            Node *operand = nodes + nodes[i].operand[k];
            if (nodes[i].height > operand->height) operand->height = nodes[i].height;
            ++plan.first_user[nodes[i].operand[k] + 1];
            ++operands;
        }
    }
    for (int i = 0; i < plan.n; ++i) {
        plan.first_user[i + 1] += plan.first_user[i];
        if (nodes[i].operation == RUN_SINCOS && nodes[nodes[i].cosine].height > nodes[i].height)
            nodes[i].height = nodes[nodes[i].cosine].height;
    }
    memcpy(run, plan.first_user, sizeof(int) * n);
    for (int i = 0; i < plan.n; ++i) {
        if (!nodes[i].uses || nodes[i].operation == TAPE_OUTPUT) continue;
        nodes[i].waits = operands_of(nodes[i].operation);
        for (int k = 0; k < nodes[i].waits; ++k) plan.users[run[nodes[i].operand[k]]++] = i;
        if (nodes[i].operation == TAPE_INPUT) {
            inputs[ninputs].vector = (unsigned)nodes[i].operand[0];
            inputs[ninputs].element = (unsigned)nodes[i].operand[1];
            inputs[ninputs++].node = i;
        }
    }
    qsort(inputs, (size_t)ninputs, sizeof *inputs, compare_ports);
    qsort(outputs, (size_t)nresults, sizeof *outputs, compare_ports);

    longest = 3 * n + operands + 6 * (size_t)ninputs + 6 * (size_t)nresults + 1;
    code = model_allocate(model, longest * sizeof *code);
    if (!code) {
        wrong = "no memory";
        goto finish;
    }
    end = write_ports(TAPE_INPUT, inputs, ninputs, code, nodes, &place);
    for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < plan.n; ++i) {
            Node *node = nodes + i;
            if (!node->uses || (node->operation != TAPE_CONST && node->operation != TAPE_INPUT)) continue;
            if (pass == 0) {
                if (node->operation == TAPE_CONST) node->next = node->operand[0];
                continue;
            }
            release_users(&plan, i);
        }
    end = write_runs(&plan, end, &place, run);
    end = write_ports(TAPE_OUTPUT, outputs, nresults, end, nodes, &place);
    *end = RUN_END;
    tape->code = code;
    tape->constants = constants;
    tape->nconstants = nconstants;
    tape->work = place;
finish:
    free(plan.nodes);
    free(plan.first_user);
    free(plan.users);
    free(run);
    free(outputs);
    free(inputs);
    return wrong;
}

/* What the operations of runs do: number of operands, and the result from the operands a, b, c ... in their order.
   RUN are those of arithmetic, which vectors have as numbers do; FUNCTION the others. The interpreters and the writer of
   C code (code.c) share it. */
#define RUNS \
    RUN(TAPE_ADD, 2, a + b) \
    RUN(TAPE_SUB, 2, a - b) \
    RUN(TAPE_MUL, 2, a * b) \
    RUN(RUN_MULADD, 3, a * b + c) \
    RUN(RUN_MULSUB, 3, a * b - c) \
    RUN(RUN_SUBMUL, 3, c - a * b) \
    RUN(RUN_ADDADD, 5, c + a * b + d * e) \
    RUN(RUN_ADDSUB, 5, c + a * b - d * e) \
    RUN(RUN_SUBADD, 5, c - a * b + d * e) \
    RUN(RUN_SUBSUB, 5, c - a * b - d * e) \
    RUN(RUN_MULADDMUL, 4, a * b + c * d) \
    RUN(RUN_MULSUBMUL, 4, a * b - c * d) \
    RUN(RUN_MULSUBMULADD, 5, a * b - c * d + e) \
    RUN(RUN_DOT, 6, a * b + c * d + e * f) \
    RUN(RUN_DOTADD, 7, a * b + c * d + e * f + g) \
    RUN(RUN_SUM, 3, a + b + c) \
    RUN(TAPE_DIV, 2, a / b) \
    RUN(TAPE_NEG, 1, -a) \
    RUN(TAPE_INV, 1, 1 / a) \
    RUN(TAPE_TWICE, 1, 2 * a) \
    FUNCTION(TAPE_SQRT, 1, sqrt(a)) \
    FUNCTION(TAPE_POW, 2, pow(a, b)) \
    FUNCTION(TAPE_CONSTPOW, 2, pow(a, b)) \
    FUNCTION(TAPE_EXP, 1, exp(a)) \
    FUNCTION(TAPE_LOG, 1, log(a)) \
    FUNCTION(TAPE_LOG1P, 1, log1p(a)) \
    FUNCTION(TAPE_EXPM1, 1, expm1(a)) \
    FUNCTION(TAPE_SIN, 1, sin(a)) \
    FUNCTION(TAPE_COS, 1, cos(a)) \
    FUNCTION(TAPE_TAN, 1, tan(a)) \
    FUNCTION(TAPE_ASIN, 1, asin(a)) \
    FUNCTION(TAPE_ACOS, 1, acos(a)) \
    FUNCTION(TAPE_ATAN, 1, atan(a)) \
    FUNCTION(TAPE_ATAN2, 2, atan2(a, b)) \
    FUNCTION(TAPE_SINH, 1, sinh(a)) \
    FUNCTION(TAPE_COSH, 1, cosh(a)) \
    FUNCTION(TAPE_TANH, 1, tanh(a)) \
    FUNCTION(TAPE_ASINH, 1, asinh(a)) \
    FUNCTION(TAPE_ACOSH, 1, acosh(a)) \
    FUNCTION(TAPE_ATANH, 1, atanh(a)) \
    FUNCTION(TAPE_HYPOT, 2, hypot(a, b)) \
    FUNCTION(TAPE_FABS, 1, fabs(a)) \
    FUNCTION(TAPE_SIGN, 1, a < 0 ? -1 : a > 0 ? 1 : a) \
    FUNCTION(TAPE_COPYSIGN, 2, copysign(a, b)) \
    FUNCTION(TAPE_FLOOR, 1, floor(a)) \
    FUNCTION(TAPE_CEIL, 1, ceil(a)) \
    FUNCTION(TAPE_FMOD, 2, fmod(a, b)) \
    FUNCTION(TAPE_FMIN, 2, fmin(a, b)) \
    FUNCTION(TAPE_FMAX, 2, fmax(a, b)) \
    FUNCTION(TAPE_LT, 2, a < b) \
    FUNCTION(TAPE_LE, 2, a <= b) \
    FUNCTION(TAPE_EQ, 2, a == b) \
    FUNCTION(TAPE_NE, 2, a != b) \
    FUNCTION(TAPE_NOT, 1, !a) \
    FUNCTION(TAPE_AND, 2, a && b) \
    FUNCTION(TAPE_OR, 2, a || b) \
    FUNCTION(TAPE_IF_ELSE_ZERO, 2, a != 0 ? b : 0)

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

/* Compiled functions may come while others use the model. */
#ifdef __GNUC__
static Compiled *compiled_of(Compiled *const *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
#else
static Compiled *compiled_of(Compiled *const *place) { return *place; }
#endif

/* Evaluate a function. Arguments and results may be NULL, as those of compiled functions. */
static int run_tape(const Tape *tape, const double **arg, double **res, double *w)
{
    const unsigned *code = tape->code;
    Compiled *compiled = compiled_of(&tape->compiled);
    if (compiled) return compiled(arg, res);
    if (!code) return 1;
    if (tape->nconstants) memcpy(w, tape->constants, tape->nconstants * sizeof *w);
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
        RUNS
        default: return 1;
        }
    }
}

#undef RUN
#undef FUNCTION
#undef PLACES
#undef LOWER
#undef UPPER
