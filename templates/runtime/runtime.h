/* Data of a model and of an instance. The vectors and functions are those of mbfmu's architecture document: states x =
   [q; v; z], inputs u, parameters P = [p; d], discrete states m = [modes; held values],
   accelerations and multipliers w, variables y. */

#ifndef RUNTIME_H
#define RUNTIME_H

#include "contract.h"

#define COPY(to, from, n) memcpy((to), (from), (size_t)(n) * sizeof *(to))

/* The version-neutral side of FMI: what a call answers, and which interface an instance is for. */
typedef enum { STATUS_OK, STATUS_WARNING, STATUS_DISCARD, STATUS_ERROR, STATUS_FATAL } Status;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Interface;

/* States of FMI's state machines: of co-simulation (FMI 2.0.4, figure 11; FMI 3.0, section 4.2), as far as a slave without
   asynchronous steps can be in them, and of model exchange (figure 7; section 3.2). */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    STEP_COMPLETE = 4,
    STEP_FAILED = 8,
    TERMINATED = 16,
    EVENT_MODE = 32,
    CONTINUOUS_TIME = 64,
    ANY_PHASE = 127,
    INTERMEDIATE = 128,             /* the master has been called within a step: it may read, and nothing else */
    ASKED = 256                     /* it is asked for inputs at the end of a step: it may set these, and nothing else */
} Phase;

typedef enum {
    DONE = 0,
    NOT_FINITE,
    SINGULAR,
    NOT_PROJECTED,
    INACCURATE,
    BRANCHING,
    CHATTERING,
    ASSERTION,
    ENDED,                          /* the model ends the run: not a failure */
    EXHAUSTED,
    UNSOLVED                        /* iteration variables have no solution, or none is found */
} Outcome;

/* What a master of co-simulation takes part in. */
typedef struct {
    int event_mode;                 /* it handles events in event mode */
    int early_return;               /* steps may end before their time: at events, or where it asks for it */
    int never_discards;             /* a step in which the model ends the run is good, one that fails an error; else both
                                       are discarded, and what was made of them stays */
    double (*between)(void *environment, double t, int may_return); /* called after steps of the integrator; may be NULL.
                                       Returns the time at which the communication step shall end at the latest */
    void (*ask)(void *environment, double t); /* called before a step that ends at t, for inputs; may be NULL */
    void *environment;
} Master;

/* What the host lends: its log and its memory. */
typedef struct {
    void (*log)(void *environment, const char *instance, Status status, const char *category, const char *message);
    void *(*allocate)(size_t count, size_t size); /* zeroed */
    void (*release)(void *memory);
    void *environment;
} Host;

/* A compiled function, which needs no scratch. */
typedef int Compiled(const double **arg, double **res);

/* A function as a table of instructions (tape.c). */
typedef struct {
    unsigned nconstants;
    unsigned kept;                  /* results of the preparation that stay */
    unsigned begin, work;           /* number of the first double of scratch, and how many there are */
    const double *constants;
    const unsigned *preparation;    /* what depends on parameters alone, and is evaluated when these have changed */
    const unsigned *code;
    Compiled *compiled;             /* what is called in place of the interpreter, where the host has compiled it */
    Compiled *compiled_lanes[2];    /* the same for 4 and for 8 lanes */
} Tape;

/* How a sparse matrix is factorised along its pivots (sparse.c). Rows and columns are counted in the order of pivots. Row k
   has entries from row_starts[k] on, at `columns`, with their places among the values; `places` are those of all values
   among the factors. Of these, row k has those from starts[k] on, at `factor_columns`, and the reciprocal of its pivot is
   at diagonal[k]. Pivot k scales factors, from scaled_starts[k] on, and takes products of them and of what follows it in its
   row off factors at `targets`. */
typedef struct {
    int n;
    int *row_starts, *columns, *values, *places;
    int *starts, *diagonal, *factor_columns;
    int *scaled_starts, *scaled, *targets;
} Elimination;

/* A model: what its descriptor says, shared by any number of instances. Compiled functions may come later, and change no
   result. */
typedef struct {
    int sizes[SIZES];
    Tables tables;
    Tape tapes[FUNCTIONS];
    unsigned kept;                  /* results of preparations, of all tapes */
    size_t work;                    /* doubles of scratch of the longest tape */
    int largest_block;              /* unknowns of the largest block of A */
    int part_rows, part_columns;    /* the most rows, unknowns and entries that a part of initialisation has */
    size_t part_entries;
    Elimination elimination;        /* of A, where it is sparse */
    void *chunks;                   /* memory of all this, a list */
    void *descriptor;               /* what the host keeps of it */
    Host host;
} Model;

/* Sets of modes whose first step is remembered. */
enum { ENTRIES = 8 };

/* Vectors of a dense output, and derivatives of the longest step with what its dense output takes. */
enum { DENSE = 8, STAGES = 16 };

/* Places at each side of a position in which branches cross, of which some vectors are kept in the stages (passing.c). */
enum { PLACES = 6 };

