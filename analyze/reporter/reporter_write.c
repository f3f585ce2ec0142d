/* What the judgement is for other programs: JSON, and JUnit with a test for each pair. */
#include <string.h>

#include "base/json.h"
#include "base/xml.h"
#include "reporter/reporter.h"

/* ---- JSON --------------------------------------------------------------------------------- */

static void write_counts(struct json *j, const struct reporter_result *result)
{
    json_key_uint(j, "pairs", result->row_count);
    json_key_uint(j, "judged", reporter_judged(result));
    for (int v = 0; v < REPORTER_VERDICT_COUNT; v++)
        json_key_uint(j, reporter_verdict_name((enum reporter_verdict)v), result->verdicts[v]);
}

static void write_missing(struct json *j, const struct reporter_result *result)
{
    json_key_array(j, "missing");
    for (uint32_t i = 0; i < result->missing_count; i++) {
        const struct reporter_missing *m = &result->missing[i];
        json_object(j);
        json_key_string(j, "file", m->file);
        json_key_string(j, "kind", m->pdb ? "pdb" : "image");
        json_key_string(j, "identity", m->identity);
        json_key_bool(j, "system", m->system);
        json_key_uint(j, "pairs", m->pairs);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_string(j, "looked_in", result->places);
    json_key_array(j, "unused");
    for (uint32_t i = 0; i < result->unused_count; i++)
        json_string(j, result->unused[i]);
    json_array_end(j);
}

static void write_mechanism(struct json *j, enum reporter_mechanism mechanism, const char *variant)
{
    const struct mechanism_row *row = mechanism_row(mechanism);
    json_key_string(j, "mechanism", row->name);
    json_key_string(j, "variant", variant);
    json_key_string(j, "what", row->words);
    json_key_string(j, "who", row->who);
}

static void write_groups(struct json *j, const struct reporter_result *result)
{
    json_key_array(j, "groups");
    for (uint32_t i = 0; i < result->group_count; i++) {
        const struct reporter_group *group = &result->groups[i];
        json_object(j);
        write_mechanism(j, group->mechanism, group->variant);
        json_key_string(j, "advice", mechanism_row(group->mechanism)->advice);
        json_key_uint(j, "count", group->count);
        json_key_string(j, "example", result->rows[group->example].name);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_row(struct json *j, const struct reporter_row *row)
{
    const bool wrong = row->verdict == REPORTER_WRONG;
    json_object(j);
    json_key_string(j, "name", row->name);
    json_key_string(j, "dump", row->dump);
    json_key_string(j, "stack", row->stack);
    json_key_string(j, "verdict", reporter_verdict_name(row->verdict));
    if (wrong) {
        write_mechanism(j, row->mechanism, row->variant);
        json_key_uint(j, "first_frame", row->first);
    } else {
        json_key_null(j, "mechanism");
        json_key_null(j, "variant");
        json_key_null(j, "what");
        json_key_null(j, "who");
        json_key_null(j, "first_frame");
    }
    json_key_string(j, "words", row->words);
    json_key_uint(j, "frames_given", row->given);
    json_key_uint(j, "frames_of_dump", row->frames);
    json_key_uint(j, "frames_certain", row->certain);
    json_key_string(j, "sides", row->sides);
    json_object_end(j);
}

void reporter_write_json(const struct reporter_result *result, FILE *out)
{
    struct json j;
    json_to_stream(&j, out, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_string(&j, "reporter", result->name);
    write_counts(&j, result);
    write_missing(&j, result);
    write_groups(&j, result);
    json_key_array(&j, "rows");
    for (uint32_t i = 0; i < result->row_count; i++)
        write_row(&j, &result->rows[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
    json_free(&j);
}

/* ---- JUnit -------------------------------------------------------------------------------- */

static void put_row(FILE *out, const struct reporter_result *result, const struct reporter_row *row)
{
    const struct mechanism_row *what = mechanism_row(row->mechanism);
    (void)fputs("<testcase classname=\"", out);
    xml_text(out, result->name);
    (void)fputs("\" name=\"", out);
    xml_text(out, row->name);
    (void)fputs("\">", out);
    if (row->verdict == REPORTER_WRONG) {
        (void)fprintf(out, "<failure type=\"%s\" message=\"", what->name);
        xml_text(out, what->words);
        (void)fputs("\">", out);
        xml_text(out, row->words);
        xml_text(out, row->sides);
        (void)fputs("</failure>", out);
    } else if (row->verdict != REPORTER_SOUND) {
        const bool failed = row->verdict == REPORTER_CAPTURE_FAILED;
        (void)fprintf(out, "<%s message=\"%s: ", failed ? "failure" : "skipped",
                      reporter_verdict_name(row->verdict));
        xml_text(out, row->words);
        (void)fputs("\"/>", out);
    }
    (void)fputs("</testcase>\n", out);
}

void reporter_write_junit(const struct reporter_result *result, FILE *out)
{
    const uint32_t failures =
        result->verdicts[REPORTER_WRONG] + result->verdicts[REPORTER_CAPTURE_FAILED];
    const uint32_t skipped = result->row_count - failures - result->verdicts[REPORTER_SOUND];
    (void)fprintf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"twinstack\" "
                  "tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n<testsuite name=\"",
                  result->row_count, failures, skipped);
    xml_text(out, result->name);
    (void)fprintf(out, "\" tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n", result->row_count,
                  failures, skipped);
    for (uint32_t i = 0; i < result->row_count; i++)
        put_row(out, result, &result->rows[i]);
    (void)fputs("</testsuite>\n</testsuites>\n", out);
}
