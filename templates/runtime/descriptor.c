/* Reading a model from its descriptor (mbfmu/runtime/descriptor.py). Every number is checked before it is used as a size,
   an index or a place: a damaged descriptor is refused. */

#include "descriptor.h"

#include <stdlib.h>
#include <string.h>

#include "impacts.h"
#include "memory.h"
#include "optimize.h"
#include "sparse.h"
#include "tape.h"
#include "values.h"
#include "vectors.h"

SMALL

/* Of dense matrices: a damaged file asks for no more memory than that. */
#define MOST_ENTRIES 1e8

INTERNAL unsigned long long checksum(const void *data, size_t size)
{
    const unsigned char *at = data;
    unsigned long long sum = 0, sums = 0;
    while (size) {
        unsigned long long word = 0;
        size_t length = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, length);
        at += length;
        size -= length;
        sum += word;
        sums += sum;
    }
    return sum + 0x9e3779b97f4a7c14ULL * sums;
}

static int refuse_to_read(Reader *s, const char *wrong)
{
    if (!s->wrong) s->wrong = wrong;
    return 0;
}

/* The next n items; what follows begins at a multiple of 8 bytes. */
static const void *read_items(Reader *s, size_t n, size_t size)
{
    const char *items = s->at;
    size_t left = (size_t)(s->end - s->at);
    if (n > left / size) {
        refuse_to_read(s, "it ends too early");
        return NULL;
    }
    s->at += (n * size + 7) / 8 * 8 <= left ? (n * size + 7) / 8 * 8 : left;
    return items;
}

INTERNAL int read_ints(Reader *s, const int **table, long n, int least, int most)
{
    const int *items = n < 0 ? NULL : read_items(s, (size_t)n, sizeof(int));
    if (!items) return refuse_to_read(s, "a size is negative");
    for (long i = 0; i < n; ++i)
        if (items[i] < least || items[i] > most) return refuse_to_read(s, "an index is out of range");
    *table = items;
    return 1;
}

INTERNAL int read_doubles(Reader *s, const double **table, long n)
{
    *table = n < 0 ? NULL : read_items(s, (size_t)n, sizeof(double));
    return *table ? 1 : refuse_to_read(s, "a size is negative");
}

INTERNAL int read_texts(Reader *s, const char ***table, long n)
{
    const unsigned *size = read_items(s, 1, 2 * sizeof *size);
    const char *bytes = size ? read_items(s, *size, 1) : NULL;
    const char **texts = bytes && n >= 0 && (unsigned long)n <= *size + 1ul
        ? model_allocate(s->model, ((size_t)n + 1) * sizeof *texts) : NULL;
    if (!texts) return refuse_to_read(s, "a list of texts is damaged");
    const char *end = bytes + *size;
    for (long i = 0; i < n; ++i) {
        const char *zero = bytes < end ? memchr(bytes, 0, (size_t)(end - bytes)) : NULL;
        if (!zero) return refuse_to_read(s, "a text is damaged");
        texts[i] = bytes;
        bytes = zero + 1;
    }
    *table = texts;
    return 1;
}

INTERNAL int read_names(Reader *s, const char **table, long n)
{
    const unsigned *size = read_items(s, 1, 2 * sizeof *size);
    const char *at = size ? read_items(s, *size, 1) : NULL;
    size_t left = at ? *size : 0, before = 0;
    *table = at;
    for (long i = 0; i < n; ++i) {
        const char *zero = left ? memchr(at + 1, 0, left - 1) : NULL;
        size_t shared = zero ? (unsigned char)*at : 0, length = zero ? (size_t)(zero - at) : 0;
        if (!zero || shared > before) return refuse_to_read(s, "the name of a variable is damaged");
        before = shared + length - 1;
        left -= length + 1;
        at += length + 1;
    }
    return at != NULL;
}

