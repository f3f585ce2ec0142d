/* Reading truth.json: see case.h. */
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "model/case.h"
#include "model/names.h"

/* The victim leaves out frames as every engine does; marks are added to its frames. */
enum { TRUTH_FRAMES_MAX = 2 * LIMIT_FRAMES, TRUTH_JSON_MAX_BYTES = 64 << 20 };

static const char *const gap_names[TRUTH_GAP_COUNT] = {
    [TRUTH_GAP_SYSTEM] = "system",
    [TRUTH_GAP_THREAD_START] = "thread_start",
    [TRUTH_GAP_ELIDED] = "elided",
};

const char *truth_gap_name(enum truth_gap gap)
{
    return gap_names[gap];
}

enum truth_gap truth_gap_parse(const char *text)
{
    const int found = name_index(gap_names, TRUTH_GAP_COUNT, text);
    if (text == NULL)
        return TRUTH_GAP_NONE;
    return found < 0 ? TRUTH_GAP_SYSTEM : (enum truth_gap)found;
}

static void read_frame(const cJSON *item, struct arena *keep, struct truth_frame *out,
                       struct fault *fault)
{
    const uint64_t line = json_get_uint(item, "line", 0, fault);
    const uint64_t gap_count = json_get_uint(item, "gap_count", 0, fault);

    out->function = json_get_string(item, "function", keep, fault);
    out->file = json_get_string(item, "file", keep, fault);
    out->tail = json_get_bool(item, "tail", false, fault);
    out->gap = truth_gap_parse(json_get_string(item, "gap", keep, fault));
    if (line > UINT32_MAX || gap_count > UINT32_MAX)
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "number in a frame of the truth");
    out->line = (uint32_t)line;
    out->gap_count = (uint32_t)gap_count;
    if (out->function == NULL && out->gap == TRUTH_GAP_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frame of the truth",
                       "it has neither a function nor a gap");
}

static void read_thread(const cJSON *item, struct arena *keep, struct truth_thread *out,
                        struct fault *fault)
{
    const cJSON *frames = json_get_array(item, "frames", fault);
    const uint64_t id = json_get_uint(item, "id", 0, fault);
    const int count = cJSON_GetArraySize(frames);
    const cJSON *frame;

    out->id = (uint32_t)id;
    out->role = thread_role_parse(json_get_string(item, "role", keep, fault), &out->role_word);
    if (id > UINT32_MAX)
        fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "thread id in the truth");
    if (count > TRUTH_FRAMES_MAX)
        fault_set(fault, ERR_LIMIT, TRUTH_FRAMES_MAX, "frames of one thread in the truth");
    if (fault->code != ERR_NONE)
        return;
    out->frames = ARENA_ARRAY(keep, (size_t)count + 1, struct truth_frame);
    if (out->frames == NULL) {
        fault_no_memory(fault, "truth");
        return;
    }
    cJSON_ArrayForEach(frame, frames)
    {
        read_frame(frame, keep, &out->frames[out->frame_count++], fault);
        if (fault->code != ERR_NONE)
            return;
    }
}

static enum status read_document(const cJSON *root, struct arena *keep, struct truth *out,
                                 struct fault *fault)
{
    const cJSON *threads = json_get_array(root, "threads", fault);
    const int count = cJSON_GetArraySize(threads);
    const cJSON *thread;

    if (threads == NULL)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "truth",
                              "it has no list of threads");
    if (count > LIMIT_THREADS)
        return fault_set(fault, ERR_LIMIT, LIMIT_THREADS, "threads of the truth");
    out->threads = ARENA_ARRAY(keep, (size_t)count + 1, struct truth_thread);
    if (out->threads == NULL)
        return fault_no_memory(fault, "truth");
    cJSON_ArrayForEach(thread, threads)
    {
        read_thread(thread, keep, &out->threads[out->thread_count++], fault);
        if (fault->code != ERR_NONE)
            break;
    }
    return fault->code;
}

enum status truth_read(const struct crash_case *c, struct arena *keep, struct truth *out,
                       struct fault *fault)
{
    size_t bytes = 0;
    cJSON *root = NULL;
    const char *path = case_path(c, ROLE_TRUTH, keep);

    memset(out, 0, sizeof *out);
    if (case_file(c, ROLE_TRUTH) == NULL)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "truth of the case");
    if (path == NULL)
        return fault_no_memory(fault, "truth");
    const char *text = case_text(c, ROLE_TRUTH, TRUTH_JSON_MAX_BYTES, keep, &bytes, fault);
    if (text != NULL && json_parse(text, bytes, &root, fault) == ERR_NONE)
        (void)read_document(root, keep, out, fault);
    fault_set_path(fault, path);
    cJSON_Delete(root);
    return fault->code;
}
