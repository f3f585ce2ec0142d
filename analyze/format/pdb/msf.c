/* See msf.h.  Invariant after msf_open(): the directory is whole, every stream's block list
 * lies inside it, and list_at is right.  Block numbers are checked when they are used. */
#include "format/pdb/msf.h"

#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "format/pdb/msfz.h"

static const char msf7_magic[32] = "Microsoft C/C++ MSF 7.00\r\n\x1a\x44\x53\0\0";
static const char msf1_magic[] = "Microsoft C/C++ program database 1.00";
static const char msf2_magic[] = "Microsoft C/C++ program database 2.00";

enum { SUPERBLOCK_BYTES = 52, NO_STREAM_BYTES = -1 };

/* For the container's own lists, which are not streams. */
#define NO_STREAM_INDEX UINT32_MAX

static enum status msf_check_magic(const void *data, size_t bytes, struct fault *fault)
{
    if (bytes >= sizeof msf7_magic && memcmp(data, msf7_magic, sizeof msf7_magic) == 0)
        return ERR_NONE;
    if (bytes >= sizeof msf2_magic && memcmp(data, msf2_magic, sizeof msf2_magic - 1) == 0)
        return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "PDB of Visual C++ 6 or older (MSF 2.00)",
                              "relink with Visual Studio 2003 or newer, whose PDBs are read");
    if (bytes >= sizeof msf1_magic && memcmp(data, msf1_magic, sizeof msf1_magic - 1) == 0)
        return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "PDB of Visual C++ 4 or older (MSF 1.00)",
                              "relink with Visual Studio 2003 or newer, whose PDBs are read");
    if (bytes >= 4 && memcmp(data, "BSJB", 4) == 0)
        return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "portable PDB (managed code)",
                              "native frames need the native PDB");
    if (bytes < sizeof msf7_magic)
        return fault_set(fault, ERR_TRUNCATED, 0, "PDB signature");
    if (memcmp(data, "MZ", 2) == 0)
        return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "PDB signature",
                              "this is an image: --symbols takes it");
    return fault_set_hint(fault, ERR_UNSUPPORTED, 0, "PDB signature", "this file is no PDB");
}

/* Reads the fields after the magic, up to the list of map blocks. */
static enum status msf_read_superblock(struct bytes r, struct msf *out)
{
    const uint64_t start = r.offset;
    out->block_bytes = bytes_u32(&r);
    (void)bytes_u32(&r); /* free block map: needed only by writers */
    out->block_count = bytes_u32(&r);
    out->directory.bytes = bytes_u32(&r);
    (void)bytes_u32(&r); /* unknown */
    if (bytes_failed(&r))
        return r.fault->code;
    const uint32_t size = out->block_bytes;
    if (size < 512 || size > 1U << 20 || (size & (size - 1)) != 0)
        return fault_set(r.fault, ERR_MALFORMED, start, "MSF block size");
    while (1U << out->block_shift < size)
        out->block_shift++;
    /* Writers put the directory anywhere, so a truncated file may still have its directory, and
     * procedures would be missing silently. The last block may be short. */
    if (out->block_count != 0 && out->bytes <= (uint64_t)(out->block_count - 1) << out->block_shift)
        return fault_set_hint(r.fault, ERR_TRUNCATED, out->bytes, "PDB",
                              "its header promises more: copy or fetch it again");
    return ERR_NONE;
}

static uint32_t blocks_of(const struct msf *msf, uint32_t bytes)
{
    return (uint32_t)(((uint64_t)bytes + msf->block_bytes - 1) >> msf->block_shift);
}

/* False: the stream is in a container and its bytes are damaged. */
static bool is_there(const struct msf_stream *stream)
{
    return stream->msf->packed == NULL || msfz_fill(stream->msf->packed, stream->index);
}

const uint8_t *msf_at(const struct msf_stream *stream, uint32_t soff, uint32_t *left)
{
    const struct msf *msf = stream->msf;
    *left = 0;
    if (soff >= stream->bytes || !is_there(stream))
        return NULL;
    const uint32_t shift = msf->block_shift, mask = msf->block_bytes - 1;
    const uint32_t want = stream->bytes - soff;
    const uint32_t block = view_u32(stream->list, 4 * (size_t)(soff >> shift));
    const uint64_t foff = ((uint64_t)block << shift) + (soff & mask);
    if (block >= msf->block_count || foff >= msf->bytes)
        return NULL;
    uint64_t there = msf->block_bytes - (soff & mask);
    if (there > msf->bytes - foff)
        there = msf->bytes - foff;
    *left = there < want ? (uint32_t)there : want;
    return msf->data + foff;
}

