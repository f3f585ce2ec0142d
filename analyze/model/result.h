/* The result of comparing a case's stacks with its truth and with each other:
 * claims go in (what each engine said), a result comes out (aligned rows, findings, scores,
 * verdict).  Filled by compare, kept by store, shown by report and the dashboard. */
#ifndef MODEL_RESULT_H
#define MODEL_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/case.h"
#include "model/fields.h"
#include "model/finding.h"
#include "model/stack.h"

/* The maximum number of engines in one case, and in one run. engines.c checks that ours fit;
 * code that meets more fails with ERR_LIMIT, so that no claim is dropped silently. */
enum { CLAIMS_MAX = 64 };

/* Who produced an engine's stack. The first part of the engine's name states it: "offset:rtl". */
enum engine_kind {
    ENGINE_KIND_OTHER,  /* stacks given directly, and names written by newer programs */
    ENGINE_KIND_OFFSET, /* a walker inside the dying process; symbols are ours */
    ENGINE_KIND_DUMP,   /* our own reader and unwinder */
    ENGINE_KIND_JUDGE,  /* another program */
    ENGINE_KIND_COUNT
};

/* The engines under test, as they are stored: what SQL compares with.  A test holds the table of
 * engines to them. */
#define ENGINE_NAME_OFFSET "offset:rtl"
#define ENGINE_NAME_DUMP "dump"

/* The other programs that read and walk the dump, NULL at the end. Figures compare with the first
 * that gave a stack: where the user has Microsoft's dbghelp, that is what a debugger on Windows
 * costs. */
extern const char *const engine_dump_readers[];
bool engine_reads_dump(const char *engine);

/* What engines can have in common. Engines that share a part count as one when they agree on it. */
enum engine_share {
    ENGINE_SHARES_SYMBOLS = 1,          /* our symbol lookup: names, lines, inline frames      */
    ENGINE_SHARES_SYSTEM_UNWINDER = 2,  /* walks with the unwinder of the system it runs on */
    ENGINE_SHARES_DUMP_WALK = 8,        /* walks the dump with our unwinder, as `dump` does */
    ENGINE_SHARES_RECORD_FRAMES = 4,    /* takes the physical frames of the record's first walk */
    ENGINE_SHARES_RECORD = 16,          /* what our capture wrote into the record, and its reader */
    ENGINE_SHARES_DUMP = 32,            /* what the writer of the dump wrote */
    ENGINE_SHARES_DUMP_READER = 64,     /* our reader of dumps; at least its module list */
    ENGINE_SHARES_SYSTEM_DBGHELP = 128, /* dbghelp of the system: Wine's under Wine */
    ENGINE_SHARES_MICROSOFT_DBGHELP = 256,
    ENGINE_SHARES_LLVM = 512,         /* LLVM's reader of PDBs */
    ENGINE_SHARES_SYMBOL_FILES = 1024 /* the files with names and lines */
};

/* Who counts as one voter when engines disagree: what blame goes by, and what the report prints. */
enum engine_vote { VOTE_LOOKUP, VOTE_SYMBOL_FILE, VOTE_UNWINDER, VOTE_RECORD, ENGINE_VOTES };

struct engine_vote_row {
    const char *part, *engines, *when; /* words: the part, who shares it, when they are one */
    uint32_t shares; /* enum engine_share; 0: not known by what an engine shares */
};
extern const struct engine_vote_row engine_votes[ENGINE_VOTES];

/* How the versions of one engine are written where a run has two or more: "A and B", "A and one
 * without a name", "several". */
#define ENGINE_VERSIONS_AND " and "
#define ENGINE_VERSIONS_UNNAMED "one without a name"
#define ENGINE_VERSIONS_SEVERAL "several"

