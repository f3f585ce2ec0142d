/* judge:llvm-symbolizer: LLVM's PDB reader names the physical frames that the walker rtl recorded
 * (or, where rtl recorded none, as on x86, those of our dump walk). It judges names, not walks. */
#include "engine/judges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/dump_engine.h"

static bool concerns(const struct engine_input *in, const char **why)
{
    *why = "the case has neither record nor dump";
    return case_file(in->opened->crash, ROLE_RECORD) != NULL ||
           case_file(in->opened->crash, ROLE_DUMP) != NULL;
}

/* Of a truncated record, its complete sections were read. False: there is no such stack. */
static bool stack_of_record(const struct record *record, struct stack *out)
{
    const struct record_stack *found =
        record_stack_find(record, RECORD_WALKER_RTL, record->suspect_id);
    if (found == NULL || found->frame_count == 0)
        return false;
    *out = (struct stack){.thread_id = found->thread_id,
                          .role = THREAD_ROLE_SUSPECT,
                          .frames = found->frames,
                          .frame_count = found->frame_count,
                          .left_out = found->left_out,
                          .stop = record_stop_reason(found->stop)};
    return true;
}

static enum status physical_stack(const struct engine_input *in, struct arena *keep,
                                  struct stack *out, struct fault *fault)
{
    const struct opened_case *c = in->opened;
    const char *why;
    if (c->record != NULL && stack_of_record(c->record, out))
        return ERR_NONE;
    if (c->dump != NULL)
        return dump_thread_stack(c->dump, dump_suspect(c->dump, &why), NULL, keep, out, fault);
    *fault = c->files[OPENED_DUMP].fault;
    return fault->code != ERR_NONE
               ? fault->code
               : fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "rtl stack of the record");
}

/* The frame's image in the stage; NULL: it is not there. */
static const char *image_of(const struct judge_stage *stage, const struct frame *frame,
                            struct arena *keep)
{
    return frame->module_name == NULL
               ? NULL
               : judge_staged_image(stage, frame->module_name,
                                    frame->module != NULL ? frame->module->code_id : NULL, keep);
}

/* One request line per frame: "FOLDER/IMAGE" 0xOFFSET, at the lookup address; FOLDER of a stage in
 * a pool, where the program runs in the folder above. */
static char *write_requests(const struct judge_stage *stage, const struct stack *stack,
                            struct arena *keep, bool *asked)
{
    const char *folder = stage->lasts ? path_base(stage->folder) : ".";
    size_t room = 0, bytes = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++)
        room += 64 + CODE_ID_BYTES + strlen(folder) +
                (stack->frames[i].module_name != NULL ? strlen(stack->frames[i].module_name) : 0);
    char *text = arena_alloc(keep, room + 1);
    for (uint32_t i = 0; text != NULL && i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        const char *image = image_of(stage, frame, keep);
        asked[i] = image != NULL;
        if (asked[i])
            bytes += (size_t)snprintf(text + bytes, room + 1 - bytes, "\"%s/%s\" 0x%" PRIx64 "\n",
                                      folder, image, frame_lookup_offset(frame));
    }
    return text;
}

/* Adds one answer, a list of symbols with the innermost first, as the logical frames of
 * PHYSICAL. */
static uint32_t add_answer(const cJSON *answer, const struct frame *physical, struct arena *keep,
                           struct frame *out, uint32_t room)
{
    struct fault ignored = FAULT_INIT;
    const cJSON *symbols = answer != NULL ? json_get_array(answer, "Symbol", &ignored) : NULL, *row;
    int depth = symbols != NULL ? cJSON_GetArraySize(symbols) : 0;
    uint32_t count = 0;
    cJSON_ArrayForEach(row, symbols)
    {
        if (count == room)
            break;
        struct frame *frame = &out[count++];
        *frame = *physical;
        frame->inline_depth = (uint16_t)--depth;
        if (depth > 0)
            frame->found_by = FOUND_INLINED;
        const char *name = json_get_string(row, "FunctionName", keep, &ignored);
        const char *file = json_get_string(row, "FileName", keep, &ignored);
        frame->function = name != NULL && name[0] != '\0' ? name : NULL;
        frame->file = file != NULL && file[0] != '\0' ? file : NULL;
        frame->line = (uint32_t)json_get_uint(row, "Line", 0, &ignored);
        frame->symbols = frame->function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    }
    if (count == 0 && room > 0) {
        out[count++] = *physical;
        out[0].symbols = SYMBOLS_NONE;
    }
    return count;
}

