/* A finding: one difference between two stacks, with its cause; and the verdict of a
 * case, made from all of them.  A difference without a cause is UNEXPLAINED and fails
 * the run. */
#ifndef MODEL_FINDING_H
#define MODEL_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum finding_level { LEVEL_PHYSICAL, LEVEL_FUNCTION, LEVEL_LINE };

enum cause {
    CAUSE_NONE,
    CAUSE_TRUNCATED,       /* the walk stopped early, and says why                */
    CAUSE_EXTRA_SCAN,      /* a false frame, found by scanning                    */
    CAUSE_TAIL_CALL,       /* the caller left by a jump: it has no frame          */
    CAUSE_LOOKUP_ADDRESS,  /* pc and pc-1 name different functions or lines       */
    CAUSE_INLINE_ONLY,     /* only inline frames differ                           */
    CAUSE_FOLDED,          /* identical code folding or a thunk: an alias         */
    CAUSE_HANDLER_CONTEXT, /* context taken inside the handler                    */
    CAUSE_MODULE_UNLOADED, /* module gone, or two candidates for one address      */
    CAUSE_SYMBOLS_MISSING,
    CAUSE_SYMBOLS_MISMATCH,
    CAUSE_EXPORT_ONLY, /* nearest export: not a reliable name                 */
    CAUSE_GENERATED_CODE,
    CAUSE_RECURSION_ELIDED,
    CAUSE_FRAME_POINTER, /* a frame-pointer chain that skips frames           */
    CAUSE_NOT_CAPTURED,  /* no record or no dump, where one was expected        */
    CAUSE_UNSUPPORTED_HERE,
    CAUSE_UNEXPLAINED,
    CAUSE_LINE_TABLE,   /* several rows for one place: readers choose differently */
    CAUSE_BEYOND_TRUTH, /* a frame below the last one that the truth can know */
    CAUSE_WRONG_STEP,   /* two walks leave the same frame for different callers   */
    CAUSE_RECORD_WRONG, /* the record contradicts itself or the case it belongs to */

    /* In managed code. */
    CAUSE_INLINED_BY_JIT,   /* its code is in its caller's, and no table says so */
    CAUSE_HIJACKED,         /* a collection redirected the return address: the walk ended */
    CAUSE_NO_TOKEN,         /* generated code that the map of methods does not have */
    CAUSE_SNAPSHOT_REFUSED, /* the runtime did not walk; the HRESULT is the evidence */
    CAUSE_COUNT
};

/* Its name and word; whether it fails a run, and whether a capture was to be made. */
#define VERDICTS(ROW)                                                                              \
    ROW(PASS, "PASS", false, true)                                                                 \
    ROW(FAIL, "FAIL", true, true)                                                                  \
    ROW(XFAIL, "XFAIL", false, true)                                                               \
    ROW(XPASS, "XPASS", true, true)                                                                \
    ROW(FLAKY, "FLAKY", true, true)                                                                \
    ROW(ERROR, "ERROR", true, false)                                                               \
    ROW(UNSUPPORTED, "UNSUPPORTED", false, false)                                                  \
    ROW(NOT_CAPTURED_AS_EXPECTED, "NOT-CAPTURED-AS-EXPECTED", false, false)

enum verdict {
#define VERDICT_NAME(NAME, WORD, FAILS, CAPTURES) VERDICT_##NAME,
    VERDICTS(VERDICT_NAME) VERDICT_COUNT
};

/* What made a difference: the part of the work that the evidence contradicts. */
enum blame {
    BLAME_UNKNOWN,        /* no engine is wrong, or no vote is possible */
    BLAME_WALK,           /* of one engine: frames lost or made up      */
    BLAME_SYMBOLS,        /* of one engine: another name or line        */
    BLAME_SYMBOLS_SHARED, /* of our lookup, which several engines share */
    BLAME_DUMP_READER,
    BLAME_RECORD,
    BLAME_TRUTH, /* all engines contradict the truth */
    BLAME_ALIGNMENT,
    BLAME_EVEN, /* as many voters on one side as on the other */
    BLAME_COUNT
};

/* What the engine's frame is where the other's at the same address is not. */
enum finding_kinds { KINDS_ALIKE, KINDS_RETURN, KINDS_INTERRUPTED };

/* What of symbols is wrong, where they are blamed. */
enum finding_part {
    PART_UNSTATED,  /* by older versions, or they are not blamed      */
    PART_UNDECIDED, /* only the truth contradicts them                */
    PART_READER,    /* another program reads the same file rightly    */
    PART_FILE,      /* it is missing, of another build, or no program reads it */
    FINDING_PARTS
};

/* What of a record or a dump is wrong, where it or its reader is blamed. */
enum finding_input { INPUT_UNSTATED, INPUT_PLACES /* where modules lie */ };

/* The parts of a finding's evidence that readers need by themselves: TEXT(member), NUMBER(type,
 * member). Set where the finding is made; what databases of older versions have of them is in the
 * text of the evidence alone (finding_read_evidence()). */
