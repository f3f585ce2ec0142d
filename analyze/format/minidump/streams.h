/* The table of streams, and the functions that it names: one reader per stream, in the file named
 * after the stream's subject. To add a stream, write its reader there, declare it here and add a
 * row to the table in streams.c. */
#ifndef FORMAT_MINIDUMP_STREAMS_H
#define FORMAT_MINIDUMP_STREAMS_H

#include "format/minidump/dump_values.h"

/* Reads a stream into the structs of minidump.h; damage goes to m->damage. */
typedef void minidump_stream_fn(struct minidump_reader *m, struct bytes r);
minidump_stream_fn minidump_read_modules, minidump_read_unloaded, minidump_read_threads,
    minidump_read_threads_ex, minidump_read_thread_names, minidump_read_thread_infos,
    minidump_read_memory, minidump_read_memory64, minidump_read_regions, minidump_read_exception,
    minidump_read_system, minidump_read_misc, minidump_read_handles, minidump_read_tables,
    minidump_read_tokens, minidump_read_system_memory, minidump_read_vm_counters,
    minidump_read_comment_a, minidump_read_comment_w, minidump_read_breakpad,
    minidump_read_assertion, minidump_read_crashpad, minidump_read_user, minidump_read_text;

/* Adds the values of a stream that no struct holds; damage to data that the stream points to goes
 * to list->m->damage. */
typedef void minidump_detail_fn(struct minidump_value_list *list, struct bytes r);
minidump_detail_fn minidump_detail_auxv, minidump_detail_dso, minidump_detail_mac_crash,
    minidump_detail_mac_boot, minidump_detail_wine_modules, minidump_detail_handle_operations,
    minidump_detail_handle_infos, minidump_detail_tables, minidump_detail_tokens,
    minidump_detail_misc, minidump_detail_system_memory, minidump_detail_vm_counters,
    minidump_detail_sentry_stacks;

/* One kind of stream.  Rows are in the order in which streams are read: a stream comes after those
 * that it builds on.  Of two streams of one type the first is read. */
struct minidump_stream_kind {
    uint32_t type;
    const char *name;
    const char *json_member;    /* where `read` puts it in the JSON; NULL: `read` is NULL too */
    minidump_stream_fn *read;   /* fills the structs of minidump.h; NULL: no struct covers it */
    minidump_detail_fn *detail; /* adds the values that no struct has; NULL: none, or only bytes */
};
extern const struct minidump_stream_kind minidump_stream_kinds[];
extern const size_t minidump_stream_kind_count;

/* Reads the details of all streams: those without a struct, and the rest of some others. */
void minidump_detail_streams(struct minidump_reader *m);

#endif
