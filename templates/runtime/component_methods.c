/* What co-simulation and model exchange have alike, for component.c, which includes this once for each of them. */

#ifndef FACE                        /* read alone, as editors do */
#include "component.c"
#else

IMPORT_FROM("[export]fmi:fmi3/" KIND "@3.0.0", "[resource-new]" KIND "-instance")
int NAME(new_handle)(Component *component);

EXPORT("fmi:fmi3/" KIND "@3.0.0#[dtor]" KIND "-instance")
void NAME(drop)(Component *self) { free_component(self); }

METHOD("set-debug-logging") int NAME(set_debug_logging)(Component *self, int on, LIST(categories))
{
    return set_debug_logging(of(self), on, GIVEN(categories));
}

METHOD("enter-initialization-mode")
int NAME(enter_initialization_mode)(Component *self, int has_tolerance, double tolerance, double start, int has_stop,
                                    double stop)
{
    return (int)fmi3EnterInitializationMode(of(self), has_tolerance != 0, tolerance, start, has_stop != 0, stop);
}

METHOD("update-discrete-states") const EventResult *NAME(update_discrete_states)(Component *self)
{
    static EventResult result;
    fmi3Boolean again = 0, end = 0, nominals = 0, states = 0, has_next = 0;
    double next = 0;
    fmi3Status status = fmi3UpdateDiscreteStates(of(self), &again, &end, &nominals, &states, &has_next, &next);
    result.failed = status > fmi3Warning;
    if (result.failed) {
        result.status = (unsigned char)status;
    } else {
        result.again = again;
        result.terminate = end;
        result.nominals_changed = nominals;
        result.states_changed = states;
        result.has_next_time = has_next;
        result.next_time = next;
    }
    return &result;
}

