/* See shadow_judge.h. */
#include "conduct/shadow_judge.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "compare/signature.h"
#include "conduct/analysis.h"
#include "conduct/record_check.h"
#include "engine/engines.h"
#include "engine/judges.h"
#include "format/minidump/minidump.h"
#include "format/pe/pe.h"
#include "format/record/record.h"
#include "stream/queued_report.h"
#include "stream/shadow_result.h"
#include "symbol/symbol_store.h"

enum { CAUSE_BYTES_MAX = 160 };

/* In place of a verdict where nothing was compared. */
static const char NOT_JUDGED[] = "not judged";

enum status shadow_also(const char *spec, struct fault *fault)
{
    return judge_adapter_set(spec, fault);
}

/* True when the dump PATH is of another crash than RECORD: a sender may mix two up. What either
 * does not state is no difference. */
static bool is_other_crash(const struct record *record, const char *path, struct arena *keep)
{
    enum { HAS_PROCESS_ID = 1 };
    struct fault ignored = FAULT_INIT;
    struct minidump dump;
    struct file_map map;
    bool is = false;
    if (path == NULL || file_map(path, &map, &ignored) != ERR_NONE)
        return false;
    if (minidump_read(map.data, map.bytes, keep, &dump, &ignored) == ERR_NONE) {
        const struct minidump_misc *misc = &dump.misc;
        const struct minidump_exception *e = &dump.exception;
        is = (misc->present && (misc->flags & HAS_PROCESS_ID) != 0 && record->process_id != 0 &&
              misc->process_id != record->process_id) ||
             (e->present && record->exception_code != 0 && e->code != record->exception_code) ||
             (e->present && record->suspect_id != 0 && e->thread_id != record->suspect_id);
    }
    file_unmap(&map);
    return is;
}

/* A case of two files in FOLDER. The record is from the network. */
static enum status fill_case(const struct report *report, const char *folder, struct arena *keep,
                             struct crash_case *out, bool *is_other, struct fault *fault)
{
    struct case_file *files = ARENA_ARRAY(keep, 2, struct case_file);
    char *path = path_join(keep, folder, "record.rec");
    struct record record;
    if (files == NULL || path == NULL)
        return fault_no_memory(fault, "case");
    if (file_write(path, report->stacks, report->bytes, fault) != ERR_NONE ||
        record_read_file(path, keep, &record, fault) == ERR_MEMORY)
        return fault->code;
    fault_clear(fault); /* a damaged record: the engines report it */
    files[0] =
        (struct case_file){.role = ROLE_RECORD, .path = "record.rec", .bytes = report->bytes};
    files[1] = (struct case_file){.role = ROLE_DUMP,
                                  .path = "dump.dmp",
                                  .bytes = path_bytes(path_join(keep, folder, "dump.dmp"))};
    *is_other = is_other_crash(&record, path_join(keep, folder, "dump.dmp"), keep);
    memset(out, 0, sizeof *out);
    out->folder = folder;
    out->scenario = report->id;
    out->variant = text_or_empty(report->version);
    out->arch = pe_cpu(record.machine);
    out->kind = record.kind == RECORD_KIND_HANG ? CASE_KIND_HANG : CASE_KIND_CRASH;
    out->got.code = record.exception_code;
    out->files = files;
    out->file_count = 2;
    return ERR_NONE;
}

/* The first line of an engine's reason, without what differs from report to report: the FOLDER of
 * the case. */
static const char *short_reason(const char *why, const char *folder, struct arena *keep)
{
    const size_t length = strlen(folder);
    if (strncmp(why, folder, length) == 0 && why[length] == '/')
        why += length + 1;
    const size_t bytes = strcspn(why, "\r\n");
    return arena_text(keep, why, bytes < CAUSE_BYTES_MAX ? bytes : CAUSE_BYTES_MAX);
}

