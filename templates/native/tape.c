/* Interpreter of functions that are tables of instructions (mbfmu/export/tape.py): four numbers for each. Arguments and
   results may be NULL, as those of compiled functions. */

static int run_tape(const unsigned short *code, int instructions, const double *constants, const double **arg,
                    double **res, double *w)
{
    for (const unsigned short *end = code + 4 * (size_t)instructions; code < end; code += 4) {
        double *to = w + code[1];
        const double *a = w + code[2], *b = w + code[3];
        switch (code[0]) {
        case TAPE_CONST: *to = constants[code[2]]; break;
        case TAPE_INPUT: *to = arg[code[2]] ? arg[code[2]][code[3]] : 0; break;
        case TAPE_OUTPUT: if (res[code[3]]) res[code[3]][code[1]] = *a; break;
        case TAPE_ASSIGN: *to = *a; break;
        case TAPE_ADD: *to = *a + *b; break;
        case TAPE_SUB: *to = *a - *b; break;
        case TAPE_MUL: *to = *a * *b; break;
        case TAPE_DIV: *to = *a / *b; break;
        case TAPE_NEG: *to = -*a; break;
        case TAPE_INV: *to = 1 / *a; break;
        case TAPE_SQ: *to = *a * *a; break;
        case TAPE_TWICE: *to = 2 * *a; break;
        case TAPE_SQRT: *to = sqrt(*a); break;
        case TAPE_POW: case TAPE_CONSTPOW: *to = pow(*a, *b); break;
        case TAPE_EXP: *to = exp(*a); break;
        case TAPE_LOG: *to = log(*a); break;
        case TAPE_LOG1P: *to = log1p(*a); break;
        case TAPE_EXPM1: *to = expm1(*a); break;
        case TAPE_SIN: *to = sin(*a); break;
        case TAPE_COS: *to = cos(*a); break;
        case TAPE_TAN: *to = tan(*a); break;
        case TAPE_ASIN: *to = asin(*a); break;
        case TAPE_ACOS: *to = acos(*a); break;
        case TAPE_ATAN: *to = atan(*a); break;
        case TAPE_ATAN2: *to = atan2(*a, *b); break;
        case TAPE_SINH: *to = sinh(*a); break;
        case TAPE_COSH: *to = cosh(*a); break;
        case TAPE_TANH: *to = tanh(*a); break;
        case TAPE_ASINH: *to = asinh(*a); break;
        case TAPE_ACOSH: *to = acosh(*a); break;
        case TAPE_ATANH: *to = atanh(*a); break;
        case TAPE_HYPOT: *to = hypot(*a, *b); break;
        case TAPE_FABS: *to = fabs(*a); break;
        case TAPE_SIGN: *to = *a < 0 ? -1 : *a > 0 ? 1 : *a; break;
        case TAPE_COPYSIGN: *to = copysign(*a, *b); break;
        case TAPE_FLOOR: *to = floor(*a); break;
        case TAPE_CEIL: *to = ceil(*a); break;
        case TAPE_FMOD: *to = fmod(*a, *b); break;
        case TAPE_FMIN: *to = fmin(*a, *b); break;
        case TAPE_FMAX: *to = fmax(*a, *b); break;
        case TAPE_LT: *to = *a < *b; break;
        case TAPE_LE: *to = *a <= *b; break;
        case TAPE_EQ: *to = *a == *b; break;
        case TAPE_NE: *to = *a != *b; break;
        case TAPE_NOT: *to = !*a; break;
        case TAPE_AND: *to = *a && *b; break;
        case TAPE_OR: *to = *a || *b; break;
        case TAPE_IF_ELSE_ZERO: *to = *a != 0 ? *b : 0; break;
        default: return 1;
        }
    }
    return 0;
}
