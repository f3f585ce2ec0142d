/* rust-minidump's JSON (the json-schema.md of its minidump-processor): threads with frames, whose
 * callers' addresses are inside the call. rust_write.c writes it. */
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "model/names.h"
#include "stacks/json_documents.h"
#include "stacks/rust.h"

const char *const rust_cpus[CPU_COUNT] = {
    [CPU_UNKNOWN] = "unknown", [CPU_X86] = "x86", [CPU_X64] = "amd64",
    [CPU_ARM64] = "arm64",     [CPU_ARM] = "arm",
};

static enum found_by found_of(const char *trust)
{
    static const struct {
        const char *word;
        enum found_by found;
    } rows[] = {{"context", FOUND_CONTEXT}, {"cfi", FOUND_UNWIND},
                {"cfi_scan", FOUND_SCAN},   {"frame_pointer", FOUND_FRAME_POINTER},
                {"scan", FOUND_SCAN},       {"prewalked", FOUND_GIVEN},
                {"inline", FOUND_INLINED}};
    for (size_t i = 0; trust != NULL && i < COUNT_OF(rows); i++)
        if (strcmp(trust, rows[i].word) == 0)
            return rows[i].found;
    return FOUND_GIVEN;
}

/* A growing stack; the arena keeps the outgrown arrays. */
struct growing {
    struct arena *keep;
    struct frame *frames;
    uint32_t count, room;
    uint64_t back; /* from the address that is printed for a caller to the return address */
};

static struct frame *grow(struct growing *g)
{
    if (!ARENA_ROOM(g->keep, g->frames, g->room, (uint64_t)g->count + 1))
        return NULL;
    return &g->frames[g->count++];
}

static enum status read_inlines(const cJSON *from, const struct frame *physical, struct growing *g,
                                struct fault *fault)
{
    const cJSON *list = json_get_array(from, "inlines", fault), *row;
    int depth = list != NULL ? cJSON_GetArraySize(list) : 0;
    if (depth > LIMIT_INLINE_DEPTH)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "inline frames");
    cJSON_ArrayForEach(row, list)
    {
        struct frame *frame = grow(g);
        if (frame == NULL)
            return fault_no_memory(fault, "frames");
        *frame = *physical;
        frame->inline_depth = (uint16_t)depth--;
        frame->found_by = FOUND_INLINED;
        frame->function = json_get_string(row, "function", g->keep, fault);
        frame->file = json_get_string(row, "file", g->keep, fault);
        frame->line = (uint32_t)json_get_uint(row, "line", 0, fault);
        frame->symbols = frame->function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    }
    return fault->code;
}

static enum status read_frame(const cJSON *from, uint32_t index, struct growing *g,
                              struct fault *fault)
{
    struct frame frame = {.index = index, .identity = IDENTITY_UNCHECKED};
    const char *trust = json_get_string(from, "trust", g->keep, fault);
    frame.found_by = found_of(trust);
    frame.kind = index == 0 ? PC_INTERRUPTED : PC_RETURN;
    frame.module_name = json_get_string(from, "module", g->keep, fault);
    frame.function = json_get_string(from, "function", g->keep, fault);
    frame.file = json_get_string(from, "file", g->keep, fault);
    frame.line = (uint32_t)json_get_uint(from, "line", 0, fault);
    frame.symbol_distance = json_get_hex(from, "function_offset", 0, fault);
    frame.symbols = frame.function != NULL ? SYMBOLS_PDB : SYMBOLS_NONE;
    /* the tool prints return addresses minus one, inside the call */
    const char *place = frame.module_name != NULL ? "module_offset" : "offset";
    const bool has_place = !cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(from, place)) &&
                           cJSON_HasObjectItem(from, place);
    const uint64_t back = frame.kind == PC_RETURN && has_place ? g->back : 0;
    if (!has_place && frame.function == NULL)
        json_no_place(fault);
    frame.pc_va = json_get_hex(from, "offset", 0, fault) + back;
    frame.offset = json_get_hex(from, place, 0, fault) + back;
    enum status status = read_inlines(from, &frame, g, fault);
    struct frame *out = status == ERR_NONE ? grow(g) : NULL;
    if (out == NULL)
        return status != ERR_NONE ? status : fault_no_memory(fault, "frames");
    *out = frame;
    return ERR_NONE;
}

static enum cpu cpu_of(const cJSON *object, struct arena *arena, struct fault *fault)
{
    const cJSON *system = json_get_object(object, "system_info", fault);
    const int known =
        name_index(rust_cpus, CPU_COUNT,
                   system != NULL ? json_get_string(system, "cpu_arch", arena, fault) : NULL);
    return known >= 0 ? (enum cpu)known : CPU_UNKNOWN;
}

/* The crashed thread is stated by its place in the list. */
static void begin(struct stack_input *input, struct fault *fault)
{
    const cJSON *crash = json_get_object(input->object, "crash_info", fault);
    const cJSON *threads = json_get_array(input->object, "threads", fault);
    const uint64_t crashed =
        crash != NULL ? json_get_uint(crash, "crashing_thread", UINT64_MAX, fault) : UINT64_MAX;
    input->suspect = crashed < INT32_MAX ? cJSON_GetArrayItem(threads, (int)crashed) : NULL;
    input->call_back = rust_back(cpu_of(input->object, &input->scratch, fault));
    if (threads == NULL && fault->code == ERR_NONE)
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "threads of rust-minidump's JSON");
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    struct fault *fault = &out->fault;
    struct growing g = {.keep = keep, .back = input->call_back};
    const cJSON *frames = json_get_array(walk, "frames", fault), *row;
    uint32_t index = 0;

    out->named = out->crashed_first = true;
    out->stack.thread_id = (uint32_t)json_get_uint(walk, "thread_id", 0, fault);
    out->stack.thread_name = json_get_string(walk, "thread_name", keep, fault);
    if (walk == input->suspect)
        out->stack.role = THREAD_ROLE_SUSPECT;
    if (input->many)
        out->label = out->stack.label =
            arena_printf(keep, "thread %u", (unsigned)out->stack.thread_id);
    cJSON_ArrayForEach(row, frames)
    {
        if (read_frame(row, index++, &g, fault) != ERR_NONE)
            return;
    }
    out->stack.frames = g.frames;
    out->stack.frame_count = g.count;
}

static bool is_object(const cJSON *object)
{
    return cJSON_HasObjectItem(object, "crash_info");
}

const struct notation notation_rust = {
    .name = "rust-minidump's JSON", .is_object = is_object, .begin = begin, .read_walk = read_walk};