static int read_sizes(Reader *s)
{
    const int *sizes;
    if (!read_ints(s, &sizes, SIZES, 0, 100000000)) return 0;
    memcpy(s->model->sizes, sizes, sizeof s->model->sizes);
    for (int i = 0; i < SIZES; ++i)
        if (i != SIZE_nJ && sizes[i] > 1 << 24) return refuse_to_read(s, "a size is out of range");
    const Model *model = s->model;
    if (solver(model) > SOLVER_IMPLICIT || is_explicit(model) > 1 || has_time_switches(model) > 1
        || ng(model) > nl(model)
        || nstring_settables(model) > nstrings(model) || nredundancies(model) > nl(model)
        || nposition_redundancies(model) > ng(model)
        || (nredundancies(model)
            && (is_sparse(model) || is_explicit(model) || nl(model) - nredundancies(model) > nv(model)))
        || (nunknowns(model) != nx(model) + nfree(model) + nstart_iterations(model)
            && nunknowns(model) != nx(model) + nfree(model) + nw(model) + nstart_iterations(model))
        || (nw(model) > 0) != (nblocks(model) > 0) || ninputs(model) < 0
        || (nstart_iterations(model) != 0 && nstart_iterations(model) != niterations(model))
        || iterations_need_w(model) > 1 || constraints_need_s(model) > 1
            || niteration_blocks(model) > niterations(model)
        || (niterations(model) > 0) != (niteration_blocks(model) > 0)
        || (double)niterations(model) * niterations(model) > MOST_ENTRIES || nsystem(model) < nw(model)
        || (nsystem(model) > nw(model) && !is_sparse(model)) || (is_sparse(model) && is_explicit(model))
        || (projects_along_forces(model) && !is_sparse(model))
        || (double)nresponse(model) != (npoints(model) > 0 ? (double)nw(model) * nw(model) : 0)
        || (npoints(model) == 0 && nsliding(model) > 0) || nresponse(model) > MOST_ENTRIES
        || (njacobian(model) > 0 && (double)njacobian(model) != (double)nl(model) * nv(model))
        || (double)nsystem(model) * nsystem(model) > MOST_ENTRIES || nparts(model) > nequations(model)
        || npart_unknowns(model) > nunknowns(model) || (double)nimplicit(model) * nimplicit(model) > MOST_ENTRIES)
        return refuse_to_read(s, "the sizes contradict each other");
    return 1;
}

/* Tables of one type of variables: each place must exist, and each entry of what can be set. */
static int check_places(Reader *s, int nplaces, const int *places, int nsettables, const int *settings,
                        const int *indices, int nconstants)
{
    const int stores[] = {1, nx(s->model), nu(s->model), np(s->model), nw(s->model), ny(s->model), nconstants,
                          nindicators(s->model), niterations(s->model), 1};
    for (int i = 0; i < nplaces; ++i) {
        unsigned store = store_of(places[i]);
        if (store > STORE_CONFIGURATION || (int)index_of(places[i]) >= stores[store])
            return refuse_to_read(s, "a variable is nowhere");
    }
    for (int i = 0; i < nsettables; ++i)
        if (settings[i] != SET_STRUCTURE && settings[i] != SET_CONFIGURATION
            && indices[i] >= (settings[i] == SET_INPUT ? ninputs(s->model) : npar(s->model)))
            return refuse_to_read(s, "a variable is nowhere");
    return 1;
}

/* Do blocks, none of them empty, make up n variables, with nominal values that are some? */
static int are_blocks(const int *starts, int nblocks, const double *nominals, int n)
{
    int good = starts[0] == 0 && starts[nblocks] == n;
    for (int k = 0; k < nblocks; ++k) good &= starts[k] < starts[k + 1];
    for (int i = 0; i < n; ++i) good &= nominals[i] > 0 && nominals[i] <= IMMENSE;
    return good;
}

