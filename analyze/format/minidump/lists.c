/* The streams of a minidump that are lists: modules, threads, memory.
 *
 *   MODULE (108)          THREAD (48)              MEMORY DESCRIPTOR (16)
 *   base              0   id                   0   start va      0
 *   image bytes       8   suspend count        4   location      8
 *   checksum         12   priority class       8
 *   timestamp        16   priority            12   Memory64: the ranges' bytes stand one
 *   name foff        20   TEB va              16   behind the other from one base on, so
 *   version info     24   stack descriptor    24   a location is only a length there.
 *   CodeView place   76   context place       40
 *   misc place       84   ThreadEx (64): backing
 *   reserved         92   store descriptor    48
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "format/minidump/parts.h"

/* A list's 4-byte count, behind which some writers align the entries to 8. */
static uint32_t list_count(struct minidump_reader *m, struct bytes *r, size_t size, uint32_t limit,
                           const char *what)
{
    uint32_t count = bytes_u32(r);
    if (r->left == 4 + (uint64_t)count * size)
        bytes_skip(r, 4);
    if (limit != 0 && count > limit) {
        (void)fault_set(m->damage, ERR_LIMIT, r->offset, what);
        return 0;
    }
    return bytes_count(r, count, size);
}

static void read_build_id(struct minidump_reader *m, struct bytes r, struct minidump_module *out)
{
    enum { BUILD_ID_BYTES_MAX = 64 };
    const size_t bytes = r.left < BUILD_ID_BYTES_MAX ? r.left : BUILD_ID_BYTES_MAX;
    char *text = minidump_array(m, (uint32_t)bytes * 2 + 1, 1);
    for (size_t i = 0; text != NULL && i < bytes; i++)
        (void)snprintf(text + i * 2, 3, "%02x", r.at[i]);
    out->build_id = text;
    out->codeview = "BpEL";
}

/* The CodeView record: which PDB belongs to the image. */
static void read_codeview(struct minidump_reader *m, struct minidump_place place,
                          struct minidump_module *out)
{
    if (place.bytes == 0)
        return;
    struct fault fault = FAULT_INIT;
    struct bytes r = minidump_at(m->out, place, &fault);
    uint32_t magic = bytes_u32(&r);
    if (magic == 0x53445352) { /* "RSDS": GUID, age, name */
        const uint8_t *guid = bytes_take(&r, 16);
        uint32_t age = bytes_u32(&r);
        if (guid != NULL && !bytes_failed(&r)) {
            module_debug_id(guid, age, out->module.debug_id);
            out->codeview = "RSDS";
        }
    } else if (magic == 0x3031424e) { /* "NB10": offset, signature, age, name */
        bytes_skip(&r, 4);
        uint32_t signature = bytes_u32(&r), age = bytes_u32(&r);
        if (!bytes_failed(&r)) {
            (void)snprintf(out->module.debug_id, sizeof(out->module.debug_id),
                           "%08" PRIX32 "%" PRIx32, signature, age);
            out->codeview = "NB10";
        }
    } else {
        if (magic == 0x4270454c) /* "LEpB": an ELF build id, by Breakpad; no identity of ours */
            read_build_id(m, r, out);
        return;
    }
    const char *name = arena_text(m->keep, (const char *)r.at, r.left < 1024 ? r.left : 1024);
    if (bytes_failed(&r) || name == NULL) {
        (void)fault_set(m->damage, fault.code != ERR_NONE ? fault.code : ERR_MEMORY, place.foff,
                        "CodeView record of a module");
        return;
    }
    out->module.pdb_name = path_base(name);
}

