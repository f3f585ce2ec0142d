/* What unwinders learn about a module from its headers in the crashed process's address space:
 * executable sections, .pdata, and the range of ntdll's KiUserExceptionDispatcher. */
#include "unwind/tables.h"

#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "unwind/cfi_table.h"
#include "unwind/hybrid.h"

enum { EXPORTS_MAX = 1 << 16, SECTION_DISCARDABLE = 0x02000000, SECTION_EXECUTE = 0x20000000 };

struct table_node {
    struct unwind_module facts;
    bool cfi_read, file_read;
    struct cfi_table *cfi, *file_cfi; /* of the mapped image; of its file */
    struct table_node *next;
};

struct unwind_tables {
    struct arena *keep;
    struct table_node *first;
};

struct unwind_tables *unwind_tables_new(struct arena *keep)
{
    struct unwind_tables *tables = ARENA_NEW(keep, struct unwind_tables);
    if (tables != NULL)
        tables->keep = keep;
    return tables;
}

/* Compares the name of export NUMBER with WANT: < 0, 0, > 0; sets *known to false when
 * unreadable. */
static int compare_export(const struct unwind_process *process, uint64_t base_va,
                          uint32_t names_rva, uint32_t number, const char *want, bool *known)
{
    char name[40] = {0};
    uint32_t rva;
    *known = unwind_read_u32(process, base_va + names_rva + (uint64_t)number * 4, &rva) &&
             process->read(process->self, base_va + rva, name, sizeof(name) - 1);
    return *known ? strncmp(name, want, sizeof(name) - 1) : 0;
}

/* RVA of an export, by binary search of the sorted name table; 0: none.  Sets *known to false when
 * the memory that decides it is unreadable. */
static uint32_t find_export(const struct unwind_process *process, uint64_t base_va,
                            uint32_t directory_rva, const char *want, bool *known)
{
    uint8_t raw[40];
    if (directory_rva == 0)
        return 0;
    *known = process->read(process->self, base_va + directory_rva, raw, sizeof(raw));
    if (!*known)
        return 0;
    uint32_t functions = load_u32(raw + 28), names = load_u32(raw + 32);
    uint32_t ordinals = load_u32(raw + 36), low = 0, high = load_u32(raw + 24);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_export(process, base_va, names, middle, want, known);
        if (!*known)
            return 0;
        if (order < 0) {
            low = middle + 1;
        } else if (order > 0) {
            high = middle;
        } else {
            uint8_t ordinal[2];
            uint32_t rva;
            if (process->read(process->self, base_va + ordinals + (uint64_t)middle * 2, ordinal,
                              2) &&
                unwind_read_u32(process, base_va + functions + (uint64_t)load_u16(ordinal) * 4,
                                &rva))
                return rva;
            *known = false;
            return 0;
        }
    }
    return 0;
}

/* Where the next export after RVA starts, at most 0x100 bytes later. */
static uint32_t next_export(const struct unwind_process *process, uint64_t base_va,
                            uint32_t directory_rva, uint32_t rva)
{
    uint8_t raw[4 * 256];
    uint32_t functions, count, next = rva + 0x100;
    if (!unwind_read_u32(process, base_va + directory_rva + 28, &functions) ||
        !unwind_read_u32(process, base_va + directory_rva + 20, &count))
        return next;
    if (count > EXPORTS_MAX)
        count = EXPORTS_MAX;
    for (uint32_t i = 0; i < count; i += 256) {
        uint32_t rows = count - i < 256 ? count - i : 256;
        if (!process->read(process->self, base_va + functions + (uint64_t)i * 4, raw,
                           (size_t)rows * 4))
            break;
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t at = load_u32(raw + (size_t)row * 4);
            if (at > rva && at < next)
                next = at;
        }
    }
    return next;
}

static bool is_ntdll(const struct unwind_module *facts)
{
    return facts->module->name != NULL && text_equal_nocase(facts->module->name, "ntdll.dll");
}

/* The range of a dispatcher: the caller of a frame in it was interrupted. On x64, Windows marks it
 * with a machine frame in its unwind data and Wine does not, so the export name decides. */
