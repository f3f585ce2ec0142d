/* Crash reports in XML, as services and engines for games write them: <thread> elements with
 * <frame> elements, which state module, offset, function, file, line or address as attributes or as
 * elements of their own; and <CallStack> or <PCallStack>, whose text has a frame on each line.
 *
 * The report is made text where it lies: tags become blanks, and a frame becomes its line at the
 * place of its element, so that offsets in messages are those of the file. A line is never longer
 * than the element that it replaces, since that names each value, too. No schema is asked for:
 * names of elements differ from writer to writer. */
#include <string.h>

#include "base/array.h"
#include "stacks/notation.h"

enum part {
    PART_MODULE,
    PART_OFFSET,
    PART_FUNCTION,
    PART_ADDRESS,
    PART_PATH, /* of the module; only with a location */
    PART_LOCATION,
    PART_FILE,
    PART_LINE,
    PARTS
};

/* What a value is called. */
static const struct {
    const char *name;
    enum part part;
} value_names[] = {
    {"module", PART_MODULE},       {"modulename", PART_MODULE},
    {"image", PART_MODULE},        {"package", PART_MODULE},
    {"offset", PART_OFFSET},       {"rva", PART_OFFSET},
    {"moduleoffset", PART_OFFSET}, {"symbol", PART_FUNCTION},
    {"function", PART_FUNCTION},   {"functionname", PART_FUNCTION},
    {"method", PART_FUNCTION},     {"address", PART_ADDRESS},
    {"ip", PART_ADDRESS},          {"pc", PART_ADDRESS},
    {"instruction", PART_ADDRESS}, {"path", PART_PATH},
    {"location", PART_LOCATION},   {"file", PART_FILE},
    {"filename", PART_FILE},       {"sourcefile", PART_FILE},
    {"line", PART_LINE},           {"linenumber", PART_LINE},
};

static const char *const frame_tags[] = {"frame", "stackframe"};
static const char *const text_tags[] = {"callstack", "pcallstack", "stacktrace"};
static const char *const stack_tags[] = {"stack", "callstack", "pcallstack", "stacktrace"};

/* A tag, from its '<' to after its '>'. */
struct tag {
    char *at, *end;
    struct pattern_text name;
    bool closes, is_empty; /* </name>, <name/> */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Letter case and '_' do not count. */
static bool is_named(struct pattern_text name, const char *word)
{
    for (; name.at < name.end; name.at++) {
        if (*name.at == '_')
            continue;
        if (*word == '\0' || lower(*name.at) != *word)
            return false;
        word++;
    }
    return *word == '\0';
}

static bool is_any(struct pattern_text name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_named(name, words[i]))
            return true;
    return false;
}

static bool ends_name(char c)
{
    return strchr(" \t\r\n/>=", c) != NULL;
}

static char *find(char *at, const char *end, const char *what)
{
    const size_t bytes = strlen(what);
    while (at != NULL && (size_t)(end - at) >= bytes) {
        at = memchr(at, what[0], (size_t)(end - at) - bytes + 1);
        if (at == NULL || memcmp(at, what, bytes) == 0)
            return at;
        at++;
    }
    return NULL;
}

/* Text in <![CDATA[...]]> is no markup: its brackets become these until the tags were read. */
enum { HIDDEN_LESS = 1, HIDDEN_MORE = 2 };

static void hide_data(char *at, char *end)
{
    static const char open[] = "<![CDATA[", close[] = "]]>";
    while ((at = find(at, end, open)) != NULL) {
        char *stop = find(at, end, close);
        memset(at, ' ', sizeof open - 1);
        for (char *c = at; stop != NULL && c < stop; c++)
            if (*c == '<' || *c == '>')
                *c = *c == '<' ? HIDDEN_LESS : HIDDEN_MORE;
        if (stop == NULL)
            return;
        memset(stop, ' ', sizeof close - 1);
        at = stop;
    }
}

static void show_data(char *at, const char *end)
{
    for (; at < end; at++)
        if (*at == HIDDEN_LESS || *at == HIDDEN_MORE)
            *at = *at == HIDDEN_LESS ? '<' : '>';
}

