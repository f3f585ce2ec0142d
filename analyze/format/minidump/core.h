/* What every stream reader uses: places in the file, texts, lists, numbers. Private to this folder
 * and at its lowest layer: core.c uses no other file here. */
#ifndef FORMAT_MINIDUMP_CORE_H
#define FORMAT_MINIDUMP_CORE_H

#include "base/array.h"
#include "format/minidump/minidump.h"

struct minidump_reader {
    struct minidump *out;
    struct arena *keep;
    struct fault *damage;    /* of the stream being read; the first is kept and reading continues */
    uint64_t text_budget;    /* bytes of text still allowed: many names may share one place */
    uint64_t value_budget;   /* values still allowed: many lists may share one place */
    struct fault scratch;    /* faults other than damage to the stream */
    const char *stream_name; /* of the stream being read */
    bool superseded;         /* set by a reader whose facts an earlier stream has already stated */
};

enum { /* minidump_system.platform of dumps from other systems than Windows */
       PLATFORM_MACOS = 0x8101,
       PLATFORM_IOS = 0x8102,
       PLATFORM_LINUX = 0x8201,
       PLATFORM_ANDROID = 0x8203,
};

/* Starts a reader on PLACE of the file. Its faults go to FAULT. */
struct bytes minidump_at(const struct minidump *dump, struct minidump_place place,
                         struct fault *fault);

/* Starts a reader on the file from FOFF to its end. Its faults go to FAULT. */
struct bytes minidump_from(const struct minidump *dump, uint64_t foff, struct fault *fault);

/* True when BYTES bytes at FOFF lie within the file. */
bool minidump_place_fits(const struct minidump *dump, uint64_t foff, uint64_t bytes);

/* Reads a MINIDUMP_LOCATION_DESCRIPTOR. One that reaches outside the file is noted as damage and
 * becomes empty. */
struct minidump_place minidump_location(struct minidump_reader *m, struct bytes *r,
                                        const char *what);

/* Charges BYTES of text to the budget. Returns false, and notes damage at OFFSET, when the budget
 * is spent. */
bool minidump_spend_text(struct minidump_reader *m, uint64_t bytes, uint64_t offset);

/* The UTF-16 text (MINIDUMP_STRING) or UTF-8 text (Crashpad) at FOFF, as UTF-8 in keep.
 * NULL when FOFF is 0 or the text is damaged (which is noted). */
const char *minidump_string(struct minidump_reader *m, uint64_t foff, const char *what);
const char *minidump_utf8(struct minidump_reader *m, uint64_t foff, const char *what);

/* BYTES of UTF-16 at R up to the first NUL, as UTF-8 in keep; NULL: damage or no memory. */
const char *minidump_utf16(struct minidump_reader *m, struct bytes *r, uint64_t bytes);

/* An array in keep; NULL with ERR_MEMORY noted. */
void *minidump_array(struct minidump_reader *m, uint32_t count, size_t size);

/* Reads the 4-byte count of a list whose entries have SIZE bytes, and the padding that some writers
 * put after it.  Returns 0 and notes damage when the count is above LIMIT (0: no limit) or the
 * stream ends before that many entries. */
uint32_t minidump_list_count(struct minidump_reader *m, struct bytes *r, size_t size,
                             uint32_t limit, const char *what);

/* Reads the header of newer lists: header bytes, entry bytes, number of entries. R is then at the
 * first entry. Returns 0 and notes damage when the header is shorter than 12 bytes, entries are
 * shorter than LEAST, or there are more than LIMIT. */
uint32_t minidump_sized_list(struct minidump_reader *m, struct bytes *r, size_t least,
                             uint32_t *entry_bytes, uint32_t limit, const char *what);

/* Reads a number of 1, 2, 4 or 8 bytes; BYTES 0 means a pointer of the crashed process. */
uint64_t minidump_number(const struct minidump *dump, struct bytes *r, uint32_t bytes);

/* The size of the crashed process's pointers: 4 or 8. */
uint32_t minidump_pointer_bytes(const struct minidump *dump);

/* The processor of the CONTEXT at PLACE, detected by its size and the bits in its flags. */
enum cpu minidump_context_cpu(const struct minidump *dump, struct minidump_place place);

/* Sorts the memory ranges by address and removes overlaps. Fails: ERR_MEMORY. */
enum status minidump_sort_memory(struct minidump *dump, struct arena *keep);

#endif
