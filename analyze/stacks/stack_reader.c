/* What every form of a stack input uses: bytes and lines of the stream, module names, and the
 * builder that collects a stack. It depends on no other file of the stack input. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "stacks/stack_reader.h"

void input_to_front(struct stack_input *input)
{
    if (input->start > 0)
        memmove(input->buffer, input->buffer + input->start, input->end - input->start);
    input->end -= input->start;
    input->start = 0;
}

/* ---- text in UTF-16, which Windows' shells write ---- */

enum { CHARACTERS_ROOM = 16 }; /* in the buffer, to read some characters */

static size_t put_character(uint32_t c, char *out)
{
    const size_t more = c < 0x10000 ? 3 : 4;
    const size_t bytes = c < 0x800 ? 2 : more;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    for (size_t i = bytes; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF00U >> bytes & 0xFFU) | c);
    return bytes;
}

/* Writes at most 3 bytes for each 2; a half of a pair becomes U+FFFD. Keeps what is no whole
 * character for the next call. */
static size_t to_utf8(struct stack_input *input, const uint8_t *raw, size_t raw_bytes, char *out)
{
    const uint32_t high = input->units == UNITS_UTF16_BIG ? 0 : 1;
    uint32_t first = 0; /* of a pair */
    size_t at = 0;
    for (size_t i = 0; i < raw_bytes; i++) {
        input->rest[input->rest_bytes++] = raw[i];
        if (input->rest_bytes % 2 != 0)
            continue;
        const uint8_t *unit = input->rest + input->rest_bytes - 2;
        const uint32_t c = (uint32_t)unit[high] << 8 | unit[1 - high];
        first =
            input->rest_bytes == 4 ? (uint32_t)input->rest[high] << 8 | input->rest[1 - high] : 0;
        if (first == 0 && c >= 0xD800 && c < 0xDC00)
            continue; /* the other half follows */
        if (first != 0 && c >= 0xDC00 && c < 0xE000) {
            at += put_character(0x10000 + ((first - 0xD800) << 10) + (c - 0xDC00), out + at);
        } else {
            if (first != 0)
                at += put_character(0xFFFD, out + at);
            at += put_character(c >= 0xD800 && c < 0xE000 ? 0xFFFD : c, out + at);
        }
        input->rest_bytes = 0;
    }
    return at;
}

/* Makes each lone CR from FROM on the end of a line, as old editors and terminals write it. A CR at
 * the end of the buffer waits for the byte after it. */
static void end_lines(struct stack_input *input, size_t from)
{
    char *at = input->buffer + from;
    char *const end = input->buffer + input->end;
    while (at < end && (at = memchr(at, '\r', (size_t)(end - at))) != NULL && at + 1 < end) {
        if (at[1] != '\n')
            *at = '\n';
        at++;
    }
}

void input_is_text(struct stack_input *input)
{
    input->is_text = true;
    end_lines(input, input->start);
}

bool input_is_utf16(struct stack_input *input, enum input_units units)
{
    const size_t left = input->end - input->start;
    uint8_t *raw = malloc(left + 1);
    char *wider = array_reserve(input->buffer, &input->room, (uint64_t)left * 2 + 8, 1);
    if (wider != NULL)
        input->buffer = wider;
    if (raw != NULL && wider != NULL) {
        memcpy(raw, input->buffer + input->start, left);
        input->units = units;
        input->start = 0;
        input->end = to_utf8(input, raw, left, input->buffer);
    }
    free(raw);
    return raw != NULL && wider != NULL;
}

/* Waits for the stream, and ends where the user interrupts the program: lines and stacks may be
 * without an end, so no one else would poll. */
static size_t read_bytes(struct stack_input *input, char *to, size_t room, bool *failed)
{
    enum { POLL_MS = 100 };
    if (!input->direct)
        return fread(to, 1, room, input->stream);
    while (!process_interrupted() && file_would_wait(input->stream, POLL_MS))
        continue;
    *failed = process_interrupted();
    return *failed ? 0 : file_read_some(input->stream, to, room, failed);
}

