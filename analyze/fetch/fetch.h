/* Files from symbol servers, over HTTP, into a cache folder.
 *
 * This room knows how servers are asked and how a cache is kept; it knows nothing of the files'
 * formats. The caller states under which keys servers may have a file, and checks the file that was
 * downloaded.
 *
 * The cache folder has the layout of a symbol server (app.pdb/ID/app.pdb), so that any other tool
 * can read it. Its own notes are in the folder ".twinstack":
 *   part/HASH         a download that is not finished, and what is needed to resume it
 *   missing/HASH      a server's answer "no such file"; it counts for missing_ms
 *   wrong/...         quarantine: files that a server sent and that were not what was wanted
 *   lock/XX           locks, so that two processes do not download the same file
 * A file appears under its own name whole, by one rename, or not at all.
 *
 * Keys: https://github.com/dotnet/symstore/blob/main/docs/specs/SSQP_Key_Conventions.md,
 * https://sourceware.org/elfutils/Debuginfod.html */
#ifndef FETCH_H
#define FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "fetch/symbol_path.h"

enum {
    FETCH_KEYS_MAX = 10,
    FETCH_KEY_BYTES = 512,
    FETCH_PARALLEL = 8,                /* requests at once, unless options say otherwise      */
    FETCH_LIMIT_MS = 10 * 60 * 1000,   /* one file, with all retries, unless options say so   */
    FETCH_STALL_MS = 10 * 1000,        /* a transfer without a byte for this long is given up */
    FETCH_ATTEMPTS_MAX = 4,            /* without a new byte; a cut that brought some is free */
    FETCH_MISSING_MS = 60 * 60 * 1000, /* how long a file counts as absent from a server */
};
#define FETCH_LIMIT_BYTES ((uint64_t)8 << 30)

enum fetch_event_kind {
    FETCH_EVENT_PROGRESS, /* of all downloads under way; at most ten per second */
    FETCH_EVENT_LOADED,   /* a file came and is in the cache */
    FETCH_EVENT_FAULT,    /* a wrong file, a server that does not answer, a limit */
};

struct fetch_event {
    enum fetch_event_kind kind;
    const char *name;            /* the file's place below the cache */
    const char *text;            /* one line for the user; NULL for progress */
    uint64_t bytes, total_bytes; /* progress; total 0: unknown */
    uint32_t running;            /* progress: downloads under way */
};

/* Called on any thread, one call at a time. */
typedef void fetch_event_fn(void *context, const struct fetch_event *event);

struct fetch_options {
    const char *cache;     /* the usual cache, for chains that name none; NULL: there is none */
    bool offline;          /* use only the caches */
    uint32_t parallel;     /* 0: FETCH_PARALLEL */
    uint32_t limit_ms;     /* 0: FETCH_LIMIT_MS */
    uint32_t missing_ms;   /* 0: FETCH_MISSING_MS */
    uint64_t limit_bytes;  /* 0: FETCH_LIMIT_BYTES */
    fetch_event_fn *event; /* NULL: no events */
    void *context;
};

enum fetch_form {
    FETCH_WHOLE,      /* the file, also in a cabinet: the check unpacks it */
    FETCH_POINTER,    /* file.ptr: "PATH:" and where the file is, or "MSG:" and why there is none */
    FETCH_DEBUGINFOD, /* a key of debuginfod; the others are of symbol servers */
};

struct fetch_key {
    char path[FETCH_KEY_BYTES]; /* below the server's address, not yet escaped */
    enum fetch_form form;
};

enum fetch_result {
    FETCH_CACHED,      /* it was there */
    FETCH_LOADED,      /* it came */
    FETCH_ABSENT,      /* no server has it; perhaps as known from before */
    FETCH_OFFLINE,     /* not in a cache, and servers may not be asked */
    FETCH_WRONG,       /* a server sent something else; it is in quarantine */
    FETCH_UNREACHABLE, /* a server did not answer, and no other one has it */
    FETCH_REFUSED,     /* over a limit, refused by a server, or it cannot be written */
};

/* Checks that the file at PATH, which will be called PLACE, is the right one and whole. May replace
 * it with the file that is packed in it. Runs on any thread. Fails: ERR_MISMATCH another file; or
 * the damage. */
typedef enum status fetch_check_fn(const void *context, const char *path, struct fault *fault);

struct fetch_file {
    char place[FETCH_KEY_BYTES];           /* below the cache */
    struct fetch_key keys[FETCH_KEYS_MAX]; /* most likely first */
    uint32_t key_count;
    fetch_check_fn *check;
    const void *context;
    enum fetch_result result;    /* filled by fetch_files(), like what follows */
    char path[FAULT_PATH_BYTES]; /* where it is; of a wrong file: in quarantine */
    char text[400];              /* what happened, for the user */
};

struct fetch;

/* Fails: ERR_MEMORY. */
enum status fetch_open(const struct fetch_options *options, struct fetch **out,
                       struct fault *fault);
void fetch_close(struct fetch *fetch);

/* Adds the servers of a chain, and makes its cache folder. Only with the first URL is libcurl,
 * or on Windows WinHTTP, looked for. Fails: ERR_UNSUPPORTED there is none, or no cache; ERR_IO;
 * ERR_LIMIT; ERR_MEMORY. *CACHE: the folder of the downloads, or NULL for a chain without URLs. */
enum status fetch_add(struct fetch *fetch, const struct symbol_path_element *chain,
                      const char **cache, struct fault *fault);
bool fetch_has_servers(const struct fetch *fetch);

/* Sets the key of a file; false when a part cannot be a name on a server, such as "..", since names
 * come from dumps. */
bool fetch_key_set(char out[FETCH_KEY_BYTES], const char *name, const char *id, const char *file);

/* Gets all files, several at once. Every one has its result afterwards. */
void fetch_files(struct fetch *fetch, struct fetch_file *files, uint32_t count);

#endif