#define FINDING_FACTS(TEXT, NUMBER)                                                                \
    TEXT(module)  /* that has no symbols, or whose identity or place is stated wrongly */          \
    TEXT(file)    /* "app.pdb": of symbols that is missing, of another build or damaged */         \
    TEXT(sought)  /* where it was looked for */                                                    \
    TEXT(flaw)    /* "no such file was found": why it gives no symbols */                          \
    TEXT(left_by) /* "UWOP_SET_FPREG, UWOP_PUSH_NONVOL": by what the walks part */                 \
    NUMBER(enum finding_kinds, kinds)                                                              \
    NUMBER(uint32_t, more) /* alike rows below the finding's */                                    \
    NUMBER(enum finding_part, part)                                                                \
    NUMBER(enum finding_input, input)                                                              \
    NUMBER(int64_t, shift) /* by how many bytes modules lie too high; 0: unknown */

struct finding_facts {
#define FACT_TEXT(NAME) const char *NAME; /* NOLINT(bugprone-macro-parentheses) */
#define FACT_NUMBER(TYPE, NAME) TYPE NAME;
    FINDING_FACTS(FACT_TEXT, FACT_NUMBER)
#undef FACT_TEXT
#undef FACT_NUMBER
};

#define FINDING_TRUTH "truth" /* what a finding calls the truth, where else an engine's name is */

struct finding {
    enum finding_level level;
    enum cause cause;
    const char *engine;  /* whose stack                                  */
    const char *against; /* FINDING_TRUTH or another engine              */
    bool against_truth;
    const char *wrong; /* "truth" never; engine name, or NULL: unknown */
    int32_t frame_a;   /* position in the engine's stack; -1: gap      */
    int32_t frame_b;   /* position in the other; -1: gap               */
    uint32_t thread_id;
    uint32_t row;         /* in the thread's alignment table                     */
    bool fails;           /* a subject is wrong, or the cause is unknown: decides the verdict */
    const char *evidence; /* one line a reader can check                  */
    const char *module;   /* of the first frame that differs; NULL: unknown */
    const char *function; /* likewise; of the truth, if only that has the frame */
    enum blame blame;
    const char *blame_engine; /* whose walk, whose symbols; NULL for the others */
    const char *witnesses;    /* "dump, judge:dbghelp, truth": who disagrees; NULL: none */
    struct finding_facts facts;
};

/* The texts of a finding besides those of its facts. */
#define FINDING_TEXTS(TEXT)                                                                        \
    TEXT(engine)                                                                                   \
    TEXT(against)                                                                                  \
    TEXT(wrong) TEXT(evidence) TEXT(module) TEXT(function) TEXT(blame_engine) TEXT(witnesses)

/* A copy of F whose texts COPY made; it gets NULL, too. */
typedef const char *finding_text_fn(void *context, const char *text);
struct finding finding_copy(const struct finding *f, finding_text_fn *copy, void *context);

/* Fills F's facts from its evidence, as texts in KEEP: of findings that versions before schema 21
 * stored. */
void finding_read_evidence(struct finding *f, struct arena *keep);

const char *finding_level_name(enum finding_level level); /* "physical", "function", "line" */
const char *cause_name(enum cause cause);                 /* "tail_call", ...               */
const char *verdict_name(enum verdict verdict);           /* "PASS", "FAIL", ...            */

/* "walk of offset:rtl", "symbols of both ways", "truth suspect", ...; "" if it is unknown.  Returns
 * what to print, which is OUT or a constant. */
enum { BLAME_TEXT_BYTES = 128 };
const char *finding_blame_text(const struct finding *f, char out[BLAME_TEXT_BYTES]);

/* "symbols of both ways: our reader": the same, with what of symbols is wrong. */
const char *finding_fault_text(const struct finding *f, char out[BLAME_TEXT_BYTES]);

/* The same as databases have it: what was stored once stays. */
const char *finding_blame_stored(const struct finding *f, char out[BLAME_TEXT_BYTES]);

/* The reverse of both: fills `blame` and `blame_engine`, which borrows TEXT. */
void finding_blame_parse(const char *text, struct finding *f);

/* The finding that decides a failing case: of the first thread in which one fails, the failing one
 * in the first row. Later rows often only follow from it. NULL: none fails. */
const struct finding *finding_deciding(const struct finding *findings, uint32_t count);

/* In how many rows of threads a finding fails: one row may have several, of each stack against the
 * truth and of two stacks against each other. KINDS: only findings that it takes; NULL: all that
 * fail. 0 also when there is no memory. */
typedef bool finding_kind_fn(const void *context, const struct finding *f);
uint32_t finding_places(const struct finding *findings, uint32_t count, finding_kind_fn *kinds,
                        const void *context);

/* The findings by which a case is in its groups: the deciding one, and the first failing one, in
 * the same thread, of a fault that it cannot explain: a wrong step of a walk, where names or lines
 * at right addresses decide, or the reverse. Where REASON says that the case fails beyond what was
 * accepted, the deciding one is accepted: only the first failing one of another cause. NULL: there
 * is none. */
enum { FINDINGS_DECIDING = 2 };
void findings_deciding(const struct finding *findings, uint32_t count, const char *reason,
                       const struct finding *out[FINDINGS_DECIDING]);

#endif
