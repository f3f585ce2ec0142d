/* MSF 7.00, the container of PDB files: a file of equal blocks, and streams that are lists of
 * blocks.
 *
 * Opening reads only the superblock and the stream directory. Streams are read in place if their
 * blocks are contiguous in the file, as they usually are.
 *
 *     OFFSET SIZE  superblock
 *          0   32  "Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"
 *         32    4  block size, a power of two
 *         36    4  free block map
 *         40    4  blocks in the file
 *         44    4  bytes of the stream directory
 *         48    4  unknown
 *         52       blocks that list the directory's blocks, 4 bytes each: one, but for large files
 * Directory: stream count, bytes of each stream (0xffffffff: none), their block lists.
 * Source: https://llvm.org/docs/PDB/MsfFile.html; BIGMSF_HDR in microsoft-pdb's msf.cpp */
#ifndef FORMAT_MSF_H
#define FORMAT_MSF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/view.h"

struct msfz;

struct msf {
    const uint8_t *data; /* borrowed: the whole file */
    size_t bytes;
    uint32_t block_bytes, block_shift, block_count;
    uint32_t stream_count;
    struct byte_view directory; /* in the file, or a copy in the arena when scattered */
    uint32_t *list_at;          /* per stream: offset of its block list in the directory */
    struct msfz *packed; /* owned; NULL: not an MSFZ container. Otherwise DATA is its image */
};

struct msf_stream {
    const struct msf *msf;
    struct byte_view list; /* block numbers, 4 bytes each */
    uint32_t bytes;        /* 0 also for streams that do not exist */
    uint32_t index;
};

/* Opens an MSF file, or an MSFZ container (msfz.h), which then behaves like the MSF file that it
 * was made from. Fails: ERR_UNSUPPORTED MSF 2.00, portable PDB or not a PDB, each with its own
 * message; ERR_TRUNCATED; ERR_MALFORMED; ERR_LIMIT; ERR_MEMORY. COPIES owns copied data. Call
 * msf_close() even after a fault. */
enum status msf_open(const void *data, size_t bytes, struct arena *copies, struct msf *out,
                     struct fault *fault);
void msf_close(struct msf *msf);

/* Unpacks all of a container, so that data and bytes are a whole MSF file.  False: damaged. */
bool msf_unpack(const struct msf *msf);

/* Stream INDEX; an empty stream if there is none with that number. */
struct msf_stream msf_stream(const struct msf *msf, uint32_t index);

/* BYTES of the stream from SOFF on: in place if they are contiguous in the file, otherwise copied
 * to COPIES. NULL when the stream is too short, the file is damaged or memory runs out. */
const uint8_t *msf_view(const struct msf_stream *stream, uint32_t soff, uint32_t bytes,
                        struct arena *copies);

/* Copies BYTES (a small record) to TO; false when msf_view() would return NULL. */
bool msf_copy(const struct msf_stream *stream, uint32_t soff, uint32_t bytes, void *to);

/* Where the byte at SOFF lies in the file and how many of its block are the stream's from there on;
 * NULL past the end. */
const uint8_t *msf_at(const struct msf_stream *stream, uint32_t soff, uint32_t *left);

/* The NUL-terminated string at SOFF, in place or copied; "" when it does not end. */
const char *msf_string(const struct msf_stream *stream, uint32_t soff, struct arena *copies);

#endif