/* The most severe difference of ENGINE: findings are in order of severity. */
static const struct finding *first_finding(const struct case_result *result, const char *engine)
{
    const struct finding *found = NULL;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        const struct finding *f = &result->findings[i];
        if (strcmp(f->engine, engine) == 0 && (found == NULL || (f->fails && !found->fails)))
            found = f;
    }
    return found;
}

/* An engine that is for other processors, or was not asked, says nothing. */
static bool has_answer(const struct engine_claim *claim)
{
    return !claim->skipped &&
           !(claim->stack_count > 0 && (claim->stacks[0].state == STACK_NOT_APPLICABLE ||
                                        claim->stacks[0].state == STACK_SKIPPED));
}

static void fill_engine(const struct run_case *judged, uint32_t claim, const char *folder,
                        struct arena *keep, struct shadow_engine *out)
{
    const struct engine_claim *c = &judged->claims[claim];
    const struct case_result *result = &judged->result;
    const struct thread_result *suspect = result->thread_count > 0 ? &result->threads[0] : NULL;
    const uint32_t reference = suspect != NULL ? suspect->reference : 0;
    const struct finding *finding = first_finding(result, c->engine);
    const bool is_reference = reference == claim + 1;
    out->engine = c->engine;
    out->against = reference == 0 || is_reference ? NULL : judged->claims[reference - 1].engine;
    out->ns = c->cost.total_ns;
    if (c->stack_count == 0 || c->stacks[0].state != STACK_OK) {
        const char *why =
            c->why == NULL && c->stack_count > 0 ? stack_stop_text(&c->stacks[0]) : c->why;
        out->result = SHADOW_FAILED;
        out->cause = short_reason(why != NULL ? why : "no stack", folder, keep);
    } else if (!is_reference && finding != NULL) {
        out->result = SHADOW_DIFFERS;
        out->cause = cause_name(finding->cause);
        out->module = finding->module;
    } else {
        out->result = SHADOW_SAME;
    }
}

/* As the problem is called that the record counts for (stream/count_worker.c): whatever symbols a
 * module has, it is the program's unless it comes with the system. */
static const char *problem_of(const struct shadow_judging *judging, const struct stack *stack,
                              enum case_kind kind, struct arena *keep)
{
    struct stack as_counted = *stack;
    as_counted.frames = ARENA_ARRAY(keep, (size_t)stack->frame_count + 1, struct frame);
    if (as_counted.frames == NULL)
        return NULL;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        struct frame *f = &as_counted.frames[i];
        *f = stack->frames[i];
        if (f->frame_class != CLASS_CAPTURE)
            f->frame_class = f->module_name != NULL && symbol_is_system_module(f->module_name)
                                 ? CLASS_SYSTEM
                                 : CLASS_OWN;
    }
    const char *text = signature_of(judging->rules, &as_counted, keep);
    return text != NULL && kind == CASE_KIND_HANG ? arena_printf(keep, "hang: %s", text) : text;
}

/* The signature of the offsets; where the record has none, of the dump. */
static const char *signature_text(const struct shadow_judging *judging,
                                  const struct run_case *judged, enum case_kind kind,
                                  struct arena *keep)
{
    const struct stack *found = NULL;
    for (uint32_t i = 0; i < judged->claim_count; i++) {
        const struct engine_claim *c = &judged->claims[i];
        const bool is_offsets = c->kind == ENGINE_KIND_OFFSET;
        if ((c->subject || is_offsets) && c->stack_count > 0 && c->stacks[0].state == STACK_OK &&
            (found == NULL || is_offsets))
            found = &c->stacks[0];
    }
    return found != NULL ? problem_of(judging, found, kind, keep) : NULL;
}

