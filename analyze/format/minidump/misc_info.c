/* The process of a minidump: identity, times, clock rates, time zone, builds; and its comments.
 *
 *   MISC INFO (24, 44, 232, 832, 1364: each version adds to the one before)
 *   bytes             0
 *   flags             4
 *   process id        8
 *   times            12
 *   MHz              24
 *   integrity ...    44
 *   time zone        56
 *   build           232
 *   debugger build  752
 *   xstate          832
 *   cookie         1360
 */
#include "format/minidump/streams.h"

enum { XSTATE_CET_U = 11 }; /* number of the XSAVE feature */

void minidump_read_misc(struct minidump_reader *m, struct bytes r)
{
    struct minidump_misc *out = &m->out->misc;
    struct bytes whole = r;
    out->bytes = bytes_u32(&r);
    out->flags = bytes_u32(&r);
    out->process_id = bytes_u32(&r);
    out->create_time = bytes_u32(&r);
    out->user_s = bytes_u32(&r);
    out->kernel_s = bytes_u32(&r);
    out->present = !bytes_failed(&r);
    uint64_t have = out->bytes < whole.left ? out->bytes : whole.left;
    if (have >= 44) {
        out->max_mhz = bytes_u32(&r);
        out->current_mhz = bytes_u32(&r);
        out->limit_mhz = bytes_u32(&r);
        bytes_skip(&r, 8);
    }
    if (have >= 232) {
        out->integrity_level = bytes_u32(&r);
        out->execute_flags = bytes_u32(&r);
        out->protected_process = bytes_u32(&r);
        bytes_skip(&r, 4);
        out->bias_minutes = (int32_t)bytes_u32(&r);
        out->time_zone = minidump_utf16(m, &r, 64);
    }
    if (have >= 832) {
        struct bytes builds = bytes_window(&whole, 232, 600);
        out->build = minidump_utf16(m, &builds, 520);
        out->debugger_build = minidump_utf16(m, &builds, 80);
    }
    if (have >= 1364) {
        struct bytes late = bytes_window(&whole, 840, 524);
        out->xstate_features = bytes_u64(&late);
        bytes_skip(&late, (uint64_t)XSTATE_CET_U * 8);
        out->xstate_cet_offset = bytes_u32(&late);
        bytes_skip(&late, 512 - XSTATE_CET_U * 8 - 4);
        out->process_cookie = bytes_u32(&late);
    }
}

/* A transition of the time zone: SYSTEMTIME whose year 0 means every year. */
static const struct minidump_field zone_date[] = {
    {"year", FIELD_UINT, 2},   {"month", FIELD_UINT, 2},      {"day_of_week", FIELD_UINT, 2},
    {"day", FIELD_UINT, 2},    {"hour", FIELD_UINT, 2},       {"minute", FIELD_UINT, 2},
    {"second", FIELD_UINT, 2}, {"millisecond", FIELD_UINT, 2}};

static void add_zone(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field id[] = {{"id", FIELD_UINT, 4}};
    static const char *const names[] = {"standard", "daylight"};
    minidump_add_object(list, "time_zone");
    minidump_add_fields(list, &r, id, COUNT_OF(id));
    bytes_skip(&r, 4);
    for (size_t i = 0; i < 2; i++) {
        static const struct minidump_field bias[] = {{"bias_minutes", FIELD_INT, 4}};
        minidump_add_object(list, names[i]);
        minidump_add_text(list, "name", minidump_utf16(list->m, &r, 64));
        minidump_add_record(list, "from", &r, zone_date, COUNT_OF(zone_date));
        minidump_add_fields(list, &r, bias, COUNT_OF(bias));
        minidump_add_end(list);
    }
    minidump_add_end(list);
}

/* Adds what the process's struct leaves out: MISC INFO from offset 36, its third version from 56,
 * its fifth from 832. */
void minidump_detail_misc(struct minidump_value_list *list, struct bytes r)
{
    static const struct minidump_field idle[] = {{"max_idle_state", FIELD_UINT, 4},
                                                 {"current_idle_state", FIELD_UINT, 4}};
    static const struct minidump_field xstate[] = {{"bytes", FIELD_UINT, 4},
                                                   {"context_bytes", FIELD_UINT, 4},
                                                   {"enabled_features", FIELD_HEX, 8}};
    static const struct minidump_field feature[] = {{"offset", FIELD_UINT, 4},
                                                    {"bytes", FIELD_UINT, 4}};
    const uint32_t stated = list->m->out->misc.bytes;
    const uint64_t have = stated < r.left ? stated : r.left;
    if (have < 44)
        return;
    minidump_add_object(list, NULL);
    struct bytes part = bytes_window(&r, 36, 8);
    minidump_add_fields(list, &part, idle, COUNT_OF(idle));
    if (have >= 232)
        add_zone(list, bytes_window(&r, 56, 176));
    if (have >= 1364) {
        part = bytes_window(&r, 832, 528);
        minidump_add_object(list, "xstate");
        minidump_add_fields(list, &part, xstate, COUNT_OF(xstate));
        minidump_add_array(list, "features");
        for (uint64_t left = list->m->out->misc.xstate_features; left != 0; left >>= 1)
            minidump_add_record(list, NULL, &part, feature, COUNT_OF(feature));
        minidump_add_end(list);
        minidump_add_end(list);
    }
    minidump_add_end(list);
}

/* If a dump has both comments, the UTF-16 one is reported, because it has lost no characters. */
void minidump_read_comment_a(struct minidump_reader *m, struct bytes r)
{
    m->superseded = m->out->comment != NULL;
    if (!m->superseded && minidump_spend_text(m, r.left, r.offset))
        m->out->comment = arena_text(m->keep, (const char *)r.at, r.left);
}

void minidump_read_comment_w(struct minidump_reader *m, struct bytes r)
{
    m->out->comment = minidump_utf16(m, &r, r.left);
}