/* Some bytes for the buffer; 0: the end. */
static size_t read_some(struct stack_input *input, char *to, size_t room, bool *failed)
{
    enum { RAW_BYTES = 8192 };
    uint8_t raw[RAW_BYTES];
    size_t got = 0;
    if (input->units == UNITS_BYTES)
        return read_bytes(input, to, room, failed);
    for (size_t used = 1; got == 0 && used > 0;) { /* until a whole character came */
        const size_t most = room / 2 - 2 < RAW_BYTES ? room / 2 - 2 : RAW_BYTES;
        used = read_bytes(input, (char *)raw, most, failed);
        got = to_utf8(input, raw, used, to);
    }
    return got;
}

bool input_fill(struct stack_input *input, size_t max)
{
    const size_t least = input->units == UNITS_BYTES ? 1 : CHARACTERS_ROOM;
    if (input->ended)
        return false;
    if (input->room - input->end < least)
        input_to_front(input);
    if (input->room - input->end < least) {
        if (input->room >= max)
            return false;
        const uint64_t wanted = (uint64_t)input->room + least;
        if (!ARRAY_ROOM(input->buffer, input->room, wanted))
            return false;
    }
    char *const to = input->buffer + input->end;
    const size_t room = input->room - input->end;
    bool failed = false;
    const size_t got = read_some(input, to, room, &failed);
    input->end += got;
    if (input->is_text)
        end_lines(input, input->end - got - (input->end > got ? 1 : 0));
    if (got == 0) {
        input->ended = true;
        input->broken = failed || ferror(input->stream) != 0;
    }
    return got > 0;
}

bool stack_input_waits(const struct stack_input *input, uint32_t wait_ms)
{
    return input->direct && !input->ended &&
           memchr(input->buffer + input->start, '\n', input->end - input->start) == NULL &&
           file_would_wait(input->stream, wait_ms);
}

bool stack_input_progress(const struct stack_input *input, uint64_t *read_bytes,
                          uint64_t *left_bytes)
{
    const uint64_t buffered = input->end - input->start;
    if (!input->direct || !file_progress(input->stream, read_bytes, left_bytes))
        return false;
    const uint64_t unread = buffered < *read_bytes ? buffered : *read_bytes;
    *read_bytes -= unread;
    *left_bytes += unread;
    return true;
}

const char *input_after_space(struct stack_input *input, size_t from)
{
    for (;;) {
        while (from < input->end && strchr(" \t\r\n", input->buffer[from]) != NULL &&
               input->buffer[from] != '\0')
            from++;
        if (from < input->end)
            return input->buffer + from;
        if (input->end > LIMIT_LINE_BYTES || !input_fill(input, (size_t)LIMIT_LINE_BYTES * 2))
            return NULL;
    }
}

void input_skip(struct stack_input *input, size_t bytes)
{
    input->start += bytes;
    input->offset += bytes;
}

/* Throws away the rest of a line that is too long. */
static void skip_line(struct stack_input *input)
{
    for (;;) {
        const char *at = input->buffer + input->start;
        const char *stop = memchr(at, '\n', input->end - input->start);
        if (stop != NULL) {
            input_skip(input, (size_t)(stop - at) + 1);
            return;
        }
        input_skip(input, input->end - input->start);
        if (!input_fill(input, input->room))
            return;
    }
}

