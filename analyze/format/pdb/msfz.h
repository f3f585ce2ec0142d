/* MSFZ, the compressed container of PDB files, made into the plain one (MSF 7.00) in memory.
 *
 *     OFFSET SIZE  header
 *          0   32  "Microsoft MSFZ Container\r\n\x1aALD\0\0"
 *         32    8  version: 0
 *         40    8  file offset of the stream directory
 *         48    8  file offset of the chunk table
 *         56    4  streams
 *         60    4  compression of the stream directory: 0 none, 1 zstd, 2 deflate
 *         64    4  bytes of the stream directory in the file
 *         68    4  bytes of the stream directory
 *         72    4  chunks
 *         76    4  bytes of the chunk table
 * Directory: per stream its fragments {u32 bytes, u64 location} and a u32 0; a stream that does not
 * exist is one u32 0xffffffff. Location: bit 63 clear, the file offset; bit 63 set, a chunk (bits
 * 32 to 62) and an offset in it (bits 0 to 31). Chunk: u64 file offset, u32 compression, u32 bytes
 * in the file, u32 bytes. Unpacked, the chunks in the table's order are one run of bytes, and a
 * fragment may cross from one into the next.
 * Source: https://github.com/microsoft/pdb-rs/blob/03034ba2/docs/pdb/msfz.md
 * This follows that text. Microsoft's own writer uses zstd alone and lets no fragment cross; its
 * public reader refuses files in which one does. DIA (msdia140 of 2026) was asked about 30 files:
 * it reads zstd and stored chunks, also mixed, raw fragments and streams that do not exist. It
 * refuses a fragment that crosses chunks, whatever their compression, every deflate chunk, and
 * files below 16 KiB; sig-enc-stored of the fixtures has all three, so it is not a sign of a wrong
 * reading.
 *
 * Every stream is contiguous in the image. A chunk is unpacked once, when a stream with bytes in it
 * is first requested. Only msf.c includes this. */
#ifndef FORMAT_MSFZ_H
#define FORMAT_MSFZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct msfz;

bool msfz_recognize(const void *data, size_t bytes);

/* Makes the image: superblock and directory are filled, streams are not.  DATA is borrowed until
 * msfz_close().  Fails: ERR_TRUNCATED; ERR_MALFORMED; ERR_UNSUPPORTED another version or
 * compression; ERR_LIMIT a stream of 4 GiB, or far more than so small a file can hold. */
enum status msfz_open(const void *data, size_t bytes, struct msfz **out, struct fault *fault);
void msfz_close(struct msfz *msfz);

/* The image, a whole MSF file once all streams are filled; owned by MSFZ. */
const uint8_t *msfz_image(const struct msfz *msfz, size_t *bytes);

/* Makes stream INDEX readable in the image; safe from several threads. False: its bytes in the file
 * are damaged, or out of memory. */
bool msfz_fill(struct msfz *msfz, uint32_t index);

#endif