/* Do parts, none of them without rows, make up the equations of initialisation, and no two of them share an unknown? */
static int are_parts(Reader *s)
{
    const int *rows = s->tables->part_rows, *columns = s->tables->part_columns, *unknowns = s->tables->part_unknowns;
    Model *model = s->model;
    size_t entries = 0;
    int good = rows[0] == 0 && columns[0] == 0 && rows[nparts(s->model)] == nequations(s->model)
        && columns[nparts(s->model)] == npart_unknowns(s->model);
    for (int k = 0; k < nparts(s->model) && good; ++k) {
        int height = rows[k + 1] - rows[k], width = columns[k + 1] - columns[k];
        size_t size = (size_t)height * (size_t)width;
        good = height > 0 && width >= 0 && (double)height * height <= MOST_ENTRIES
            && size <= (size_t)npart_entries(s->model) - entries;
        if (!good) break;
        entries += size;
        if (height > model->part_rows) model->part_rows = height;
        if (width > model->part_columns) model->part_columns = width;
        if (size > model->part_entries) model->part_entries = size;
        for (int i = columns[k] + 1; i < columns[k + 1]; ++i) good &= unknowns[i - 1] < unknowns[i];
    }
    if (!good || entries != (size_t)npart_entries(s->model)) return 0;
    char *known = calloc((size_t)nunknowns(s->model) + 1, 1);
    if (!known) return refuse_to_read(s, "no memory");
    for (int i = 0; i < npart_unknowns(s->model); ++i) good &= !known[unknowns[i]]++;
    free(known);
    return good;
}

/* Have points their rows along surfaces, three of each, and their modes? */
static int are_points(const Reader *s)
{
    const int *sliding = s->tables->point_sliding, *modes = s->tables->point_modes;
    int good = 1;
    for (int i = 0; i < npoints(s->model); ++i) {
        int rubs = sliding[i] >= 0;
        good &= !rubs || (sliding[i] >= npoints(s->model) && sliding[i] <= nstruck(s->model) - 3);
        good &= modes[i] + (rubs ? MODES_OF_RUBBING : MODES) <= nheld(s->model);
    }
    return good;
}

static int check_tables(Reader *s)
{
    const Tables *tables = s->tables;
    for (int i = 0; i < nblocks(s->model); ++i) {
        int n = tables->block_starts[i + 1] - tables->block_starts[i];
        if (n < 0) return refuse_to_read(s, "the blocks are damaged");
        if (n > s->model->largest_block) s->model->largest_block = n;
    }
    if (tables->block_starts[0] != 0 || tables->block_starts[nblocks(s->model)] != nw(s->model))
        return refuse_to_read(s, "the blocks are damaged");
    if (is_sparse(s->model)) {
        const char *wrong = plan_elimination(s->model, tables->entry_rows, tables->entry_columns, nentries(s->model),
                                             tables->pivot_rows, tables->pivot_columns, nsystem(s->model));
        if (wrong) return refuse_to_read(s, wrong);
    }
    if (niterations(s->model)
        && !are_blocks(tables->iteration_starts, niteration_blocks(s->model), tables->iteration_nominals,
                       niterations(s->model)))
        return refuse_to_read(s, "the iteration variables are damaged");
    if (!are_points(s)) return refuse_to_read(s, "the points of contact are damaged");
    if (!are_parts(s)) return refuse_to_read(s, "the parts of initialisation are damaged");
    if (!(fixed_step_length(s->model) >= 0) || !(default_tolerance(s->model) > 0))
        return refuse_to_read(s, "the experiment is damaged");
    return check_places(s, nreals(s->model), tables->real_places, nreal_settables(s->model), tables->real_settings,
                        tables->real_indices, nconstants(s->model))
        && check_places(s, nintegers(s->model), tables->integer_places, ninteger_settables(s->model),
                        tables->integer_settings, tables->integer_indices, nconstants(s->model))
        && check_places(s, nbooleans(s->model), tables->boolean_places, nboolean_settables(s->model),
                        tables->boolean_settings, tables->boolean_indices, nconstants(s->model))
        && check_places(s, nstrings(s->model), tables->string_places, nstring_settables(s->model),
                        tables->string_settings, tables->string_indices, nstrings(s->model));
}

