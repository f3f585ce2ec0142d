/* The facts of a finding as versions before schema 21 stored them: in the words of its evidence.
 *
 *   a.exe has no symbols: a.pdb 1D5C...1: no such file was found; looked for in x; and 1 more frame
 *   module                file  identity  flaw                                  sought      more
 *
 * Nothing else reads a finding's evidence. */
#include <string.h>

#include "base/text.h"
#include "model/finding.h"

enum { ROWS_MOST = 1 << 20 }; /* more are damage */

static const char no_symbols[] = " has no symbols: ", leaves[] = " leaves by ",
                  more_rows[] = "; and ";

/* "...; and 5 more frames": alike rows below the finding's. */
static uint32_t rows_below(const char *evidence)
{
    static const char end[] = " more frame";
    uint64_t more = 0;
    for (const char *at = evidence; (at = strstr(at, more_rows)) != NULL;) {
        at += sizeof more_rows - 1;
        const size_t digits = strspn(at, "0123456789");
        if (strncmp(at + digits, end, sizeof end - 1) == 0 &&
            (!text_parse_uint(at, digits, &more) || more > ROWS_MOST))
            more = 0;
    }
    return (uint32_t)more;
}

static enum finding_kinds kinds_of(const char *evidence)
{
    const char *returns = strstr(evidence, " (return)");
    const char *interrupted = strstr(evidence, " (interrupted)"); /* of F's engine the first */
    if (returns == NULL || interrupted == NULL)
        return KINDS_ALIKE;
    return returns < interrupted ? KINDS_RETURN : KINDS_INTERRUPTED;
}

static const char *text_to(const char *start, const char *end, struct arena *keep)
{
    return arena_text(keep, start, end != NULL ? (size_t)(end - start) : strlen(start));
}

/* A file's name is before its identity, which is a word of hexadecimal digits. NAME: of BYTES. */
static size_t without_identity(const char *name, size_t bytes)
{
    static const char unknown[] = " (unknown identity)";
    size_t identity = 0;
    while (identity < bytes && strchr("0123456789ABCDEFabcdef", name[bytes - 1 - identity]) != NULL)
        identity++;
    if (identity >= 32 && identity < bytes && name[bytes - 1 - identity] == ' ')
        return bytes - identity - 1;
    const size_t end = sizeof unknown - 1;
    return bytes > end && strncmp(name + bytes - end, unknown, end) == 0 ? bytes - end : bytes;
}

static void read_no_symbols(struct finding *f, const char *at, struct arena *keep)
{
    static const char sought[] = "; looked for in ";
    const char *name = at + sizeof no_symbols - 1;
    const char *flaw = strstr(name, ": ");
    const size_t bytes = flaw != NULL ? (size_t)(flaw - name) : strlen(name);
    f->facts.module = text_to(f->evidence, at, keep);
    f->facts.file = arena_text(keep, name, without_identity(name, bytes));
    if (flaw == NULL)
        return;
    flaw += strlen(": ");
    f->facts.flaw = text_to(flaw, strstr(flaw, "; "), keep);
    const char *where = strstr(flaw, sought);
    if (where == NULL)
        return;
    where += sizeof sought - 1;
    f->facts.sought = text_to(where, strstr(where, more_rows), keep);
}

void finding_read_evidence(struct finding *f, struct arena *keep)
{
    const char *evidence = text_or_empty(f->evidence);
    const char *missing = strstr(evidence, no_symbols), *code = strstr(evidence, leaves);
    f->facts = (struct finding_facts){.more = rows_below(evidence)};
    if (f->cause == CAUSE_LOOKUP_ADDRESS)
        f->facts.kinds = kinds_of(evidence);
    if (missing != NULL)
        read_no_symbols(f, missing, keep);
    if (code != NULL) {
        code += sizeof leaves - 1;
        const size_t colon = strcspn(code, ":;");
        f->facts.left_by = arena_text(keep, code, colon);
    }
    const char *at = f->cause == CAUSE_SYMBOLS_MISMATCH ? strstr(evidence, " at ") : NULL;
    const char *end = at != NULL && missing == NULL ? strchr(at, '!') : NULL;
    if (end != NULL)
        f->facts.module = text_to(at + strlen(" at "), end, keep);
}
