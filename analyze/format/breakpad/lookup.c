/* Looks up one address in a Breakpad symbol file; see breakpad.h. The rules are those of Breakpad's
 * BasicSourceLineResolver. */
#include <string.h>

#include "base/array.h"
#include "format/breakpad/records.h"

const struct breakpad_name *breakpad_name_of(const struct breakpad_name *names, uint32_t count,
                                             uint32_t number)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (names[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && names[low].number == number ? &names[low] : NULL;
}

static const char *file_name(const struct breakpad *file, uint32_t number)
{
    const struct breakpad_name *found = breakpad_name_of(file->files, file->file_count, number);
    return found != NULL && found->name[0] != '\0' ? found->name : NULL;
}

const struct breakpad_function *breakpad_function_before(const struct breakpad *file, uint64_t rva)
{
    uint32_t low = ARRAY_UPPER(file->functions, file->function_count, rva, rva);
    if (low == 0)
        return NULL;
    while (low > 1 && file->functions[low - 2].rva == file->functions[low - 1].rva)
        low--; /* of several at one address the first is used */
    return &file->functions[low - 1];
}

const struct breakpad_public *breakpad_public_before(const struct breakpad *file, uint64_t rva)
{
    uint32_t low = ARRAY_UPPER(file->publics, file->public_count, rva, rva);
    while (low > 1 && file->publics[low - 2].rva == file->publics[low - 1].rva)
        low--;
    return low > 0 ? &file->publics[low - 1] : NULL;
}

static void set_line(const struct breakpad *file, const struct breakpad_function *function,
                     uint64_t rva, struct breakpad_frame *out)
{
    if (function->line_count == 0)
        return;
    const struct breakpad_line *lines = file->lines + function->first_line;
    const uint32_t low = ARRAY_UPPER(lines, function->line_count, rva, rva);
    if (low == 0 || rva >= lines[low - 1].end)
        return;
    out->line = lines[low - 1].line;
    out->file = out->line != 0 ? file_name(file, lines[low - 1].file) : NULL;
}

/* The inlined calls around RVA, outermost first. */
static uint32_t calls_at(const struct breakpad *file, const struct breakpad_function *function,
                         uint64_t rva, const struct breakpad_inline *out[LIMIT_INLINE_DEPTH])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < function->inline_count; i++) {
        const struct breakpad_inline *call = &file->inlines[function->first_inline + i];
        uint32_t at = count;
        if (rva < call->rva || rva >= call->end)
            continue;
        while (at > 0 && out[at - 1]->level > call->level)
            at--;
        if ((at > 0 && out[at - 1]->level == call->level) || count == LIMIT_INLINE_DEPTH)
            continue; /* one call per level: the first */
        memmove(out + at + 1, out + at, (count - at) * sizeof(out[0]));
        out[at] = call;
        count++;
    }
    return count;
}

static const char *call_file(const struct breakpad *file, const struct breakpad_inline *call,
                             const struct breakpad_inline *outer)
{
    if (call->file != BREAKPAD_NO_FILE)
        return file_name(file, call->file);
    /* the older form: a call is in the file of the function that makes it */
    const struct breakpad_name *origin = breakpad_name_of(
        file->origins, file->origin_count, outer != NULL ? outer->origin : call->origin);
    return origin != NULL && origin->file != BREAKPAD_NO_FILE ? file_name(file, origin->file)
                                                              : NULL;
}

static uint32_t frames_in(const struct breakpad *file, const struct breakpad_function *function,
                          uint64_t rva, struct breakpad_frame *out)
{
    const struct breakpad_inline *calls[LIMIT_INLINE_DEPTH + 1];
    const uint32_t depth = calls_at(file, function, rva, calls);
    memset(out, 0, (depth + 1) * sizeof *out);
    set_line(file, function, rva, &out[0]);
    for (uint32_t i = 0; i < depth; i++) {
        const struct breakpad_inline *call = calls[depth - 1 - i];
        const struct breakpad_inline *outer = i + 1 < depth ? calls[depth - 2 - i] : NULL;
        const struct breakpad_name *origin =
            breakpad_name_of(file->origins, file->origin_count, call->origin);
        out[i].name = origin != NULL && origin->name[0] != '\0' ? origin->name : NULL;
        out[i + 1].line = call->line;
        out[i + 1].file = call_file(file, call, outer);
    }
    out[depth].name = function->name[0] != '\0' ? function->name : NULL;
    for (uint32_t i = 0; i <= depth; i++)
        out[i].distance = rva - function->rva;
    return depth + 1;
}

uint32_t breakpad_lookup(const struct breakpad *file, uint64_t rva,
                         struct breakpad_frame out[BREAKPAD_FRAMES_MAX])
{
    const struct breakpad_function *function = breakpad_function_before(file, rva);
    if (function != NULL && rva < function->end)
        return frames_in(file, function, rva, out);
    const struct breakpad_public *found = breakpad_public_before(file, rva);
    if (found == NULL || (function != NULL && found->rva <= function->rva))
        return 0;
    out[0] = (struct breakpad_frame){.name = found->name[0] != '\0' ? found->name : NULL,
                                     .distance = rva - found->rva,
                                     .is_public = true};
    return 1;
}

uint32_t breakpad_inlines_around(const struct breakpad *file, uint64_t rva)
{
    const struct breakpad_function *function = breakpad_function_before(file, rva);
    return function != NULL && rva < function->end ? function->inline_count : 0;
}

bool breakpad_range_at(const struct breakpad *file, uint64_t rva, uint64_t *begin, uint64_t *end)
{
    const struct breakpad_function *function = breakpad_function_before(file, rva);
    const struct breakpad_public *found = breakpad_public_before(file, rva);
    *end = UINT64_MAX;
    if (function != NULL && rva < function->end) {
        *begin = function->rva;
        *end = function->end;
        return true;
    }
    if (found == NULL || (function != NULL && found->rva <= function->rva))
        return false;
    *begin = found->rva;
    const uint32_t next = ARRAY_UPPER(file->publics, file->public_count, rva, rva);
    const uint32_t after = ARRAY_UPPER(file->functions, file->function_count, rva, rva);
    if (next < file->public_count)
        *end = file->publics[next].rva;
    if (after < file->function_count && file->functions[after].rva < *end)
        *end = file->functions[after].rva;
    return true;
}

uint32_t breakpad_params_at(const struct breakpad *file, uint64_t rva)
{
    const struct breakpad_function *function = breakpad_function_before(file, rva);
    if (function != NULL && rva < function->end)
        return function->params_bytes;
    const struct breakpad_public *found = breakpad_public_before(file, rva);
    return found != NULL && (function == NULL || found->rva > function->rva) ? found->params_bytes
                                                                             : 0;
}
