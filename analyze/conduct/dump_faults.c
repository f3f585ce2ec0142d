/* See dump_faults.h. */
#include "conduct/dump_faults.h"

#include <string.h>

#include "base/text.h"
#include "engine/dump.h"
#include "format/minidump/lint.h"

enum { ROWS_MAX = 64 };

static bool is_of(const struct dump_fault_row *row, const struct minidump_complaint *complaint)
{
    return strcmp(row->rule, complaint->rule) == 0 &&
           strcmp(text_or_empty(row->stream), text_or_empty(complaint->stream)) == 0;
}

/* The texts of a complaint end with its dump's arena; those of a row are kept. */
static void add(struct dump_faults *out, const struct minidump_complaint *complaint,
                const char *path, struct arena *keep)
{
    uint32_t i = 0;
    while (i < out->count && !is_of(&out->rows[i], complaint))
        i++;
    if (i == ROWS_MAX)
        return;
    struct dump_fault_row *row = &out->rows[i];
    if (i == out->count) {
        out->count++;
        *row = (struct dump_fault_row){.rule = complaint->rule,
                                       .stream = complaint->stream,
                                       .effect = complaint->effect,
                                       .path = path,
                                       .foff = complaint->foff,
                                       .text = arena_string(keep, complaint->text)};
    }
    if (row->counted != out->dump_count) {
        row->counted = out->dump_count;
        row->dump_count++;
    }
}

static enum status examine(const char *path, struct arena *keep, struct dump_faults *out,
                           struct fault *fault)
{
    struct minidump_complaints found;
    struct dump_session *session;
    struct fault unreadable = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    enum status status = dump_open(path, NULL, &scratch, &session, &unreadable);
    if (status == ERR_NONE) {
        status = minidump_lint(dump_minidump(session), &scratch, &found, fault);
        out->dump_count++;
        for (uint32_t i = 0; status == ERR_NONE && i < found.count; i++)
            add(out, &found.rows[i], path, keep);
        dump_close(session);
    } else if (status == ERR_MEMORY) {
        *fault = unreadable;
    } else {
        status = ERR_NONE;
    }
    arena_free(&scratch);
    return status;
}

enum status dump_faults_find(const struct crash_case *cases, uint32_t case_count,
                             struct arena *keep, struct dump_faults *out, struct fault *fault)
{
    enum status status = ERR_NONE;

    *out = (struct dump_faults){.rows = ARENA_ARRAY(keep, ROWS_MAX, struct dump_fault_row)};
    if (out->rows == NULL)
        return fault_no_memory(fault, "faults of dumps");
    for (uint32_t i = 0; i < case_count && status == ERR_NONE; i++) {
        const char *const paths[] = {case_path(&cases[i], ROLE_DUMP, keep),
                                     case_tuned_dump(&cases[i], keep)};
        for (size_t k = 0; k < 2 && status == ERR_NONE; k++)
            if (paths[k] != NULL)
                status = examine(paths[k], keep, out, fault);
    }
    return status;
}
