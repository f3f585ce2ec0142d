/* liblzma's checksum, which chooses its code by the processor: here when it is first used instead
 * of before main(), because asking the processor is slow in a virtual machine. Linked into the
 * program only, with an object file of liblzma in which lzma_crc64() has another name; see
 * cmake/late_setup.cmake. */
#include <lzma.h>
#include <pthread.h>

extern void (*const lzma_setup)(void);
uint64_t lzma_chosen_crc64(const uint8_t *data, size_t bytes, uint64_t sum);

static pthread_once_t chosen = PTHREAD_ONCE_INIT;

static void choose(void)
{
    lzma_setup();
}

uint64_t lzma_crc64(const uint8_t *data, size_t bytes, uint64_t sum)
{
    (void)pthread_once(&chosen, choose);
    return lzma_chosen_crc64(data, bytes, sum);
}
