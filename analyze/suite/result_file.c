/* Sums, JSON and JUnit of a result: see result_file.h. */
#include "suite/result_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/xml.h"
#include "suite/suite_case.h"

enum { RESULT_FRAMES_AFTER = 3 };

/* ---- sums ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct result_row *x = a, *y = b;
    int order = strcmp(x->capability, y->capability);
    order = order != 0 ? order : strcmp(x->shape, y->shape);
    if (order != 0 || x->position == NULL)
        return order;
    return strcmp(x->position, y->position);
}

enum status result_rows(const struct suite *suite, const struct score *score, bool by_position,
                        struct arena *keep, struct result_row **out, uint32_t *count,
                        struct fault *fault)
{
    struct result_row *rows = ARENA_ARRAY(keep, (size_t)suite->count + 1, struct result_row);
    uint32_t made = 0;
    if (rows == NULL)
        return fault_no_memory(fault, "result");
    for (uint32_t i = 0; i < suite->count; i++) {
        const struct suite_case *c = &suite->cases[i];
        rows[i] = (struct result_row){.capability = c->capability,
                                      .shape = c->shape,
                                      .position = by_position ? c->position : NULL};
        rows[i].counts[score->answers[i].outcome] = 1;
    }
    qsort(rows, suite->count, sizeof *rows, by_place);
    for (uint32_t i = 0; i < suite->count; i++) {
        if (made > 0 && by_place(&rows[made - 1], &rows[i]) == 0)
            for (int k = 0; k < SUITE_OUTCOMES; k++)
                rows[made - 1].counts[k] += rows[i].counts[k];
        else
            rows[made++] = rows[i];
    }
    *out = rows;
    *count = made;
    return ERR_NONE;
}

const char *result_sum(const struct suite *suite, const struct score *score, const char *capability,
                       struct arena *keep)
{
    uint32_t counts[SUITE_OUTCOMES] = {0};
    const char *text = NULL;
    for (uint32_t i = 0; i < suite->count; i++)
        if (strcmp(suite->cases[i].capability, capability) == 0)
            counts[score->answers[i].outcome]++;
    for (int k = 0; k < SUITE_OUTCOMES; k++)
        if (counts[k] > 0)
            text = arena_printf(keep, "%s%s%" PRIu32 " %s", text != NULL ? text : "",
                                text != NULL ? ", " : "", counts[k],
                                suite_outcome_name((enum suite_outcome)k));
    return text;
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void write_rows(struct json *j, const struct result_row *rows, uint32_t count)
{
    json_key_array(j, "by");
    for (uint32_t i = 0; i < count; i++) {
        json_object(j);
        json_key_string(j, "capability", rows[i].capability);
        json_key_string(j, "shape", rows[i].shape);
        json_key_string(j, "position", rows[i].position);
        for (int k = 0; k < SUITE_OUTCOMES; k++)
            json_key_uint(j, suite_outcome_name((enum suite_outcome)k), rows[i].counts[k]);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The ids by outcome; those of right answers too, so that a later suite can be compared. Of what
 * the contestant does not name as its capability, the sums say enough. */
static void write_cases(struct json *j, const struct suite *suite, const struct score *score)
{
    json_key_object(j, "cases");
    for (int k = 0; k < SUITE_OUTCOMES; k++) {
        json_key_array(j, suite_outcome_name((enum suite_outcome)k));
        for (uint32_t i = 0; i < suite->count; i++)
            if (score->answers[i].outcome == (enum suite_outcome)k &&
                contestant_can(&score->name, suite->cases[i].capability))
                json_string(j, suite->cases[i].id);
        json_array_end(j);
    }
    json_object_end(j);
}

static void write_name(struct json *j, const char *key, const struct suite_names *names)
{
    json_key_string(j, key, names->count > 0 ? names->names[0] : NULL);
}

static void write_frame(struct json *j, enum suite_kind kind, const struct suite_frame *frame)
{
    json_object(j);
    if (kind != SUITE_ADDRESS) {
        json_key_hex(j, "ip", frame->ip);
        json_key_hex_if(j, "sp", frame->sp, frame->sp != SUITE_NO_SP);
    } else {
        write_name(j, "function", &frame->function);
        write_name(j, "file", &frame->file);
        json_key_uint_known(j, "line", frame->line);
        json_key(j, "inlined");
        frame->inlined != SUITE_INLINED_UNKNOWN ? json_bool(j, frame->inlined == SUITE_INLINED)
                                                : json_null(j);
    }
    json_object_end(j);
}

