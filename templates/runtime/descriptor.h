/* Reading a model. */

#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

#include "runtime.h"
#include "tape.h"

typedef struct {
    Model *model;
    const Tables *tables;
    const char *at, *end;
    const char *wrong;
} Reader;

/* In front of a descriptor. */
typedef struct {
    char magic[8];
    unsigned contract, units;       /* length of what follows, in 8 bytes */
    unsigned long long checksum;    /* of what follows */
} DescriptorHeader;

/* Sum of the words of 8 bytes, each with an odd weight of its own: no change of one word goes unseen. Bytes that are left
   at the end count as a word. */
INTERNAL unsigned long long checksum(const void *data, size_t size);

INTERNAL int read_ints(Reader *s, const int **table, long n, int least, int most);
INTERNAL int read_doubles(Reader *s, const double **table, long n);

/* Texts stand one after the other, each with a zero at its end, behind the number of their bytes. */
INTERNAL int read_texts(Reader *s, const char ***table, long n);

/* Names of variables: how many bytes of the name before are the begin of this one, the other bytes, a zero. Few are ever
   read (name_of). */
INTERNAL int read_names(Reader *s, const char **table, long n);

/* All tables, one after the other (contract.c). */
INTERNAL int read_tables(Reader *s);

/* A function's arguments and results (contract.c). */
INTERNAL void function_shape(const Reader *s, int function, Shape *shape);

INTERNAL void free_model(Model *model);

/* Read a model. `data` begins at a multiple of 8 bytes and stays where it is as long as the model lives. Returns NULL
   where it is damaged or there is no memory, and says in `wrong` what the matter is. */
INTERNAL Model *load_model(const Host *host, const void *data, size_t size, const char **wrong);

#endif
