/* Tapes as C source, for a host that has a compiler: the same operations in the same order, so that results are those of
   the interpreter to the last bit. */

/* Text that is counted in any case, and written as far as there is room. */
typedef struct {
    char *to;
    size_t size, used;
} Text;

static void put(Text *text, const char *format, ...)
{
    va_list arguments;
    size_t left = text->used < text->size ? text->size - text->used : 0;
    va_start(arguments, format);
    int length = vsnprintf(left ? text->to + text->used : NULL, left, format, arguments);
    va_end(arguments);
    if (length > 0) text->used += (size_t)length;
}

/* A number without a decimal point, which depends on the locale. */
static void put_number(Text *text, double value)
{
    int exponent;
    if (value != value) put(text, "(0 / 0.)");
    else if (fabs(value) > 1.7976931348623157e308) put(text, "(%s1 / 0.)", value < 0 ? "-" : "");
    else {
        double digits = ldexp(frexp(fabs(value), &exponent), 53);
        put(text, "%s0x%llxp%d", copysign(1, value) < 0 ? "-" : "", (unsigned long long)digits, exponent - 53);
    }
}

/* What an operation does: a macro of its operands; or in lanes, where it is no arithmetic, a function. */
static void put_operation(Text *text, unsigned operation, int lanes)
{
    switch (operation) {
#define RUN(operation, operands, expression) \
    case operation: \
        put(text, "#define F%u(%.*s) (%s)\n", (unsigned)(operation), 2 * (operands) - 1, "a,b,c,d,e,f,g", #expression); \
        break;
#define FUNCTION(operation, operands, expression) \
    case operation: \
        if (lanes > 1) \
            put(text, "static inline TARGET V F%u(V v%s) { V to; EACH { const double a = v[l]%s; to[l] = %s; } return to; }\n", \
                (unsigned)(operation), (operands) > 1 ? ", V w" : "", (operands) > 1 ? ", b = w[l]" : "", #expression); \
        else \
            put(text, "#define F%u(%.*s) (%s)\n", (unsigned)(operation), 2 * (operands) - 1, "a,b", #expression); \
        break;
    RUNS
#undef RUN
#undef FUNCTION
    default: break;
    }
}

/* One run: a statement for each instruction. Returns where the next one begins. A place may have several results in turn. */
static const unsigned *put_run(Text *text, const unsigned *code)
{
    unsigned operation = code[0], n = code[1], to = code[2], vector = code[3];
    code += 3;
    if (operation == TAPE_INPUT) {
        ++code;
        put(text, "const V *v%u = (const V *)arg[%u];\n", vector, vector);
        for (unsigned i = 0; i < n; ++i)
            put(text, "w%u = v%u ? v%u[%u] : NOTHING;\n", to + i, vector, vector, code[i]);
        return code + n;
    }
    if (operation == TAPE_OUTPUT) {
        ++code;
        put(text, "if (res[%u]) {\nV *to = (V *)res[%u];\n", vector, vector);
        for (unsigned i = 0; i < n; ++i) put(text, "to[%u] = w%u;\n", code[2 * i], code[2 * i + 1]);
        put(text, "}\n");
        return code + 2 * (size_t)n;
    }
    if (operation == RUN_SINCOS) {
        for (unsigned i = 0; i < n; ++i)
            put(text, "SINCOS(w%u, w%u, w%u)\n", code[i], to + 2 * i, to + 2 * i + 1);
        return code + n;
    }
    int operands = operands_of(operation);
    for (unsigned i = 0; i < n; ++i) {
        put(text, "w%u = F%u(", to + i, operation);
        for (int k = 0; k < operands; ++k) put(text, "%sw%u", k ? "," : "", *code++);
        put(text, ");\n");
    }
    return code;
}

/* What stands before the first function: V is a number, or one in each lane. */
static void put_prelude(Text *text, int lanes)
{
    put(text, "#include <math.h>\n#ifdef _WIN32\n#define EXPORT __declspec(dllexport)\n#else\n"
              "#define EXPORT __attribute__((visibility(\"default\")))\n#endif\n");
    if (lanes > 1) {
        put(text, "#ifdef __x86_64__\n#define TARGET __attribute__((target(\"%s\")))\n#else\n#define TARGET\n#endif\n",
            lanes == 8 ? "avx512f,avx512dq" : "avx2");
        put(text, "typedef double V __attribute__((vector_size(%d), may_alias));\n", 8 * lanes);
        put(text, "#define EACH for (int l = 0; l < %d; ++l)\n#define NUMBER(x) ((V){%s})\n", lanes,
            lanes == 8 ? "x, x, x, x, x, x, x, x" : "x, x, x, x");
        put(text, "#define SINCOS(of, s, c) EACH { const double a = of[l]; s[l] = sin(a); c[l] = cos(a); }\n");
    } else {
        put(text, "#define TARGET\n#define V double\n#define NUMBER(x) (x)\n");
        put(text, "#define SINCOS(a, s, c) s = sin(a); c = cos(a);\n");
    }
    put(text, "#define NOTHING NUMBER(0)\n");
    for (unsigned operation = 0; operation < RUN_OPERATIONS; ++operation) put_operation(text, operation, lanes);
}

/* Write what stands before the first function. Returns its length without the zero at its end: `size` may be too little,
   or 0. */
static size_t write_prelude(int lanes, char *to, size_t size)
{
    Text text = {to, size, 0};
    put_prelude(&text, lanes);
    return text.used;
}

/* Write a function as C source, behind the prelude for 1, 4 or 8 lanes. Returns its length, as `write_prelude`. */
static size_t write_code(const Tape *tape, const char *name, char *to, size_t size)
{
    Text text = {to, size, 0};
    put(&text, "\nEXPORT TARGET int %s(const double **arg, double **res)\n{\n", name);
    for (unsigned i = 0; i < tape->kept; ++i) put(&text, "V w%u;\n", i);
    for (unsigned i = 0; i < tape->work; ++i) put(&text, "V w%u;\n", tape->begin + i);
    for (unsigned i = 0; i < tape->nconstants; ++i) {
        put(&text, "w%u = NUMBER(", tape->begin + i);
        put_number(&text, tape->constants[i]);
        put(&text, ");\n");
    }
    for (const unsigned *code = tape->preparation; *code != RUN_END;) code = put_run(&text, code);
    for (const unsigned *code = tape->code; *code != RUN_END;) code = put_run(&text, code);
    put(&text, "return 0;\n}\n");
    return text.used;
}