/* Reads the answers, one JSON document per line, in the order of the requests. */
static enum status read_answers(char *text, const struct stack *physical, const bool *asked,
                                struct arena *keep, struct stack *out, struct fault *fault)
{
    uint32_t room = physical->frame_count * 8 + LIMIT_INLINE_DEPTH;
    out->frames = ARENA_ARRAY(keep, room, struct frame);
    out->frame_count = 0;
    if (out->frames == NULL)
        return fault_no_memory(fault, "frames");
    for (uint32_t i = 0; i < physical->frame_count; i++) {
        cJSON *answer = NULL;
        if (asked[i] && *text != '\0') {
            size_t bytes = strcspn(text, "\n");
            if (json_parse(text, bytes, &answer, fault) != ERR_NONE)
                return fault->code;
            text += bytes + (text[bytes] == '\n');
        }
        out->frame_count += add_answer(answer, &physical->frames[i], keep,
                                       out->frames + out->frame_count, room - out->frame_count);
        cJSON_Delete(answer);
    }
    return ERR_NONE;
}

struct asked {
    struct stack physical;
    bool *frames; /* those that are in a request */
};

static enum status prepare(const struct judge_work *w, struct judge_question *out)
{
    struct asked *asked = ARENA_NEW(w->keep, struct asked);
    if (asked == NULL)
        return fault_no_memory(w->fault, "judge");
    *asked = (struct asked){.frames = NULL};
    if (physical_stack(w->in, w->keep, &asked->physical, w->fault) != ERR_NONE)
        return w->fault->code;
    asked->frames = ARENA_ARRAY(w->keep, asked->physical.frame_count + 1, bool);
    out->own = asked;
    out->input = asked->frames != NULL
                     ? write_requests(w->stage, &asked->physical, w->keep, asked->frames)
                     : NULL;
    for (const char *at = out->input; at != NULL && *at != '\0'; at++)
        out->lines += *at == '\n';
    return out->input != NULL ? ERR_NONE : fault_no_memory(w->fault, "judge");
}

static enum status read(const struct judge_work *w, const struct judge_question *question,
                        char *answer, size_t bytes)
{
    const struct asked *asked = question->own;
    struct stack *stack = w->out->stacks = ARENA_NEW(w->keep, struct stack);
    (void)bytes;
    if (stack == NULL)
        return fault_no_memory(w->fault, "judge");
    *stack = asked->physical;
    stack->engine = w->judge->engine.name;
    w->out->stack_count = 1;
    w->out->cost.resolve_ns = w->out->cost.total_ns;
    return read_answers(answer, &asked->physical, asked->frames, w->keep, stack, w->fault);
}

/* With a PDB beside each image it looks for no other file. */
static bool repeats(const struct crash_case *crash)
{
    bool has_pdbs = getenv("LLVM_SYMBOLIZER_OPTS") == NULL, has_images = false;
    for (uint32_t i = 0; i < crash->file_count; i++) {
        if (crash->files[i].role != ROLE_IMAGE)
            continue;
        has_images = true;
        has_pdbs &= i + 1 < crash->file_count && crash->files[i + 1].role == ROLE_PDB;
    }
    return has_pdbs && has_images;
}

static const char *const programs[] = {"llvm-symbolizer-19", "llvm-symbolizer", NULL};
static const char *const arguments[] = {"--output-style=JSON", "--relative-address", "--inlining",
                                        NULL};

const struct judge judge_symbolizer = {
    .engine = {JUDGE_ENGINE, .name = "judge:llvm-symbolizer",
               .shares = "physical frames of the record; names, lines and inline frames are LLVM's",
               .parts = ENGINE_SHARES_RECORD | ENGINE_SHARES_RECORD_FRAMES | ENGINE_SHARES_LLVM |
                        ENGINE_SHARES_SYMBOL_FILES},
    .programs = programs,
    .absent = "llvm-symbolizer-19 is not installed",
    .arguments = arguments,
    .serves = arguments, /* it answers each request in one line */
    .asks_version = true,
    .repeats = repeats,
    .concerns = concerns,
    .prepare = prepare,
    .read = read,
};
