/* Flips bytes of a descriptor, one at a time, as it is and with the checksum mended, and reads each; what is not refused
   has to run. For sanitizers. Arguments: descriptor, first byte, stride. Prints byte, flip, and 1 where it ran with the
   checksum mended, 0 where it was refused. */

#include "library.c"

static double read_time;

static void run_model(Model *model, Interface interface)
{
    double values[8];
    Instance *s = mbfmu_instantiate(model, "damaged", interface == CO_SIMULATION, 1, NULL, NULL);
    if (!s) return;
    mbfmu_set_up_experiment(s, "setUp", 0, 0, 0, 0, 0);
    mbfmu_enter_initialization(s, "enter");
    if (mbfmu_exit_initialization(s, "exit") == STATUS_OK && s->now->interface == CO_SIMULATION) {
        if (mbfmu_do_step(s, "doStep", 0, 0.01) == STATUS_OK) mbfmu_do_step(s, "doStep", 0.01, 0.2);
    } else if (s->now->phase == EVENT_MODE) {
        EventInfo info;
        new_discrete_states(s, "events", &info);
    }
    for (int i = 0; i < nreals(s->model); ++i) {
        unsigned reference = (unsigned)i;
        mbfmu_get_reals(s, "get", &reference, 1, values);
        mbfmu_set_reals(s, "set", &reference, 1, values);
    }
    for (int i = 0; i < nstrings(s->model); ++i) {
        unsigned reference = (unsigned)i;
        const char *text;
        if (mbfmu_get_strings(s, "get", &reference, 1, &text) == STATUS_OK) read_time += (double)strlen(text);
    }
    mbfmu_terminate(s, "terminate");
    mbfmu_free(s);
}

static int try_descriptor(const char *bytes, size_t size)
{
    const char *wrong = NULL;
    Model *model = mbfmu_load(bytes, size, &wrong);
    if (!model) {
        if (!wrong || !*wrong) exit(3);
        return 0;
    }
    run_model(model, CO_SIMULATION);
    run_model(model, MODEL_EXCHANGE);
    mbfmu_unload(model);
    return 1;
}

int main(int argc, char **argv)
{
    Host host = {NULL, NULL, NULL, NULL};
    size_t size = 0;
    char *bytes = argc == 4 ? read_file(&host, argv[1], &size) : NULL;
    if (!bytes || !try_descriptor(bytes, size)) return 1;
    for (size_t i = (size_t)atol(argv[2]); i < size; i += (size_t)atol(argv[3])) {
        DescriptorHeader header;
        char kept = bytes[i];
        unsigned char flips[] = {1, 0x80, 0xff};
        for (int k = 0; k < 3; ++k) {
            fprintf(stderr, "byte %lu, flip %d\n", (unsigned long)i, k);
            bytes[i] = (char)(kept ^ flips[k]);
            if (try_descriptor(bytes, size)) exit(2); /* the checksum has seen nothing */
            memcpy(&header, bytes, sizeof header);
            unsigned long long before = header.checksum;
            header.checksum = checksum(bytes + sizeof header, size - sizeof header);
            memcpy(bytes, &header, sizeof header);
            printf("%lu %d %d\n", (unsigned long)i, flips[k], try_descriptor(bytes, size));
            header.checksum = before;
            memcpy(bytes, &header, sizeof header);
            bytes[i] = kept;
        }
    }
    /* Every shorter one, as after a broken download. */
    for (size_t shorter = 0; shorter < size; shorter += 1 + size / 100)
        if (try_descriptor(bytes, shorter)) exit(4);
    free(bytes);
    return 0;
}
