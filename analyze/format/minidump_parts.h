/* Private to the minidump reader: what its files share. */
#ifndef FORMAT_MINIDUMP_PARTS_H
#define FORMAT_MINIDUMP_PARTS_H

#include "format/minidump.h"

struct minidump_reader {
    struct minidump *out;
    struct arena *keep;
    struct fault *damage; /* of the stream being read; first wins, reading may go on */
    uint64_t text_budget; /* bytes of text still allowed: many names may share one place */
    struct fault scratch; /* faults that are no damage of the stream */
};

/* Lays a reader over PLACE of the file.  Its faults go to FAULT. */
struct bytes minidump_at(const struct minidump *dump, struct minidump_place place,
                         struct fault *fault);

/* Reads a MINIDUMP_LOCATION_DESCRIPTOR.  One that leaves the file is damage, and empty. */
struct minidump_place minidump_location(struct minidump_reader *m, struct bytes *r,
                                        const char *what);

/* The UTF-16 text (MINIDUMP_STRING) or UTF-8 text (Crashpad) at FOFF, as UTF-8 in keep.
 * NULL when FOFF is 0 or damaged (which is noted). */
const char *minidump_string(struct minidump_reader *m, uint64_t foff, const char *what);
const char *minidump_utf8(struct minidump_reader *m, uint64_t foff, const char *what);

/* BYTES of UTF-16 at R up to the first NUL, as UTF-8 in keep; NULL: damage or no memory. */
const char *minidump_utf16(struct minidump_reader *m, struct bytes *r, uint64_t bytes);

/* An array in keep; NULL with ERR_MEMORY noted. */
void *minidump_array(struct minidump_reader *m, uint32_t count, size_t size);

/* Readers of single streams; damage goes to m->damage. */
typedef void minidump_stream_fn(struct minidump_reader *m, struct bytes r);
minidump_stream_fn minidump_read_modules, minidump_read_unloaded, minidump_read_threads,
    minidump_read_threads_ex, minidump_read_thread_names, minidump_read_thread_infos,
    minidump_read_memory, minidump_read_memory64, minidump_read_regions, minidump_read_exception,
    minidump_read_system, minidump_read_misc, minidump_read_handles, minidump_read_tables,
    minidump_read_tokens, minidump_read_system_memory, minidump_read_vm_counters,
    minidump_read_comment_a, minidump_read_comment_w, minidump_read_breakpad,
    minidump_read_assertion, minidump_read_crashpad, minidump_read_user;

/* Which processor's CONTEXT stands at PLACE, by its size and the mark in its flags. */
enum cpu minidump_context_cpu(const struct minidump *dump, struct minidump_place place);

/* Reads the streams that are texts.  Fails: ERR_MEMORY. */
enum status minidump_read_texts(struct minidump *dump, struct arena *keep);

/* Sorts the memory ranges and cuts overlaps away.  Fails: ERR_MEMORY. */
enum status minidump_sort_memory(struct minidump *dump, struct arena *keep);

#endif