bool input_read_line(struct stack_input *input, struct stack_line *out)
{
    size_t searched = 0;

    for (;;) {
        const char *at = input->buffer + input->start;
        const size_t left = input->end - input->start;
        const char *stop = left > searched ? memchr(at + searched, '\n', left - searched) : NULL;
        if (stop == NULL && left <= LIMIT_LINE_BYTES &&
            input_fill(input, (size_t)LIMIT_LINE_BYTES * 2)) {
            searched = left;
            continue;
        }
        const size_t bytes = stop != NULL ? (size_t)(stop - at) : left;
        if (stop == NULL && left == 0)
            return false;
        at = input->buffer + input->start;
        *out = (struct stack_line){at, bytes, input->offset, bytes > LIMIT_LINE_BYTES};
        if (stop == NULL && out->too_long)
            skip_line(input);
        else
            input_skip(input, bytes + (stop != NULL ? 1 : 0));
        if (out->bytes > 0 && !out->too_long && out->at[out->bytes - 1] == '\r')
            out->bytes--;
        return true;
    }
}

enum status input_read_rest(struct stack_input *input, char **out, size_t *bytes,
                            struct fault *fault)
{
    const size_t max = LIMIT_JSON_BYTES;
    while (input->end - input->start <= max && input_fill(input, max * 2))
        continue;
    *bytes = input->end - input->start;
    if (*bytes > max)
        return fault_set(fault, ERR_LIMIT, max, "input document");
    *out = input->buffer + input->start;
    input_skip(input, *bytes);
    return ERR_NONE;
}

/* True for a line that debuggers mark: "\tframe" of Visual Studio, "  12: x = 0;" of a source, and
 * "app.exe!f - a.c:3" of Intel Inspector. */
static bool is_marked(struct pattern_text r)
{
    const char *at = r.at;
    if (at < r.end && *at == '\t')
        return true;
    while (at < r.end && *at == ' ')
        at++;
    const char *digits = at;
    while (at < r.end && *at >= '0' && *at <= '9')
        at++;
    if (at > digits && digits >= r.at + 2 && at < r.end && *at == ':')
        return true;
    const char *bang = digits == r.at ? pattern_find(r, '!') : NULL;
    return bang != NULL && pattern_find_last((struct pattern_text){bang, r.end}, " - ") != NULL;
}

bool input_has_label(const char *at, const char *end)
{
    if (at >= end || *at != '>')
        return false;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return !is_marked((struct pattern_text){at + 1, stop != NULL ? stop : end});
}

bool input_copy_id(const char *text, size_t bytes, size_t upper, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        const bool small = c >= 'a' && c <= 'f', large = c >= 'A' && c <= 'F';
        if (c == '-' || c == '{' || c == '}')
            continue;
        if (!(c >= '0' && c <= '9') && !small && !large)
            return false;
        if (n + 1 >= room)
            return false;
        out[n] = c;
        if (small && n < upper)
            out[n] = (char)(c - 32);
        else if (large && n >= upper)
            out[n] = (char)(c + 32);
        n++;
    }
    out[n] = '\0';
    return true;
}

/* The same, of an id that is not too short to be one. */
static bool copy_whole_id(const char *text, size_t bytes, size_t upper, char *out, size_t room)
{
    enum { SHORTEST_ID = 9 };
    return input_copy_id(text, bytes, upper, out, room) &&
           (out[0] == '\0' || strlen(out) >= SHORTEST_ID);
}

enum { MVID_WORD_BYTES = 5 };

static bool is_mvid(const char *id, size_t bytes)
{
    return bytes >= MVID_WORD_BYTES && memcmp(id, "mvid:", MVID_WORD_BYTES) == 0;
}

static bool is_module(const struct module *module, const char *name, size_t bytes,
                      const struct module *identity)
{
    return strncmp(module->name, name, bytes) == 0 && module->name[bytes] == '\0' &&
           strcmp(module->code_id, identity->code_id) == 0 &&
           strcmp(module->debug_id, identity->debug_id) == 0 &&
           strcmp(module->mvid, identity->mvid) == 0;
}

