/* Data of a model and of an instance. The vectors and functions are those of mbfmu's architecture document: states x =
   [q; v; z], inputs u, parameters P = [p; d], discrete states m = [modes; held values],
   accelerations and multipliers w, variables y. */

#ifndef RUNTIME_H
#define RUNTIME_H

#include <stddef.h>

#include "contract.h"
#include "model.h"
#include "portable.h"

/* The version-neutral side of FMI: what a call answers, and which interface an instance is for. */
typedef enum { STATUS_OK, STATUS_WARNING, STATUS_DISCARD, STATUS_ERROR, STATUS_FATAL } Status;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Interface;

/* States of FMI's state machines: of co-simulation (FMI 2.0.4, figure 11; FMI 3.0, section 4.2), as far as a slave
   without asynchronous steps can be in them, and of model exchange (figure 7; section 3.2). */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    STEP_COMPLETE = 4,
    STEP_FAILED = 8,
    TERMINATED = 16,
    EVENT_MODE = 32,
    CONTINUOUS_TIME = 64,
    CONFIGURATION = 512,            /* before initialisation: structural parameters may be set, and nothing else */
    ANY_PHASE = 127 | CONFIGURATION,
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
    unsigned depth;                 /* how many with those of the tapes that it calls */
    unsigned nesting;               /* how many calls are within each other */
    double operations;              /* instructions with those of all its calls */
    unsigned narguments, nresults;  /* of a tape that others call: numbers that it takes and gives */
    int guard;                      /* of such a one: the argument without which all results are 0, or -1 */
    const double *constants;
    const unsigned *preparation;    /* what depends on parameters alone, and is evaluated when these have changed */
    const unsigned *code;
    Compiled *compiled;             /* what is called in place of the interpreter, where the host has compiled it */
    Compiled *compiled_lanes[2];    /* the same for 4 and for 8 lanes */
} Tape;

/* How a sparse matrix is factorised along its pivots (sparse.c). Rows and columns are counted in the order of pivots.
   Row k has entries from row_starts[k] on, at `columns`, with their places among the values; `places` are those of
   all values among the factors. Of these, row k has those from starts[k] on, at `factor_columns`, and the reciprocal
   of its pivot is at diagonal[k]. Pivot k scales factors, from scaled_starts[k] on, and takes products of them and of
   what follows it in its row off factors at `targets`. */
typedef struct {
    int n;
    int *row_starts, *columns, *values, *places;
    int *starts, *diagonal, *factor_columns;
    int *scaled_starts, *scaled, *targets;
} Elimination;

/* A model: what its descriptor says, shared by any number of instances. Compiled functions may come later, and change no
   result. */
