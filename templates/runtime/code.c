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

/* What an operation does, as a macro of its operands. */
static void put_operation(Text *text, unsigned operation)
{
    switch (operation) {
#define RUN(operation, operands, expression) \
    case operation: \
        put(text, "#define F%u(%.*s) (%s)\n", (unsigned)(operation), 2 * (operands) - 1, "a,b,c,d,e,f,g", #expression); \
        break;
    RUNS
#undef RUN
    default: break;
    }
}

/* One run: a statement for each instruction. Returns where the next one begins. */
static const unsigned *put_run(Text *text, const unsigned *code)
{
    unsigned operation = code[0], n = code[1], to = code[2], vector = code[3];
    code += 3;
    if (operation == TAPE_INPUT) {
        ++code;
        put(text, "const double *v%u = arg[%u];\n", vector, vector);
        for (unsigned i = 0; i < n; ++i)
            put(text, "const double w%u = v%u ? v%u[%u] : 0;\n", to + i, vector, vector, code[i]);
        return code + n;
    }
    if (operation == TAPE_OUTPUT) {
        ++code;
        put(text, "if (res[%u]) {\n", vector);
        for (unsigned i = 0; i < n; ++i) put(text, "res[%u][%u] = w%u;\n", vector, code[2 * i], code[2 * i + 1]);
        put(text, "}\n");
        return code + 2 * (size_t)n;
    }
    int operands = operands_of(operation);
    for (unsigned i = 0; i < n; ++i) {
        put(text, "const double w%u = F%u(", to + i, operation);
        for (int k = 0; k < operands; ++k) put(text, "%sw%u", k ? "," : "", *code++);
        put(text, ");\n");
    }
    return code;
}

/* Write a function as C source. Returns its length without the zero at its end: `size` may be too little, or 0. */
static size_t write_code(const Tape *tape, const char *name, char *to, size_t size)
{
    Text text = {to, size, 0};
    put(&text, "#include <math.h>\n#ifdef _WIN32\n#define EXPORT __declspec(dllexport)\n#else\n"
               "#define EXPORT __attribute__((visibility(\"default\")))\n#endif\n");
    for (unsigned operation = 0; operation < RUN_OPERATIONS; ++operation) put_operation(&text, operation);
    put(&text, "\nEXPORT int %s(const double **arg, double **res)\n{\n", name);
    for (unsigned i = 0; i < tape->nconstants; ++i) {
        put(&text, "const double w%u = ", i);
        put_number(&text, tape->constants[i]);
        put(&text, ";\n");
    }
    for (const unsigned *code = tape->code; *code != RUN_END;) code = put_run(&text, code);
    put(&text, "return 0;\n}\n");
    return text.used;
}
