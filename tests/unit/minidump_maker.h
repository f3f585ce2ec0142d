/* Minidumps made by hand, byte by byte, for the tests of their reader. */
#ifndef TESTS_UNIT_MINIDUMP_MAKER_H
#define TESTS_UNIT_MINIDUMP_MAKER_H

#include <stddef.h>
#include <stdint.h>

/* A dump made by hand: add the streams, then write the directory with maker_finish(). */
struct maker {
    uint8_t data[16384];
    uint32_t at, streams;
    uint32_t rows[16][3];
};

void maker_put(struct maker *m, uint64_t value, uint32_t bytes);
/* Puts the numbers, each with BYTES bytes. */
void maker_put_all(struct maker *m, uint32_t bytes, const uint64_t *values, size_t count);
#define MAKER_PUT(m, bytes, ...)                                                                   \
    maker_put_all(m, bytes, (const uint64_t[]){__VA_ARGS__},                                       \
                  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

void maker_start(struct maker *m);
void maker_stream_begin(struct maker *m, uint32_t type);
void maker_stream_end(struct maker *m);
void maker_finish(struct maker *m);
void maker_system_info(struct maker *m, uint16_t architecture);
/* A MINIDUMP_STRING; returns its offset. */
uint32_t maker_text(struct maker *m, const char *ascii);
void maker_module_row(struct maker *m, uint64_t base_va, uint32_t name_foff);
/* A CONTEXT of x64, of MAKER_CONTEXT_BYTES, in which all other registers are 0; returns its offset.
 */
enum { MAKER_CONTEXT_BYTES = 1232 };
uint32_t maker_context(struct maker *m, uint64_t rip, uint64_t rsp);

#endif
