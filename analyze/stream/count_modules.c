/* The lines of a text stream that say which build of a module later frames are of. A worker that
 * reads a stack out of order has to know those that came before it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/slots.h"
#include "stacks/stack_raw.h"
#include "stream/count_modules.h"

enum { SLOTS_FIRST = 64, LINES_MAX = 1 << 14 };

struct stated_line {
    char *text; /* owned, with its line end */
    uint32_t bytes;
    uint32_t name, name_bytes; /* the part that later lines are compared by */
    uint64_t hash;             /* of the whole line */
};

struct stated_modules {
    struct stated_line *lines;
    uint32_t count, room;
    struct slots slots; /* by the name's hash */
    uint64_t hash;
};

struct stated_modules *stated_modules_new(void)
{
    return calloc(1, sizeof(struct stated_modules));
}

void stated_modules_free(struct stated_modules *modules)
{
    if (modules == NULL)
        return;
    for (uint32_t i = 0; i < modules->count; i++)
        free(modules->lines[i].text);
    free(modules->lines);
    free(modules->slots.at);
    free(modules);
}

uint64_t stated_modules_hash(const struct stated_modules *modules)
{
    return modules->hash;
}

/* The name in "# module NAME CODE_ID DEBUG_ID [0xBASE 0xSIZE]" where it is one word, the second
 * field of "Module|NAME|...", else the whole line: then two statements about one module are both
 * kept, in their order. */
static void find_name(const char *line, size_t bytes, uint32_t *name, uint32_t *name_bytes)
{
    const char mark = line[0] == '#' ? ' ' : '|';
    const size_t start = mark == ' ' ? 9 : 7;
    const char *stop = bytes > start ? memchr(line + start, mark, bytes - start) : NULL;
    uint32_t words = 1;
    for (size_t i = start; i < bytes; i++)
        words += line[i] == ' ' || line[i] == '\t';
    *name = 0;
    *name_bytes = (uint32_t)bytes;
    if (stop == NULL || (mark == ' ' && words != 3 && words != 5))
        return;
    *name = (uint32_t)start;
    *name_bytes = (uint32_t)(stop - line - (ptrdiff_t)start);
}

/* The slot of the module NAME, or the free one where it belongs. */
static struct slot *slot_of(const struct stated_modules *modules, const char *name, size_t bytes,
                            uint32_t hash)
{
    uint32_t at = hash;
    struct slot *slot;
    while ((slot = slots_next(&modules->slots, hash, &at))->row != 0) {
        const struct stated_line *line = &modules->lines[slot->row - 1];
        if (line->name_bytes == bytes && memcmp(line->text + line->name, name, bytes) == 0)
            break;
    }
    return slot;
}

static bool add_line(struct stated_modules *modules, const char *text, size_t bytes)
{
    struct stated_line line = {.bytes = (uint32_t)bytes + 1};
    find_name(text, bytes, &line.name, &line.name_bytes);
    line.hash = hash_bytes(HASH_START, text, bytes);
    if (!ARRAY_ROOM(modules->lines, modules->room, (uint64_t)modules->count + 1) ||
        !slots_reserve(&modules->slots, SLOTS_FIRST))
        return false;
    const uint32_t hash = hash_fold(hash_bytes(HASH_START, text + line.name, line.name_bytes));
    struct slot *slot = slot_of(modules, text + line.name, line.name_bytes, hash);
    const bool known = slot->row != 0;
    if (!known && modules->count == LINES_MAX)
        return true; /* the reader of the frames ignores further modules too */
    struct stated_line *to = &modules->lines[known ? slot->row - 1 : modules->count];
    if (known && to->bytes == line.bytes && memcmp(to->text, text, bytes) == 0)
        return true;
    line.text = malloc(bytes + 1);
    if (line.text == NULL)
        return false;
    memcpy(line.text, text, bytes);
    line.text[bytes] = '\n';
    if (known) {
        modules->hash ^= to->hash;
        free(to->text);
    } else {
        slots_take(&modules->slots, slot, hash, ++modules->count);
    }
    *to = line;
    modules->hash ^= line.hash;
    return true;
}

enum status stated_modules_add(struct stated_modules *modules, const char *text, size_t bytes,
                               struct fault *fault)
{
    const char *const end = text + bytes;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *last = stop != NULL ? stop : end;
        while (line < last && (*line == ' ' || *line == '\t'))
            line++;
        while (last > line && (last[-1] == '\r' || last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (stack_raw_states(line, last) && last - line < LIMIT_LINE_BYTES &&
            !add_line(modules, line, (size_t)(last - line)))
            return fault_no_memory(fault, "modules of a stream");
        line = stop != NULL ? stop + 1 : end;
    }
    return ERR_NONE;
}

char *stated_modules_text(struct stated_modules *modules, struct arena *keep, size_t *bytes)
{
    size_t total = 0;
    for (uint32_t i = 0; i < modules->count; i++)
        total += modules->lines[i].bytes;
    char *text = arena_alloc(keep, total + 1);
    *bytes = total;
    for (uint32_t i = 0; text != NULL && i < modules->count; i++) {
        memcpy(text, modules->lines[i].text, modules->lines[i].bytes);
        text += modules->lines[i].bytes;
    }
    return text != NULL ? text - total : NULL;
}