/* Functions that take the instance alone, and answer a status. */
#define CHANGE(name, function) \
    METHOD(name) int NAME(function)(Component *self) { return (int)fmi3##function(of(self)); }

CHANGE("exit-initialization-mode", ExitInitializationMode)
CHANGE("enter-event-mode", EnterEventMode)
CHANGE("enter-step-mode", EnterStepMode)
CHANGE("terminate", Terminate)
CHANGE("reset", Reset)
CHANGE("enter-configuration-mode", EnterConfigurationMode)
CHANGE("exit-configuration-mode", ExitConfigurationMode)
CHANGE("evaluate-discrete-states", EvaluateDiscreteStates)

/* Variables, by the table that has them. */
#define VARIABLES(name, Type, table)                                                                                 \
    METHOD("get-" name) const ListResult *NAME(Get##Type)(Component *self, LIST(references))                         \
    {                                                                                                                \
        Instance3 *c = of(self);                                                                                     \
        size_t n = count(c, table(c->instance), GIVEN(references));                                                     \
        fmi3##Type *values = results(n, sizeof *values);                                                             \
        fmi3Status status = fmi3Get##Type(c, references, n_references, values, n);                                   \
        return list_result(status, values, n);                                                                       \
    }                                                                                                                \
    METHOD("set-" name) int NAME(Set##Type)(Component *self, LIST(references), LIST(values))                         \
    {                                                                                                                \
        return (int)fmi3Set##Type(of(self), references, n_references, values, n_values);                             \
    }

VARIABLES("float64", Float64, floats)
VARIABLES("int32", Int32, integers)
VARIABLES("boolean", Boolean, booleans)

METHOD("get-string") const ListResult *NAME(GetString)(Component *self, LIST(references))
{
    return get_strings_3(of(self), GIVEN(references));
}

METHOD("set-string") int NAME(SetString)(Component *self, LIST(references), LIST(values))
{
    return set_strings_3(of(self), GIVEN(references), GIVEN(values));
}

/* Types that no variable has, and other lists by value reference that are empty here. */
#define NOTHING_TO_GET(name, function, what)                                                                         \
    METHOD("get-" name) const ListResult *NAME(function)(Component *self, LIST(references))                          \
    {                                                                                                                \
        return list_result(without(of(self), #function, n_references, what), results(0, 8), 0);                      \
    }
#define NOTHING_TO_SET(name, function, what)                                                                         \
    METHOD("set-" name) int NAME(function)(Component *self, LIST(references), LIST(values))                          \
    {                                                                                                                \
        (void)values;                                                                                                \
        return (int)without(of(self), #function, n_references, what);                                                \
    }
#define WITHOUT_TYPE(name, Type)                                                                                     \
    NOTHING_TO_GET(name, fmi3Get##Type, "variables of this type")                                                    \
    NOTHING_TO_SET(name, fmi3Set##Type, "variables of this type")

WITHOUT_TYPE("float32", Float32)
WITHOUT_TYPE("int8", Int8)
WITHOUT_TYPE("int16", Int16)
WITHOUT_TYPE("int64", Int64)
WITHOUT_TYPE("uint8", UInt8)
WITHOUT_TYPE("uint16", UInt16)
WITHOUT_TYPE("uint32", UInt32)
WITHOUT_TYPE("uint64", UInt64)
WITHOUT_TYPE("binary", Binary)
NOTHING_TO_GET("clock", fmi3GetClock, "clocks")
NOTHING_TO_SET("clock", fmi3SetClock, "clocks")
NOTHING_TO_GET("interval-decimal", fmi3GetIntervalDecimal, "clocks")
NOTHING_TO_GET("interval-fraction", fmi3GetIntervalFraction, "clocks")
NOTHING_TO_GET("shift-decimal", fmi3GetShiftDecimal, "clocks")
NOTHING_TO_GET("shift-fraction", fmi3GetShiftFraction, "clocks")
NOTHING_TO_SET("interval-decimal", fmi3SetIntervalDecimal, "clocks")
NOTHING_TO_SET("interval-fraction", fmi3SetIntervalFraction, "clocks")
NOTHING_TO_SET("shift-decimal", fmi3SetShiftDecimal, "clocks")
NOTHING_TO_SET("shift-fraction", fmi3SetShiftFraction, "clocks")

#undef CHANGE
#undef VARIABLES
#undef NOTHING_TO_GET
#undef NOTHING_TO_SET
#undef WITHOUT_TYPE

METHOD("get-number-of-variable-dependencies")
const NumberResult *NAME(number_of_variable_dependencies)(Component *self, fmi3ValueReference reference)
{
    size_t n = 0;
    fmi3Status status = fmi3GetNumberOfVariableDependencies(of(self), reference, &n);
    return number_result(status, n);
}

METHOD("get-variable-dependencies")
const ListResult *NAME(variable_dependencies)(Component *self, fmi3ValueReference reference)
{
    fmi3Status status = fmi3GetVariableDependencies(of(self), reference, NULL, NULL, NULL, NULL, 0);
    return list_result(status, results(0, 8), 0);
}

METHOD("get-fmu-state") const ListResult *NAME(get_fmu_state)(Component *self) { return saved_state(of(self)); }
METHOD("set-fmu-state") int NAME(set_fmu_state)(Component *self, LIST(state))
{
    return restore_state(of(self), GIVEN(state));
}

METHOD("get-directional-derivative")
const ListResult *NAME(directional_derivative)(Component *self, LIST(unknowns), LIST(knowns), LIST(seed))
{
    Instance3 *c = of(self);
    size_t n = count(c, floats(c->instance), GIVEN(unknowns));
    double *values = results(n, sizeof *values);
    fmi3Status status = fmi3GetDirectionalDerivative(c, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed,
                                                     values, n);
    return list_result(status, values, n);
}

METHOD("get-adjoint-derivative")
const ListResult *NAME(adjoint_derivative)(Component *self, LIST(unknowns), LIST(knowns), LIST(seed))
{
    Instance3 *c = of(self);
    size_t n = count(c, floats(c->instance), GIVEN(knowns));
    double *values = results(n, sizeof *values);
    fmi3Status status = fmi3GetAdjointDerivative(c, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed,
                                                 values, n);
    return list_result(status, values, n);
}

METHOD("get-output-derivatives") const ListResult *NAME(output_derivatives)(Component *self, LIST(requests))
{
    return output_derivatives(of(self), GIVEN(requests));
}

#endif