bool msf_copy(const struct msf_stream *stream, uint32_t soff, uint32_t bytes, void *to)
{
    uint8_t *out = to;
    if (soff > stream->bytes || bytes > stream->bytes - soff || !is_there(stream))
        return false;
    const struct msf *msf = stream->msf;
    const uint32_t shift = msf->block_shift, mask = msf->block_bytes - 1;
    while (bytes != 0) {
        const uint32_t block = view_u32(stream->list, 4 * (size_t)(soff >> shift));
        const uint32_t into = soff & mask;
        const uint64_t foff = ((uint64_t)block << shift) + into;
        const uint32_t part = bytes < msf->block_bytes - into ? bytes : msf->block_bytes - into;
        if (block >= msf->block_count || foff > msf->bytes || part > msf->bytes - foff)
            return false;
        memcpy(out, msf->data + foff, part);
        out += part;
        soff += part;
        bytes -= part;
    }
    return true;
}

/* True when BYTES at SOFF are contiguous in the file; checks only the blocks that they span. */
static bool lies_together(const struct msf_stream *stream, uint32_t soff, uint32_t bytes)
{
    const struct msf *msf = stream->msf;
    const uint32_t first = soff >> msf->block_shift;
    const uint32_t last = (soff + bytes - 1) >> msf->block_shift;
    const uint32_t block = view_u32(stream->list, 4 * (size_t)first);
    for (uint32_t i = first + 1; i <= last; i++)
        if (view_u32(stream->list, 4 * (size_t)i) != block + (i - first))
            return false;
    const uint64_t foff = ((uint64_t)block << msf->block_shift) + (soff & (msf->block_bytes - 1));
    return block < msf->block_count && foff <= msf->bytes && bytes <= msf->bytes - foff;
}

const uint8_t *msf_view(const struct msf_stream *stream, uint32_t soff, uint32_t bytes,
                        struct arena *copies)
{
    const struct msf *msf = stream->msf;
    if (soff > stream->bytes || bytes > stream->bytes - soff || !is_there(stream))
        return NULL;
    if (bytes == 0)
        return msf->data;
    if (lies_together(stream, soff, bytes)) {
        const uint32_t block = view_u32(stream->list, 4 * (size_t)(soff >> msf->block_shift));
        return msf->data + ((size_t)block << msf->block_shift) + (soff & (msf->block_bytes - 1));
    }
    if (bytes > msf->bytes) /* the same block repeatedly: no valid file does that */
        return NULL;
    uint8_t *copy = arena_alloc(copies, bytes);
    return copy != NULL && msf_copy(stream, soff, bytes, copy) ? copy : NULL;
}

const char *msf_string(const struct msf_stream *stream, uint32_t soff, struct arena *copies)
{
    uint32_t left;
    const uint8_t *at = msf_at(stream, soff, &left);
    if (at == NULL)
        return "";
    if (memchr(at, 0, left) != NULL)
        return (const char *)at;
    uint32_t bytes = left;
    for (;;) { /* it goes on in another block: find its end there */
        const uint8_t *more = msf_at(stream, soff + bytes, &left);
        if (more == NULL)
            return "";
        const uint8_t *nul = memchr(more, 0, left);
        bytes += nul != NULL ? (uint32_t)(nul - more) + 1 : left;
        if (nul != NULL)
            break;
    }
    const uint8_t *copy = msf_view(stream, soff, bytes, copies);
    return copy != NULL ? (const char *)copy : "";
}

struct msf_stream msf_stream(const struct msf *msf, uint32_t index)
{
    struct msf_stream out = {msf, {NULL, 0}, 0, index};
    if (index < msf->stream_count) {
        const uint32_t bytes = view_u32(msf->directory, 4 + 4 * (size_t)index);
        out.bytes = bytes == (uint32_t)NO_STREAM_BYTES ? 0 : bytes;
        out.list = view_from(msf->directory, msf->list_at[index]);
    }
    return out;
}

