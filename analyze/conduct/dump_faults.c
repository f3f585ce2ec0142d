/* See dump_faults.h. */
#include "conduct/dump_faults.h"

#include <string.h>

#include "base/text.h"
#include "engine/opened.h"
#include "format/minidump/lint.h"

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
    if (i == DUMP_FAULT_ROWS_MAX)
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

static enum status examine(const struct dump_session *session, const char *path, struct arena *keep,
                           struct dump_faults *out, struct fault *fault)
{
    struct minidump_complaints found;
    struct arena scratch;

    arena_init(&scratch, 0);
    if (minidump_lint(dump_minidump(session), &scratch, &found, fault) == ERR_NONE) {
        out->dump_count++;
        for (uint32_t i = 0; i < found.count; i++)
            add(out, &found.rows[i], path, keep);
    }
    arena_free(&scratch);
    return fault->code;
}

static enum status examine_tuned(const struct opened_case *c, struct arena *keep,
                                 struct dump_faults *out, struct fault *fault)
{
    const struct opened_file *tuned = &c->files[OPENED_TUNED];
    struct dump_session *session;
    struct fault unreadable = FAULT_INIT;
    struct arena scratch;

    arena_init(&scratch, 0);
    const struct file_map *map =
        tuned->path != NULL ? case_map(c->crash, tuned->file, &unreadable) : NULL;
    if (map != NULL &&
        dump_open_map(map, tuned->path, NULL, &scratch, &session, &unreadable) == ERR_NONE) {
        (void)examine(session, tuned->path, keep, out, fault);
        dump_close(session);
    } else if (unreadable.code == ERR_MEMORY) {
        *fault = unreadable;
    }
    arena_free(&scratch);
    return fault->code;
}

enum status dump_faults_add(const struct opened_case *c, struct arena *keep,
                            struct dump_faults *out, struct fault *fault)
{
    if (c->dump != NULL &&
        examine(c->dump, c->files[OPENED_DUMP].path, keep, out, fault) != ERR_NONE)
        return fault->code;
    return examine_tuned(c, keep, out, fault);
}