/* The next tag at or after AT; comments and declarations are tags without a name. */
static bool next_tag(char *at, char *end, struct tag *out)
{
    char *stop;
    char quote = '\0';
    memset(out, 0, sizeof *out);
    out->at = at < end ? memchr(at, '<', (size_t)(end - at)) : NULL;
    if (out->at == NULL)
        return false;
    const bool comment = end - out->at > 4 && memcmp(out->at, "<!--", 4) == 0;
    for (stop = out->at + 1; !comment && stop < end && (quote != '\0' || *stop != '>'); stop++)
        if (quote == '\0' && (*stop == '"' || *stop == '\''))
            quote = *stop;
        else if (*stop == quote)
            quote = '\0';
    if (comment)
        stop = find(out->at, end, "-->");
    out->end = end;
    if (stop != NULL && stop < end)
        out->end = stop + (comment ? 3 : 1);
    char *name = out->at + 1;
    out->closes = name < out->end && *name == '/';
    name += out->closes;
    out->name.at = out->name.end = name;
    if (name < out->end && *name != '!' && *name != '?')
        while (out->name.end < out->end && !ends_name(*out->name.end))
            out->name.end++;
    out->is_empty = out->end - out->at > 2 && out->end[-2] == '/';
    return true;
}

static void set_part(struct pattern_text *parts, struct pattern_text name,
                     struct pattern_text value)
{
    for (size_t i = 0; i < COUNT_OF(value_names); i++)
        if (is_named(name, value_names[i].name) && pattern_length(parts[value_names[i].part]) == 0)
            parts[value_names[i].part] = value;
}

static void take_attributes(const struct tag *tag, struct pattern_text *parts)
{
    const char *at = tag->name.end;
    while (at < tag->end) {
        while (at < tag->end && ends_name(*at))
            at++;
        struct pattern_text name = {at, at}, value;
        while (name.end < tag->end && !ends_name(*name.end))
            name.end++;
        at = name.end;
        if (at + 1 >= tag->end || *at != '=' || (at[1] != '"' && at[1] != '\''))
            continue;
        value.at = at + 2;
        value.end = memchr(value.at, at[1], (size_t)(tag->end - value.at));
        if (value.end == NULL)
            return;
        set_part(parts, name, value);
        at = value.end + 1;
    }
}

/* ---- lines -------------------------------------------------------------------------------- */