/* The streams' block lists follow each other in the directory, so their offsets are sums of the
 * sizes. */
static enum status msf_place_lists(struct msf *msf, struct arena *copies, struct fault *fault)
{
    if (msf->directory.bytes < 4)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "MSF directory size");
    msf->stream_count = view_u32(msf->directory, 0);
    if (msf->stream_count > (msf->directory.bytes - 4) / 4 || msf->stream_count > LIMIT_PDB_STREAMS)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "MSF stream count");
    msf->list_at = ARENA_ARRAY(copies, msf->stream_count, uint32_t);
    if (msf->list_at == NULL)
        return fault_no_memory(fault, "MSF directory");
    uint64_t at = 4 + 4 * (uint64_t)msf->stream_count;
    for (uint32_t i = 0; i < msf->stream_count; i++) {
        const uint32_t bytes = view_u32(msf->directory, 4 + 4 * (size_t)i);
        msf->list_at[i] = (uint32_t)at;
        if (bytes != (uint32_t)NO_STREAM_BYTES)
            at += 4 * (uint64_t)blocks_of(msf, bytes);
        if (at > msf->directory.bytes)
            return fault_set(fault, ERR_TRUNCATED, FAULT_NO_OFFSET, "MSF stream directory");
    }
    return ERR_NONE;
}

/* The directory is a stream whose block list fills blocks of its own. The superblock ends with the
 * numbers of those blocks: usually one, more for a large directory. */
static enum status msf_open_directory(struct msf *out, struct arena *copies, struct fault *fault)
{
    const uint32_t bytes = (uint32_t)out->directory.bytes; /* so many it states */
    const uint64_t list_bytes = 4 * (uint64_t)blocks_of(out, bytes);
    const uint32_t maps = blocks_of(out, (uint32_t)list_bytes);
    const uint64_t room = out->block_bytes < out->bytes ? out->block_bytes : out->bytes;
    if (list_bytes > UINT32_MAX || SUPERBLOCK_BYTES + 4 * (uint64_t)maps > room)
        return fault_set(fault, ERR_MALFORMED, SUPERBLOCK_BYTES - 8, "MSF directory size");
    const struct msf_stream list = {out,
                                    {out->data + SUPERBLOCK_BYTES, (size_t)room - SUPERBLOCK_BYTES},
                                    (uint32_t)list_bytes,
                                    NO_STREAM_INDEX};
    struct msf_stream directory = {out, {NULL, (size_t)list_bytes}, bytes, NO_STREAM_INDEX};
    directory.list.data = msf_view(&list, 0, (uint32_t)list_bytes, copies);
    if (directory.list.data == NULL)
        return fault_set(fault, ERR_TRUNCATED, SUPERBLOCK_BYTES, "MSF directory block");
    out->directory.data = msf_view(&directory, 0, bytes, copies);
    if (out->directory.data == NULL)
        return fault_set(fault, ERR_TRUNCATED, SUPERBLOCK_BYTES, "MSF stream directory");
    return msf_place_lists(out, copies, fault);
}

enum status msf_open(const void *data, size_t bytes, struct arena *copies, struct msf *out,
                     struct fault *fault)
{
    memset(out, 0, sizeof *out);
    if (msfz_recognize(data, bytes)) {
        if (msfz_open(data, bytes, &out->packed, fault) != ERR_NONE)
            return fault->code;
        data = msfz_image(out->packed, &bytes);
    }
    out->data = data;
    out->bytes = bytes;
    if (msf_check_magic(data, bytes, fault) != ERR_NONE)
        return fault->code;
    struct bytes r = bytes_over(data, bytes, fault);
    bytes_skip(&r, sizeof msf7_magic);
    if (msf_read_superblock(r, out) != ERR_NONE)
        return fault->code;
    return msf_open_directory(out, copies, fault);
}

void msf_close(struct msf *msf)
{
    msfz_close(msf->packed);
    msf->packed = NULL;
}

bool msf_unpack(const struct msf *msf)
{
    bool good = true;
    for (uint32_t i = 0; msf->packed != NULL && i < msf->stream_count; i++)
        good = msfz_fill(msf->packed, i) && good;
    return good;
}