static uint64_t version_of(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static void read_module(struct minidump_reader *m, struct bytes *r, uint32_t index,
                        struct minidump_module *out)
{
    struct module *module = &out->module;
    module->index = index;
    module->base_va = bytes_u64(r);
    module->image_bytes = bytes_u32(r);
    out->checksum = bytes_u32(r);
    out->timestamp = bytes_u32(r);
    uint32_t name_foff = bytes_u32(r);
    uint32_t version[13];
    for (size_t i = 0; i < 13; i++)
        version[i] = bytes_u32(r);
    if (version[0] == 0xfeef04bd) { /* VS_FIXEDFILEINFO */
        out->file_version = version_of(version[2], version[3]);
        out->product_version = version_of(version[4], version[5]);
        out->file_flags = version[7] & version[6];
        out->file_os = version[8];
        out->file_type = version[9];
    }
    out->codeview_place = minidump_location(m, r, "CodeView record of a module");
    out->misc_place = minidump_location(m, r, "miscellaneous record of a module");
    bytes_skip(r, 16);
    module->path = minidump_string(m, name_foff, "name of a module");
    module->name = module->path != NULL ? path_base(module->path) : "";
    module->unloaded_at_ns = MODULE_STILL_LOADED;
    module_code_id(out->timestamp, (uint32_t)module->image_bytes, module->code_id);
    read_codeview(m, out->codeview_place, out);
}

void minidump_read_modules(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t count = list_count(m, &r, 108, LIMIT_MODULES, "number of modules");
    out->modules = minidump_array(m, count, sizeof(*out->modules));
    if (out->modules == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        read_module(m, &r, i, &out->modules[i]);
    out->module_count = count;
}

/* The header of newer lists: header bytes, entry bytes, number of entries. */
static uint32_t sized_list(struct minidump_reader *m, struct bytes *r, size_t least,
                           uint32_t *entry_bytes, uint32_t limit, const char *what)
{
    struct bytes whole = *r;
    uint32_t header = bytes_u32(r);
    *entry_bytes = bytes_u32(r);
    uint32_t count = bytes_u32(r);
    if (bytes_failed(r))
        return 0;
    if (header < 12 || header > whole.left || *entry_bytes < least) {
        (void)fault_set(m->damage, ERR_MALFORMED, whole.offset, what);
        return 0;
    }
    if (count > limit) {
        (void)fault_set(m->damage, ERR_LIMIT, whole.offset, what);
        return 0;
    }
    *r = bytes_window(&whole, header, whole.left - header);
    return bytes_count(r, count, *entry_bytes);
}

void minidump_read_unloaded(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t entry_bytes;
    uint32_t count = sized_list(m, &r, 24, &entry_bytes, LIMIT_MODULES, "unloaded modules");
    out->unloaded = minidump_array(m, count, sizeof(*out->unloaded));
    if (out->unloaded == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_unloaded *row = &out->unloaded[i];
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        row->module.index = i;
        row->module.base_va = bytes_u64(&entry);
        row->module.image_bytes = bytes_u32(&entry);
        row->checksum = bytes_u32(&entry);
        row->timestamp = bytes_u32(&entry);
        row->module.path = minidump_string(m, bytes_u32(&entry), "name of an unloaded module");
        row->module.name = row->module.path != NULL ? path_base(row->module.path) : "";
        module_code_id(row->timestamp, (uint32_t)row->module.image_bytes, row->module.code_id);
    }
    out->unloaded_count = count;
}

static void read_thread_list(struct minidump_reader *m, struct bytes r, bool extended)
{
    struct minidump *out = m->out;
    m->not_told = out->threads != NULL; /* a dump with both lists: the plain one was read */
    if (m->not_told)
        return;
    uint32_t count = list_count(m, &r, extended ? 64 : 48, LIMIT_THREADS, "number of threads");
    out->threads = minidump_array(m, count, sizeof(*out->threads));
    if (out->threads == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_thread *thread = &out->threads[i];
        thread->id = bytes_u32(&r);
        thread->suspend_count = bytes_u32(&r);
        thread->priority_class = bytes_u32(&r);
        thread->priority = bytes_u32(&r);
        thread->teb_va = bytes_u64(&r);
        thread->stack_start_va = bytes_u64(&r);
        thread->stack = minidump_location(m, &r, "stack of a thread");
        thread->context = minidump_location(m, &r, "context of a thread");
        if (extended) {
            bytes_skip(&r, 8);
            thread->backing_store = minidump_location(m, &r, "backing store of a thread");
        }
    }
    out->thread_count = count;
}

void minidump_read_threads(struct minidump_reader *m, struct bytes r)
{
    read_thread_list(m, r, false);
}

void minidump_read_threads_ex(struct minidump_reader *m, struct bytes r)
{
    read_thread_list(m, r, true);
}

static struct minidump_thread *thread_of(struct minidump *dump, uint32_t id, uint32_t hint)
{
    if (hint < dump->thread_count && dump->threads[hint].id == id)
        return &dump->threads[hint]; /* writers keep the order of the thread list */
    for (uint32_t i = 0; i < dump->thread_count; i++)
        if (dump->threads[i].id == id)
            return &dump->threads[i];
    return NULL;
}

void minidump_read_thread_names(struct minidump_reader *m, struct bytes r)
{
    uint32_t count = list_count(m, &r, 12, LIMIT_THREADS, "number of thread names");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = bytes_u32(&r);
        uint64_t foff = bytes_u64(&r);
        struct minidump_thread *thread = thread_of(m->out, id, i);
        if (thread == NULL || thread->name != NULL)
            continue;
        const char *name = minidump_string(m, foff, "name of a thread");
        thread->name = name != NULL && name[0] != '\0' ? name : NULL;
    }
}

void minidump_read_thread_infos(struct minidump_reader *m, struct bytes r)
{
    uint32_t entry_bytes;
    uint32_t count = sized_list(m, &r, 64, &entry_bytes, LIMIT_THREADS, "thread information");
    for (uint32_t i = 0; i < count; i++) {
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        struct minidump_thread *thread = thread_of(m->out, bytes_u32(&entry), i);
        if (thread == NULL)
            continue;
        thread->has_info = true;
        thread->dump_flags = bytes_u32(&entry);
        thread->dump_error = bytes_u32(&entry);
        thread->exit_status = bytes_u32(&entry);
        thread->create_time = bytes_u64(&entry);
        thread->exit_time = bytes_u64(&entry);
        thread->kernel_time = bytes_u64(&entry);
        thread->user_time = bytes_u64(&entry);
        thread->start_va = bytes_u64(&entry);
        thread->affinity = bytes_u64(&entry);
    }
}

/* Makes room for COUNT more ranges behind those already read. */
static bool grow_memory(struct minidump_reader *m, uint32_t count)
{
    struct minidump *out = m->out;
    if (count > UINT32_MAX - out->memory_count) {
        (void)fault_set(m->damage, ERR_LIMIT, FAULT_NO_OFFSET, "number of memory ranges");
        return false;
    }
    struct minidump_memory *all = minidump_array(m, out->memory_count + count, sizeof(*all));
    if (all == NULL)
        return false;
    if (out->memory_count > 0)
        memcpy(all, out->memory, out->memory_count * sizeof(*all));
    out->memory = all;
    return true;
}

void minidump_read_memory(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t count = list_count(m, &r, 16, 0, "number of memory ranges");
    if (!grow_memory(m, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_memory range;
        range.start_va = bytes_u64(&r);
        range.place = minidump_location(m, &r, "memory range");
        if (range.place.bytes > 0)
            out->memory[out->memory_count++] = range;
    }
    out->memory_listed += count;
}

void minidump_read_memory64(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint64_t listed = bytes_u64(&r), foff = bytes_u64(&r);
    if (listed > UINT32_MAX) {
        (void)fault_set(m->damage, ERR_MALFORMED, r.offset, "number of memory ranges");
        return;
    }
    uint32_t count = bytes_count(&r, (uint32_t)listed, 16);
    if (!grow_memory(m, count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = r.offset, start_va = bytes_u64(&r), bytes = bytes_u64(&r);
        uint64_t left = foff <= out->data_bytes ? out->data_bytes - foff : 0;
        uint64_t have = bytes < left ? bytes : left;
        if (have > 0)
            out->memory[out->memory_count++] = (struct minidump_memory){start_va, {foff, have}};
        if (have < bytes) { /* the file was cut: what is there of the range still counts */
            (void)fault_set(m->damage, ERR_TRUNCATED, at, "bytes of a memory range");
            break;
        }
        foff += bytes;
    }
    out->memory_listed += count;
}

void minidump_read_regions(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t entry_bytes;
    struct bytes whole = r;
    uint32_t count = sized_list(m, &r, 48, &entry_bytes, 1u << 20, "memory regions");
    if (count == 0 || load_u32(whole.at) < 16)
        return;
    out->regions = minidump_array(m, count, sizeof(*out->regions));
    if (out->regions == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct minidump_region *region = &out->regions[i];
        struct bytes entry = bytes_window(&r, (uint64_t)i * entry_bytes, entry_bytes);
        region->base_va = bytes_u64(&entry);
        region->allocation_base_va = bytes_u64(&entry);
        region->allocation_protection = bytes_u32(&entry);
        bytes_skip(&entry, 4);
        region->bytes = bytes_u64(&entry);
        region->state = bytes_u32(&entry);
        region->protection = bytes_u32(&entry);
        region->type = bytes_u32(&entry);
    }
    out->region_count = count;
}

/* True when X goes before Y: by address, of one address the longer, then the earlier in the file.
 */
static bool goes_before(const struct minidump_memory *x, const struct minidump_memory *y)
{
    if (x->start_va != y->start_va)
        return x->start_va < y->start_va;
    if (x->place.bytes != y->place.bytes)
        return x->place.bytes > y->place.bytes;
    return x->place.foff < y->place.foff;
}

/* Where the run that starts at FROM ends: nothing in it is out of order. */
static uint32_t run_end(const struct minidump_memory *rows, uint32_t from, uint32_t count)
{
    uint32_t end = from + (from < count);
    while (end < count && !goes_before(&rows[end], &rows[end - 1]))
        end++;
    return end;
}

/* Merges the first two runs of FROM, then the next two, into TO; returns how many were left. */
static uint32_t merge_runs(const struct minidump_memory *from, struct minidump_memory *to,
                           uint32_t count)
{
    uint32_t runs = 0;
    for (uint32_t at = 0; at < count; runs++) {
        uint32_t middle = run_end(from, at, count), end = run_end(from, middle, count);
        uint32_t left = at, right = middle;
        for (; at < end; at++) {
            bool take_right =
                left == middle || (right < end && goes_before(&from[right], &from[left]));
            to[at] = take_right ? from[right++] : from[left++];
        }
    }
    return runs;
}

/* Writers list thousands of ranges in a few runs (stacks, what registers point to, one area after
 * the other), so runs are merged as they come. */
static enum status sort_ranges(struct minidump *dump, struct arena *keep)
{
    uint32_t count = dump->memory_count;
    if (run_end(dump->memory, 0, count) == count)
        return ERR_NONE;
    struct minidump_memory *other = ARENA_ARRAY(keep, count, struct minidump_memory);
    struct minidump_memory *from = dump->memory;
    if (other == NULL)
        return ERR_MEMORY;
    for (uint32_t runs = count; runs > 1;) {
        runs = merge_runs(from, other, count);
        struct minidump_memory *swap = from;
        from = other;
        other = swap;
    }
    dump->memory = from;
    return ERR_NONE;
}

enum status minidump_sort_memory(struct minidump *dump, struct arena *keep)
{
    if (dump->memory_count == 0)
        return ERR_NONE;
    if (sort_ranges(dump, keep) != ERR_NONE)
        return ERR_MEMORY;
    uint32_t kept = 0;
    uint64_t covered_end = 0;
    bool any = false;
    for (uint32_t i = 0; i < dump->memory_count; i++) {
        struct minidump_memory range = dump->memory[i];
        if (range.place.bytes > UINT64_MAX - range.start_va)
            range.place.bytes = UINT64_MAX - range.start_va; /* the address space ends */
        if (any && range.start_va < covered_end) {
            uint64_t cut = covered_end - range.start_va;
            if (cut >= range.place.bytes)
                continue;
            range.start_va += cut;
            range.place.foff += cut;
            range.place.bytes -= cut;
        }
        if (range.place.bytes == 0)
            continue;
        covered_end = range.start_va + range.place.bytes;
        any = true;
        dump->memory[kept++] = range;
    }
    dump->memory_count = kept;
    return ERR_NONE;
}

const uint8_t *minidump_memory_at(const struct minidump *dump, uint64_t va, uint64_t *bytes)
{
    uint32_t low = 0, high = dump->memory_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dump->memory[middle].start_va <= va)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct minidump_memory *range = &dump->memory[low - 1];
    uint64_t into = va - range->start_va;
    if (into >= range->place.bytes)
        return NULL;
    *bytes = range->place.bytes - into;
    return dump->data + range->place.foff + into;
}

bool minidump_memory_read(const struct minidump *dump, uint64_t va, void *out, size_t bytes)
{
    uint8_t *to = out;
    while (bytes > 0) {
        uint64_t have;
        const uint8_t *from = minidump_memory_at(dump, va, &have);
        if (from == NULL)
            return false;
        size_t take = have < bytes ? (size_t)have : bytes;
        memcpy(to, from, take);
        to += take;
        va += take;
        bytes -= take;
    }
    return true;
}
