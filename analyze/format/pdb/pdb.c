/* See pdb.h. Opens the file: information stream, DBI stream and the streams that they refer to.
 *
 * Two ages. The information stream counts every writer (a tool that adds a source-server stream
 * raises it), the DBI stream only linkers; images carry the linker's.
 *
 *     OFFSET SIZE  information stream     OFFSET SIZE  DBI header
 *          0    4  version                     0    4  -1
 *          4    4  signature                   4    4  version
 *          8    4  age                         8    4  age
 *         12   16  GUID                       12    2  globals' stream
 *         28       named streams, features    16    2  publics' stream
 *                                             20    2  symbol records' stream
 *                                             24   20  bytes of modules, contributions, section
 *                                                      map, files, type servers
 *                                             48    4  bytes of the debug header
 *                                             52    4  bytes of edit-and-continue names
 *                                             56    2  flags  58 2 machine */
#include "format/pdb/pdb.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"

enum {
    STREAM_INFO = 1,
    STREAM_DBI = 3,
    INFO_VERSION_GUID = 19990604, /* the first with a GUID */
    INFO_VERSION_VC4 = 19950623,
    FEATURE_MINIMAL = 0x494e494d, /* "MINI": linked with /DEBUG:FASTLINK */
    DBI_HEADER_BYTES = 64,
    MODULE_HEADER_BYTES = 64,
    MODULE_STRINGS = 2, /* its own name and that of its object file */
    CONTRIBUTIONS_V1 = 0xf12eba2d - 0x100000000,
    CONTRIBUTIONS_V2 = 0xf13151e4 - 0x100000000,
    PUBLICS_HEADER_BYTES = 28,
    NAMES_HEADER_BYTES = 12,
    NAMES_MAGIC = 0xeffeeffe - 0x100000000,
    SECTION_BYTES = 40,
    SOURCE_LINK_MAX_BYTES = 1 << 20,
};

enum debug_stream {
    DEBUG_FPO = 0,
    DEBUG_OMAP_TO_SOURCE = 3,
    DEBUG_OMAP_FROM_SOURCE = 4,
    DEBUG_SECTIONS = 5,
    DEBUG_FRAME_DATA = 9,
    DEBUG_SECTIONS_SOURCE = 10,
    DEBUG_STREAMS = 11,
};

bool pdb_recognize(const void *data, size_t bytes)
{
    static const char *const magics[] = {
        "Microsoft C/C++ MSF 7.00\r\n", "Microsoft C/C++ program database ",
        "Microsoft MSFZ Container", "BSJB", /* portable: managed code */
    };
    for (size_t i = 0; i < COUNT_OF(magics); i++)
        if (bytes >= strlen(magics[i]) && memcmp(data, magics[i], strlen(magics[i])) == 0)
            return true;
    return false;
}

/* The map of named streams: a buffer of names, then a hash table of (name, stream) pairs,
 * of which only the pairs are used.  Returns the offset of its end. */
static int32_t named_stream(struct bytes *r, const char *name)
{
    int32_t found = -1;
    const uint32_t names_bytes = bytes_u32(r);
    struct bytes names = bytes_window(r, 0, names_bytes);
    bytes_skip(r, names_bytes);
    const uint32_t pairs = bytes_u32(r);
    (void)bytes_u32(r);               /* capacity */
    for (int set = 0; set < 2; set++) /* present and deleted */
        bytes_skip(r, 4 * (uint64_t)bytes_u32(r));
    const uint32_t count = bytes_count(r, pairs, 8);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t name_at = bytes_u32(r);
        const uint32_t stream = bytes_u32(r);
        if (name == NULL || name_at >= names.left)
            continue;
        const size_t left = names.left - name_at;
        if (strlen(name) < left && memcmp(names.at + name_at, name, strlen(name) + 1) == 0)
            found = stream <= INT32_MAX ? (int32_t)stream : -1;
    }
    return found;
}

static struct bytes info_names(const struct pdb *pdb, struct arena *copies, struct fault *fault)
{
    const struct msf_stream info = msf_stream(&pdb->msf, STREAM_INFO);
    const uint8_t *at = msf_view(&info, 0, info.bytes, copies);
    struct bytes r = bytes_over(at, at != NULL ? info.bytes : 0, fault);
    bytes_skip(&r, pdb->nb10 ? 12 : 28);
    return r;
}

const char *pdb_source_link(const struct pdb *pdb, uint32_t number, struct arena *copies,
                            uint32_t *bytes)
{
    char name[32] = "sourcelink";
    struct fault ignored = FAULT_INIT;
    if (number > 0)
        (void)snprintf(name, sizeof name, "sourcelink$%u", number);
    struct bytes r = info_names(pdb, copies, &ignored);
    const int32_t index = named_stream(&r, name);
    const struct msf_stream found =
        msf_stream(&pdb->msf, index >= 0 ? (uint32_t)index : UINT32_MAX);
    *bytes = found.bytes;
    if (found.bytes == 0 || found.bytes > SOURCE_LINK_MAX_BYTES)
        return NULL;
    return (const char *)msf_view(&found, 0, found.bytes, copies);
}