static struct unwind_range find_dispatcher(const struct unwind_process *process,
                                           struct unwind_module *facts, uint32_t export_rva,
                                           const char *name)
{
    struct unwind_range none = {0, 0};
    bool known = true;
    if (!is_ntdll(facts))
        return none;
    uint32_t rva = find_export(process, facts->module->base_va, export_rva, name, &known);
    struct unwind_entry entry;
    facts->lacks_exports = facts->lacks_exports || !known;
    if (rva == 0)
        return none;
    if (facts->entry_bytes == 12 &&
        unwind_pdata_find(process, facts, rva, 12, &entry) == UNWIND_ROW_FOUND)
        return (struct unwind_range){entry.begin_rva, entry.end_rva};
    uint32_t end =
        facts->is_x86 ? next_export(process, facts->module->base_va, export_rva, rva) : rva + 0x100;
    return (struct unwind_range){rva, end};
}

/* A dump may hold only the first part of a header. The unreadable sections may be code, so any
 * address of the module must then be treated as possible code. */
static void read_sections(const struct unwind_process *process, struct unwind_module *facts,
                          uint64_t table_va, uint32_t count)
{
    uint8_t raw[40];
    uint32_t i = 0;
    for (; i < count && facts->code_count < UNWIND_CODE_RANGES_MAX; i++) {
        if (!process->read(process->self, table_va + (uint64_t)i * 40, raw, sizeof(raw)))
            break;
        uint32_t bytes = load_u32(raw + 8), rva = load_u32(raw + 12);
        if (bytes == 0)
            bytes = load_u32(raw + 16);
        uint32_t flags = load_u32(raw + 36);
        if (facts->is_x86 && facts->frames.end_rva == 0 && bytes <= UINT32_MAX - rva &&
            (flags & (SECTION_DISCARDABLE | SECTION_EXECUTE)) == 0 &&
            cfi_begins_at(process, facts->module->base_va + rva, bytes))
            facts->frames = (struct unwind_range){rva, rva + bytes};
        if ((flags & SECTION_EXECUTE) == 0 || bytes > UINT32_MAX - rva)
            continue;
        facts->code[facts->code_count++] = (struct unwind_range){rva, rva + bytes};
    }
    facts->knows_code = i == count;
}

static void read_pdata_directory(const struct unwind_process *process, struct unwind_module *facts,
                                 uint64_t directories_va, uint32_t entry_bytes)
{
    uint8_t directory[8];
    facts->knows_pdata = entry_bytes == 0;
    if (entry_bytes == 0 || !process->read(process->self, directories_va + 3 * sizeof(uint64_t),
                                           directory, sizeof(directory)))
        return;
    facts->pdata_rva = load_u32(directory);
    facts->pdata_count = load_u32(directory + 4) / entry_bytes;
    facts->knows_pdata = facts->pdata_count <= UNWIND_PDATA_MAX;
    if (!facts->knows_pdata)
        facts->pdata_count = 0;
}

static void read_hybrid(const struct unwind_process *process, struct unwind_module *facts,
                        uint64_t optional_va, uint64_t directories_va)
{
    uint32_t load_config_rva;
    uint64_t preferred_base_va;
    if (unwind_read_u32(process, directories_va + 10 * sizeof(uint64_t), &load_config_rva) &&
        unwind_read_u64(process, optional_va + 24, &preferred_base_va))
        hybrid_read(process, facts->module, load_config_rva, preferred_base_va, &facts->hybrid);
}

/* Reads DOS header, PE header, directories.  Source: Microsoft PE format. */
static void read_headers(const struct unwind_process *process, struct unwind_module *facts)
{
    uint64_t base_va = facts->module->base_va;
    uint8_t dos[64], pe[24 + 2], directory[8];
    if (!process->read(process->self, base_va, dos, sizeof(dos)) || load_u16(dos) != 0x5a4d)
        return;
    uint64_t pe_va = base_va + load_u32(dos + 60);
    if (!process->read(process->self, pe_va, pe, sizeof(pe)) || load_u32(pe) != 0x00004550)
        return;
    uint16_t machine = load_u16(pe + 4);
    uint64_t directories_va = pe_va + 24 + (load_u16(pe + 24) == 0x20b ? 112 : 96);
    if (machine == 0x8664)
        facts->entry_bytes = 12;
    else if (machine == 0xaa64)
        facts->entry_bytes = 8;
    facts->has_headers = true;
    facts->is_x86 = machine == 0x014c;
    (void)unwind_read_u32(process, pe_va + 24 + 28, &facts->preferred_base_va);
    read_sections(process, facts, pe_va + 24 + load_u16(pe + 20), load_u16(pe + 6));
    read_pdata_directory(process, facts, directories_va, facts->entry_bytes);
    if (facts->entry_bytes != 0)
        read_hybrid(process, facts, pe_va + 24, directories_va);
    if (!process->read(process->self, directories_va, directory, sizeof(directory))) {
        facts->lacks_exports = is_ntdll(facts);
        return;
    }
    uint32_t exports_rva = load_u32(directory);
    facts->exceptions = find_dispatcher(process, facts, exports_rva, "KiUserExceptionDispatcher");
    if (facts->is_x86)
        facts->apcs = find_dispatcher(process, facts, exports_rva, "KiUserApcDispatcher");
}