typedef struct Model {
    int sizes[SIZES];
    Tables tables;
    Tape tapes[FUNCTIONS];
    Tape *called;                   /* those that others call, each behind those that it calls itself */
    int ncalled;
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

#include "sizes.h"

/* Sets of modes whose first step is remembered. */
enum { ENTRIES = 8 };

/* Vectors of a dense output, and derivatives of the longest step with what its dense output takes. */
enum { DENSE = 8, STAGES = 16 };

/* Places at each side of a position in which branches cross, of which some vectors are kept in the stages
   (branch_points.c). */
enum { PLACES = 6 };

/* Points of a segment of the history of delayed signals, and how many segments there are at most. */
enum { POINTS = 9, SEGMENTS = 4096 };

/* Where the integrator stands; it may be ahead of the latch. Its vectors are HeadVectors: dense output and the modes
   `inside` hold for begin <= t <= begin + length, x, m, c, k and s at `end`. */
typedef struct {
    double begin, length;
    double end;                     /* end of the last accepted step, at most begin + length */
    double h;                       /* proposal for the next step, 0: none yet */
    double error, last;             /* of the last accepted step, and its length; 0: there is none to compare with */
    double regularity;              /* of the constraints: the largest so far */
    double regular, before;         /* the same at `end`, and where the last step began; 0: not known */
    double fall;                    /* by how much it fell per second in the last step */
    int k_known;
    int event;                      /* there is an event at `end` */
    int chatter;                    /* events in a row that came at once */
    int implicit;                   /* by which method the next step is made */
    int dense_vectors;              /* of the dense output, which depends on the method */
    int passed;                     /* the last step went over a position in which branches of the motion cross */
    int doubts, relief;             /* steps in a row that speak against that method, and for it */
    int entering;                   /* the next step is the first since modes changed */
    unsigned long long entered[ENTRIES]; /* hashes of modes, and the length that the first step in them should have had */
    double entry_h[ENTRIES];
} Head;

/* The step that the integrator makes, from the head on: trials follow each other until one is accepted. */
typedef struct {
    int under_way;
    double begin, limit;            /* where it begins, and where it ends at the latest */
    double instant, kink;           /* the next instant at which something kinks in time, and of which order that is */
    double longest;
    double h, end, error;           /* of the trial: its length, its end, and its error relative to the tolerance */
    double allowed;                 /* which error does */
    double regular;                 /* of the constraints at its end, and which of them is the least independent one */
    int weakest;
    int cut;                        /* its length is not the one that accuracy proposes */
    int rejected, branchings;       /* was any rejected; how many ended where branches of the motion cross */
    double ahead;                   /* from the begin to a position in which branches of the motion cross; or infinite */
    int near, passes;               /* is that near; does the trial go over it */
    int leaps, leapt;               /* is the trial a leap (passages.h); how many have been tried */
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
    int solved_outside;             /* in continuous-time mode the importer solves for iteration variables */
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

/* Lower and upper bounds over an interval of time (enclose.c): of states, their rates and inputs; of crossings, their
   slopes, and crossings in its middle. */
typedef struct {
    double *x[2], *rates[2], *u[2];
    double *least, *most, *slowest, *fastest, *middle, *middle_most;
    /* Boxes that states have been in since they were made, and on which side of zero crossings are throughout, 1 or -1,
       or 0 where boxes leave it open: what is far from its crossing is looked at anew when it has left its box. */
    double *box[2], *size;
    long long *since, steps;
    int *side, boxed;
    double *look, *open;            /* 1 for the crossings that are looked at; of these, for those that bounds leave open */
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

/* Who has made an instance. */
typedef struct {
    Host host;
    Master master;
    void *hosted;                   /* what the library keeps with an instance that Python hosts (pythonfmu.c) */
    const char *name;               /* of the instance */
} Caller;

/* What is logged (log.c). */
typedef struct {
    unsigned categories;
    int asked;                      /* the importer has asked for a log */
    char cause[1500];               /* of the last failure */
    char shown[1000];               /* the name of a variable (values.c) */
} Log;

/* What has been set, part of the state. */
typedef struct {
    double *start;                  /* p as set; initialisation writes the free ones to P only */
    double *P, *u, *du;
} Given;

/* The latch: the point at which values are read. x, u and m are part of the state, all else follows from it
   (values.c). */
typedef struct {
    double *x, *u, *m;
    int w_fresh, y_fresh;           /* w and y hold there */
    double *w, *y;
    double *c;                      /* crossings, for the indicators */
    double *indicators;             /* of the last time that one was asked for */
} Latch;

/* Vectors of the head, part of the state: they follow each other, and are kept together. */
typedef struct {
    double *dense, *inside, *x, *m, *c, *k, *s;
    size_t doubles;                 /* all of them */
} HeadVectors;

/* The communication step that is made (cosimulation.c, advance.c). */
typedef struct {
    double origin, goal;            /* where it begins, and where it shall end */
    double target;                  /* where it will end: an event or the master may end it before */
    int ahead;                      /* the integrator may go beyond that */
    Outcome outcome;                /* once it is over */
    unsigned long long budget;      /* value of now->evaluations at which it is given up */
    Head kept_head;                 /* the head before a step that may fail, and its vectors */
    double *kept_vectors;
    double *x, *u, *rates;          /* of points beside the latch, for derivatives of outputs */
} Communication;

/* What functions of the model work with. */
typedef struct {
    double *work;                   /* in front of it stay results of preparations (tape.c) */
    char prepared[FUNCTIONS];       /* preparations that hold for the present parameters */
} FunctionScratch;

/* The equations A w = b, as they were solved last (evaluate.c). */
typedef struct {
    double *A, *factors, *block, *column_norms;
    int *pivots;
    double *entries, *load, *unknowns, *residual; /* of A s = b where A is sparse; `unknowns`: s of the last accelerations */
    double *sparse, *solution;      /* its factors, and s in the order of pivots */
    int repivoted;                  /* its factors are dense, in A and pivots: the order of pivots failed */
    double factors_time;            /* of the point that the factors belong to, or NAN */
    int open_column;                /* of the last singular A, or of w that is not finite: the unknown in question */
} System;

/* A step of the integrator in the making (integrator.c and the methods). In model exchange, where no steps are made, the
   stages hold places beside crossing branches (branch_points.c). */
typedef struct {
    double *stage[STAGES];          /* derivatives at the stages */
    double *x, *w;                  /* states and accelerations of the present one; w also after events at the head */
    double *inner_w;                /* accelerations within a step that is made: of dense output, and of crossings */
    double *u;                      /* inputs at the last point that was evaluated */
    double *begin_x, *next_x;       /* states at both ends */
    double *next_k;                 /* derivatives at its end */
    double *last_stage_x;           /* states at the last stage of a step of order 8 */
    int wide_gap;                   /* its method is the one with the widest gap between stages */
    double dense_after;             /* dense output is wanted of steps that end after this time */
    double leaning;                 /* a time in it: which side of a jump is meant; or infinite */
    double stiffness;               /* of the last explicit one: its length as a part of that which is stable */
} Step;

/* The search for flips of switches within a step (integrator.c): crossings at its end, and where it looks. */
typedef struct {
    double *c_next, *c_trial, *c_low, *c_high, *c_middle;
    int *watched;
    int *sampled;                   /* of these, the switches that have no bounds */
} Search;

/* Event iteration (switches.c). */
typedef struct {
    double *times;                  /* the next instants */
    int *flipped;                   /* what switches do */
    double *c_after;                /* crossings just behind the instant */
    double *m_start, *m_event, *m_before, *w_before, *held, *x_event;
} Events;

/* Points that are struck or stay closed (impacts.c). */
typedef struct {
    double *M, *V, *gap, *velocity, *rate, *normal, *touching, *resting, *restitution, *slow, *fixed, *kinetic; /* as given */
    double *factors, *load, *norms, *answers, *across; /* of M; of all speeds to each impulse, and of all velocities */
    int *pivots;
    int *takes_part, *held, *stuck, *slides, *loose, *keeps; /* of each point, while impulses are sought */
    double *along, *friction;       /* directions in which points slide, and coefficients with which they do */
    double *system, *balance, *wanted, *left, *f, *y; /* equations of points, impulses and velocities */
    int *places;
    double *gives, *shares;         /* what rows give way by, and the forces at which they do not */
    double *kept, *kept_shares, *others; /* forces that a search for others begins with, and goes through */
    double *unmoved, *base, *nearing, *target, *works, *u, *last, *middle, *sum, *work; /* of a problem; of an impact */
} Impacts;

/* Delayed signals (history.c). */
typedef struct {
    double *history;                /* part of the state */
    double *values, *longest, *signals, *joined, *x, *w, *u;
} Delays;

/* Directional derivatives (evaluate.c, directional.c). */
typedef struct {
    Direction along, moved;
    double *dw, *dy, *moved_w, *rates;
    double *c;                      /* crossings */
    double *start_kept, *u_kept;    /* what was set before it was moved */
} Tangent;

/* Constraints, and moves onto them (project.c). */
typedef struct {
    double *g, *c, *G, *dv, *dq, *w;
    double *led, *pull;             /* displacements [nv]: what the last projection made, and what a pull is led by */
    LeastNorm factors;
    double *combinations;           /* of redundant ones (redundancy.c) */
} Constraints;

/* Residuals of rows that were dropped as dependent, and assertions. */
typedef struct {
    double *e, *h;
    char text[1024];                /* the last message that tells a value (evaluate.c) */
} Checks;

/* Implicit steps (rodas5p.c). */
typedef struct {
    int linearised;                 /* jacobian and drift belong to the present step */
    double *jacobian, *system, *drift, *increment[8], *column_norms;
    int *pivots;
} ImplicitStep;

/* Event mode and derivatives of model exchange (model_exchange.c). */
typedef struct {
    double *x, *m, *c, *rates;
} Exchange;

/* The equations of initialisation, and their solution (initialise.c, parts.c, singular.c, undetermined_start.c). */
typedef struct {
    double *X, *X_trial, *X_before, *X_blamed, *X_last, *dX, *r, *r_trial, *r_scale, *s, *J, *JJ, *column_norms;
    double *part_step;              /* of the unknowns of a part */
    int first_part, parts_end;      /* the parts that are looked at, their rows and their unknowns */
    int left_out;                   /* of the equations: 0 for none, LAST_STAGE for all but positions */
    int released;                   /* fixed start values that may move: 0 for none, 1 + the unknown, or ALL_RELEASED */
    int *JJ_pivots, *marks, *choices, *unmet, *effects;
    double *m_last;
    int *mode_changes;
    LeastNorm least_norm;
    double *X_start, *X_best, *X_branch, *ends[2], *end_w[2], *direction, *way; /* of singular.c */
} Initialisation;

/* Interpolation beside crossing branches (branch_points.c). */
typedef struct {
    double *places_w;               /* [PLACES][nw] */
} Branches;

/* An instance. Its state is what `now` points at and the vectors behind it, which `given`, `latch`, `head` and `delays`
   name; all else follows from the state, or is scratch of the module that it is called after. */
typedef struct {
    const Model *model;
    const Tables *tables;
    Caller caller;
    Log log;

    State *now;
    size_t state_size;              /* of `now` and the vectors behind it, in bytes */
    Given given;
    Latch latch;
    HeadVectors head;
    Delays delays;

    Communication communication;
    Trial trial;
    Step step;
    ImplicitStep implicit;
    Search search;
    Bounds bounds;
    Events events;
    Impacts impacts;
    Exchange exchange;
    Branches branches;

    FunctionScratch functions;
    System system;
    Iterations iterations;
    Constraints constraints;
    Checks checks;
    Tangent tangent;
    Initialisation initial;
} Instance;

#endif
