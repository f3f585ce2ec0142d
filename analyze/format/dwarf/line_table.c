/* The header of a line table: versions, folders, files; see line_table.h.
 *
 * Length (4 bytes, or ffffffff and 8), u16 version, [5: u8 address bytes, u8 selector bytes],
 * header length, u8 least instruction, [4: u8 operations], u8 is_stmt, i8 line base, u8 line range,
 * u8 first special opcode, u8 operands of each opcode; then folders and files. */
#include "format/dwarf/line_table.h"

#include <string.h>

enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2, FORMATS_MAX = 32 };

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

static uint32_t count_strings(struct dwarf_cursor c)
{
    uint32_t count = 0;
    while (!c.failed && cursor_string(&c)[0] != '\0')
        count++;
    return count;
}

/* Versions 2 to 4: folders and files are lists that end with an empty name and count from 1. */
static bool read_old_files(struct line_table *table, struct dwarf_cursor *c,
                           const char *unit_folder, struct arena *keep)
{
    const uint32_t folder_count = count_strings(*c) + 1;
    const char **folders = ARENA_ARRAY(keep, folder_count, const char *);
    if (folders == NULL)
        return false;
    folders[0] = unit_folder;
    for (uint32_t i = 1; i < folder_count; i++)
        folders[i] = join_path(keep, unit_folder, cursor_string(c));
    (void)cursor_string(c);
    struct dwarf_cursor ahead = *c;
    uint32_t count = 0;
    while (cursor_string(&ahead)[0] != '\0' && !ahead.failed && count < DWARF_FILES_MAX) {
        for (int i = 0; i < 3; i++)
            (void)cursor_unsigned(&ahead);
        count++;
    }
    table->files = ARENA_ARRAY(keep, (size_t)count + 1, const char *);
    if (table->files == NULL)
        return false;
    table->file_count = count + 1;
    for (uint32_t i = 1; i <= count; i++) {
        const char *name = cursor_string(c);
        const uint64_t number = cursor_unsigned(c);
        (void)cursor_unsigned(c);
        (void)cursor_unsigned(c);
        table->files[i] = join_path(keep, folders[number < folder_count ? number : 0], name);
    }
    return true;
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

/* The folders that the paths of a list are relative to. */
struct path_base {
    struct arena *keep;
    const char *unit_folder;
    const char **folders; /* NULL: the list is that of folders */
    uint32_t folder_count;
};

/* Folder 0 of version 5 is the unit's own; the others are relative to the unit's. */
static const char *whole_path(const struct path_base *base, uint32_t number, uint64_t folder,
                              const char *path)
{
    if (base->folders != NULL)
        return join_path(base->keep,
                         folder < base->folder_count ? base->folders[folder] : base->unit_folder,
                         path);
    return number > 0 ? join_path(base->keep, base->unit_folder, path) : path;
}

/* Version 5: a list of folders or of files, each entry as its format says; both count from 0. */
static bool read_list(const struct line_table *table, struct dwarf_cursor *c,
                      const struct path_base *base, const char ***out, uint32_t *count)
{
    struct entry_format formats[FORMATS_MAX];
    uint32_t format_count;

    if (!read_formats(table, c, formats, &format_count))
        return false;
    const uint64_t stated = cursor_unsigned(c);
    if (c->failed || stated > cursor_left(c) || stated > DWARF_FILES_MAX ||
        (format_count == 0 && stated > 0))
        return false;
    *out = ARENA_ARRAY(base->keep, (size_t)stated + 1, const char *);
    if (*out == NULL)
        return false;
    for (uint32_t i = 0; i < stated && !c->failed; i++) {
        const char *path = "";
        bool absent = false;
        uint64_t folder = 0;
        for (uint32_t k = 0; k < format_count && !c->failed; k++) {
            const struct dwarf_value value = dwarf_value_take(c, formats[k].form, &table->format);
            if (formats[k].content == CONTENT_PATH && !c->failed)
                path = dwarf_value_text(table->unit, value, false, &absent);
            if (formats[k].content == CONTENT_FOLDER && !c->failed)
                (void)dwarf_value_number(value, c->big_endian, &folder);
        }
        if (c->failed)
            break;
        if (path == NULL) {
            table->unit->damaged = table->unit->damaged || !absent;
            path = "";
        }
        (*out)[i] = whole_path(base, i, folder, path);
        *count = i + 1;
    }
    return true;
}

static bool read_new_files(struct line_table *table, struct dwarf_cursor *c,
                           const char *unit_folder, struct arena *keep)
{
    struct path_base base = {keep, unit_folder, NULL, 0};
    const char **folders = NULL;
    uint32_t folder_count = 0;

    if (!read_list(table, c, &base, &folders, &folder_count))
        return false;
    base.folders = folders;
    base.folder_count = folder_count;
    return read_list(table, c, &base, &table->files, &table->file_count);
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
    return format->version == 5 ? read_new_files(out, &c, folder, keep)
                                : read_old_files(out, &c, folder, keep);
}
