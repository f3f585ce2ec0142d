/* For scenarios in C++: what becomes of an exception without a handler, and a shadow stack
 * that follows exceptions. */
#ifndef VICTIMS_CRASH_CPP_H
#define VICTIMS_CRASH_CPP_H

#include "victims/victim.h"

/* Microsoft's runtime leaves an uncaught exception to the unhandled-exception filter, GNU's
 * finds that it has no handler and calls std::terminate, the throwing frames still there. */
#if defined(_MSC_VER)
#define NOBODY_CATCHES .code = 0xE06D7363, .hooks = HOOKS_OF_A_CRASH
#define PURE_CALL .code = 0x40000015, .exit_code = 255, .hooks = RECORD_HOOK_PURE_CALL
#else
#define NOBODY_CATCHES .code = 0x40000015, .exit_code = 3, .hooks = RECORD_HOOK_TERMINATE
#define PURE_CALL NOBODY_CATCHES
#endif

/* Takes back the notes of the frames that an exception leaves. */
struct truth_scope {
    uint32_t depth = truth_depth();
    ~truth_scope()
    {
        truth_cut(depth);
    }
};

#endif
