/* Sends what earlier runs left to a collector (`twinstack serve --collect`). For the next start of
 * the host: nothing of it runs in a dying process. Needs winhttp. */
#ifndef CAPTURE_UPLOAD_H
#define CAPTURE_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

struct capture_upload_options {
    uint32_t size;         /* sizeof(struct capture_upload_options): it grows at its end */
    const wchar_t *folder; /* of the captures                                            */
    const wchar_t *url;    /* https://HOST[:PORT]; http:// for tests                     */
    const char *token;     /* of the sender, as in --senders                             */
    const char *version;   /* of the program: letters, digits, '-', '_' and '.'; NULL: none */
    bool consent;          /* the user agreed; false: nothing is sent or removed         */
    uint32_t tries;        /* per request; 0: 5                                          */
    uint32_t wait_ms;      /* before the second try, doubled each time; 0: 1000          */
    uint32_t answer_ms;    /* the longest silence of the server; 0: 20000                */
    uint32_t limit_ms;     /* for all of it; 0: 300000                                   */
    uint64_t dump_bytes;   /* larger dumps are not sent; 0: 64 MiB, the collector's limit */
};

/* Why captures are left. SENDING.md says what to do about each. */
enum capture_upload_end {
    CAPTURE_UPLOAD_DONE = 0,        /* nothing is left                                   */
    CAPTURE_UPLOAD_NO_CONSENT = 1,  /* the user has not agreed                           */
    CAPTURE_UPLOAD_BAD_OPTIONS = 2, /* the size or the folder is none, or a word has other
                                     * characters than its comment allows */
    CAPTURE_UPLOAD_BAD_URL = 3,     /* the address is not http:// or https://            */
    CAPTURE_UPLOAD_NO_ANSWER = 4,   /* no server there, or it went silent                */
    CAPTURE_UPLOAD_TOKEN = 5,       /* the collector refuses the token (401, 403)        */
    CAPTURE_UPLOAD_NOT_NOW = 6,     /* the collector asks for a later try (408, 429, 5xx) */
    CAPTURE_UPLOAD_OUT_OF_TIME = 7, /* limit_ms is over                                  */
    CAPTURE_UPLOAD_OUT_OF_MEMORY = 8,
};

struct capture_upload_result {
    uint32_t sent;    /* captures that the collector has stored; their files are removed */
    uint32_t refused; /* captures that it will never take (400, 409, 413); the files stay */
    uint32_t left;    /* captures to be sent at a later start                            */
    uint32_t status;  /* the last answer's status; 0: none came                          */
    uint32_t end;     /* CAPTURE_UPLOAD_*                                                */
    uint32_t
        no_dump; /* CAPTURE_NO_DUMP_* of the last capture that has a record and no dump; 0: none */
};

/* Sends the dump, then the record of each capture in FOLDER, the oldest first, under an id made of
 * its name and its bytes: a repetition counts once. Files are removed only after the collector
 * answered that they are stored. Statuses 408, 429 and 5xx, and a connection that fails, are tried
 * again, after the Retry-After that the server states; once a request has failed for good this way,
 * or the token is refused (401, 403), the rest is left for a later start. Redirections are not
 * followed. Blocks for at most about limit_ms, whatever the server does: call it on a thread of
 * your own. A request that the network does not let go keeps its own thread, and its file open,
 * until the network or the process ends. On disk, captures stay below keep_count and keep_bytes of
 * capture_install(). Returns true if nothing is left. RESULT may be NULL. */
bool capture_upload(const struct capture_upload_options *options,
                    struct capture_upload_result *result);

#ifdef __cplusplus
}
#endif

#endif
