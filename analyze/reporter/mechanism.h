/* The ways in which a reporter's stack is wrong: one row each, in the order in which they are asked
 * for. A way is named only where it predicts the given stack exactly from what the dump states. */
#ifndef REPORTER_MECHANISM_H
#define REPORTER_MECHANISM_H

#include "model/finding.h"

/* The cause under which a run of a database counts it, NAME (in JSON), what is wrong, whose fault
 * it is, what to do about it. */
#define REPORTER_MECHANISMS(ROW)                                                                   \
    ROW(SOUND, CAUSE_NONE, "sound", "nothing is wrong", "none", "")                                \
    ROW(EMPTY, CAUSE_NOT_CAPTURED, "empty", "there is no frame", "capture",                        \
        "see why the capture failed")                                                              \
    ROW(WRONG_BUILD, CAUSE_SYMBOLS_MISMATCH, "wrong_build",                                        \
        "a module is stated with the identity of another build", "module list",                    \
        "read identities from the loaded image, not from a file on disk")                          \
    ROW(LOOKUP_ADDRESS, CAUSE_LOOKUP_ADDRESS, "lookup_address",                                    \
        "addresses are looked up in the wrong place", "lookup",                                    \
        "step back one byte from return addresses, and only from these")                           \
    ROW(OTHER_SYMBOLS, CAUSE_SYMBOLS_MISMATCH, "other_symbols",                                    \
        "the names are not those of this build's symbols", "symbols",                              \
        "send offsets, or name them with the symbols of the build that ran")                       \
    ROW(ABSOLUTE, CAUSE_RECORD_WRONG, "absolute_addresses",                                        \
        "addresses are absolute: no base was subtracted", "writer",                                \
        "subtract the base at which the module was loaded")                                        \
    ROW(PREFERRED_BASE, CAUSE_RECORD_WRONG, "preferred_base",                                      \
        "the preferred base is used in place of the loaded one", "writer",                         \
        "take the base from the loader, not from the header of the file")                          \
    ROW(LOW_32_BITS, CAUSE_RECORD_WRONG, "low_32_bits",                                            \
        "only the low 32 bits of addresses are kept", "writer",                                    \
        "keep addresses in 64 bits, unsigned, up to the subtraction")                              \
    ROW(SHIFTED, CAUSE_RECORD_WRONG, "shifted_offsets", "offsets are shifted by a constant",       \
        "writer", "count offsets from the base of the image in memory")                            \
    ROW(WRONG_MODULES, CAUSE_RECORD_WRONG, "wrong_modules",                                        \
        "addresses are right, their modules are not", "module list",                               \
        "read the list of modules at the crash, not before")                                       \
    ROW(REVERSED, CAUSE_RECORD_WRONG, "reversed", "the frames are in reverse order", "writer",     \
        "write the innermost frame first")                                                         \
    ROW(INLINES, CAUSE_INLINE_ONLY, "inlines_as_frames",                                           \
        "inline frames are written as frames of their own", "writer",                              \
        "write one frame per return address; inline frames come from symbols")                     \
    ROW(DUPLICATED, CAUSE_WRONG_STEP, "duplicated_frames", "frames are there more than once",      \
        "walker", "stop when neither address nor stack pointer changes")                           \
    ROW(FRAME_POINTERS, CAUSE_FRAME_POINTER, "frame_pointers",                                     \
        "a frame-pointer chain skips callers", "walker",                                           \
        "walk by unwind tables, or compile everything with frame pointers")                        \
    ROW(TRUNCATED, CAUSE_TRUNCATED, "truncated", "the stack ends too early", "walker",             \
        "raise the limit on frames, or see why the walk stops")                                    \
    ROW(DROPPED, CAUSE_WRONG_STEP, "dropped_frames", "frames are missing", "walker",               \
        "see which frames the walker skips")                                                       \
    ROW(HANDLER, CAUSE_HANDLER_CONTEXT, "handler_frames",                                          \
        "frames of the reporter's own handler are on top", "walker",                               \
        "walk from the context of the exception, not from the handler's own")                      \
    ROW(OTHER_THREAD, CAUSE_RECORD_WRONG, "other_thread", "it is the stack of another thread",     \
        "capture", "walk the thread that crashed, not the one that reports")                       \
    ROW(INVENTED, CAUSE_EXTRA_SCAN, "invented_frames", "there are frames that are no callers",     \
        "walker", "do not scan the stack for addresses, or mark what a scan found")                \
    ROW(OTHER_CRASH, CAUSE_RECORD_WRONG, "other_crash", "it is the stack of another crash",        \
        "pairing", "see how dumps and stacks are given their names")                               \
    ROW(UNEXPLAINED, CAUSE_UNEXPLAINED, "unexplained",                                             \
        "it differs in a way that has no name here", "unknown",                                    \
        "compare both stacks from the first frame that differs (--details)")

#define MECHANISM_ENUM(ID, CAUSE, NAME, WORDS, WHO, ADVICE) MECHANISM_##ID,
enum reporter_mechanism { REPORTER_MECHANISMS(MECHANISM_ENUM) MECHANISM_COUNT };

struct mechanism_row {
    enum cause cause;
    const char *name, *words, *who, *advice;
};

const struct mechanism_row *mechanism_row(enum reporter_mechanism mechanism);

#endif
