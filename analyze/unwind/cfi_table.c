/* Which function has which call frame information; see cfi_table.h. */
#include "unwind/cfi_table.h"
#include "base/array.h"

#include <string.h>

#include "format/elf/elf.h"

enum { CFI_BYTES_MAX = 1 << 26, RECORD_BYTES_MIN = 8 };

struct row {
    uint32_t begin_rva, end_rva;
    uint64_t at;
};

struct cfi_table {
    struct cfi_section section;
    uint64_t base_va, preferred_base_va, image_bytes;
    bool mapped;
    struct row *rows; /* sorted by begin_rva */
    uint32_t row_count;
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

static int by_begin(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->begin_rva != y->begin_rva)
        return x->begin_rva < y->begin_rva ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

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

/* Adds the functions, or only counts them where there is no memory for rows yet. */
static uint32_t add_rows(struct cfi_table *table)
{
    struct cfi_common last = {0};
    struct cfi_entry entry;
    uint64_t at = 0;
    uint32_t count = 0;
    for (;;) {
        struct fault fault = FAULT_INIT;
        struct row row;
        bool is_function;
        if (!cfi_next(&table->section, &at, &last, &fault, &is_function, &entry))
            return count;
        const uint64_t bytes = entry.end_va - entry.begin_va;
        if (!is_function || !to_rva(table, entry.begin_va, &row.begin_rva) ||
            bytes > UINT32_MAX - row.begin_rva)
            continue;
        row.end_rva = row.begin_rva + (uint32_t)bytes;
        row.at = entry.offset;
        if (table->rows != NULL)
            table->rows[count] = row;
        count++;
    }
}

static bool list_rows(struct cfi_table *table, struct arena *keep)
{
    const uint32_t count = add_rows(table);
    table->rows = ARENA_ARRAY(keep, (size_t)count + 1, struct row);
    if (table->rows == NULL)
        return false;
    table->row_count = add_rows(table);
    if (table->row_count > 0)
        array_sort(table->rows, table->row_count, sizeof(*table->rows), by_begin);
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
    *table = (struct cfi_table){
        .section = {.data = data, .bytes = bytes, .va = section_va, .word_bytes = 4},
        .base_va = base_va,
        .preferred_base_va = preferred_base_va,
        .image_bytes = module != NULL ? module->image_bytes : 0,
        .mapped = true};
    return list_rows(table, keep) ? table : NULL;
}

struct cfi_table *cfi_read_file(struct object_bytes file, struct arena *keep)
{
    static const char *const names[] = {".eh_frame", ".debug_frame"};
    struct fault fault = FAULT_INIT;
    struct elf elf;

    if (!elf_recognize(file.data, file.bytes) ||
        elf_open(file.data, file.bytes, &elf, &fault) != ERR_NONE || elf.big_endian)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct fault damage = FAULT_INIT;
        struct elf_section section;
        struct object_bytes bytes;
        if (!elf_section_named(&elf, names[i], &section) ||
            elf_section_bytes(&elf, &section, keep, &bytes, &damage) != ERR_NONE)
            continue;
        struct cfi_table *table = ARENA_NEW(keep, struct cfi_table);
        if (table == NULL)
            return NULL;
        *table = (struct cfi_table){.section = {.data = bytes.data,
                                                .bytes = bytes.bytes,
                                                .va = section.va,
                                                .word_bytes = elf.is_64 ? 8 : 4,
                                                .debug = i == 1},
                                    .base_va = elf.base_va,
                                    .preferred_base_va = elf.base_va,
                                    .image_bytes = UINT32_MAX};
        if (!list_rows(table, keep))
            return NULL;
        if (table->row_count > 0)
            return table;
    }
    return NULL;
}

bool cfi_find(const struct cfi_table *table, uint32_t rva, struct cfi_place *out)
{
    const uint32_t low = ARRAY_UPPER(table->rows, table->row_count, begin_rva, rva);
    struct fault fault = FAULT_INIT;
    struct cfi_common last = {0};
    struct cfi_entry entry;
    bool is_function;

    if (low == 0 || rva >= table->rows[low - 1].end_rva)
        return false;
    const struct row *row = &table->rows[low - 1];
    uint64_t at = row->at;
    if (!cfi_next(&table->section, &at, &last, &fault, &is_function, &entry) || !is_function ||
        !cfi_row_at(&entry, entry.begin_va + (rva - row->begin_rva), &out->row))
        return false;
    out->begin_rva = row->begin_rva;
    out->end_rva = row->end_rva;
    out->entry_va = table->mapped ? table->section.va + row->at : 0;
    out->return_register = entry.return_register;
    out->interrupts = entry.interrupts;
    return true;
}
