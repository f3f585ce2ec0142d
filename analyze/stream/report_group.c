/* Small reports that go together: see queued_report.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "stream/queued_report.h"

enum { HASH_DIGITS = 32, NUMBER_DIGITS = 20 };

static void group_id(const struct report_member *members, uint32_t count, const char *bodies,
                     size_t bytes, char out[QUEUE_ID_BYTES])
{
    char ids[65], digest[65], both[65 + 65];
    char *text = malloc((size_t)count * (QUEUE_ID_BYTES + NUMBER_DIGITS) + 1);
    size_t at = 0;
    for (uint32_t i = 0; text != NULL && i < count; i++)
        at += (size_t)snprintf(text + at, QUEUE_ID_BYTES + NUMBER_DIGITS, "%s %zu\n", members[i].id,
                               members[i].bytes);
    text_sha256(text_or_empty(text), at, ids);
    text_sha256(bodies, bytes, digest);
    free(text);
    (void)snprintf(both, sizeof both, "%s%s", ids, digest);
    text_sha256(both, strlen(both), digest);
    (void)snprintf(out, QUEUE_ID_BYTES, "-g%u-%.*s", (unsigned)count, HASH_DIGITS, digest);
}

/* A text that may be read together with the next one has a line break at its end (see is_plain() in
 * work_resolve.c). To any other one, such as UTF-16, a byte more would be damage. */
static bool needs_end(const struct report *report)
{
    return report->bytes > 0 && report->stacks[0] == '>' &&
           report->stacks[report->bytes - 1] != '\n';
}

char *report_write_group(const struct report *const *reports, uint32_t count, struct arena *keep,
                         char id[QUEUE_ID_BYTES], size_t *bytes)
{
    struct report group = *reports[0];
    size_t total = 0, at = 0;
    if (count == 1) {
        (void)snprintf(id, QUEUE_ID_BYTES, "%s", group.id);
        return report_write(&group, keep, bytes);
    }
    struct report_member *members = ARENA_ARRAY(keep, count, struct report_member);
    for (uint32_t i = 0; i < count; i++)
        total += reports[i]->bytes + 1;
    char *bodies = arena_alloc(keep, total);
    if (members == NULL || bodies == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct report *from = reports[i];
        members[i] = (struct report_member){from->id, from->bytes + needs_end(from)};
        if (from->bytes > 0)
            memcpy(bodies + at, from->stacks, from->bytes);
        if (needs_end(from))
            bodies[at + from->bytes] = '\n';
        at += members[i].bytes;
    }
    group_id(members, count, bodies, at, id);
    group.id = id;
    group.stacks = bodies;
    group.bytes = at;
    group.members = members;
    group.member_count = count;
    return report_write(&group, keep, bytes);
}

struct report report_member_at(const struct report *group, uint32_t n, size_t at)
{
    struct report member = *group;
    member.id = group->members[n].id;
    member.stacks = group->stacks + at;
    member.bytes = group->members[n].bytes;
    member.members = NULL;
    member.member_count = 0;
    member.is_split = false;
    return member;
}

void report_member_id(const char *group, uint32_t n, char out[QUEUE_ID_BYTES])
{
    (void)snprintf(out, QUEUE_ID_BYTES, "-m%u-%s", (unsigned)n, group);
}

uint64_t report_count_of(const char *of)
{
    uint64_t count = 0;
    if (strncmp(of, "-g", 2) != 0 || !text_parse_uint(of + 2, strcspn(of + 2, "-"), &count) ||
        count > REPORT_MEMBERS_MAX)
        return 1;
    return count;
}

const char *report_group_of(const char *of)
{
    const char *group = strncmp(of, "-m", 2) == 0 ? strchr(of + 2, '-') : NULL;
    return group != NULL && strncmp(group + 1, "-g", 2) == 0 ? group + 1 : NULL;
}