/* Points of a segment of the history of delayed signals, and how many segments there are at most. */
enum { POINTS = 9, SEGMENTS = 4096 };

/* Where the integrator stands; it may be ahead of the latch. Its vectors are those of the instance: dense output and the
   modes `inside` hold for begin <= t <= begin + length, head_x, head_m, head_c, head_k at `end`. */
typedef struct {
    double begin, length;
    double end;                     /* end of the last accepted step, at most begin + length */
    double h;                       /* proposal for the next step, 0: none yet */
    double error, last;             /* of the last accepted step, and its length; 0: there is none to compare with */
    double regularity;              /* of the constraints: the largest so far */
    double regular, before;         /* the same at `end`, and where the last step began; 0: not known */
    int k_known;
    int event;                      /* there is an event at `end` */
    int chatter;                    /* events in a row that came at once */
    int implicit;                   /* by which method the next step is made */
    int order8;                     /* dense output is that of the explicit method of order 8 */
    int doubts, relief;             /* steps in a row that speak against that method, and for it */
    int entering;                   /* the next step is the first since modes changed */
    unsigned long long entered[ENTRIES]; /* hashes of modes, and the length that the first step in them should have had */
    double entry_h[ENTRIES];
} Head;

/* A step over a position ahead in which branches of the motion cross; `length` 0: there is none to make. */
typedef struct {
    double length, tolerance;
} Leap;

/* The step that the integrator makes, from the head on: trials follow each other until one is accepted. */
typedef struct {
    int under_way;
    double begin, limit;            /* where it begins, and where it ends at the latest */
    double instant, kink;           /* the next instant at which something kinks in time, and of which order that is */
    double longest;
    double h, end, error;           /* of the trial: its length, its end, and its error relative to the tolerance */
    double regular;                 /* of the constraints at its end, and which of them is the least independent one */
    int weakest;
    int cut;                        /* its length is not the one that accuracy proposes */
    int rejected, branchings;       /* was any rejected; how many ended where branches of the motion cross */
    Leap over;                      /* the trial to make first */
    Outcome cause;                  /* why the last one was rejected */
    Outcome outcome;                /* why there are no more: the step cannot be made */
} Trial;

/* All that changes while a model runs, but for vectors, which follow it in one block of memory: a saved state is a copy
   of that block. Values are read at the latch: the end of the last communication step; in model exchange, what the
   importer has set. */
typedef struct {
    Interface interface;
    Phase phase;
    int start_stale;                /* initialisation must be solved (again) before values are read */
    int touched;                    /* inputs or parameters changed since the latch */
    int ended;                      /* the model has ended the run */
    int ramps;                      /* some input has a derivative */
    double start_time, stop_time, tolerance;
    double longest_step;
    double u_time;                  /* time at which u holds; du continues it */
    double latch_t;
    int latch_solved;               /* iteration variables of the latch hold there */
    int latch_inside;               /* the latch lies within the last step */
    Head head;
    int history_known;              /* of delayed signals: it has begun */
    int history_first, history_count; /* segments of its ring that are in use */
    double history_begin;           /* before it signals were what they are at the start */
    double history_kink;            /* of which order the kink there is */
    unsigned long long steps, implicit_steps, rejections, evaluations, jacobians, events;
} State;

/* A direction of change of what the equations depend on. */
typedef struct {
    double t;
    double *x, *u;
} Direction;

/* How iteration variables are solved for (iterate.c). `known`: they are `solution` at (t, x, u, m), u with the guess. */
typedef struct {
    int known;
    double t, *x, *u, *m, *solution;
    double *r, *J, *rows, *factors, *column_norms; /* residuals, Jacobian, sizes of its rows, factors */
    int *pivots;
    double *from, *step, *left;     /* where a step begins, the step, and the correction that it leaves */
    double *w, *dw;
    Direction along;
    double *kept;                   /* the guess before a step that may fail */
    int block;                      /* the last one without solution, what its variables were, and its largest residual */
    double *last, residual;
} Iterations;

/* Lower and upper bounds over an interval of time (enclose.c): of states, their rates and inputs; of crossings, their slopes,
   and crossings in its middle. Scratch. */
typedef struct {
    double *x[2], *rates[2], *u[2];
    double *least, *most, *slowest, *fastest, *middle, *middle_most;
} Bounds;

/* A matrix factorised for least-norm solutions (linear.c). */
typedef struct {
    int rows, cols, rank;
    int used;                       /* rows that take part: the others are zero */
    double longest;                 /* the length of a row elsewhere, beside which these may be nothing */
    int *pivot;
    const double *sizes;            /* of the rows, by which they are scaled; NULL: each one's own norm */
    double *scale, *qr, *tau, *lower, *lower_tau, *work;
} LeastNorm;