/* In lines that are not too long. */
static void blank(char *from, const char *to)
{
    enum { LINE = 4096 };
    memset(from, ' ', (size_t)(to - from));
    for (; to - from >= LINE; from += LINE)
        from[LINE - 1] = '\n';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Copies VALUE without its entities and ends of lines, as far as there is room. */
static char *put(char *to, const char *end, struct pattern_text value)
{
    static const struct {
        const char *entity;
        char c;
    } entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    while (value.at < value.end && is_blank(*value.at))
        value.at++;
    while (value.at < value.end && is_blank(value.end[-1]))
        value.end--;
    while (value.at < value.end && to < end) {
        char c = *value.at;
        size_t bytes = 1;
        for (size_t i = 0; c == '&' && i < COUNT_OF(entities); i++)
            if (pattern_starts(value, entities[i].entity)) {
                c = entities[i].c;
                bytes = strlen(entities[i].entity);
            }
        *to++ = is_blank(c) ? ' ' : c;
        value.at += bytes;
    }
    return to;
}

static char *put_char(char *to, const char *end, char c)
{
    if (to < end)
        *to++ = c;
    return to;
}

/* Process Monitor: "module + 0xOFFSET", or a place in a function of the module in PATH. */
static char *put_location(char *to, const char *end, struct pattern_text path,
                          struct pattern_text location)
{
    const struct pattern_text name = spelled_base_name(path);
    const char *comma = pattern_find(location, ',');
    if (pattern_length(location) <= pattern_length(name) ||
        memcmp(location.at, name.at, pattern_length(name)) != 0) {
        to = put_char(put(to, end, name), end, '!');
        location.end = comma != NULL ? comma : location.end; /* then the source */
    }
    return put(to, end, location);
}

/* " [FILE:LINE]", where both are known. */
static char *put_source(char *to, const char *end, struct pattern_text file,
                        struct pattern_text line)
{
    if (pattern_length(file) == 0 || pattern_length(line) == 0 || *line.at == '0')
        return to;
    to = put(put_char(put_char(to, end, ' '), end, '['), end, file);
    return put_char(put(put_char(to, end, ':'), end, line), end, ']');
}

/* "module!0xOFFSET", "module!function+0xOFFSET", "?!0xADDRESS", or the element's own text; what
 * FROM to END held is gone. */
static void put_frame(char *from, char *end, const struct pattern_text *parts,
                      struct arena *scratch)
{
    struct pattern_text copies[PARTS + 1];
    for (int i = 0; i <= PARTS; i++) {
        const size_t bytes = pattern_length(parts[i]);
        copies[i].at = bytes > 0 ? arena_text(scratch, parts[i].at, bytes) : NULL;
        copies[i].end = copies[i].at != NULL ? copies[i].at + bytes : NULL;
    }
    blank(from, end);
    char *to = put_char(from, end, '\n');
    const bool placed = pattern_length(copies[PART_MODULE]) > 0;
    const bool named = pattern_length(copies[PART_FUNCTION]) > 0;
    const enum part number =
        pattern_length(copies[PART_OFFSET]) > 0 && (placed || named) ? PART_OFFSET : PART_ADDRESS;
    if (pattern_length(copies[PART_PATH]) > 0 && pattern_length(copies[PART_LOCATION]) > 0) {
        to = put_location(to, end, copies[PART_PATH], copies[PART_LOCATION]);
    } else if (!placed && !named && pattern_length(copies[PART_ADDRESS]) == 0) {
        to = put(to, end, copies[PARTS]);
    } else if (named && !(placed && number == PART_OFFSET)) {
        if (placed) {
            to = put(to, end, copies[PART_MODULE]);
            to = put_char(to, end, '!');
        }
        to = put(to, end, copies[PART_FUNCTION]);
        /* "module!function" alone would be taken for any text */
        static const char start[] = "0x0";
        to = put_char(to, end, '+');
        to = put(to, end,
                 number == PART_OFFSET ? copies[number]
                                       : (struct pattern_text){start, start + sizeof start - 1});
        to = put_source(to, end, copies[PART_FILE], copies[PART_LINE]);
    } else {
        to = placed && number == PART_OFFSET ? put(to, end, copies[PART_MODULE])
                                             : put_char(to, end, '?');
        to = put_char(to, end, '!');
        to = put(to, end, copies[number]);
    }
    (void)put_char(to, end, '\n');
}

/* ---- elements ----------------------------------------------------------------------------- */

/* The element that OPEN begins: its values, its first text as PARTS[PARTS], and its end, which is
 * where another frame begins if it is not closed. */
static char *read_frame(const struct tag *open, char *end, struct pattern_text *parts)
{
    struct tag tag, last = *open;
    take_attributes(open, parts);
    while (!open->is_empty && next_tag(last.end, end, &tag)) {
        if (last.at == open->at)
            parts[PARTS] = (struct pattern_text){open->end, tag.at};
        if (is_any(tag.name, frame_tags, COUNT_OF(frame_tags)))
            return tag.closes ? tag.end : tag.at;
        if (tag.closes && last.at != open->at && !last.closes)
            set_part(parts, last.name, (struct pattern_text){last.end, tag.at});
        last = tag;
    }
    return last.end;
}

/* What a thread is called: the first value of its tag that has a digit, or the text of its element
 * <ThreadID>. */
static struct pattern_text thread_name(const struct tag *thread, char *end)
{
    const char *at = thread->name.end;
    struct tag tag, last = *thread;
    while (at < thread->end && (*at < '0' || *at > '9'))
        at++;
    struct pattern_text name = {at, at};
    while (at > thread->name.end && at < thread->end && strchr("'\"", name.at[-1]) == NULL &&
           !ends_name(name.at[-1]))
        name.at--;
    while (name.end < thread->end && strchr("'\"<>", *name.end) == NULL && !ends_name(*name.end))
        name.end++;
    for (; pattern_length(name) == 0 && !thread->is_empty && next_tag(last.end, end, &tag);
         last = tag) {
        if (is_named(tag.name, "thread"))
            break;
        if (tag.closes && is_named(tag.name, "threadid"))
            name = (struct pattern_text){last.end, tag.at};
    }
    return name;
}

/* Where lines are written: tags before the next frame, of which the last ended at END. */
struct space {
    char *at, *end; /* NULL: neither a thread nor a stack outside of one began */
    struct pattern_text name;
    bool is_thread;
};

/* "> thread NAME" for the thread that began, ">" for a stack, or what there is room for. */
static void put_thread(struct space *space)
{
    static const char label[] = "thread ";
    char copy[24];
    const size_t bytes =
        pattern_length(space->name) < sizeof copy ? pattern_length(space->name) : 0;
    const char *const end = space->end;
    if (space->at == NULL)
        return;
    if (bytes > 0)
        memcpy(copy, space->name.at, bytes);
    blank(space->at, space->end);
    char *to = put_char(put_char(space->at, end, '\n'), end, '>');
    if (space->is_thread && (size_t)(end - to) > sizeof label + bytes)
        to = put(put_char(to, end, ' '), end, (struct pattern_text){label, label + 6});
    if ((size_t)(end - to) > bytes + 1)
        to = put(put_char(to, end, ' '), end, (struct pattern_text){copy, copy + bytes});
    (void)put_char(to, end, '\n');
    space->at = NULL;
}

/* Unreal's <CallStack> has the frames of its <PCallStack> again, without their places. */
static bool has_places(char *at, char *end)
{
    static const char open[] = "<PCallStack>";
    at = find(at, end, open);
    char *stop = at != NULL ? find(at, end, "</PCallStack>") : NULL;
    return stop != NULL && memchr(at, '+', (size_t)(stop - at)) != NULL;
}

static void make_text(char *at, char *end, struct arena *scratch)
{
    struct tag tag;
    struct space space = {NULL, NULL, {NULL, NULL}, false};
    bool in_text = false, in_thread = false; /* in_text: of an element whose lines are frames */
    bool any = false;                        /* a stack was before */
    const bool again = has_places(at, end);
    while (next_tag(at, end, &tag)) {
        if (!in_text)
            blank(at, tag.at);
        at = tag.end;
        const bool frames = is_any(tag.name, text_tags, COUNT_OF(text_tags));
        const bool is_thread = is_named(tag.name, "thread");
        if (frames)
            in_text = !tag.closes && !tag.is_empty &&
                      (in_thread || !again || !is_named(tag.name, "callstack"));
        if (is_any(tag.name, frame_tags, COUNT_OF(frame_tags)) && !tag.closes) {
            struct pattern_text parts[PARTS + 1] = {{NULL, NULL}};
            space.end = tag.at;
            put_thread(&space);
            at = read_frame(&tag, end, parts);
            in_text = false;
            any = true;
            put_frame(tag.at, at, parts, scratch);
            arena_reset(scratch);
            continue;
        }
        if (is_thread && !tag.closes)
            space = (struct space){tag.at, NULL, thread_name(&tag, end), true};
        else if (any && !in_thread && !tag.closes && space.at == NULL &&
                 is_any(tag.name, stack_tags, COUNT_OF(stack_tags)))
            space = (struct space){tag.at, NULL, {NULL, NULL}, false};
        in_thread = is_thread ? !tag.closes : in_thread;
        any = any || in_text;
        if (space.at != NULL) {
            space.end = tag.end;
            if (in_text || (is_thread && tag.closes))
                put_thread(&space);
        } else {
            blank(tag.at, tag.end);
        }
        if (frames && tag.end > tag.at)
            tag.end[-1] = '\n';
    }
    if (!in_text)
        blank(at, end);
}

static bool next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    while (input->end - input->start <= LIMIT_JSON_BYTES && input_fill(input, LIMIT_JSON_BYTES * 2))
        continue;
    if (input->end - input->start > LIMIT_JSON_BYTES) {
        input_skip(input, input->end - input->start);
        item_fault(input, out, ERR_LIMIT, LIMIT_JSON_BYTES, "report in XML", NULL);
        return true;
    }
    hide_data(input->buffer + input->start, input->buffer + input->end);
    make_text(input->buffer + input->start, input->buffer + input->end, &input->scratch);
    show_data(input->buffer + input->start, input->buffer + input->end);
    input->notation = &notation_text;
    return notation_text.next(input, keep, out);
}

/* Elements with frames in what is read first: Windows' event log is XML, too, and its lines are
 * read as text. This is asked at each line until one is understood, so nothing is searched twice.
 */
static bool recognise(struct stack_input *input)
{
    const char *at = input_after_space(input, input->start);
    struct tag tag;
    if (at == NULL || *at != '<' || input->end - (size_t)(at - input->buffer) < 2 ||
        (at[1] != '?' && at[1] != '!' && (lower(at[1]) < 'a' || lower(at[1]) > 'z')) ||
        input->notation != NULL)
        return false;
    while (input->end - input->start < INPUT_BUFFER_BYTES && input_fill(input, INPUT_BUFFER_BYTES))
        continue;
    char *end = input->buffer + input->end;
    for (char *from = input->buffer + input->start; next_tag(from, end, &tag); from = tag.end)
        if (is_any(tag.name, frame_tags, COUNT_OF(frame_tags)) ||
            is_any(tag.name, text_tags, COUNT_OF(text_tags)))
            return true;
    return false;
}

const struct notation notation_xml = {.name = "XML", .recognise = recognise, .next = next};
