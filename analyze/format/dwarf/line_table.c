/* The header of a line table: versions, folders, files; see line_table.h.
 *
 * Length (4 bytes, or ffffffff and 8), u16 version, [5: u8 address bytes, u8 selector bytes],
 * header length, u8 least instruction, [4: u8 operations], u8 is_stmt, i8 line base, u8 line range,
 * u8 first special opcode, u8 operands of each opcode; then folders and files. */
#include "format/dwarf/line_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FORMATS_MAX = 32 };
enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2, CONTENT_TIME = 3, CONTENT_BYTES = 4 };

/* What version 5 would state of the lists of versions 2 to 4: how many values an entry has, and of
 * each its content and form, a string or unsigned LEB128. */
static const uint8_t old_folders[] = {1, CONTENT_PATH, 0x08};
static const uint8_t old_files[] = {4,    CONTENT_PATH,  0x08, CONTENT_FOLDER, 0x0f, CONTENT_TIME,
                                    0x0f, CONTENT_BYTES, 0x0f};

static bool is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] != '\0' && path[1] == ':');
}

/* PATH in FOLDER, separated as FOLDER is written: with a backslash if it is the root of a Windows
 * path. An absolute path stays, and so do "." and "..", as other readers print them. */
static const char *join_path(struct arena *keep, const char *folder, const char *path)
{
    const size_t bytes = strlen(folder);

    if (bytes == 0 || is_absolute(path))
        return path;
    if (path[0] == '\0')
        return folder;
    const bool windows =
        folder[0] == '\\' || (folder[0] != '/' && folder[1] == ':' && folder[2] == '\\');
    const char *separator = windows ? "\\" : "/";
    if (folder[bytes - 1] == '/' || folder[bytes - 1] == separator[0])
        separator = "";
    const char *joined = arena_printf(keep, "%s%s%s", folder, separator, path);
    return joined != NULL ? joined : path;
}

struct entry_format {
    uint64_t content;
    struct dwarf_form form;
};

static bool read_formats(const struct line_table *table, struct dwarf_cursor *c,
                         struct entry_format formats[FORMATS_MAX], uint32_t *count)
{
    *count = (uint32_t)cursor_fixed(c, 1);
    if (*count > FORMATS_MAX)
        return false;
    for (uint32_t i = 0; i < *count; i++) {
        formats[i].content = cursor_unsigned(c);
        formats[i].form = dwarf_form_of(cursor_unsigned(c), &table->format);
    }
    return !c->failed;
}

struct path_list {
    const char **at; /* owned; the paths are in the arena */
    uint32_t count, room;
};

/* What the paths of a list are relative to. */
struct path_base {
    struct arena *keep;
    const char *unit_folder;
    const struct path_list *folders; /* NULL: the list is that of folders */
};

/* Folder 0 is the unit's own, which version 5 states; the others are relative to the unit's. */
static const char *whole_path(const struct path_base *base, uint32_t number, uint64_t folder,
                              const char *path)
{
    const struct path_list *folders = base->folders;
    if (folders != NULL)
        return join_path(base->keep,
                         folder < folders->count ? folders->at[folder] : base->unit_folder, path);
    return number > 0 ? join_path(base->keep, base->unit_folder, path) : path;
}

/* Reads one entry. NULL: it is damaged or, before version 5, the empty one after the last. */
static const char *read_path(const struct line_table *table, struct dwarf_cursor *c,
                             const struct entry_format *formats, uint32_t count, uint64_t *folder)
{
    const char *path = "";
    bool absent = false;

    *folder = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct dwarf_value value = dwarf_value_take(c, formats[i].form, &table->format);
        if (c->failed)
            return NULL;
        if (formats[i].content == CONTENT_FOLDER)
            (void)dwarf_value_number(value, c->big_endian, folder);
        if (formats[i].content != CONTENT_PATH)
            continue;
        path = dwarf_value_text(table->unit, value, false, &absent);
        if (path == NULL)
            table->unit->damaged = table->unit->damaged || !absent;
        else if (path[0] == '\0' && table->format.version < 5)
            return NULL;
    }
    return path != NULL ? path : "";
}

