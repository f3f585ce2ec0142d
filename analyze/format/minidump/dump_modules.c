/* Modules and unloaded modules of a minidump.
 *
 *   MODULE (108)            UNLOADED MODULE (24)
 *   base              0     base              0
 *   image bytes       8     image bytes       8
 *   checksum         12     checksum         12
 *   timestamp        16     timestamp        16
 *   name foff        20     name foff        20
 *   version info     24
 *   CodeView place   76
 *   misc place       84
 *   reserved         92
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "format/minidump/streams.h"

/* Zeros, and no bytes, are written of an image that has none. */
static void read_build_id(struct minidump_reader *m, struct bytes r, struct minidump_module *out)
{
    enum { BUILD_ID_BYTES_MAX = 64 };
    const size_t bytes = r.left < BUILD_ID_BYTES_MAX ? r.left : BUILD_ID_BYTES_MAX;
    char *text = minidump_array(m, (uint32_t)bytes * 2 + 1, 1);
    for (size_t i = 0; text != NULL && i < bytes; i++)
        (void)snprintf(text + i * 2, 3, "%02x", r.at[i]);
    if (text != NULL && strspn(text, "0") < bytes * 2)
        out->build_id = out->module.build_id = text;
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
            /* Crashpad, of an image whose record it takes for too short, as lld's for MinGW are */
            if (module_debug_id_is_none(out->module.debug_id))
                out->module.debug_id[0] = '\0';
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
        if (bytes_failed(&r))
            (void)fault_set(m->damage, fault.code, place.foff, "CodeView record of a module");
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
    out->name_foff = bytes_u32(r);
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
    module->path = minidump_string(m, out->name_foff, "name of a module");
    module->name = module->path != NULL ? path_base(module->path) : "";
    module->unloaded_at_ns = MODULE_STILL_LOADED;
    module_code_id(out->timestamp, (uint32_t)module->image_bytes, module->code_id);
    read_codeview(m, out->codeview_place, out);
}

void minidump_read_modules(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t count = minidump_list_count(m, &r, 108, LIMIT_DUMP_ROWS, "number of modules");
    out->modules = minidump_array(m, count, sizeof(*out->modules));
    if (out->modules == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        read_module(m, &r, i, &out->modules[i]);
    out->module_count = count;
}

void minidump_read_unloaded(struct minidump_reader *m, struct bytes r)
{
    struct minidump *out = m->out;
    uint32_t entry_bytes;
    uint32_t count = minidump_sized_list(m, &r, 24, &entry_bytes, UINT32_MAX, "unloaded modules");
    out->unloaded_listed = count;
    if (count > LIMIT_MODULES) /* Microsoft's writer under Wine repeats one entry 65,536 times */
        count = LIMIT_MODULES;
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
        row->name_foff = bytes_u32(&entry);
        row->module.path = minidump_string(m, row->name_foff, "name of an unloaded module");
        row->module.name = row->module.path != NULL ? path_base(row->module.path) : "";
        module_code_id(row->timestamp, (uint32_t)row->module.image_bytes, row->module.code_id);
    }
    out->unloaded_count = count;
}
