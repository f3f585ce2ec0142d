/* Judges: engines whose code is not ours. They are reference engines: scored and shown, but they
 * decide no verdict. A judge's answer is used as it is.
 *
 * A judge is a row, `struct judge`: where its program is, how it is asked, how its answer is read.
 * What all of them need is done once, in judge.c: finding and starting the program, keeping it
 * running, time limits, the version, and the class of each frame.
 *
 * Every judge works in a staging folder of its own that holds the case's dump and, next to it
 * without subfolders, the case's images and PDBs, because such tools look there first. Only a
 * second image of one name, and its PDB, are in a subfolder, which is named by the image's code id.
 */
#ifndef ENGINE_JUDGE_H
#define ENGINE_JUDGE_H

#include "base/process.h"
#include "engine/engine.h"
#include "engine/microsoft.h"

/* A staging folder.  `dump` is the dump's name inside it, or NULL when the case has none. `lasts`:
 * it belongs to a pool and serves other cases as well. */
struct judge_stage {
    const char *folder, *dump;
    bool lasts;
};

struct judge;

/* One question about one case. */
struct judge_work {
    const struct judge *judge;
    const struct engine_input *in;
    const struct judge_stage *stage;
    struct arena *keep;
    struct engine_result *out;
    struct fault *fault;
};

struct judge_question {
    const char *const *argv; /* the whole command; NULL: what the row says */
    const char *input;       /* for its standard input; NULL: the names of dump and folder */
    const char *again;       /* in place of INPUT for a program that did not understand it; NULL */
    uint32_t lines;          /* of the answer to INPUT, by a program that keeps running */
    void *own;               /* what `read` needs */
};

enum judge_home {
    JUDGE_OF_HOST,    /* a program of this system, found in PATH */
    JUDGE_OF_WINDOWS, /* one of ours, in the folder of judges; not on Windows, a launcher runs it */
    JUDGE_OF_LAUNCHER, /* comes with the launcher (Wine), which finds it */
};

enum { JUDGE_FILES_MAX = 6 };

struct judge {
    struct engine engine; /* the first member; JUDGE_ENGINE has what is the same for all */
    enum judge_home home;
    const char *const
        *programs;           /* NULL-ended: the first that is there; NULL: `argv` of a question */
    const char *program_x86; /* for dumps of x86, where that is there; NULL: the same one */
    const char *absent;      /* why there is no answer when there is no program */
    const char *const *arguments; /* NULL-ended; "{dump}" is the dump's name */
    const char *const *serves; /* arguments with which it keeps running and answers in lines; NULL:
                                * it is started for each question */
    const char *folder;        /* of the program and its files, inside the stage; NULL: the stage */
    enum microsoft_file files[JUDGE_FILES_MAX]; /* of Microsoft's, which it loads from there */
    uint32_t file_count;
    const char *overrides; /* WINEDLLOVERRIDES instead of those of the launcher; NULL: those */
    const char *word;  /* it is slow and asked only if TWINSTACK_JUDGES has this; NULL: always */
    bool asks_version; /* `--version` prints it; else the answer has it */
    /* True when the same question about the same images and PDBs has the same answer: it is then
     * kept, and costs nothing the next time. `read` must not write into it. NULL: never. */
    bool (*repeats)(const struct crash_case *crash);
    /* NULL: it judges cases that have a dump. */
    bool (*concerns)(const struct engine_input *in, const char **why);
    /* Makes the question; NULL: it needs nothing but the stage. */
    enum status (*prepare)(const struct judge_work *w, struct judge_question *out);
    /* Reads the answer into w->out; NULL: judge_read_answer(). */
    enum status (*read)(const struct judge_work *w, const struct judge_question *question,
                        char *answer, size_t bytes);
};

#define JUDGE_ENGINE .kind = ENGINE_KIND_JUDGE, .available = judge_available, .run = judge_run

/* engine.available and engine.run of every judge, and engine.starts of one that serves. */
bool judge_available(const struct engine *self, const struct engine_input *in, const char **why);
enum status judge_run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                      struct engine_result *out, struct fault *fault);
enum status judge_starts(const struct engine *self, const struct engine_input *in,
                         struct arena *keep, struct fault *fault);

enum { JUDGE_LIMIT_MS = 60000, JUDGE_WORDS_MAX = 32 };

/* True when the case has a dump; else *why gives the reason. */
bool judge_has_dump(const struct engine_input *in, const char **why);

/* ---- judge_kept.c ----------------------------------------------------------------------- */

/* What PROGRAM prints as its version, in KEEP; NULL: it does not say. It is kept in the cache of
 * STORE, where a changed program has another one; STORE NULL: it is asked each time. */
const char *judge_version(const char *program, const struct symbol_store *store,
                          struct arena *keep);

/* Where the answer to REQUEST is kept; NULL: nowhere. It belongs to the program as it is now, its
 * arguments and input, and the case's images and PDBs. */
const char *judge_answer_key(const struct judge_work *w, const struct process_request *request);

/* NULL: there is none, or KEY is NULL. */
char *judge_answer_kept(const struct judge_work *w, const char *key);
void judge_answer_keep(const struct judge_work *w, const char *key, const char *answer);

/* ---- judge_answer.c --------------------------------------------------------------------- */

/* Reads what a judge printed: {"error"}, which is ERR_IO, or {schema_version, version, times,
 * threads: [{id, crashed, left_out, frames}]} as in victims/harness/judge/README.md, or another
 * notation that stacks/ reads. */
enum status judge_read_answer(const char *text, size_t bytes, const char *engine,
                              struct arena *keep, struct engine_result *out, struct fault *fault);

/* Sets each frame's class (whose code it is) by our own symbols: a judge's answer is scored by the
 * functions of the case's own code, and no judge knows which those are. Frames that name a module
 * get its identity from the dump's module list. */
void judge_classify(const struct engine_input *in, struct engine_result *out);

/* True when frame NEXT begins another physical frame than FIRST and those after it. */
typedef bool judge_begins_fn(const struct frame *frames, uint32_t first, uint32_t next);

/* Of a tool that prints addresses (pc_va), functions and lines: the module of the dump that each
 * frame is in, its offset, and which frames are inlined. */
void judge_place_frames(struct stack *stack, judge_begins_fn *begins,
                        const struct dump_session *session);

/* ---- judge_stage.c, judge_place.c ------------------------------------------------------ */

/* Creates the folder and links the case's files into it, or takes the folder of IN->judges that has
 * them. Fails: ERR_IO, ERR_MEMORY. */
enum status judge_stage_open(const struct engine_input *in, struct arena *keep,
                             struct judge_stage *out, struct fault *fault);
void judge_stage_close(const struct judge_stage *stage);

/* Links one more file into it, under its own name. */
enum status judge_stage_add(const struct judge_stage *stage, const char *path, struct arena *keep,
                            struct fault *fault);

/* Links file INDEX of the case to its place in the stage. */
enum status judge_stage_put(const struct judge_stage *stage, const struct crash_case *crash,
                            uint32_t index, struct arena *keep, struct fault *fault);

/* Where the stage has the image, relative to its folder; NULL: it does not have it. CODE_ID NULL or
 * "": the first of that name. */
const char *judge_staged_image(const struct judge_stage *stage, const char *name,
                               const char *code_id, struct arena *keep);

#endif