static struct table_node *node_of(const struct unwind_process *process, const struct module *module)
{
    struct unwind_tables *tables = process->tables;
    for (struct table_node **at = &tables->first; *at != NULL; at = &(*at)->next) {
        struct table_node *node = *at;
        if (node->facts.module != module)
            continue;
        *at = node->next; /* move to the front: a walk visits few modules */
        node->next = tables->first;
        tables->first = node;
        return node;
    }
    struct table_node *node = ARENA_NEW(tables->keep, struct table_node);
    if (node == NULL)
        return NULL;
    node->facts.module = module;
    node->next = tables->first;
    tables->first = node;
    read_headers(process, &node->facts);
    return node;
}

bool unwind_in_range(const struct unwind_range *range, uint64_t rva)
{
    return rva >= range->begin_rva && rva < range->end_rva;
}

const struct unwind_module *unwind_module_of(const struct unwind_process *process,
                                             const struct module *module)
{
    const struct table_node *node = node_of(process, module);
    return node != NULL ? &node->facts : NULL;
}

enum cpu unwind_code_cpu(const struct unwind_process *process, const struct module *module,
                         uint64_t va)
{
    const struct unwind_module *facts = module != NULL ? unwind_module_of(process, module) : NULL;
    return facts != NULL ? hybrid_cpu(process, facts, va) : CPU_UNKNOWN;
}

const struct cfi_table *unwind_cfi_of(const struct unwind_process *process,
                                      const struct module *module)
{
    struct table_node *node = node_of(process, module);
    if (node == NULL)
        return NULL;
    const struct unwind_module *facts = &node->facts;
    if (!node->cfi_read && facts->frames.end_rva != 0)
        node->cfi = cfi_read(process, module->base_va + facts->frames.begin_rva,
                             facts->frames.end_rva - facts->frames.begin_rva, module->base_va,
                             facts->preferred_base_va, process->tables->keep);
    node->cfi_read = true;
    return node->cfi;
}

const struct cfi_table *unwind_image_cfi_of(const struct unwind_process *process,
                                            const struct module *module)
{
    struct table_node *node = process->object != NULL ? node_of(process, module) : NULL;
    struct byte_view file;
    if (node == NULL)
        return NULL;
    if (!node->file_read && process->object(process->self, module, &file))
        node->file_cfi = cfi_read_file(file, process->tables->keep);
    node->file_read = true;
    return node->file_cfi;
}

uint32_t unwind_pdata_count(const struct unwind_module *module, uint32_t entry_bytes)
{
    return entry_bytes == module->entry_bytes ? module->pdata_count
                                              : module->hybrid.pdata_bytes / entry_bytes;
}

enum unwind_row unwind_pdata_find(const struct unwind_process *process,
                                  const struct unwind_module *module, uint32_t rva,
                                  uint32_t entry_bytes, struct unwind_entry *out)
{
    const bool own = entry_bytes == module->entry_bytes;
    uint64_t table_va =
        module->module->base_va + (own ? module->pdata_rva : module->hybrid.pdata_rva);
    uint32_t low = 0, high = unwind_pdata_count(module, entry_bytes);
    uint8_t raw[12];
    if (own && !module->knows_pdata)
        return UNWIND_ROW_UNREADABLE;
    while (low < high) { /* first row that starts after RVA */
        uint32_t middle = low + (high - low) / 2;
        if (!process->read(process->self, table_va + (uint64_t)middle * entry_bytes, raw, 4))
            return UNWIND_ROW_UNREADABLE;
        if (load_u32(raw) <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return UNWIND_ROW_NONE;
    if (!process->read(process->self, table_va + (uint64_t)(low - 1) * entry_bytes, raw,
                       entry_bytes))
        return UNWIND_ROW_UNREADABLE;
    *out = (struct unwind_entry){module->module->base_va, load_u32(raw), 0, load_u32(raw + 4)};
    if (entry_bytes == 12) {
        out->end_rva = load_u32(raw + 4);
        out->unwind_rva = load_u32(raw + 8);
        return rva < out->end_rva ? UNWIND_ROW_FOUND : UNWIND_ROW_NONE;
    }
    return UNWIND_ROW_FOUND;
}
