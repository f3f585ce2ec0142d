/* The header of a line table: versions, folders, files; see line_table.h.
 *
 * Length (4 bytes, or ffffffff and 8), u16 version, [5: u8 address bytes, u8 selector bytes],
 * header length, u8 least instruction, [4: u8 operations], u8 is_stmt, i8 line base, u8 line range,
 * u8 first special opcode, u8 operands of each opcode; then folders and files. */
#include "format/dwarf/line_table.h"

#include <string.h>

enum {
    CONTENT_PATH = 1,
    CONTENT_FOLDER = 2,
    FORMATS_MAX = 32,
    LONG_LENGTH = 12,
};

uint64_t line_fixed(struct line_cursor *c, uint32_t bytes)
{
    uint64_t value = 0;
    if (c->failed || c->end - c->at < bytes ||
        !dwarf_number_at(c->bytes, c->at, bytes, c->big_endian, &value)) {
        c->failed = true;
        return 0;
    }
    c->at += bytes;
    return value;
}

uint64_t line_unsigned(struct line_cursor *c)
{
    uint64_t value = 0, byte = 0x80;
    for (unsigned shift = 0; !c->failed && (byte & 0x80) != 0; shift += 7) {
        byte = line_fixed(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    return c->failed ? 0 : value;
}

int64_t line_signed(struct line_cursor *c)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; !c->failed && (byte & 0x80) != 0; shift += 7) {
        byte = line_fixed(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    if ((byte & 0x40) != 0 && shift < 64)
        value |= ~(uint64_t)0 << shift;
    return c->failed ? 0 : (int64_t)value;
}

static const char *line_string(struct line_cursor *c)
{
    const uint8_t *at = c->bytes.data + c->at;
    const uint8_t *nul = c->failed ? NULL : memchr(at, 0, (size_t)(c->end - c->at));
    if (nul == NULL) {
        c->failed = true;
        return "";
    }
    c->at += (uint64_t)(nul - at) + 1;
    return (const char *)at;
}

static void line_skip(struct line_cursor *c, uint64_t bytes)
{
    if (c->failed || c->end - c->at < bytes)
        c->failed = true;
    else
        c->at += bytes;
}

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

static uint32_t count_strings(struct line_cursor c)
{
    uint32_t count = 0;
    while (!c.failed && line_string(&c)[0] != '\0')
        count++;
    return count;
}

/* Versions 2 to 4: folders and files are lists that end with an empty name and count from 1. */
static bool read_old_files(struct line_table *table, struct line_cursor *c, const char *unit_folder,
                           struct arena *keep)
{
    const uint32_t folder_count = count_strings(*c) + 1;
    const char **folders = ARENA_ARRAY(keep, folder_count, const char *);
    if (folders == NULL)
        return false;
    folders[0] = unit_folder;
    for (uint32_t i = 1; i < folder_count; i++)
        folders[i] = join_path(keep, unit_folder, line_string(c));
    (void)line_string(c);
    struct line_cursor ahead = *c;
    uint32_t count = 0;
    while (line_string(&ahead)[0] != '\0' && !ahead.failed && count < DWARF_FILES_MAX) {
        for (int i = 0; i < 3; i++)
            (void)line_unsigned(&ahead);
        count++;
    }
    table->files = ARENA_ARRAY(keep, (size_t)count + 1, const char *);
    if (table->files == NULL)
        return false;
    table->file_count = count + 1;
    for (uint32_t i = 1; i <= count; i++) {
        const char *name = line_string(c);
        const uint64_t number = line_unsigned(c);
        (void)line_unsigned(c);
        (void)line_unsigned(c);
        table->files[i] = join_path(keep, folders[number < folder_count ? number : 0], name);
    }
    return true;
}

struct entry_format {
    uint64_t content, form;
};

static bool read_formats(struct line_cursor *c, struct entry_format formats[FORMATS_MAX],
                         uint32_t *count)
{
    *count = (uint32_t)line_fixed(c, 1);
    if (*count > FORMATS_MAX)
        return false;
    for (uint32_t i = 0; i < *count; i++) {
        formats[i].content = line_unsigned(c);
        formats[i].form = line_unsigned(c);
    }
    return !c->failed;
}

/* The text at OFFSET of a section; NULL where there is none. */
static const char *text_of(struct object_bytes section, uint64_t offset)
{
    if (offset >= section.bytes ||
        memchr(section.data + offset, 0, (size_t)(section.bytes - offset)) == NULL)
        return NULL;
    return (const char *)section.data + offset;
}

/* Reads one value: a path into *text, or a number. */
static uint64_t read_value(const struct line_table *table, struct line_cursor *c, uint64_t form,
                           const char **text)
{
    const struct object_bytes *sections = table->unit->object->sections;
    switch (form) {
    case DW_FORM_string:
        *text = line_string(c);
        return 0;
    case DW_FORM_line_strp:
        *text = text_of(sections[DEBUG_LINE_STR], line_fixed(c, table->offset_bytes));
        return 0;
    case DW_FORM_strp:
        *text = text_of(sections[DEBUG_STR], line_fixed(c, table->offset_bytes));
        return 0;
    case DW_FORM_strp_sup:
        (void)line_fixed(c, table->offset_bytes);
        return 0;
    case DW_FORM_strx1:
        *text = dwarf_text_number(table->unit, line_fixed(c, 1));
        return 0;
    case DW_FORM_strx2:
        *text = dwarf_text_number(table->unit, line_fixed(c, 2));
        return 0;
    case DW_FORM_strx3:
        *text = dwarf_text_number(table->unit, line_fixed(c, 3));
        return 0;
    case DW_FORM_strx4:
        *text = dwarf_text_number(table->unit, line_fixed(c, 4));
        return 0;
    case DW_FORM_strx:
        *text = dwarf_text_number(table->unit, line_unsigned(c));
        return 0;
    case DW_FORM_udata:
        return line_unsigned(c);
    case DW_FORM_data1:
        return line_fixed(c, 1);
    case DW_FORM_data2:
        return line_fixed(c, 2);
    case DW_FORM_data4:
        return line_fixed(c, 4);
    case DW_FORM_data8:
        return line_fixed(c, 8);
    case DW_FORM_data16:
        line_skip(c, 16);
        return 0;
    case DW_FORM_block:
        line_skip(c, line_unsigned(c));
        return 0;
    case DW_FORM_block1:
        line_skip(c, line_fixed(c, 1));
        return 0;
    default: /* its length is unknown */
        c->failed = true;
        return 0;
    }
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
static bool read_list(const struct line_table *table, struct line_cursor *c,
                      const struct path_base *base, const char ***out, uint32_t *count)
{
    struct entry_format formats[FORMATS_MAX];
    uint32_t format_count;

    if (!read_formats(c, formats, &format_count))
        return false;
    const uint64_t stated = line_unsigned(c);
    if (c->failed || stated > c->end - c->at || stated > DWARF_FILES_MAX ||
        (format_count == 0 && stated > 0))
        return false;
    *out = ARENA_ARRAY(base->keep, (size_t)stated + 1, const char *);
    if (*out == NULL)
        return false;
    for (uint32_t i = 0; i < stated && !c->failed; i++) {
        const char *path = "", *other = "";
        uint64_t folder = 0;
        for (uint32_t k = 0; k < format_count; k++) {
            const bool is_path = formats[k].content == CONTENT_PATH;
            const uint64_t number = read_value(table, c, formats[k].form, is_path ? &path : &other);
            if (formats[k].content == CONTENT_FOLDER)
                folder = number;
        }
        if (c->failed)
            break;
        if (path == NULL) {
            table->unit->damaged = true;
            path = "";
        }
        (*out)[i] = whole_path(base, i, folder, path);
        *count = i + 1;
    }
    return true;
}

static bool read_new_files(struct line_table *table, struct line_cursor *c, const char *unit_folder,
                           struct arena *keep)
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
    const struct object_bytes section = unit->object->sections[DEBUG_LINE];
    struct line_cursor c = {section, offset, section.bytes, unit->big_endian, false};

    memset(out, 0, sizeof *out);
    out->unit = unit;
    if (section.data == NULL || offset > section.bytes)
        return false;
    uint64_t length = line_fixed(&c, 4);
    out->offset_bytes = length == UINT32_MAX ? 8 : 4;
    if (length == UINT32_MAX)
        length = line_fixed(&c, 8);
    if (c.failed || length > c.end - c.at)
        return false;
    c.end = c.at + length;
    out->version = (uint16_t)line_fixed(&c, 2);
    out->address_bytes = unit->address_bytes;
    if (out->version < 2 || out->version > 5)
        return false;
    if (out->version == 5) {
        out->address_bytes = (uint8_t)line_fixed(&c, 1);
        (void)line_fixed(&c, 1);
    }
    const uint64_t head = line_fixed(&c, out->offset_bytes);
    const uint64_t start = c.at;
    out->least_step = (uint8_t)line_fixed(&c, 1);
    out->operations = out->version >= 4 ? (uint8_t)line_fixed(&c, 1) : 1;
    (void)line_fixed(&c, 1);
    out->line_base = (int8_t)line_fixed(&c, 1);
    out->line_range = (uint8_t)line_fixed(&c, 1);
    out->first_special = (uint8_t)line_fixed(&c, 1);
    out->operand_counts = section.data + c.at;
    line_skip(&c, out->first_special > 0 ? out->first_special - 1U : 0);
    if (c.failed || head > c.end - start || out->line_range == 0 || out->address_bytes > 8)
        return false;
    out->program = c;
    out->program.at = start + head;
    c.end = start + head;
    if (c.at > c.end)
        return false;
    return out->version == 5 ? read_new_files(out, &c, folder, keep)
                             : read_old_files(out, &c, folder, keep);
}