/* The slot of the module, or the free one where it belongs. */
static uint32_t find_slot(const struct stack_input *input, const char *name, size_t bytes,
                          const struct module *identity)
{
    uint64_t hash = hash_bytes(HASH_START, name, bytes);
    hash = hash_text(hash_text(hash, identity->code_id), identity->debug_id);
    hash = hash_text(hash, identity->mvid);
    uint32_t slot = hash_fold(hash) & (INPUT_NAME_SLOTS - 1);
    while (input->names[slot] != NULL && !is_module(input->names[slot], name, bytes, identity))
        slot = (slot + 1) & (INPUT_NAME_SLOTS - 1);
    return slot;
}

static const struct module *module_in(struct stack_input *input, uint32_t slot, const char *name,
                                      size_t bytes, const struct module *identity)
{
    if (input->names[slot] != NULL)
        return input->names[slot];
    const bool full = input->name_count == INPUT_NAMES_MAX;
    struct arena *arena = full ? &input->scratch : &input->arena;
    struct module *module = ARENA_NEW(arena, struct module);
    char *copy = arena_text(arena, name, bytes);
    if (module == NULL || copy == NULL)
        return NULL;
    *module = *identity;
    module->build_id = arena_string(arena, identity->build_id);
    module->name = copy;
    module->unloaded_at_ns = MODULE_STILL_LOADED;
    module->index = full ? UINT32_MAX : input->name_count; /* UINT32_MAX: to be copied */
    if (!full) {
        input->names[slot] = module;
        input->name_count++;
    }
    return module;
}

const struct module *input_module(struct stack_input *input, const char *name, size_t bytes)
{
    static const struct module none = {0};
    const uint32_t slot = find_slot(input, name, bytes, &none);
    if (input->stated != NULL && input->stated[slot] != NULL && input->names[slot] != NULL)
        return input->stated[slot];
    return module_in(input, slot, name, bytes, &none);
}

const struct module *input_identified(struct stack_input *input, const char *name, size_t bytes,
                                      const char *code_id, size_t code_bytes, const char *debug_id,
                                      size_t debug_bytes)
{
    char build_id[INPUT_BUILD_ID_BYTES];
    struct module identity = {0};
    if (code_bytes >= sizeof identity.code_id) { /* of ELF */
        if (!copy_whole_id(code_id, code_bytes, 0, build_id, sizeof build_id))
            return NULL;
        identity.build_id = build_id;
        code_bytes = 0;
    }
    if (!copy_whole_id(code_id, code_bytes, 8, identity.code_id, sizeof identity.code_id) ||
        !(is_mvid(debug_id, debug_bytes)
              ? module_mvid_parse(debug_id + MVID_WORD_BYTES, debug_bytes - MVID_WORD_BYTES,
                                  identity.mvid)
              : copy_whole_id(debug_id, debug_bytes, 32, identity.debug_id,
                              sizeof identity.debug_id)))
        return NULL;
    if (module_debug_id_is_none(identity.debug_id))
        identity.debug_id[0] = '\0';
    /* A UUID is the identity of a Mach-O file, without an age: Breakpad writes 0. */
    if (strlen(identity.debug_id) == 32)
        memcpy(identity.debug_id + 32, "0", 2);
    return module_in(input, find_slot(input, name, bytes, &identity), name, bytes, &identity);
}

const struct module *input_state_module(struct stack_input *input, const char *name, size_t bytes,
                                        const char *code_id, size_t code_bytes,
                                        const char *debug_id, size_t debug_bytes)
{
    static const struct module none = {0};
    if (input->stated == NULL)
        input->stated = calloc(INPUT_NAME_SLOTS, sizeof(struct module *));
    const struct module *stated =
        input_identified(input, name, bytes, code_id, code_bytes, debug_id, debug_bytes);
    const uint32_t slot = find_slot(input, name, bytes, &none);
    if (input->stated == NULL || stated == NULL || stated->index == UINT32_MAX ||
        module_in(input, slot, name, bytes, &none) == NULL || input->names[slot] == NULL)
        return NULL;
    input->stated[slot] = stated;
    return stated;
}