static enum status open_info(struct pdb *pdb, struct fault *fault)
{
    const struct msf_stream info = msf_stream(&pdb->msf, STREAM_INFO);
    uint8_t head[28] = {0};
    if (!msf_copy(&info, 0, 12, head))
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "PDB information stream");
    const uint32_t version = load_u32(head);
    if (version < INFO_VERSION_VC4)
        return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "PDB older than Visual C++ 4");
    pdb->signature = load_u32(head + 4);
    pdb->info_age = load_u32(head + 8);
    pdb->age = pdb->info_age;
    pdb->nb10 = version < INFO_VERSION_GUID;
    if (!pdb->nb10) {
        if (!msf_copy(&info, 0, sizeof head, head))
            return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PDB information stream");
        memcpy(pdb->guid, head + 12, 16);
    }

    /* Damage from here on loses "/names" and the features, not the file. */
    struct fault ignored = FAULT_INIT;
    struct bytes r = info_names(pdb, &pdb->arena, &ignored);
    const int32_t names = named_stream(&r, "/names");
    if (names >= 0)
        pdb->names = msf_stream(&pdb->msf, (uint32_t)names);
    (void)bytes_u32(&r); /* highest stream number, always 0 */
    while (!bytes_failed(&r) && r.left >= 4)
        if (bytes_u32(&r) == FEATURE_MINIMAL)
            pdb->fastlink = true;
    uint8_t head_names[NAMES_HEADER_BYTES];
    if (msf_copy(&pdb->names, 0, sizeof head_names, head_names) &&
        load_u32(head_names) == (uint32_t)NAMES_MAGIC) {
        const uint32_t bytes = load_u32(head_names + 8);
        pdb->names_soff = NAMES_HEADER_BYTES;
        pdb->names_bytes = bytes <= pdb->names.bytes - NAMES_HEADER_BYTES ? bytes : 0;
    }
    return ERR_NONE;
}

/* Moves *AT past the string that starts there. */
static bool skip_string(const uint8_t *bytes, uint32_t end, uint32_t *at, struct fault *fault)
{
    const uint8_t *nul = *at < end ? memchr(bytes + *at, 0, end - *at) : NULL;
    if (nul == NULL)
        return fault_set(fault, ERR_TRUNCATED, *at, "terminated string"), false;
    *at = (uint32_t)(nul - bytes) + 1;
    return true;
}

/* The modules' records follow each other and have two strings each: record where they start. A PDB
 * has thousands of them, and every start of the program that opens one comes here. */
static enum status open_modules(struct pdb *pdb, uint32_t bytes, struct fault *fault)
{
    const uint8_t *info = msf_view(&pdb->dbi, DBI_HEADER_BYTES, bytes, &pdb->arena);
    if (info == NULL)
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PDB module list");
    pdb->module_info = (struct byte_view){info, bytes};
    pdb->module_at = ARENA_ARRAY(&pdb->arena, bytes / MODULE_HEADER_BYTES, uint32_t);
    if (pdb->module_at == NULL)
        return fault_no_memory(fault, "PDB module list");
    for (uint32_t at = 0; at <= bytes && bytes - at >= MODULE_HEADER_BYTES;) {
        pdb->module_at[pdb->module_count++] = at;
        at += MODULE_HEADER_BYTES;
        for (int string = 0; string < MODULE_STRINGS; string++) {
            if (!skip_string(info, bytes, &at, fault))
                return fault->code;
        }
        at += (4 - (at & 3)) & 3;
    }
    return ERR_NONE;
}

static void open_contributions(struct pdb *pdb, uint32_t soff, uint32_t bytes)
{
    uint8_t head[4];
    if (bytes < 4 || !msf_copy(&pdb->dbi, soff, 4, head))
        return;
    const uint32_t version = load_u32(head);
    if (version != (uint32_t)CONTRIBUTIONS_V1 && version != (uint32_t)CONTRIBUTIONS_V2)
        return;
    pdb->contribution_bytes_each = version == (uint32_t)CONTRIBUTIONS_V2 ? 32 : 28;
    pdb->contribution_soff = soff + 4;
    pdb->contribution_count = (bytes - 4) / pdb->contribution_bytes_each;
}

