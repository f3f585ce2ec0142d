/* A database in memory, with the arena and the fault that tests of stored runs need. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "store/store.h"
#include "test.h"

struct store_fixture {
    struct arena keep;
    struct fault fault;
    struct store *store;
};

static inline void store_set_up(struct store_fixture *f)
{
    static const struct fault none = FAULT_INIT;
    f->fault = none;
    arena_init(&f->keep, 0);
    REQUIRE(store_open(":memory:", STORE_WRITE, &f->store, &f->fault) == ERR_NONE);
}

/* A database in a file; returns its path. */
static inline const char *store_set_up_file(struct store_fixture *f, const char *name)
{
    static const struct fault none = FAULT_INIT;
    f->fault = none;
    arena_init(&f->keep, 0);
    const char *path = arena_printf(&f->keep, "%s/%s", test_scratch(), name);
    REQUIRE(store_open(path, STORE_WRITE, &f->store, &f->fault) == ERR_NONE);
    return path;
}

static inline void store_tear_down(struct store_fixture *f)
{
    CHECK_EQ(f->fault.code, ERR_NONE);
    store_close(f->store);
    arena_free(&f->keep);
}

#endif
