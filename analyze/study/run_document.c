/* See run_document.h. */
#include "study/run_document.h"

#include "study/summary.h"

static void write_measures(struct json *j, const struct engine_total *total)
{
    struct measure measures[MEASURES];
    figures_measures(total, measures);
    for (int m = 0; m < MEASURES; m++)
        measure_write_json(j, &measures[m]);
}

void measures_write_json(struct json *j, const struct engine_total *total)
{
    json_object(j);
    write_measures(j, total);
    json_object_end(j);
}

static void write_engine(struct json *j, const struct engine_total *t)
{
    json_object(j);
    json_key_string(j, "engine", t->engine);
    json_key_string(j, "kind", engine_kind_name(t->kind));
    json_key_bool(j, "subject", t->subject);
    json_key_string(j, "shares", t->shares);
    json_key_string(j, "version", t->version);
    json_key_string(j, "skip_reason", t->stacks == 0 ? t->skip_reason : NULL);
    json_key_uint(j, "cases", t->cases);
    json_key_uint(j, "stacks", t->stacks);
    write_measures(j, t); /* aliases of the members of "measures" */
    json_key(j, "measures");
    measures_write_json(j, t);
    json_object_end(j);
}

static void write_cases(struct json *j, const struct run_figures *figures)
{
    struct fault fault = FAULT_INIT;
    struct case_window w;
    case_window_open(&w, figures, CASE_SCORES | CASE_FINDINGS, &fault);
    json_array(j);
    for (uint32_t i = 0; i < w.count && fault.code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, &fault);
        if (c != NULL)
            run_case_write_json(j, c);
    }
    json_array_end(j);
    case_window_close(&w);
    j->failed = j->failed || fault.code != ERR_NONE;
}

void symbol_row_write_json(struct json *j, const struct symbol_row *row)
{
    json_object(j);
    json_key_string(j, "module", row->module);
    json_key_string(j, "code_id", row->code_id);
    json_key_string(j, "debug_id", row->debug_id);
    json_key_string(j, "symbols", symbols_from_name(row->symbols));
    json_key_uint(j, "frames", row->frames);
    json_key_uint(j, "inlined", row->inlined);
    json_object_end(j);
}

void run_document_write_json(struct json *j, const struct run_figures *figures,
                             const struct cost_question *cost)
{
    json_object(j);
    json_key_uint(j, "schema_version", RUN_DOCUMENT_VERSION);
    json_key(j, "run");
    run_info_write_json(j, figures->run);
    json_key_bool(j, "fails", figures_failing(figures) > 0 || figures->problem_count > 0);
    json_key_uint(j, "left_out", figures->left_out);
    json_key_array(j, "problems");
    for (uint32_t i = 0; i < figures->problem_count; i++)
        json_string(j, figures->problems[i]);
    json_array_end(j);
    summary_write_json(j, figures, 0);
    json_key(j, "cost_per_million");
    cost_write_json(j, figures, cost);
    json_key_array(j, "engines");
    for (uint32_t i = 0; i < figures->engine_count; i++)
        write_engine(j, &figures->engines[i]);
    json_array_end(j);
    json_key_array(j, "symbols");
    for (uint32_t i = 0; i < figures->symbol_count; i++)
        symbol_row_write_json(j, &figures->symbols[i]);
    json_array_end(j);
    json_key(j, "cases");
    write_cases(j, figures);
    json_object_end(j);
}
