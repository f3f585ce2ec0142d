/* See packed.h. */
#include "conduct/packed.h"

#include <zlib.h>
#include <zstd.h>

#include "engine/opened.h"

enum { ROOM_BYTES = 1 << 16, GZIP_LEVEL = 6, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 };

/* 0: without memory, or over 4 GB. */
static uint64_t gzip_bytes(const struct file_map *file, uint8_t room[ROOM_BYTES])
{
    z_stream z = {0};
    int result = Z_OK;
    /* zlib's type lacks const, but zlib does not write here */
    union {
        const uint8_t *from;
        Bytef *to;
    } input = {file->data};
    if (file->bytes > UINT32_MAX || deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
                                                 GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    z.next_in = input.to;
    z.avail_in = (uInt)file->bytes;
    uint64_t total = 0;
    do {
        z.next_out = room;
        z.avail_out = ROOM_BYTES;
        result = deflate(&z, Z_FINISH);
        total += ROOM_BYTES - z.avail_out;
    } while (result == Z_OK);
    (void)deflateEnd(&z);
    return result == Z_STREAM_END ? total : 0;
}

static uint64_t zstd_bytes(const struct file_map *file, uint8_t room[ROOM_BYTES])
{
    ZSTD_CStream *z = ZSTD_createCStream(); /* its level is the default one */
    ZSTD_inBuffer in = {file->data, file->bytes, 0};
    uint64_t total = 0;
    size_t left = 1;
    while (z != NULL && left != 0 && !ZSTD_isError(left)) {
        ZSTD_outBuffer out = {room, ROOM_BYTES, 0};
        left = ZSTD_compressStream2(z, &out, &in, ZSTD_e_end);
        total += out.pos;
    }
    (void)ZSTD_freeCStream(z);
    return left == 0 ? total : 0;
}

static void pack_file(const struct opened_file *file, uint64_t *gzip, uint64_t *zstd)
{
    uint8_t room[ROOM_BYTES];
    struct fault ignored = FAULT_INIT;
    struct file_map map;
    if (file->path == NULL || file_map(file->path, &map, &ignored) != ERR_NONE)
        return;
    *gzip = gzip_bytes(&map, room);
    *zstd = zstd_bytes(&map, room);
    file_unmap(&map);
}

void packed_sizes_take(const struct crash_case *crash, struct case_timing *out)
{
    struct arena scratch;
    struct opened_case opened;
    arena_init(&scratch, 0);
    opened_case_name(crash, &scratch, &opened);
    pack_file(&opened.files[OPENED_RECORD], &out->record_gzip_bytes, &out->record_zstd_bytes);
    pack_file(&opened.files[OPENED_DUMP], &out->dump_gzip_bytes, &out->dump_zstd_bytes);
    pack_file(&opened.files[OPENED_TUNED], &out->dump_tuned_gzip_bytes,
              &out->dump_tuned_zstd_bytes);
    arena_free(&scratch);
}
