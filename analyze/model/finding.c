/* Words for findings: see finding.h.  They are printed, stored and used in URLs. */
#include "model/finding.h"

static const char *const level_names[] = {"physical", "function", "line"};

static const char *const cause_names[CAUSE_COUNT] = {
    [CAUSE_NONE] = "none",
    [CAUSE_TRUNCATED] = "truncated",
    [CAUSE_EXTRA_SCAN] = "extra_scan",
    [CAUSE_TAIL_CALL] = "tail_call",
    [CAUSE_LOOKUP_ADDRESS] = "lookup_address",
    [CAUSE_INLINE_ONLY] = "inline_only",
    [CAUSE_FOLDED] = "folded",
    [CAUSE_HANDLER_CONTEXT] = "handler_context",
    [CAUSE_MODULE_UNLOADED] = "module_unloaded",
    [CAUSE_SYMBOLS_MISSING] = "symbols_missing",
    [CAUSE_SYMBOLS_MISMATCH] = "symbols_mismatch",
    [CAUSE_EXPORT_ONLY] = "export_only",
    [CAUSE_GENERATED_CODE] = "generated_code",
    [CAUSE_RECURSION_ELIDED] = "recursion_elided",
    [CAUSE_FRAME_POINTER] = "frame_pointer",
    [CAUSE_NOT_CAPTURED] = "not_captured",
    [CAUSE_UNSUPPORTED_HERE] = "unsupported_here",
    [CAUSE_UNEXPLAINED] = "unexplained",
    [CAUSE_LINE_TABLE] = "line_table",
};

static const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_PASS] = "PASS",
    [VERDICT_FAIL] = "FAIL",
    [VERDICT_XFAIL] = "XFAIL",
    [VERDICT_XPASS] = "XPASS",
    [VERDICT_FLAKY] = "FLAKY",
    [VERDICT_ERROR] = "ERROR",
    [VERDICT_UNSUPPORTED] = "UNSUPPORTED",
    [VERDICT_NOT_CAPTURED_AS_EXPECTED] = "NOT-CAPTURED-AS-EXPECTED",
};

const char *finding_level_name(enum finding_level level)
{
    return level_names[level];
}

const char *cause_name(enum cause cause)
{
    return cause_names[cause];
}

const char *verdict_name(enum verdict verdict)
{
    return verdict_names[verdict];
}