/* The engine of the walker whose stack counts: on x86 another one than that under test. */
static const struct engine *offsets_of(const struct opened_case *c, struct arena *keep)
{
    const struct record_stack *crash = c->record != NULL ? record_crash_stack(c->record) : NULL;
    const char *walker = crash != NULL ? record_walker_name(crash->walker) : NULL;
    const char *name = walker != NULL ? arena_printf(keep, "offset:%s", walker) : NULL;
    for (uint32_t i = 0; name != NULL && i < engine_count; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return engine_subject(ENGINE_KIND_OFFSET);
}

/* The engines under test, and the outside program: once, without other figures. */
static enum status ask_engines(const struct shadow_judging *judging, const struct crash_case *crash,
                               struct arena *keep, struct run_case *out, struct fault *fault)
{
    const struct analysis analysis = {.symbols = judging->symbols};
    struct opened_case c;
    const struct engine_input in = {.opened = &c, .symbols = judging->symbols};
    memset(out, 0, sizeof *out);
    if (opened_case_open(crash, judging->symbols, keep, &c, fault) != ERR_NONE)
        return fault->code;
    if (c.record != NULL)
        out->record_contradiction = record_contradiction(&c);
    const struct engine *const asked[] = {offsets_of(&c, keep), engine_subject(ENGINE_KIND_DUMP),
                                          &judge_adapter.engine};
    if (analysis_ask(&in, asked, judging->also ? 3 : 2, keep, out, fault) == ERR_NONE)
        (void)analysis_judge(&analysis, crash, NULL, keep, out, fault);
    opened_case_close(&c);
    return fault->code;
}

/* Whether two stacks were set against each other. */
static bool compared_any(const struct shadow *out)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->engines[i].against != NULL && out->engines[i].result != SHADOW_FAILED)
            return true;
    return false;
}

static enum status judge_case(const struct shadow_judging *judging, const struct crash_case *crash,
                              bool is_other, struct arena *keep, struct shadow *out,
                              struct fault *fault)
{
    struct run_case *judged = ARENA_NEW(keep, struct run_case);
    if (judged == NULL)
        return fault_no_memory(fault, "case");
    if (ask_engines(judging, crash, keep, judged, fault) != ERR_NONE)
        return fault->code;
    out->signature = signature_text(judging, judged, crash->kind, keep);
    out->engines = ARENA_ARRAY(keep, (size_t)judged->claim_count + 1, struct shadow_engine);
    if (out->engines == NULL)
        return fault_no_memory(fault, "shadow comparison");
    for (uint32_t i = 0; i < judged->claim_count; i++)
        if (has_answer(&judged->claims[i])) {
            struct shadow_engine *engine = &out->engines[out->count++];
            fill_engine(judged, i, crash->folder, keep, engine);
            if (is_other && engine->against != NULL && engine->result != SHADOW_FAILED) {
                engine->result = SHADOW_DIFFERS;
                engine->cause = "another crash";
                engine->module = NULL;
            }
        }
    out->verdict = compared_any(out) ? verdict_name(judged->result.verdict) : NOT_JUDGED;
    return ERR_NONE;
}

enum status shadow_judge(void *context, const struct report *report, struct arena *keep,
                         struct shadow *out, struct fault *fault)
{
    const struct shadow_judging *judging = context;
    struct fault ignored = FAULT_INIT;
    struct crash_case crash = {0};
    bool is_other = false;
    char name[QUEUE_FILE_BYTES];
    queue_file_name(report->id, name);
    const char *from = arena_printf(keep, "%s/%s.dmp", judging->dumps, name);
    const char *folder = folder_temporary_name("shadow", keep);
    const char *to = folder != NULL ? path_join(keep, folder, "dump.dmp") : NULL;
    if (from == NULL || to == NULL)
        return fault_no_memory(fault, "case");
    if (!path_is_file(from))
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "dump");
    if (path_bytes(from) > LIMIT_REPORT_DUMP_BYTES)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "dump of more than 64 MiB");
    if (folder_make(folder, fault) == ERR_NONE && file_copy(from, to, fault) == ERR_NONE &&
        fill_case(report, folder, keep, &crash, &is_other, fault) == ERR_NONE)
        (void)judge_case(judging, &crash, is_other, keep, out, fault);
    (void)path_remove(folder, &ignored);
    return fault->code;
}
