/* A case: one run of one scenario in one variant, sealed in a folder SCENARIO.VARIANT.
 *
 * case.json  what ran, what was expected, what happened, every file with its SHA-256
 * truth.json the logical frames as the victim stated them before it died
 * record, dump, stdout, and images and PDBs (or links into a symbol store beside it)
 * seal       the SHA-256 of case.json
 *
 * A case never changes; analysing again reads it and the symbols, nothing else.
 * Reading verifies the seal and every file's size; case_verify() also the hashes. */
#ifndef MODEL_CASE_H
#define MODEL_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/files.h"
#include "model/cpu.h"
#include "model/hook.h"
#include "model/stop.h"

enum { CASE_SCHEMA_VERSION = 1 };

enum case_role {
    ROLE_RECORD,
    ROLE_DUMP,
    ROLE_TRUTH,
    ROLE_IMAGE,
    ROLE_PDB,
    ROLE_STDOUT,
    ROLE_OTHER,
};

/* What a scenario does. */
enum case_kind {
    CASE_KIND_NONE, /* not stated, or a word of a newer program */
    CASE_KIND_CRASH,
    CASE_KIND_HANG,
    CASE_KIND_CALM,   /* nothing that a capture may mistake for a crash */
    CASE_KIND_STACKS, /* no case: stacks given by hand */
    CASE_KIND_COUNT
};

/* The exit codes of victims/victim.h: its fault did not end the victim; a file that it loads is
 * missing, whose name is the last line of what it printed. */
enum { CASE_EXIT_SURVIVED = 77, CASE_EXIT_LACKS_FILE = 78 };

/* How a victim's run ended. */
enum case_ending { CASE_ENDING_NONE, CASE_ENDING_EXIT, CASE_ENDING_TIME_LIMIT, CASE_ENDING_COUNT };

/* Entries of a stated truth that are not frames. */
enum truth_gap {
    TRUTH_GAP_NONE, /* a frame */
    TRUTH_GAP_SYSTEM,
    TRUTH_GAP_THREAD_START,
    TRUTH_GAP_ELIDED, /* frames that were left out */
    TRUTH_GAP_COUNT
};

struct case_file {
    enum case_role role;
    const char *path; /* relative to the case's folder, '/' separated */
    uint64_t bytes;
    char sha256[65];
    struct file_map map; /* of case_map(); data NULL: it is not open */
    uint64_t map_ns;     /* what opening it took */
};

struct named_version {
    const char *name, *version;
};

struct crash_case {
    const char *folder; /* where it was read from */
    const char *scenario, *variant;
    enum cpu arch;
    enum case_kind kind;
    struct {
        uint64_t code;         /* exception code; 0: none expected */
        uint64_t exit_code;    /* full 32 bits                     */
        uint32_t hooks;        /* a set, see model/hook.h           */
        const char **subjects; /* engines that the capture declares; none: all subjects */
        uint32_t subject_count;
        const char *output; /* all that a calm program prints; NULL: not stated */
    } expect;
    struct {
        uint64_t code; /* as in the record; 0: no record */
        uint64_t exit_code;
        uint32_t hooks;
        uint64_t wall_ms;
        enum case_ending ended_by;
    } got;
    struct {
        const char **images; /* file names of our own images */
        uint32_t image_count;
        const char *source_root; /* files compare relative to it */
    } own;
    struct {
        const char *os, *wine, *cpu;
    } host;
    struct {
        const char *compiler, *flags;
    } toolchain;
    struct named_version *tools;
    uint32_t tool_count;
    struct case_file *files;
    uint32_t file_count;
    const char *json; /* case.json, as it was sealed; NULL: it was not read */
    size_t json_bytes;
    const char *seal; /* its SHA-256; NULL as above */
};

/* The truth: logical frames, innermost first. */
struct truth_frame {
    const char *function, *file;
    uint32_t line;
    bool tail; /* no stack can have it: left by a tail jump (if the build uses that), inlined by the
                * JIT, or hidden by a collection */
    enum truth_gap gap; /* a mark, not a frame, unless TRUTH_GAP_NONE */
    uint32_t gap_count; /* number of frames that the mark replaces, if stated; else 0 */
};

struct truth_thread {
    uint32_t id;
    enum thread_role role;
    const char *role_word; /* of THREAD_ROLE_NAMED; else NULL */
    struct truth_frame *frames;
    uint32_t frame_count;
};

struct truth {
    struct truth_thread *threads;
    uint32_t thread_count;
};

/* Reads FOLDER/case.json and checks the seal.  Everything lives in KEEP.
 * Fails: ERR_ABSENT no case.json; ERR_MALFORMED; ERR_MISMATCH broken seal or a file of
 * another size; ERR_UNSUPPORTED newer schema_version. */
enum status case_read(const char *folder, struct arena *keep, struct crash_case *out,
                      struct fault *fault);

/* The bytes of FILE, one of C's. It is opened at the first question and stays so until
 * case_close(). NULL: FAULT says why, as file_map() does. */
const struct file_map *case_map(const struct crash_case *c, const struct case_file *file,
                                struct fault *fault);
void case_close(const struct crash_case *c);

/* A copy of the file of ROLE, which is there, with a NUL that *bytes does not count. NULL: FAULT
 * says why, as case_map() does; ERR_LIMIT: it has more than MOST bytes. */
char *case_text(const struct crash_case *c, enum case_role role, size_t most, struct arena *keep,
                size_t *bytes, struct fault *fault);

/* Hashes every file; leaves them open.  Fails: ERR_MISMATCH names the file. */
enum status case_verify(const struct crash_case *c, struct fault *fault);

/* Fills bytes and sha256 of every file, writes case.json and seal into FOLDER. */
enum status case_seal(const char *folder, struct crash_case *c, struct fault *fault);

/* The first file of a role; NULL: none. The full path in KEEP; NULL: the case has none. */
const struct case_file *case_file(const struct crash_case *c, enum case_role role);
char *case_path(const struct crash_case *c, enum case_role role, struct arena *keep);

/* A capture states which subjects it feeds; if it states none, it feeds all. */
bool case_declares(const struct crash_case *c, const char *engine);

/* The dump in its cheapest form; NULL: the case has none. */
const struct case_file *case_tuned_dump(const struct crash_case *c);

/* Fails like case_read; ERR_ABSENT when the case states no truth (imported dumps). */
enum status truth_read(const struct crash_case *c, struct arena *keep, struct truth *out,
                       struct fault *fault);

const char *case_role_name(enum case_role role);

/* "crash", "hang", "calm", "stacks"; NULL for none.  The reverse gives CASE_KIND_NONE for any other
 * text, and for NULL. */
const char *case_kind_name(enum case_kind kind);
enum case_kind case_kind_parse(const char *text);

enum case_ending case_ending_parse(const char *text);

/* "system", "thread_start", "elided"; NULL for a frame. A mark with any other name is read as
 * TRUTH_GAP_SYSTEM: frames that do not belong to the program. */
const char *truth_gap_name(enum truth_gap gap);
enum truth_gap truth_gap_parse(const char *text);

#endif
