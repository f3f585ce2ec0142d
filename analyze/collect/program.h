/* What a Windows program is, and its host; private to this room. */
#ifndef COLLECT_PROGRAM_H
#define COLLECT_PROGRAM_H

#include "base/arena.h"
#include "base/fault.h"

/* The variant in a file's name such as START "ob2.exe"; NULL: another file, or memory is out. */
const char *program_variant(const char *name, const char *start, struct arena *keep);

/* PE_MACHINE_* of a program; 0: none that can be read. */
uint32_t program_machine(const char *program);

/* Operating system and processor in words. */
enum status host_describe(struct arena *keep, const char **os, const char **cpu,
                          struct fault *fault);

#endif