static struct pdb_section *read_sections(struct pdb *pdb, uint16_t stream_index, uint32_t *count)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, stream_index);
    const uint32_t rows = stream.bytes / SECTION_BYTES;
    *count = 0;
    if (stream_index == UINT16_MAX || rows == 0 || rows > UINT16_MAX)
        return NULL;
    struct pdb_section *out = ARENA_ARRAY(&pdb->arena, rows, struct pdb_section);
    for (uint32_t i = 0; out != NULL && i < rows; i++) {
        uint8_t row[SECTION_BYTES];
        if (!msf_copy(&stream, i * SECTION_BYTES, SECTION_BYTES, row))
            return NULL;
        const uint32_t raw = load_u32(row + 16);
        out[i].virtual_bytes = load_u32(row + 8) != 0 ? load_u32(row + 8) : raw;
        out[i].rva = load_u32(row + 12);
        out[i].flags = load_u32(row + 36);
    }
    *count = out != NULL ? rows : 0; /* all or none: section numbers count from the first */
    return out;
}

/* Whole rows; nothing if there is none. */
static struct byte_view read_omap(struct pdb *pdb, uint16_t stream_index)
{
    const struct msf_stream stream = msf_stream(&pdb->msf, stream_index);
    if (stream_index == UINT16_MAX || stream.bytes < OMAP_ROW_BYTES)
        return (struct byte_view){NULL, 0};
    const uint8_t *rows = msf_view(&stream, 0, stream.bytes, &pdb->arena);
    return (struct byte_view){rows,
                              rows != NULL ? stream.bytes - stream.bytes % OMAP_ROW_BYTES : 0};
}

/* Of a stream that holds no row, as some linkers leave it, nothing is lost. */
static bool is_lost(const struct pdb *pdb, struct byte_view table, uint16_t stream_index)
{
    return stream_index != UINT16_MAX && table.data == NULL &&
           msf_stream(&pdb->msf, stream_index).bytes != 0;
}

/* The debug header is a list of stream numbers. Without the OMAP that it states, every name would
 * be wrong; with one table of the two, what is listed is elsewhere than what is looked up. */
static enum status open_debug_streams(struct pdb *pdb, uint32_t soff, uint32_t bytes,
                                      struct fault *fault)
{
    uint16_t streams[DEBUG_STREAMS];
    for (uint32_t i = 0; i < DEBUG_STREAMS; i++) {
        uint8_t number[2] = {0xff, 0xff};
        if (2 * i + 2 <= bytes)
            (void)msf_copy(&pdb->dbi, soff + 2 * i, 2, number);
        streams[i] = load_u16(number);
    }
    pdb->fpo_stream = streams[DEBUG_FPO];
    pdb->frame_data_stream = streams[DEBUG_FRAME_DATA];
    pdb->omap_to_source = read_omap(pdb, streams[DEBUG_OMAP_TO_SOURCE]);
    pdb->omap_from_source = read_omap(pdb, streams[DEBUG_OMAP_FROM_SOURCE]);
    pdb->sections_final = read_sections(pdb, streams[DEBUG_SECTIONS], &pdb->section_final_count);
    if (pdb->omap_to_source.data != NULL)
        pdb->sections = read_sections(pdb, streams[DEBUG_SECTIONS_SOURCE], &pdb->section_count);
    if (pdb->sections == NULL) {
        pdb->sections = pdb->sections_final;
        pdb->section_count = pdb->section_final_count;
    }
    if (is_lost(pdb, pdb->omap_to_source, streams[DEBUG_OMAP_TO_SOURCE]) ||
        is_lost(pdb, pdb->omap_from_source, streams[DEBUG_OMAP_FROM_SOURCE]))
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PDB OMAP table");
    return (pdb->omap_to_source.data == NULL) == (pdb->omap_from_source.data == NULL)
               ? ERR_NONE
               : fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "PDB with one OMAP table of two");
}

/*     OFFSET SIZE  stream of publics
 *          0    4  bytes of the hash table
 *          4    4  bytes of the address map
 *          8    4  jumps of an incremental link, and 12 4 the bytes of each
 *         16    2  section of the first jump, and 20 4 its offset
 *         28       hash table, address map, per jump the u32 rva of its target
 * Source: PSGSIHDR in microsoft-pdb. */
