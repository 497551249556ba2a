/* Data of an instance. The vectors and functions are those of mbfmu's architecture document: states x = [q; v; z],
   inputs u, parameters P = [p; d], modes m, accelerations and multipliers w, variables y. */

#ifndef RUNTIME_H
#define RUNTIME_H

#define NX (NQ + NV + NZ)
#define NW (NV + NL)
#define NP (NPAR + ND)
#define CONSTRAINED (NL > 0 && NV > 0)

/* How steps are made: the values of SOLVER. */
#define SOLVER_AUTO 0
#define SOLVER_EXPLICIT 1
#define SOLVER_IMPLICIT 2
#define NIMPLICIT (SOLVER == SOLVER_EXPLICIT ? 0 : NX)

/* C has no arrays of length 0, models have. */
#define LENGTH(n) ((n) > 0 ? (n) : 1)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

#define COPY(to, from, n) memcpy((to), (from), (size_t)(n) * sizeof *(to))

/* States of FMI 2.0.4's state machines: of co-simulation (figure 11), as far as a slave without asynchronous steps can
   be in them, and of model exchange (figure 7). */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    STEP_COMPLETE = 4,
    STEP_FAILED = 8,
    TERMINATED = 16,
    EVENT_MODE = 32,
    CONTINUOUS_TIME = 64
} Phase;

typedef enum {
    DONE = 0,
    NOT_FINITE,
    SINGULAR,
    NOT_PROJECTED,
    INACCURATE,
    BRANCHING,
    CHATTERING,
    ASSERTION
} Outcome;

/* Where values are read: the end of the last communication step; in model exchange, what the importer has set. */
typedef struct {
    double t;
    double x[LENGTH(NX)];
    double u[LENGTH(NU)];
    double m[LENGTH(NM)];
} Latch;

/* Where the integrator stands: it may be ahead of the latch. */
typedef struct {
    double begin, length;           /* dense output holds for begin <= t <= begin + length */
    double dense[LENGTH(5 * NX)];
    double inside[LENGTH(NM)];      /* modes between begin and end */
    double end;                     /* end of the last accepted step, at most begin + length */
    double x[LENGTH(NX)];           /* states at the end */
    double m[LENGTH(NM)];           /* modes from the end on */
    double c[LENGTH(NM)];           /* crossings at the end */
    double k[LENGTH(NX)];           /* derivatives at the end, if known */
    double h;                       /* proposal for the next step, 0: none yet */
    double error;                   /* of the last accepted step, for the PI control */
    double regularity;              /* of the constraints: the largest so far */
    int k_known;
    int chatter;                    /* events in a row that came at once */
    int implicit;                   /* by which method the next step is made */
    int doubts, relief;             /* steps in a row that speak against that method, and for it */
} Head;

/* All that changes while a model runs. It holds no pointers: a saved FMU state is a copy of it. */
typedef struct {
    fmi2Type type;
    Phase phase;
    int start_stale;                /* initialisation must be solved (again) before values are read */
    int touched;                    /* inputs or parameters changed since the latch */
    int ramps;                      /* some input has a derivative */
    double start_time, stop_time, tolerance;
    double longest_step;
    double start[LENGTH(NPAR)];     /* p as set; initialisation writes the free ones to P only */
    double P[LENGTH(NP)];
    double times[LENGTH(NT)];
    double u[LENGTH(NU)], du[LENGTH(NU)];
    double u_time;                  /* time at which u holds; du continues it */
    Latch latch;
    Head head;
    unsigned long steps, implicit_steps, rejections, evaluations, jacobians, events;
} State;

/* A direction of change of what the equations depend on. */
typedef struct {
    double t;
    double x[LENGTH(NX)];
    double u[LENGTH(NU)];
} Direction;

/* A matrix factorised for least-norm solutions (linear.c). */
typedef struct {
    int rows, cols, rank;
    int *pivot;
    double *scale, *qr, *tau, *lower, *lower_tau, *work;
} LeastNorm;

#define LEAST_NORM_DOUBLES(rows, cols) ((rows) * (cols) + (rows) * (rows) + 4 * (rows))

typedef struct {
    State now;
    fmi2CallbackFunctions callbacks;
    char *name;
    unsigned categories;
    char cause[512];                /* of the last failure, for the log */

    int w_fresh, y_fresh;           /* w and y hold at the latch */
    double w[LENGTH(NW)];
    double y[LENGTH(NY)];

    /* Scratch. */
    int iw[LENGTH(SZ_IW)];
    double work[LENGTH(SZ_W)];
    double A[LENGTH(EXPLICIT ? 0 : NW * NW)], factors[LENGTH(ONE_BLOCK || EXPLICIT ? 0 : NW * NW)];
    double block[LENGTH(LARGEST_BLOCK)];
    int pivots[LENGTH(NW)];
    double stage[7][LENGTH(NX)], stage_x[LENGTH(NX)], stage_w[LENGTH(NW)], u_now[LENGTH(NU)];
    double next_x[LENGTH(NX)], c_next[LENGTH(NM)], c_trial[LENGTH(NM)];
    double g[LENGTH(NG)], c[LENGTH(NL)], G[LENGTH(NL * NV)], dv[LENGTH(NV)], dq[LENGTH(NQ)];
    double e[LENGTH(NE)], h[LENGTH(NH)];
    int flipped[LENGTH(NM)];
    Direction along;
    double dw[LENGTH(NW)], dy[LENGTH(NEXPOSED)];
    Direction moved;
    double moved_w[LENGTH(DIFFERENCES ? NW : 0)];
    Head fallback;                  /* the head before a step that may fail */
    double stiffness;               /* of the last explicit step: its length times the largest eigenvalue, about */
    int linearised;                 /* jacobian and drift belong to the present step */
    double jacobian[LENGTH(NIMPLICIT * NIMPLICIT)], system[LENGTH(NIMPLICIT * NIMPLICIT)];
    double drift[LENGTH(NIMPLICIT)], increment[8][LENGTH(NIMPLICIT)];
    int system_pivots[LENGTH(NIMPLICIT)];
    LeastNorm projection;
    int projection_pivots[LENGTH(NL)];
    double projection_data[LENGTH(LEAST_NORM_DOUBLES(NL, NV))];

    /* Scratch of initialisation. */
    double X[LENGTH(NUNKNOWNS)], X_trial[LENGTH(NUNKNOWNS)], dX[LENGTH(NUNKNOWNS)];
    double r[LENGTH(NEQUATIONS)], r_trial[LENGTH(NEQUATIONS)], r_scale[LENGTH(NEQUATIONS)], s[LENGTH(NEQUATIONS)];
    double J[LENGTH(NEQUATIONS * NUNKNOWNS)], JJ[LENGTH(NEQUATIONS * NEQUATIONS)];
    int JJ_pivots[LENGTH(NEQUATIONS)];
    double start_kept[LENGTH(NPAR)], u_kept[LENGTH(NU)];
    LeastNorm start;
    int start_pivots[LENGTH(NEQUATIONS)];
    double start_data[LENGTH(LEAST_NORM_DOUBLES(NEQUATIONS, NUNKNOWNS))];
} Instance;

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
