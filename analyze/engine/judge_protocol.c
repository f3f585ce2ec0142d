/* The protocol of the reference suite (corpus/reference/README.md), so that a program which takes
 * part in the suite is a judge as it is: each thread of the case's dump is a question of the kind
 * "dump". All lines are there at once, and the program ends after the last. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "engine/dump.h"
#include "engine/judge_protocol.h"

enum { WELCOME_BYTES_MAX = 1 << 16 };
static const char id_prefix[] = "threads/";

/* ---- questions -------------------------------------------------------------------------- */

static void write_question(struct json *j, const struct judge_work *w, uint32_t thread)
{
    const char *cpu = cpu_name(w->in->opened->crash->arch);
    const char *id = arena_printf(w->keep, "%s%u", id_prefix, (unsigned)thread);
    const char *capability = arena_printf(w->keep, "dumps.%s", cpu);
    json_object(j);
    json_key_string(j, "id", id);
    json_key_string(j, "kind", "dump");
    json_key_string(j, "processor", cpu);
    json_key_string(j, "capability", capability);
    json_key_array(j, "needs");
    json_array_end(j);
    json_key_object(j, "given");
    json_key_string(j, "dump", w->stage->dump);
    json_key_string(j, "symbols", ".");
    json_key_uint(j, "thread", thread);
    json_object_end(j);
    json_object_end(j);
    json_newline(j);
}

void judge_protocol_write(struct json *j, const struct judge_work *w)
{
    const struct opened_case *c = w->in->opened;
    const char *why;
    if (c->dump == NULL)
        return;
    const uint32_t suspect = dump_suspect(c->dump, &why);
    const struct minidump *dump = dump_minidump(c->dump);
    write_question(j, w, suspect);
    for (uint32_t i = 0; c->crash->kind == CASE_KIND_HANG && i < dump->thread_count; i++)
        if (dump->threads[i].id != suspect)
            write_question(j, w, dump->threads[i].id);
}

/* ---- answers ---------------------------------------------------------------------------- */

/* Takes one line off *TEXT, which ends with a byte 0; NULL: there is none. */
static char *take_line(char **text)
{
    char *line = *text + strspn(*text, "\r\n");
    char *end = line + strcspn(line, "\n");
    *text = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return *line != '\0' ? line : NULL;
}

bool judge_protocol_speaks(const char *text)
{
    const size_t bytes = strcspn(text, "\n");
    struct fault ignored = FAULT_INIT;
    cJSON *tree = NULL;
    if (bytes > WELCOME_BYTES_MAX || json_parse(text, bytes, &tree, &ignored) != ERR_NONE)
        return false;
    const bool speaks = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(tree, "name")) &&
                        cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(tree, "can"));
    cJSON_Delete(tree);
    return speaks;
}

static enum status read_frame(const cJSON *from, struct arena *keep, struct frame *out,
                              struct fault *fault)
{
    *out = (struct frame){.pc_va = json_get_hex(from, "ip", 0, fault),
                          .function = json_get_string(from, "function", keep, fault),
                          .file = json_get_string(from, "file", keep, fault),
                          .line = (uint32_t)json_get_uint(from, "line", 0, fault),
                          .inline_depth = json_get_bool(from, "inlined", false, fault)};
    if (fault->code == ERR_NONE && !cJSON_HasObjectItem(from, "ip"))
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frames",
                              "each has an \"ip\"");
    return fault->code;
}

/* An inlined frame and those after it, up to the one that holds them, are one physical frame. */
static bool holder_ends(const struct frame *frames, uint32_t first, uint32_t next)
{
    (void)first;
    return frames[next - 1].inline_depth == 0;
}

static enum status read_frames(const struct judge_work *w, const cJSON *list, struct stack *out)
{
    const int count = cJSON_GetArraySize(list);
    const cJSON *item;
    if (!cJSON_IsArray(list) || count > LIMIT_FRAMES)
        return fault_set_hint(w->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frames",
                              "a list of at most 1,024");
    out->frames = ARENA_ARRAY(w->keep, (size_t)count + 1, struct frame);
    if (out->frames == NULL)
        return fault_no_memory(w->fault, "frames");
    cJSON_ArrayForEach(item, list)
    {
        struct frame *frame = &out->frames[out->frame_count];
        if (read_frame(item, w->keep, frame, w->fault) != ERR_NONE)
            return w->fault->code;
        if (frame->pc_va != 0) /* how some tools print the end */
            out->frame_count++;
    }
    judge_place_frames(out, holder_ends, w->in->opened->dump);
    return ERR_NONE;
}

/* The answer about one thread. What the tool could not do is a reason, which the first one is kept
 * of. */
static enum status read_answer(const struct judge_work *w, const cJSON *tree)
{
    struct engine_result *out = w->out;
    const char *id = json_get_string(tree, "id", w->keep, w->fault);
    const cJSON *frames = cJSON_GetObjectItemCaseSensitive(tree, "frames");
    const bool failed = cJSON_HasObjectItem(tree, "error");
    if (w->fault->code != ERR_NONE)
        return w->fault->code;
    if (id == NULL || strncmp(id, id_prefix, sizeof id_prefix - 1) != 0)
        return fault_set_hint(w->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "answer",
                              "its id is not that of a question");
    if (frames == NULL) {
        const char *words = json_get_string(tree, failed ? "error" : "reason", w->keep, w->fault);
        if (out->why == NULL)
            out->why = words != NULL ? words : "it does not take part in dumps of this processor";
        return w->fault->code;
    }
    struct stack *stack = &out->stacks[out->stack_count];
    *stack = (struct stack){.engine = w->judge->engine.name,
                            .role = out->stack_count == 0 ? THREAD_ROLE_SUSPECT : THREAD_ROLE_NONE,
                            .stop = STOP_JUDGE_END,
                            .thread_id = (uint32_t)strtoul(id + sizeof id_prefix - 1, NULL, 10)};
    if (read_frames(w, frames, stack) == ERR_NONE)
        out->stack_count++;
    return w->fault->code;
}

enum status judge_protocol_read(const struct judge_work *w, char *text)
{
    struct engine_result *out = w->out;
    const struct dump_session *dump = w->in->opened->dump;
    cJSON *tree = NULL;
    char *line;
    uint32_t room = dump != NULL ? dump_minidump(dump)->thread_count + 1 : 0;

    out->stacks = ARENA_ARRAY(w->keep, (size_t)room + 1, struct stack);
    if (out->stacks == NULL)
        return fault_no_memory(w->fault, "stacks");
    line = take_line(&text);
    if (line == NULL || json_parse(line, strlen(line), &tree, w->fault) != ERR_NONE)
        return w->fault->code;
    const char *name = json_get_string(tree, "name", w->keep, w->fault);
    const char *version = json_get_string(tree, "version", w->keep, w->fault);
    out->version = arena_printf(w->keep, "%s%s%s", name != NULL ? name : "",
                                version != NULL ? " " : "", version != NULL ? version : "");
    cJSON_Delete(tree);
    for (; room > 0 && w->fault->code == ERR_NONE && (line = take_line(&text)) != NULL; room--) {
        tree = NULL;
        if (json_parse(line, strlen(line), &tree, w->fault) == ERR_NONE)
            (void)read_answer(w, tree);
        cJSON_Delete(tree);
    }
    if (w->fault->code == ERR_NONE && out->stack_count == 0) {
        if (out->why == NULL)
            out->why = "it answered its first line and no question";
        return fault_set(w->fault, ERR_IO, FAULT_NO_OFFSET, "judge");
    }
    return w->fault->code;
}