static void open_publics(struct pdb *pdb, uint16_t stream_index)
{
    uint8_t head[PUBLICS_HEADER_BYTES];
    pdb->publics = msf_stream(&pdb->msf, stream_index);
    if (stream_index == UINT16_MAX || !msf_copy(&pdb->publics, 0, sizeof head, head))
        return;
    const uint32_t hash_bytes = load_u32(head), map_bytes = load_u32(head + 4);
    const uint32_t left = pdb->publics.bytes - PUBLICS_HEADER_BYTES;
    if (hash_bytes > left || map_bytes > left - hash_bytes)
        return;
    pdb->address_map_soff = PUBLICS_HEADER_BYTES + hash_bytes;
    pdb->address_map_count = map_bytes / 4;
    const uint32_t jumps = load_u32(head + 8), jump_bytes = load_u32(head + 12);
    if (jump_bytes == 0 || jumps > (left - hash_bytes - map_bytes) / 4 ||
        jumps > UINT32_MAX / jump_bytes)
        return;
    pdb->jump_soff = pdb->address_map_soff + map_bytes;
    pdb->jump_count = jumps;
    pdb->jump_bytes = jump_bytes;
    pdb->jumps.section = load_u16(head + 16);
    pdb->jumps.offset = load_u32(head + 20);
}

static enum status open_dbi(struct pdb *pdb, struct fault *fault)
{
    uint8_t head[DBI_HEADER_BYTES];
    pdb->dbi = msf_stream(&pdb->msf, STREAM_DBI);
    if (pdb->dbi.bytes == 0)
        return ERR_NONE; /* types only */
    if (!msf_copy(&pdb->dbi, 0, sizeof head, head))
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PDB DBI header");
    if (load_u32(head) != UINT32_MAX)
        return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "DBI stream before 1997");
    pdb->has_dbi = true;
    pdb->age = load_u32(head + 8);
    pdb->stripped = (load_u16(head + 56) & 2) != 0;
    pdb->machine = load_u16(head + 58);
    pdb->symbol_records = msf_stream(&pdb->msf, load_u16(head + 20));
    return ERR_NONE;
}

enum status pdb_open_lists(struct pdb *pdb, struct fault *fault)
{
    uint8_t head[DBI_HEADER_BYTES];
    if (!pdb->has_dbi)
        return ERR_NONE;
    if (!msf_copy(&pdb->dbi, 0, sizeof head, head))
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PDB DBI header");
    const uint32_t modules = load_u32(head + 24), contributions = load_u32(head + 28);
    uint64_t debug = DBI_HEADER_BYTES;
    for (uint32_t at = 24; at <= 40; at += 4)
        debug += load_u32(head + at);
    debug += load_u32(head + 52);
    const uint32_t debug_bytes = load_u32(head + 48);
    if (debug + debug_bytes > pdb->dbi.bytes)
        return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "PDB DBI substreams");
    if (open_modules(pdb, modules, fault) != ERR_NONE)
        return fault->code;
    open_contributions(pdb, DBI_HEADER_BYTES + modules, contributions);
    if (open_debug_streams(pdb, (uint32_t)debug, debug_bytes, fault) != ERR_NONE)
        return fault->code;
    open_publics(pdb, load_u16(head + 16));
    if (pdb->contribution_count == 0)
        pdb_make_contributions(pdb);
    else
        pdb_order_contributions(pdb);
    return ERR_NONE;
}

enum status pdb_open_headers(const void *data, size_t bytes, struct pdb *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    /* A valid file never needs copies larger than itself; twice that allows for the lists. */
    arena_init(&out->arena, 2 * bytes + (1U << 20));
    out->fpo_stream = UINT16_MAX;
    out->frame_data_stream = UINT16_MAX;
    if (msf_open(data, bytes, &out->arena, &out->msf, fault) == ERR_NONE) {
        if (out->msf.packed != NULL)
            out->arena.limit_bytes = 2 * out->msf.bytes + (1U << 20);
        out->dbi = msf_stream(&out->msf, UINT32_MAX);
        out->names = out->dbi;
        out->symbol_records = out->dbi;
        out->publics = out->dbi;
        if (open_info(out, fault) == ERR_NONE)
            (void)open_dbi(out, fault);
    }
    if (fault->code != ERR_NONE)
        pdb_close(out);
    return fault->code;
}

enum status pdb_open(const void *data, size_t bytes, struct pdb *out, struct fault *fault)
{
    if (pdb_open_headers(data, bytes, out, fault) == ERR_NONE &&
        pdb_open_lists(out, fault) != ERR_NONE)
        pdb_close(out);
    return fault->code;
}

void pdb_close(struct pdb *pdb)
{
    msf_close(&pdb->msf);
    arena_free(&pdb->arena);
    memset(pdb, 0, sizeof *pdb);
}

void pdb_debug_id(const struct pdb *pdb, char out[DEBUG_ID_BYTES])
{
    if (pdb->nb10)
        (void)snprintf(out, DEBUG_ID_BYTES, "%08X%x", pdb->signature, pdb->age);
    else
        module_debug_id(pdb->guid, pdb->age, out);
}

const char *pdb_name(const struct pdb *pdb, uint32_t offset, struct arena *copies)
{
    if (offset >= pdb->names_bytes)
        return "";
    return msf_string(&pdb->names, pdb->names_soff + offset, copies);
}
