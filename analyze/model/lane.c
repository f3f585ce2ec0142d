/* See lane.h. */
#include "model/lane.h"

#include <string.h>

static const char *const ways[WAY_COUNT] = {[WAY_FOREIGN] = "foreign",
                                            [WAY_DUMP] = "plain dump",
                                            [WAY_TUNED] = "tuned dump",
                                            [WAY_OFFSET] = "offsets"};
static const char *const states[WAY_STATES] = {"no index", "index", "warm"};

const char *lane_way_name(enum case_way way)
{
    return ways[way];
}

const char *lane_state_name(enum way_state state)
{
    return states[state];
}

const char *lane_name(const struct lane *lane, struct arena *keep)
{
    return arena_printf(keep, "%s %s, %s", cpu_name(lane->arch), ways[lane->way],
                        states[lane->state]);
}

/* The index of the LENGTH bytes at TEXT among COUNT words, or COUNT. */
static int find(const char *const *words, int count, const char *text, size_t length)
{
    int i = 0;
    while (i < count && (strlen(words[i]) != length || memcmp(words[i], text, length) != 0))
        i++;
    return i;
}

bool lane_parse(const char *text, struct lane *out)
{
    *out = (struct lane){CPU_UNKNOWN, WAY_COUNT, WAY_STATES};
    for (int arch = 0; arch < CPU_COUNT; arch++) {
        const char *name = cpu_name((enum cpu)arch);
        const size_t length = strlen(name);
        if (arch != CPU_UNKNOWN && strncmp(text, name, length) == 0 && text[length] == ' ') {
            out->arch = (enum cpu)arch;
            text += length + 1;
            break;
        }
    }
    const size_t length = strcspn(text, ",");
    out->way = (enum case_way)find(ways, WAY_COUNT, text, length);
    if (out->way == WAY_COUNT || text[length] == '\0')
        return out->way != WAY_COUNT;
    const char *state = text + length + 1 + strspn(text + length + 1, " ");
    out->state = (enum way_state)find(states, WAY_STATES, state, strlen(state));
    return out->state != WAY_STATES;
}

bool lane_is(const struct lane *asked, const struct lane *lane)
{
    return (asked->arch == CPU_UNKNOWN || asked->arch == lane->arch) && asked->way == lane->way &&
           (asked->state == WAY_STATES || asked->state == lane->state);
}
