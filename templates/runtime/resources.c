/* The model of an FMU whose equations are interpreted: a file in its resources. */

#include "resources.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "descriptor.h"
#include "library.h"
#include "memory.h"

/* The value of a hexadecimal digit, or -1. */
static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10
        : -1;
}

INTERNAL char *descriptor_path(const Host *host, const char *resources)
{
    const char *name = "/" DESCRIPTOR_FILE, *from = resources;
    char *path = host_allocate(host, strlen(resources) + strlen(name) + 1), *to = path;
    if (!path) return NULL;
    if (strncmp(from, "file:", 5) == 0) {
        from += 5;
        if (strncmp(from, "//localhost/", 12) == 0) from += 11;
        else if (strncmp(from, "///", 3) == 0) from += 2;
#ifdef _WIN32
        if (from[0] == '/' && from[1] && from[2] == ':') ++from;
#endif
        for (; *from; ++from) {
            if (*from == '%' && digit(from[1]) >= 0 && digit(from[2]) >= 0) {
                *to++ = (char)(16 * digit(from[1]) + digit(from[2]));
                from += 2;
            } else {
                *to++ = *from;
            }
        }
    } else {
        for (; *from; ++from) *to++ = *from;
    }
    while (to > path + 1 && (to[-1] == '/' || to[-1] == '\\')) --to;
    strcpy(to, name);
    return path;
}

#ifdef _WIN32
#include <wchar.h>
__declspec(dllimport) int __stdcall MultiByteToWideChar(unsigned page, unsigned long flags, const char *text,
                                                        int length,
                                                        wchar_t *wide, int capacity);

/* Paths are UTF-8, which fopen of Windows is not. */
static FILE *open_file(const char *path)
{
    wchar_t wide[1024];
    return MultiByteToWideChar(65001, 0, path, -1, wide, 1024) ? _wfopen(wide, L"rb") : NULL;
}
#else
static FILE *open_file(const char *path) { return fopen(path, "rb"); }
#endif

/* The content of a file, in memory of the host; NULL where it cannot be read. */
static void *read_file(const Host *host, const char *path, size_t *size)
{
    char *content = NULL;
    long length;
    FILE *file = open_file(path);
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)length;
        content = host_allocate(host, *size);
        if (content && fread(content, 1, *size, file) != *size) {
            host_release(host, content);
            content = NULL;
        }
    }
    fclose(file);
    return content;
}

INTERNAL Model *open_model(const Host *host, const char *resources, void **memory, const char **wrong)
{
    size_t size = 0;
    char *path;
    *memory = NULL;
    *wrong = "fmuResourceLocation is missing: it says where the FMU's equations are";
    if (!resources || !*resources) return NULL;
    *wrong = "no memory";
    path = descriptor_path(host, resources);
    if (!path) return NULL;
    *memory = read_file(host, path, &size);
    host_release(host, path);
    *wrong = "the file " DESCRIPTOR_FILE " cannot be read in the folder of fmuResourceLocation";
    return *memory ? load_model(host, *memory, size, wrong) : NULL;
}
