/* Which function has which call frame information; see cfi_table.h. */
#include "unwind/cfi_table.h"
#include "base/array.h"

#include <string.h>

#include "format/elf/elf.h"
#include "unwind/compact.h"
#include "unwind/exidx.h"

enum { CFI_BYTES_MAX = 1 << 26, RECORD_BYTES_MIN = 8 };

struct row {
    uint32_t begin_rva, end_rva;
    uint64_t at;
};

struct list {
    struct cfi_section section;
    struct row *rows; /* sorted by begin_rva */
    uint32_t row_count;
};

struct cfi_table {
    uint64_t base_va, preferred_base_va, image_bytes;
    bool mapped;
    struct list lists[2]; /* the first one that has a function counts */
    uint32_t list_count;
    struct macho macho;
    struct compact compact; /* of macOS: before the lists */
    struct exidx exidx;     /* of arm: after them */
    bool has_compact, has_exidx;
};

bool cfi_begins_at(const struct unwind_process *process, uint64_t va, uint32_t bytes)
{
    uint8_t head[10];
    if (bytes < sizeof(head) || !process->read(process->self, va, head, sizeof(head)))
        return false;
    uint32_t length = load_u32(head);
    return length >= RECORD_BYTES_MIN && length <= bytes - 4 && load_u32(head + 4) == 0 &&
           (head[8] == 1 || head[8] == 3) && head[9] == 'z';
}

ARRAY_ORDER_2(by_begin, struct row, begin_rva, at)

/* Absolute addresses are relocated when they were read from memory, and count from the preferred
 * base when they come from the file. */
static bool to_rva(const struct cfi_table *table, uint64_t va, uint32_t *rva)
{
    uint64_t from_base = va - table->base_va;
    if (from_base >= table->image_bytes)
        from_base = va - table->preferred_base_va;
    *rva = (uint32_t)from_base;
    return from_base <= UINT32_MAX;
}

/* Adds a section to TABLE, unless no function is in it. False: out of memory. */
static bool add_list(struct cfi_table *table, struct cfi_section section, struct arena *keep)
{
    struct list *list = &table->lists[table->list_count];
    struct cfi_common last = {0};
    struct fault fault = FAULT_INIT;
    struct cfi_entry entry;
    uint64_t at = 0;
    uint32_t room = 0;
    bool is_function;
    *list = (struct list){.section = section};
    while (cfi_next(&section, &at, &last, &fault, &is_function, &entry)) {
        struct row row = {.at = entry.offset};
        if (fault.code != ERR_NONE) /* of one record: the next may be whole */
            fault_clear(&fault);
        if (!is_function || !to_rva(table, entry.begin_va, &row.begin_rva) ||
            entry.end_va - entry.begin_va > UINT32_MAX - row.begin_rva)
            continue;
        row.end_rva = row.begin_rva + (uint32_t)(entry.end_va - entry.begin_va);
        if (!ARENA_ROOM(keep, list->rows, room, (uint64_t)list->row_count + 1))
            return false;
        list->rows[list->row_count++] = row;
    }
    if (list->row_count > 0) {
        arena_trim(keep, list->rows, &room, list->row_count, sizeof *list->rows);
        array_sort(list->rows, list->row_count, sizeof *list->rows, by_begin);
        table->list_count++;
    }
    return true;
}

struct cfi_table *cfi_read(const struct unwind_process *process, uint64_t section_va,
                           uint32_t bytes, uint64_t base_va, uint32_t preferred_base_va,
                           struct arena *keep)
{
    uint8_t last;
    if (bytes == 0 || bytes > CFI_BYTES_MAX ||
        !process->read(process->self, section_va + bytes - 1, &last, 1))
        return NULL; /* never reserve memory because a header says so */
    struct cfi_table *table = ARENA_NEW(keep, struct cfi_table);
    uint8_t *data = arena_alloc(keep, bytes);
    if (table == NULL || data == NULL || !process->read(process->self, section_va, data, bytes))
        return NULL;
    const struct module *module = process->module_at(process->self, section_va);
    *table = (struct cfi_table){.base_va = base_va,
                                .preferred_base_va = preferred_base_va,
                                .image_bytes = module != NULL ? module->image_bytes : 0,
                                .mapped = true};
    const struct cfi_section section = {
        .data = data, .bytes = bytes, .va = section_va, .word_bytes = 4};
    return add_list(table, section, keep) ? table : NULL;
}