/* The frames of a wrong answer, a few more than to the first wrong one. An early walk is a
 * beginning of the truth, so its size says all. */
static void write_answer(struct json *j, const struct suite_case *c,
                         const struct suite_answer *answer)
{
    const bool is_beginning = answer->outcome == SUITE_EARLY && c->kind != SUITE_ADDRESS;
    const uint32_t most = is_beginning ? 0 : answer->first + RESULT_FRAMES_AFTER;
    const uint32_t count = answer->walk.count < most ? answer->walk.count : most;
    json_key_object(j, c->id);
    json_key_uint(j, "first", answer->first);
    json_key_array(j, "frames");
    for (uint32_t i = 0; i < count; i++)
        write_frame(j, c->kind, &answer->walk.frames[i]);
    json_array_end(j);
    json_key_uint(j, "left_out", answer->walk.count - count);
    json_object_end(j);
}

/* What was answered where it is not right: the page of results shows it. */
static void write_answers(struct json *j, const struct suite *suite, const struct score *score)
{
    json_key_object(j, "answers");
    for (uint32_t i = 0; i < suite->count; i++) {
        const enum suite_outcome outcome = score->answers[i].outcome;
        if (outcome == SUITE_EARLY || outcome == SUITE_WRONG)
            write_answer(j, &suite->cases[i], &score->answers[i]);
    }
    json_object_end(j);
}

enum status result_write(const struct suite *suite, const struct score *score,
                         const struct result_context *context, struct json *j, struct fault *fault)
{
    struct result_row *rows = NULL;
    uint32_t count = 0;
    struct arena scratch;

    arena_init(&scratch, 0);
    if (result_rows(suite, score, true, &scratch, &rows, &count, fault) == ERR_NONE) {
        json_object(j);
        json_key_uint(j, "result", 1);
        json_key_object(j, "tool");
        json_key_string(j, "name", score->name.name);
        json_key_string(j, "version", score->name.version);
        json_key_string(j, "bugs", score->name.bugs);
        json_object_end(j);
        json_key_string(j, "edition", suite->edition);
        json_key_string(j, "when", context->when);
        json_key_object(j, "context");
        json_key_string(j, "os", context->system);
        json_key_string(j, "processor", context->processor);
        json_object_end(j);
        json_key_uint(j, "wall_ms", score->wall_ns / 1000000U);
        json_key_uint(j, "peak_bytes", score->peak_bytes);
        json_key_uint(j, "cached", score->cached);
        write_rows(j, rows, count);
        write_cases(j, suite, score);
        write_answers(j, suite, score);
        json_object_end(j);
        json_newline(j);
    }
    arena_free(&scratch);
    return fault->code;
}

/* ---- JUnit ----------------------------------------------------------------------------- */

static bool is_failure(enum suite_outcome outcome)
{
    return outcome != SUITE_RIGHT && outcome != SUITE_UNSUPPORTED;
}

static void put_case(FILE *out, const struct suite_case *c, const struct suite_answer *answer)
{
    (void)fputs("    <testcase", out);
    xml_attribute(out, "classname", c->shape);
    xml_attribute(out, "name", c->id);
    if (answer->outcome == SUITE_RIGHT) {
        (void)fputs("/>\n", out);
        return;
    }
    (void)fprintf(out, "><%s", is_failure(answer->outcome) ? "failure" : "skipped");
    xml_attribute(out, "message", suite_outcome_name(answer->outcome));
    (void)fputc('>', out);
    xml_text(out, answer->words != NULL ? answer->words : c->rule);
    (void)fprintf(out, "</%s></testcase>\n", is_failure(answer->outcome) ? "failure" : "skipped");
}

void result_junit(const struct suite *suite, const struct score *score, FILE *out)
{
    uint32_t failed = 0, skipped = 0;
    for (uint32_t i = 0; i < suite->count; i++) {
        failed += is_failure(score->answers[i].outcome);
        skipped += score->answers[i].outcome == SUITE_UNSUPPORTED;
    }
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite", out);
    xml_attribute(out, "name", score->name.name);
    (void)fprintf(out, " tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" skipped=\"%" PRIu32 "\">\n",
                  suite->count, failed, skipped);
    for (uint32_t i = 0; i < suite->count; i++)
        put_case(out, &suite->cases[i], &score->answers[i]);
    (void)fputs("  </testsuite>\n</testsuites>\n", out);
}