typedef struct {
    const Model *model;
    const Tables *tables;
    Host host;
    Master master;
    void *hosted;                   /* what the library keeps with an instance that Python hosts (pythonfmu.c) */
    const char *name;
    unsigned categories;
    int asked; /* the importer has asked for a log */
    char cause[1500];               /* of the last failure, for the log */
    char shown[1000];               /* the name of a variable, for the log */
    int open_column;                /* of the last singular A, or of w that is not finite: the unknown in question */

    State *now;
    size_t state_size;              /* of `now` and the vectors behind it, in bytes */
    double *start;                  /* p as set; initialisation writes the free ones to P only */
    double *P, *u, *du;
    double *latch_x, *latch_u, *latch_m;
    double *dense, *inside, *head_x, *head_m, *head_c, *head_k, *inside_s; /* one after the other: they are kept together */
    size_t head_doubles;
    double *history;                /* of delayed signals (history.c) */

    int w_fresh, y_fresh;           /* w and y hold at the latch */
    double *w, *y;
    double *indicators;             /* of the last time that one was asked for */

    /* The communication step that is made. */
    double origin, goal;            /* where it begins, and where it shall end */
    double target;                  /* where it will end: an event or the master may end it before */
    int ahead;                      /* the integrator may go beyond that */
    Trial trial;
    Outcome outcome;                /* of the communication step, once it is over */

    /* Scratch. */
    unsigned long long budget;      /* value of now->evaluations at which a step is given up */
    Head kept_head;                 /* the head before a step that may fail, and its vectors */
    double *kept_vectors;
    double *work;                   /* of functions; in front of it stay results of preparations (tape.c) */
    char prepared[FUNCTIONS];       /* those that hold for the present parameters */
    double *A, *factors, *block, *column_norms;
    int *pivots;
    double *entries, *load, *unknowns, *residual; /* of A s = b where A is sparse; `unknowns` are s of the last accelerations */
    double *projection_w;
    double *sparse, *solution;      /* its factors, and s in the order of pivots */
    int repivoted;                  /* its factors are dense, in A and pivots: the order of pivots failed */
    double factors_time;            /* of the point that the factors belong to, or NAN */
    double *stage[STAGES], *stage_x, *stage_w, *u_now, *step_x;
    double *places_w;               /* [PLACES][NW], of interpolation beside crossing branches (passing.c) */
    double *next_k;                 /* derivatives at the end of the step, next_x */
    double *last_stage_x;           /* states at the last stage of a step of order 8 */
    int leaps;                      /* the step goes over a position where branches of motion cross */
    double dense_after;             /* dense output is wanted of steps that end after this time */
    double *next_x, *c_next, *c_trial, *c_low, *c_high, *c_middle, *times;
    double *g, *c, *G, *dv, *dq, *e, *h;
    double *led, *pull;             /* displacements [NV]: what the last projection made, and what a pull is led by */
    int *flipped, *watched, *sampled; /* of these switches, those that have no bounds */
    Bounds bounds;
    double *m_start, *m_event, *m_before, *w_before, *held, *x_event; /* of event iteration (switches.c) */
    double leaning;                 /* a time in the step that is made: which side of a jump is meant; or infinite */
    double *delays, *longest_delays, *signals, *joined, *history_x, *history_w, *u_moved; /* of history.c */
    Direction along, moved;
    double *dw, *dy, *moved_w;
    Iterations iterations;
    double stiffness;               /* of the last explicit step: its length as a part of that which is stable */
    int linearised;                 /* jacobian and drift belong to the present step */
    double *jacobian, *system, *drift, *increment[8];
    int *system_pivots;
    LeastNorm projection;
    double *combinations;           /* of redundant constraints (redundancy.c) */

    /* Scratch of initialisation. */
    double *X, *X_trial, *X_before, *X_blamed, *dX, *r, *r_trial, *r_scale, *s, *J, *JJ;
    double *part_step;              /* of the unknowns of a part */
    int first_part, parts_end;      /* the parts that are looked at, their rows and their unknowns */
    int left_out;                   /* of the equations of initialisation: 0 for none, LAST_STAGE for all but positions */
    int released;                   /* fixed start values that may move: 0 for none, 1 + the unknown, or ALL_RELEASED */
    int *JJ_pivots, *marks, *choices, *unmet, *effects;
    double *start_kept, *u_kept, *m_last;
    int *mode_changes;
    LeastNorm least_norm;
    double *X_start, *X_best, *X_branch, *ends[2], *end_w[2], *direction, *way; /* of singular.c */
} Instance;

/* Trials of several instances of a model at once (lanes.c). `make_stages` is told who takes part, who has other parameters
   than in the last trial, and the method; it answers who has succeeded: sets of lanes as bits. */
typedef struct {
    int lanes;
    void *(*make)(const Model *model);
    unsigned (*make_stages)(void *lanes, Instance *const *instances, unsigned takes, unsigned changed, int order8);
    void (*release)(void *lanes);
} LaneKind;

enum { MOST_LANES = 8 };

static int finite_all(const double *values, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += values[i] * 0;
    return sum == 0;
}

static double largest(const double *values, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) if (!(fabs(values[i]) <= most)) most = fabs(values[i]);
    return most;
}

#endif
