/* The truth mapping: what a victim says about its own stacks, shared with the launcher.
 *
 * One shadow stack per thread, filled by plain stores (HERE in shadow.h), so it survives any
 * death.  Entries hold pointers to string literals; the read-only data of every image that
 * states truth is copied into the mapping when it starts, so the mapping can be read
 * on its own.  Fixed width throughout: a 32-bit victim may have a 64-bit launcher. */
#ifndef VICTIMS_TRUTH_H
#define VICTIMS_TRUTH_H

#include <stdint.h>

enum {
    TRUTH_THREADS = 48,
    TRUTH_DEPTH = 32768, /* 1 MB of stack has no room for deeper calls with a HERE each */
    TRUTH_IMAGES = 32,
    TRUTH_TEXT_BYTES = 8 << 20,
    TRUTH_ROLE_BYTES = 32,
    TRUTH_MAGIC = 0x54525554,

    TRUTH_FLAG_TAIL = 1,         /* left by a jump: its frame is gone                    */
    TRUTH_FLAG_SYSTEM = 2,       /* mark: a run of system frames                         */
    TRUTH_FLAG_THREAD_START = 4, /* mark: below is what started the thread               */
    TRUTH_FLAG_GENERATED = 8,    /* mark: code made at run time                          */
    TRUTH_FLAG_LOST = 16, /* mark: the return address is destroyed, frames below are unknown */
};

struct truth_entry {
    volatile uint64_t function, file; /* va of literals in the victim */
    volatile uint32_t line, flags;
};

struct truth_stack {
    volatile uint32_t depth;
    uint32_t thread_id;
    volatile uint32_t suspect;
    volatile uint32_t left; /* the thread has switched to another stack: a fiber's */
    volatile int64_t value; /* carries HERE's value over its last store */
    char role[TRUTH_ROLE_BYTES];
    struct truth_entry entries[TRUTH_DEPTH];
};

struct truth_image {
    uint64_t va, bytes, text_offset;
};

struct truth_map {
    volatile uint32_t magic;
    volatile int32_t stack_count, image_count;
    volatile uint32_t text_used;
    struct truth_image images[TRUTH_IMAGES];
    char text[TRUTH_TEXT_BYTES];
    struct truth_stack stacks[TRUTH_THREADS];
};

/* Environment variables from the launcher to the victim. */
#define TRUTH_VARIABLE L"TWINSTACK_TRUTH"                /* name of the mapping           */
#define TRUTH_OUT_VARIABLE L"TWINSTACK_OUT"              /* folder of the capture         */
#define TRUTH_OFFSETS_VARIABLE L"TWINSTACK_OFFSETS_ONLY" /* set: no dump is written */
#define TRUTH_FULL_VARIABLE L"TWINSTACK_FULL_MEMORY"     /* set: a dump, of all memory */
#define TRUTH_WALKERS_VARIABLE L"TWINSTACK_WALKERS"      /* names, comma separated  */

#endif
