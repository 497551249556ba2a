/* A batch whose runs differ in the first parameter, with one instance and in as many lanes as there are: to the same bit.
   Under sanitizers as a rule.

       batch_in_lanes DESCRIPTOR RUNS STOP_TIME SPREAD */

#include "lane_library.c"
#include "host.c"
#include "batch.c"

enum { TIMES = 7, MOST_PLACES = 64, TEXT = 200 };

static double rows[3][64 * TIMES * MOST_PLACES];
static char messages[3][64 * TEXT];
static size_t complete[3][64];

static void run(const Model *model, int n, int runs, double stop_time, double spread, int to)
{
    Instance *instances[8], *s = mbfmu_instantiate(model, "one", 1, 1, NULL, NULL);
    double values[64], times[TIMES];
    int setting = 0, places[MOST_PLACES], nplaces = 0;
    for (int i = 0; i < nx(s->model) && nplaces < MOST_PLACES; ++i) places[nplaces++] = STORE_X << INDEX_BITS | i;
    for (int i = 0; i < nw(s->model) && nplaces < MOST_PLACES; ++i) places[nplaces++] = STORE_W << INDEX_BITS | i;
    for (int i = 0; i < TIMES; ++i) times[i] = stop_time * i / (TIMES - 1);
    for (int i = 0; i < runs; ++i) values[i] = s->tables->default_parameters[0] + spread * i / runs;
    instances[0] = s;
    for (int l = 1; l < n; ++l) instances[l] = mbfmu_instantiate(model, "further", 1, 1, NULL, NULL);
    Batch batch = {0, stop_time, 1e-6, (size_t)runs, 1, TIMES, (size_t)nplaces, TEXT, &setting, values, times, places, NULL,
                   mbfmu_lane_kind(n), rows[to], complete[to], messages[to]};
    mbfmu_batch(instances, n, &batch);
    for (int l = 0; l < n; ++l) mbfmu_free(instances[l]);
}

int main(int count, char **arguments)
{
    static char bytes[10000000];
    FILE *file = count == 5 ? fopen(arguments[1], "rb") : NULL;
    if (!file) return 2;
    const char *wrong;
    Model *model = mbfmu_load(bytes, fread(bytes, 1, sizeof bytes, file), &wrong);
    fclose(file);
    if (!model) return 2;
    int runs = atoi(arguments[2]), width = 1, failed = 0;
    for (int to = 0; to < 3; ++to) {
        int n = to == 0 ? 1 : 4 * to;
        if (n > 1 && !mbfmu_lane_kind(n)) continue;
        width = n;
        run(model, n, runs, atof(arguments[3]), atof(arguments[4]), to);
        if (memcmp(rows[to], rows[0], sizeof *rows) || memcmp(complete[to], complete[0], sizeof *complete)) return 1;
        for (int i = 0; i < runs; ++i) {
            if (strcmp(messages[to] + i * TEXT, messages[0] + i * TEXT)) return 1;
            failed += to == 0 && messages[0][i * TEXT] != 0;
        }
    }
    printf("%d lanes, %d runs failed\n", width, failed);
    mbfmu_unload(model);
    return 0;
}