/* A list of folders or of files: in version 5 as long as it states, before that up to an empty
 * entry and counted from 1. */
static bool read_list(const struct line_table *table, struct dwarf_cursor *c,
                      const struct path_base *base, struct path_list *out)
{
    const bool old = table->format.version < 5, of_folders = base->folders == NULL;
    struct dwarf_cursor fixed = {old_files, old_files + sizeof old_files, false, false};
    struct entry_format formats[FORMATS_MAX];
    uint64_t stated = DWARF_FILES_MAX, folder;
    uint32_t format_count;

    if (of_folders)
        fixed = (struct dwarf_cursor){old_folders, old_folders + sizeof old_folders, false, false};
    if (!read_formats(table, old ? &fixed : c, formats, &format_count))
        return false;
    if (!old)
        stated = cursor_unsigned(c);
    if (stated > DWARF_FILES_MAX || (format_count == 0 && stated > 0) ||
        (!old && (c->failed || stated > cursor_left(c))))
        return false;
    for (bool first = old; out->count < stated; first = false) {
        const char *path = of_folders ? base->unit_folder : NULL; /* number 0 */
        if (!first) {
            path = read_path(table, c, formats, format_count, &folder);
            if (path == NULL)
                break;
            path = whole_path(base, out->count, folder, path);
        }
        if (!ARRAY_ROOM(out->at, out->room, out->count + 1))
            return false;
        out->at[out->count++] = path;
    }
    return true;
}

static bool read_files(struct line_table *table, struct dwarf_cursor *c, const char *unit_folder,
                       struct arena *keep)
{
    struct path_list folders = {NULL, 0, 0}, files = {NULL, 0, 0};
    struct path_base base = {keep, unit_folder, NULL};

    bool good = read_list(table, c, &base, &folders);
    base.folders = &folders;
    good = good && read_list(table, c, &base, &files);
    if (!good)
        files.count = 0;
    table->file_count = files.count;
    table->files = ARRAY_FIT(files.at, files.count);
    free(folders.at);
    return good;
}

bool line_table_open(struct dwarf_context *unit, uint64_t offset, const char *folder,
                     struct arena *keep, struct line_table *out)
{
    struct dwarf_cursor c =
        cursor_over(unit->object->sections[DEBUG_LINE], offset, unit->object->big_endian);
    struct dwarf_format *format = &out->format;

    memset(out, 0, sizeof *out);
    out->unit = unit;
    const uint64_t length = cursor_length(&c, &format->offset_bytes);
    if (c.failed || length > cursor_left(&c))
        return false;
    c.end = c.at + length;
    out->bytes = length;
    format->version = (uint16_t)cursor_fixed(&c, 2);
    format->address_bytes = unit->format.address_bytes;
    if (format->version < 2 || format->version > 5)
        return false;
    if (format->version == 5) {
        format->address_bytes = (uint8_t)cursor_fixed(&c, 1);
        (void)cursor_fixed(&c, 1);
    }
    const uint64_t head = cursor_fixed(&c, format->offset_bytes);
    const uint8_t *start = c.at;
    out->least_step = (uint8_t)cursor_fixed(&c, 1);
    out->operations = format->version >= 4 ? (uint8_t)cursor_fixed(&c, 1) : 1;
    (void)cursor_fixed(&c, 1);
    out->line_base = (int8_t)cursor_fixed(&c, 1);
    out->line_range = (uint8_t)cursor_fixed(&c, 1);
    out->first_special = (uint8_t)cursor_fixed(&c, 1);
    out->operand_counts = c.at;
    cursor_skip(&c, out->first_special > 0 ? out->first_special - 1U : 0);
    if (c.failed || head > (uint64_t)(c.end - start) || out->line_range == 0 ||
        format->address_bytes > 8)
        return false;
    out->program = c;
    out->program.at = start + head;
    c.end = start + head;
    if (c.at > c.end)
        return false;
    return read_files(out, &c, folder, keep);
}
