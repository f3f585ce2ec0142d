/* Cabinets through libmspack, from memory to memory; see cab.h.
 *
 * libmspack passes file names only to the system calls that it is given, which are these: "in" is
 * the cabinet and "out" the unpacked file. */
#include "format/cab/cab.h"

#include <mspack.h>
#include <stdlib.h>
#include <string.h>

struct cab_memory {
    struct mspack_system system; /* first: libmspack hands it back to us */
    const uint8_t *in;
    size_t in_bytes;
    uint8_t *out; /* owned until handed over */
    size_t out_bytes, out_max;
};

struct cab_file {
    struct mspack_file handle; /* first: what libmspack knows of it */
    struct cab_memory *memory;
    size_t at;
};

static struct mspack_file *cab_open(struct mspack_system *self, const char *name, int mode)
{
    struct cab_file *file = calloc(1, sizeof *file);
    (void)name;
    (void)mode;
    if (file == NULL)
        return NULL;
    /* the system is the first member of the struct around it */
    file->memory = (struct cab_memory *)self;
    return &file->handle;
}

static struct cab_file *cab_of(struct mspack_file *handle)
{
    return (struct cab_file *)handle;
}

static void cab_close(struct mspack_file *handle)
{
    free(cab_of(handle));
}

static int cab_read(struct mspack_file *handle, void *buffer, int bytes)
{
    struct cab_file *file = cab_of(handle);
    const size_t left = file->memory->in_bytes - file->at;
    size_t take = bytes < 0 ? 0 : (size_t)bytes;
    if (take > left)
        take = left;
    memcpy(buffer, file->memory->in + file->at, take);
    file->at += take;
    return (int)take;
}

static int cab_write(struct mspack_file *handle, void *buffer, int bytes)
{
    struct cab_file *file = cab_of(handle);
    struct cab_memory *memory = file->memory;
    if (bytes < 0 || (size_t)bytes > memory->out_max - memory->out_bytes)
        return -1;
    memcpy(memory->out + memory->out_bytes, buffer, (size_t)bytes);
    memory->out_bytes += (size_t)bytes;
    return bytes;
}

static int cab_seek(struct mspack_file *handle, off_t offset, int mode)
{
    struct cab_file *file = cab_of(handle);
    size_t base = file->memory->in_bytes;
    if (mode == MSPACK_SYS_SEEK_START)
        base = 0;
    else if (mode == MSPACK_SYS_SEEK_CUR)
        base = file->at;
    if (offset < 0 ? (uint64_t)-offset > base : (uint64_t)offset > file->memory->in_bytes - base)
        return -1;
    file->at = offset < 0 ? base - (size_t)-offset : base + (size_t)offset;
    return 0;
}

static off_t cab_tell(struct mspack_file *handle)
{
    return (off_t)cab_of(handle)->at;
}

static void cab_message(struct mspack_file *file, const char *format, ...)
{
    (void)file;
    (void)format;
}

static void *cab_alloc(struct mspack_system *self, size_t bytes)
{
    (void)self;
    return malloc(bytes);
}

static void cab_free(void *memory)
{
    free(memory);
}

static void cab_copy(void *from, void *to, size_t bytes)
{
    memcpy(to, from, bytes);
}

static enum status cab_extract(struct cab_memory *memory, struct mscab_decompressor *unpacker,
                               struct mscabd_cabinet *cabinet, struct fault *fault)
{
    const struct mscabd_file *first = cabinet->files; /* libmspack opens none without a file */
    if (first->length > memory->out_max)
        return fault_set(fault, ERR_LIMIT, 0, "file in a cabinet");
    memory->out_max = first->length;
    memory->out = malloc(memory->out_max + 1);
    if (memory->out == NULL)
        return fault_set(fault, ERR_MEMORY, 0, "file in a cabinet");
    if (unpacker->extract(unpacker, cabinet->files, "out") != MSPACK_ERR_OK)
        return fault_set(fault, ERR_MALFORMED, 0, "file in a cabinet");
    return ERR_NONE;
}

enum status cab_unpack(const void *data, size_t bytes, size_t max_bytes, uint8_t **out,
                       size_t *out_bytes, struct fault *fault)
{
    struct cab_memory memory = {
        .system = {cab_open, cab_close, cab_read, cab_write, cab_seek, cab_tell, cab_message,
                   cab_alloc, cab_free, cab_copy, NULL},
        .in = data,
        .in_bytes = bytes,
        .out_max = max_bytes,
    };
    struct mscabd_cabinet *cabinet = NULL;

    *out = NULL;
    *out_bytes = 0;
    if (bytes < 4 || memcmp(data, "MSCF", 4) != 0)
        return fault_set(fault, ERR_UNSUPPORTED, 0, "no cabinet");
    struct mscab_decompressor *unpacker = mspack_create_cab_decompressor(&memory.system);
    if (unpacker == NULL)
        return fault_set(fault, ERR_MEMORY, 0, "cabinet");
    cabinet = unpacker->open(unpacker, "in");
    if (cabinet == NULL) {
        fault_set(fault, ERR_MALFORMED, 0, "cabinet");
    } else {
        (void)cab_extract(&memory, unpacker, cabinet, fault);
        unpacker->close(unpacker, cabinet);
    }
    mspack_destroy_cab_decompressor(unpacker);
    if (fault->code != ERR_NONE) {
        free(memory.out);
        return fault->code;
    }
    *out = memory.out;
    *out_bytes = memory.out_bytes;
    return ERR_NONE;
}