/* Read a tape; `shape` says what it may have. */
static int read_tape(Reader *s, Tape *tape, Shape *shape)
{
    const int *counts; /* is there one, numbers of constants, instructions and their bytes */
    const double *constants;
    const unsigned char *plain;
    const char *wrong;
    if (!read_ints(s, &counts, 4, 0, 1 << 28)) return 0;
    if (counts[0] > 1 || (!counts[0] && (counts[1] | counts[2] | counts[3] | shape->is_called)))
        return refuse_to_read(s, "the instructions of a function are damaged");
    if (!counts[0]) return 1;
    if (!TAPES) return refuse_to_read(s, "a function stands in it twice");
    if (!read_doubles(s, &constants, counts[1])) return 0;
    plain = read_items(s, (size_t)counts[3], 1);
    if (!plain) return 0;
    shape->nconstants = (unsigned)counts[1];
    wrong = tape_load(s->model, tape, plain, (size_t)counts[3], (size_t)counts[2], constants, shape);
    if (wrong) return refuse_to_read(s, wrong);
    if (tape->depth > s->model->work) s->model->work = tape->depth;
    return 1;
}

/* Tapes that others call. */
static int read_called(Reader *s)
{
    enum { MOST = 1 << 20 };
    const int *count, *ends; /* numbers of arguments and results, and of the guard */
    if (!read_ints(s, &count, 1, 0, MOST)) return 0;
    s->model->called = model_allocate(s->model, ((size_t)*count + 1) * sizeof(Tape));
    if (!s->model->called) return refuse_to_read(s, "no memory");
    for (int i = 0; i < *count; ++i) {
        Tape *tape = s->model->called + i;
        Shape shape;
        memset(tape, 0, sizeof *tape);
        memset(&shape, 0, sizeof shape);
        if (!read_ints(s, &ends, 4, -1, MOST)) return 0;
        if (ends[0] < 1 || ends[1] < 1 || ends[2] >= ends[0])
            return refuse_to_read(s, "the instructions of a function are damaged");
        shape.is_called = shape.narguments = shape.nresults = 1;
        shape.parameters = -1;
        shape.arguments[0] = tape->narguments = (unsigned)ends[0];
        shape.results[0] = tape->nresults = (unsigned)ends[1];
        tape->guard = ends[2];
        if (!read_tape(s, tape, &shape)) return 0;
        s->model->ncalled = i + 1;
    }
    return 1;
}

static int read_tapes(Reader *s)
{
    if (!read_called(s)) return 0;
    for (int function = 0; function < FUNCTIONS; ++function) {
        Shape shape;
        function_shape(s, function, &shape);
        shape.is_called = 0;
        if (!read_tape(s, s->model->tapes + function, &shape)) return 0;
    }
    return 1;
}

INTERNAL void free_model(Model *model)
{
    Host host = model->host;
    while (model->chunks) {
        void *chunk = model->chunks;
        memcpy(&model->chunks, chunk, sizeof(void *));
        host_release(&host, chunk);
    }
    host_release(&host, model);
}

INTERNAL Model *load_model(const Host *host, const void *data, size_t size, const char **wrong)
{
    DescriptorHeader header;
    Model *model;
    Reader reader, *s = &reader;
    *wrong = "no memory";
    memset(s, 0, sizeof *s);
    if (size < sizeof header || memcmp(data, "mbfmu\r\n\032", 8) != 0) {
        *wrong = "it is not a descriptor of mbfmu";
        return NULL;
    }
    memcpy(&header, data, sizeof header);
    if (header.contract != CONTRACT) {
        *wrong = "it belongs to another version of mbfmu";
        return NULL;
    }
    if (header.units != (size - sizeof header) / 8 || size % 8
        || header.checksum != checksum((const char *)data + sizeof header, size - sizeof header)) {
        *wrong = "the description of the model is damaged: build it anew";
        return NULL;
    }
    model = host_allocate(host, sizeof *model);
    if (!model) return NULL;
    model->host = *host;
    s->model = model;
    s->tables = &model->tables;
    s->at = (const char *)data + sizeof header;
    s->end = (const char *)data + size;
    if (read_sizes(s) && read_tables(s) && check_tables(s) && read_tapes(s)) return model;
    *wrong = s->wrong ? s->wrong : "the description of the model is damaged: build it anew";
    free_model(model);
    return NULL;
}

QUICK
