/* Private to the minidump reader: what its files share. */
#ifndef FORMAT_MINIDUMP_PARTS_H
#define FORMAT_MINIDUMP_PARTS_H

#include "base/array.h"
#include "format/minidump/minidump.h"

struct minidump_reader {
    struct minidump *out;
    struct arena *keep;
    struct fault *damage;  /* of the stream being read; first wins, reading may go on */
    uint64_t text_budget;  /* bytes of text still allowed: many names may share one place */
    uint64_t value_budget; /* values still allowed: many lists may share one place */
    struct fault scratch;  /* faults that are no damage of the stream */
    uint32_t type;         /* of the stream being read */
    bool not_told;         /* set by a reader that found its place taken by an earlier stream */
};

/* Lays a reader over PLACE of the file.  Its faults go to FAULT. */
struct bytes minidump_at(const struct minidump *dump, struct minidump_place place,
                         struct fault *fault);

/* Reads a MINIDUMP_LOCATION_DESCRIPTOR.  One that leaves the file is damage, and empty. */
struct minidump_place minidump_location(struct minidump_reader *m, struct bytes *r,
                                        const char *what);

/* Takes BYTES of text from the budget; false, and damage at OFFSET, when it is spent. */
bool minidump_spend_text(struct minidump_reader *m, uint64_t bytes, uint64_t offset);

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
    minidump_read_assertion, minidump_read_crashpad, minidump_read_user, minidump_read_text;

/* The values of one stream, being gathered. */
struct minidump_teller {
    struct minidump_reader *m;
    struct minidump_value *values;
    uint32_t count, room;
    bool full; /* no memory or beyond the budget (noted): nothing more is taken */
};

/* Adds values; KEY is NULL inside an array.  Every object and array needs its end. */
void minidump_tell_object(struct minidump_teller *t, const char *key);
void minidump_tell_array(struct minidump_teller *t, const char *key);
void minidump_tell_end(struct minidump_teller *t);
void minidump_tell_uint(struct minidump_teller *t, const char *key, uint64_t value);
void minidump_tell_int(struct minidump_teller *t, const char *key, int32_t value);
void minidump_tell_hex(struct minidump_teller *t, const char *key, uint64_t value);
void minidump_tell_text(struct minidump_teller *t, const char *key, const char *text);
void minidump_tell_bytes(struct minidump_teller *t, const char *key, struct bytes bytes);

enum minidump_field_kind {
    FIELD_UINT,
    FIELD_INT, /* of 32 bits */
    FIELD_HEX,
    FIELD_STRING, /* 32-bit offset of a MINIDUMP_STRING; 0: none */
    FIELD_SKIP,
};

/* One member of a structure: its bytes, 0 for a pointer of the dead process. */
struct minidump_field {
    const char *key;
    enum minidump_field_kind kind;
    uint8_t bytes;
};

/* Tells COUNT members from R on, up to the first that R lacks (whose fault R keeps). */
void minidump_tell_fields(struct minidump_teller *t, struct bytes *r,
                          const struct minidump_field *fields, size_t count);

/* As above, as an object of its own. */
void minidump_tell_record(struct minidump_teller *t, const char *key, struct bytes *r,
                          const struct minidump_field *fields, size_t count);

/* A number of 1, 2, 4 or 8 bytes, 0 for a pointer; how many bytes a pointer has. */
uint64_t minidump_number(const struct minidump *dump, struct bytes *r, uint32_t bytes);
uint32_t minidump_pointer_bytes(const struct minidump *dump);

/* The file from FOFF to its end.  Faults go to FAULT. */
struct bytes minidump_from(const struct minidump *dump, uint64_t foff, struct fault *fault);

/* Tellers of single streams; damage of what they point to goes to t->m->damage. */
typedef void minidump_tell_fn(struct minidump_teller *t, struct bytes r);
minidump_tell_fn minidump_tell_auxv, minidump_tell_dso, minidump_tell_mac_crash,
    minidump_tell_mac_boot, minidump_tell_wine_modules, minidump_tell_handle_operations,
    minidump_tell_handle_infos, minidump_tell_tables, minidump_tell_tokens, minidump_tell_misc,
    minidump_tell_system_memory, minidump_tell_vm_counters, minidump_tell_ce_system,
    minidump_tell_ce_exception, minidump_tell_ce_elements, minidump_tell_ce_stacks,
    minidump_tell_ce_memory, minidump_tell_ce_bucket;

/* What is known of a stream's type, in the order in which streams are read: what later ones build
 * on comes first.  The first of two streams of one type is read. */
struct minidump_stream_kind {
    uint32_t type;
    const char *name;
    const char *told_in;      /* where `read` puts it in the JSON; NULL: `read` is */
    minidump_stream_fn *read; /* into the structs of minidump.h; NULL: none is for it     */
    minidump_tell_fn *tell;   /* what no struct has of it; NULL: nothing, or its bytes */
};
extern const struct minidump_stream_kind minidump_stream_kinds[];
extern const size_t minidump_stream_kind_count;

/* Tells the streams that nothing was read of, and the rest of some others. */
void minidump_tell_streams(struct minidump_reader *m);

/* Which processor's CONTEXT stands at PLACE, by its size and the mark in its flags. */
enum cpu minidump_context_cpu(const struct minidump *dump, struct minidump_place place);

/* Writes what no other member of the JSON has of a stream, as the value of a key that was just
 * written.  *SHOWN counts the raw bytes of all streams: no more are written than the file has. */
void minidump_write_content(struct json *j, const struct minidump *dump,
                            const struct minidump_stream *stream, uint64_t *shown);

/* Sorts the memory ranges and cuts overlaps away.  Fails: ERR_MEMORY. */
enum status minidump_sort_memory(struct minidump *dump, struct arena *keep);

#endif