void builder_add(struct stack_builder *builder, struct frame frame)
{
    uint64_t at = builder->count++;
    if (at >= LIMIT_FRAMES)
        at = LIMIT_FRAMES_HEAD + (at - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    builder->frames[at] = frame;
    builder->lost = false;
}

struct frame *builder_last(struct stack_builder *builder)
{
    if (builder->count == builder->handed)
        return NULL;
    uint64_t at = builder->count - 1;
    if (at >= LIMIT_FRAMES)
        at = LIMIT_FRAMES_HEAD + (at - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    return &builder->frames[at];
}

static bool copy_text(const char **text, struct arena *keep)
{
    if (*text == NULL)
        return true;
    *text = arena_string(keep, *text);
    return *text != NULL;
}

/* Copies data that is in scratch. */
static bool copy_frame(struct frame *frame, struct arena *keep)
{
    if (frame->symbols == SYMBOLS_JIT)
        return copy_text(&frame->function, keep) && frame->function != NULL;
    if (!copy_text(&frame->file, keep)) /* also of an offset that another tool found a line for */
        return false;
    if (frame->module == NULL) /* what another tool named */
        return copy_text(&frame->module_name, keep) && copy_text(&frame->function, keep) &&
               (frame->note != NOTE_OTHER || copy_text(&frame->note_words, keep));
    if (!copy_text(&frame->type_arguments, keep))
        return false;
    if (frame->module->index != UINT32_MAX)
        return true;
    struct module *module = ARENA_NEW(keep, struct module);
    if (module == NULL)
        return false;
    *module = *frame->module;
    module->index = 0;
    module->name = arena_string(keep, module->name);
    frame->module = module;
    frame->module_name = module->name;
    return module->name != NULL;
}

enum status builder_finish(struct stack_input *input, bool whole, struct arena *keep,
                           struct stack *out)
{
    struct stack_builder *builder = &input->builder;
    const uint32_t kept = builder->count < LIMIT_FRAMES ? (uint32_t)builder->count : LIMIT_FRAMES;
    const uint64_t tail_start = builder->count > LIMIT_FRAMES
                                    ? (builder->count - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL
                                    : 0;
    const uint64_t left_out = builder->left_out + (builder->count - kept);
    const uint32_t first = (uint32_t)builder->handed; /* one of the head: see may_part() */

    memset(out, 0, sizeof *out);
    out->frames = ARENA_ARRAY(keep, kept - first, struct frame);
    if (out->frames == NULL && kept > first)
        return ERR_MEMORY;
    for (uint32_t i = first; i < kept; i++) {
        uint64_t from = i;
        if (i >= LIMIT_FRAMES_HEAD)
            from = LIMIT_FRAMES_HEAD + (i - LIMIT_FRAMES_HEAD + tail_start) % LIMIT_FRAMES_TAIL;
        out->frames[i - first] = builder->frames[from];
        out->frames[i - first].index = (uint32_t)(builder->before + i);
        if (!copy_frame(&out->frames[i - first], keep))
            return ERR_MEMORY;
    }
    out->frame_count = kept - first;
    builder->handed = builder->count;
    if (whole) {
        out->left_out = left_out > UINT32_MAX ? UINT32_MAX : (uint32_t)left_out;
        builder->count = builder->handed = builder->before = 0;
        builder->left_out = 0;
    }
    return ERR_NONE;
}

void builder_forget(struct stack_builder *builder)
{
    builder->before += builder->handed;
    builder->count = builder->handed = 0;
}

void item_fault(struct stack_input *input, struct stack_item *out, enum status code,
                uint64_t offset, const char *what, const char *hint)
{
    fault_clear(&out->fault);
    fault_set_lasting(&out->fault, code, offset, what, hint);
    fault_set_path(&out->fault, input->name);
}

void input_broken_fault(struct stack_input *input, struct stack_item *out)
{
    item_fault(input, out, process_interrupted() ? ERR_INTERRUPTED : ERR_IO, input->offset,
               "reading the input", "the input ends here before it is complete");
}
