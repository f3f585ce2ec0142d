/* MSVC's C++ decoration; use it through undecorate.h. A recursive descent in three files:
 * undecorate_msvc_text.c reads characters, undecorate_type.c types, undecorate_msvc.c names and
 * symbols.
 *
 * Every text lives in an arena of limited size, which bounds what back references can make of a
 * short name. Anything that is not understood sets `failed` and stops. */
#ifndef SYMBOL_UNDECORATE_MSVC_H
#define SYMBOL_UNDECORATE_MSVC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "symbol/undecorate.h"

/* NAME starts with '?'.  As undecorate(); 0: not understood to the last character. */
size_t undecorate_msvc(const char *name, enum symbol_names names, char *out, size_t out_bytes);

enum { MSVC_BACK_REFERENCES = 10, MSVC_DEPTH_MAX = 64 };

/* A type is written around the name it declares: int (*NAME)[3] is "int (*" and ")[3]". */
struct msvc_type {
    const char *before, *after;
    bool wraps; /* a function or an array: a pointer to it takes parentheses */
};

struct msvc {
    const char *at; /* next character */
    bool full;      /* with parameters */
    bool failed;
    int depth;
    /* The name of a type with its scopes.  A pointer, since types hold names and names hold types.
     */
    const char *(*type_name)(struct msvc *d);
    struct arena *arena;
    const char *names[MSVC_BACK_REFERENCES]; /* of the innermost template or the symbol */
    struct msvc_type types[MSVC_BACK_REFERENCES];
    uint32_t name_count, type_count;
};

/* Joins texts until NULL; "" when out of memory or over the limit. */
const char *msvc_join(struct msvc *d, const char *first, ...);

bool msvc_take(struct msvc *d, char c);
bool msvc_take_text(struct msvc *d, const char *text);
const char *msvc_fail(struct msvc *d); /* returns "" */

/* 0 to 9 mean 1 to 10; A to P are hexadecimal digits that '@' ends; '?' before: negative. */
int64_t msvc_number(struct msvc *d);

struct msvc_type msvc_read_type(struct msvc *d);

/* What follows a function's calling convention: result, parameters, exceptions.  *result may be
 * left NULL-filled for constructors. */
const char *msvc_convention(struct msvc *d);
struct msvc_type msvc_result(struct msvc *d);
const char *msvc_parameters(struct msvc *d); /* "(int, char)", also the exceptions */

/* Qualifiers of `this`: " const" and such; "" none. */
const char *msvc_this_qualifiers(struct msvc *d);

/* const and volatile as one letter A to D. */
const char *msvc_qualifiers(struct msvc *d);

#endif