/* What one engine said about one case. */
struct engine_claim {
    const char *engine; /* "offset:rtl", "dump", "judge:..."                 */
    enum engine_kind kind;
    uint32_t parts;       /* the same as flags, enum engine_share                 */
    const char *shares;   /* our code that it shares with other engines; NULL: none */
    const char *version;  /* of a judge's program; of an engine that reads the dump, the writer that
                           * the dump names; NULL: it is not stated */
    bool subject;         /* decides the verdict; else a reference             */
    bool skipped;         /* not asked; `why` gives the reason */
    const char *why;      /* also the reason for a failure; NULL */
    struct stack *stacks; /* suspect first; for hangs every thread and sample */
    uint32_t stack_count;
    struct engine_cost cost;
};

/* How one cell of the alignment table compares with the truth's cell or, if the row has no truth,
 * with the reference engine's. */
enum cell_mark {
    CELL_GAP,      /* no frame here, and none was demanded */
    CELL_SAME,     /* agrees at every level that could be judged                 */
    CELL_LINE,     /* same function, another file or line                        */
    CELL_FUNCTION, /* same place in the stack, another function                  */
    CELL_PHYSICAL, /* another address, module or kind                            */
    CELL_MISSING,  /* a gap where a frame was demanded                           */
    CELL_EXTRA,    /* a frame that the other side lacks                          */
    CELL_UNJUDGED, /* shown only: there is nothing to compare it with */
    CELL_MARK_COUNT
};

struct align_cell {
    int32_t frame; /* index in the column's frames; -1: gap */
    enum cell_mark mark;
    enum cause cause; /* CAUSE_NONE while nothing differs      */
};

/* One thread, all columns side by side.  Column 0 is the truth, column 1 + i is claim i.
 * A frame that some stack lacks is a gap in that column and shifts no other frame. */
struct thread_result {
    uint32_t thread_id;
    const char *name; /* NULL: unknown */
    enum thread_role role;
    const char *role_word;            /* of THREAD_ROLE_NAMED; else NULL      */
    const struct truth_thread *truth; /* NULL: the truth does not have this thread */
    const struct stack **stacks;      /* claim_count; NULL: that engine has no stack */
    uint32_t row_count, column_count; /* 1 + claim_count           */
    uint32_t reference;               /* column that the others were compared with; 0: none */
    struct align_cell *cells;         /* row_count x column_count, row by row  */
};

/* How well one engine did on one case. */
struct engine_score {
    const char *engine;
    enum engine_kind kind;
    bool subject;
    bool apart;             /* a finding that is not kept with the case says so: case_is_apart() */
    enum stack_state state; /* of the suspect's stack      */
    const char *reason;     /* why there is no stack; NULL */
    ENGINE_SCORE_FIELDS(FIELD_MEMBER)
};

struct case_result {
    enum verdict verdict;
    const char *reason;    /* one line: why this verdict                 */
    const char *right;     /* which engines are right: "all", "offset:rtl", ...; NULL: unknown */
    const char *signature; /* of the failing findings, for `accept`; NULL */
    struct thread_result *threads; /* suspect first */
    uint32_t thread_count;
    struct engine_score *scores; /* one per claim, in their order */
    uint32_t score_count;
    struct finding *findings;
    uint32_t finding_count;
};

/* From a whole engine name, or NULL. */
enum engine_kind engine_kind_of(const char *engine);

const char *engine_kind_name(enum engine_kind kind); /* "offset", "dump", "judge", "other" */

/* The parts that a claim states, else those that all engines of its kind share. */
uint32_t engine_claim_parts(const struct engine_claim *claim);

const char *cell_mark_name(enum cell_mark mark); /* "gap", "same", ... */

/* The cell at ROW and COLUMN. */
const struct align_cell *thread_result_cell(const struct thread_result *thread, uint32_t row,
                                            uint32_t column);

/* The reverse lookup, for names that are stored or typed; false when the word is unknown. */
bool verdict_parse(const char *name, enum verdict *out);
bool cause_parse(const char *name, enum cause *out);

#endif