static bool read_elf(struct byte_view file, struct cfi_table *table, struct arena *keep)
{
    static const char *const names[] = {".eh_frame", ".debug_frame"};
    enum { MACHINE_ARM = 40 };
    struct fault fault = FAULT_INIT;
    struct elf elf;

    if (elf_open(file.data, file.bytes, &elf, &fault) != ERR_NONE || elf.big_endian)
        return false;
    table->base_va = table->preferred_base_va = elf.base_va;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct fault damage = FAULT_INIT;
        struct elf_section section;
        struct byte_view bytes;
        if (!elf_section_named(&elf, names[i], &section) ||
            elf_section_bytes(&elf, &section, keep, &bytes, &damage) != ERR_NONE)
            continue;
        const struct cfi_section list = {.data = bytes.data,
                                         .bytes = bytes.bytes,
                                         .va = section.va,
                                         .word_bytes = elf.is_64 ? 8 : 4,
                                         .debug = i == 1};
        if (!add_list(table, list, keep))
            return false;
    }
    struct cfi_section loaded = {.word_bytes = elf.is_64 ? 8 : 4};
    struct byte_view bytes;
    if (elf.section_count == 0 && elf_loaded_frames(&elf, &loaded.va, &bytes)) {
        loaded.data = bytes.data;
        loaded.bytes = bytes.bytes;
        if (!add_list(table, loaded, keep))
            return false;
    }
    table->has_exidx = elf.machine == MACHINE_ARM && exidx_open(&elf, keep, &table->exidx);
    return true;
}

static bool read_macho(struct byte_view file, struct cfi_table *table, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct macho_section section;

    if (macho_open(file.data, file.bytes, &table->macho, &fault) != ERR_NONE)
        return false;
    table->base_va = table->preferred_base_va = table->macho.base_va;
    for (uint32_t i = 0; macho_section(&table->macho, i, &section); i++) {
        if (strcmp(section.name, "__eh_frame") != 0 || section.foff > file.bytes ||
            section.bytes > file.bytes - section.foff || table->list_count > 0)
            continue;
        const struct cfi_section list = {.data = file.data + section.foff,
                                         .bytes = (size_t)section.bytes,
                                         .va = section.va,
                                         .word_bytes = table->macho.is_64 ? 8 : 4};
        if (!add_list(table, list, keep))
            return false;
    }
    table->has_compact = compact_open(&table->macho, &table->compact);
    return true;
}

struct cfi_table *cfi_read_file(struct byte_view file, struct arena *keep)
{
    struct cfi_table *table = ARENA_NEW(keep, struct cfi_table);
    if (table == NULL)
        return NULL;
    table->image_bytes = UINT32_MAX;
    bool read = false;
    if (elf_recognize(file.data, file.bytes))
        read = read_elf(file, table, keep);
    else if (macho_recognize(file.data, file.bytes))
        read = read_macho(file, table, keep);
    return read && (table->list_count > 0 || table->has_compact || table->has_exidx) ? table : NULL;
}

static bool find_in_list(const struct cfi_table *table, const struct list *list, uint32_t rva,
                         struct cfi_place *out)
{
    const uint32_t low = ARRAY_UPPER(list->rows, list->row_count, begin_rva, rva);
    struct fault fault = FAULT_INIT;
    struct cfi_common last = {0};
    struct cfi_entry entry;
    bool is_function;

    if (low == 0 || rva >= list->rows[low - 1].end_rva)
        return false;
    const struct row *row = &list->rows[low - 1];
    uint64_t at = row->at;
    if (!cfi_next(&list->section, &at, &last, &fault, &is_function, &entry) || !is_function ||
        !cfi_row_at(&entry, entry.begin_va + (rva - row->begin_rva), &out->row))
        return false;
    out->begin_rva = row->begin_rva;
    out->end_rva = row->end_rva;
    out->entry_va = table->mapped ? list->section.va + row->at : 0;
    out->return_register = entry.return_register;
    out->interrupts = entry.interrupts;
    return true;
}

bool cfi_find(const struct cfi_table *table, uint32_t rva, struct cfi_place *out)
{
    enum { X64_PC = 16, ARM64_LR = 30, ARM_LR = 14 };
    uint64_t begin_va, end_va;
    *out = (struct cfi_place){0};
    if (table->has_compact && compact_find(&table->compact, rva, &out->begin_rva, &out->end_rva,
                                           &out->row) == COMPACT_ROW) {
        out->return_register = table->compact.is_arm64 ? ARM64_LR : X64_PC;
        return true;
    }
    for (uint32_t i = 0; i < table->list_count; i++)
        if (find_in_list(table, &table->lists[i], rva, out))
            return true;
    if (!table->has_exidx ||
        !exidx_find(&table->exidx, table->base_va + rva, &begin_va, &end_va, &out->row))
        return false;
    out->begin_rva = (uint32_t)(begin_va - table->base_va);
    out->end_rva = (uint32_t)(end_va - table->base_va);
    out->return_register = ARM_LR;
    return true;
}
