/* See hook.h. */
#include "model/hook.h"

#include <stdio.h>
#include <string.h>

static const char *const names[CASE_HOOK_COUNT] = {
    [CASE_HOOK_VECTORED] = "vectored",   [CASE_HOOK_UNHANDLED] = "unhandled",
    [CASE_HOOK_SIGABRT] = "sigabrt",     [CASE_HOOK_INVALID_PARAMETER] = "invalid_parameter",
    [CASE_HOOK_PURE_CALL] = "pure_call", [CASE_HOOK_TERMINATE] = "terminate",
    [CASE_HOOK_WATCHER] = "watcher",     [CASE_HOOK_HEARTBEAT] = "heartbeat",
    [CASE_HOOK_IMPORT] = "import",       [CASE_HOOK_OTHER] = "other",
};

static const char member[] = "doors"; /* the name in JSON, which does not change */

const char *case_hook_name(enum case_hook hook)
{
    return names[hook];
}

static uint32_t find(const char *name, size_t length)
{
    for (int k = 0; k < CASE_HOOK_COUNT; k++)
        if (strlen(names[k]) == length && memcmp(names[k], name, length) == 0)
            return HOOK_BIT(k);
    return length > 0 ? HOOK_BIT(CASE_HOOK_OTHER) : 0;
}

enum case_hook hooks_first(uint32_t hooks)
{
    int k = 0;
    while (k < CASE_HOOK_OTHER && (hooks & HOOK_BIT(k)) == 0)
        k++;
    return (enum case_hook)k;
}

const char *hooks_text(uint32_t hooks, char out[HOOKS_TEXT_BYTES])
{
    size_t bytes = 0;
    for (int k = 0; k < CASE_HOOK_COUNT; k++)
        if ((hooks & HOOK_BIT(k)) != 0)
            bytes += (size_t)snprintf(out + bytes, HOOKS_TEXT_BYTES - bytes, "%s%s",
                                      bytes > 0 ? "," : "", names[k]);
    return bytes > 0 ? out : NULL;
}

uint32_t hooks_parse(const char *list)
{
    uint32_t hooks = 0;
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        hooks |= find(list, length);
        list += length + (list[length] == ',');
    }
    return hooks;
}

void hooks_write(struct json *j, uint32_t hooks)
{
    json_key_array(j, member);
    for (int k = 0; k < CASE_HOOK_COUNT; k++)
        if ((hooks & HOOK_BIT(k)) != 0)
            json_string(j, names[k]);
    json_array_end(j);
}

uint32_t hooks_read(const cJSON *object, struct fault *fault)
{
    const cJSON *list = json_get_array(object, member, fault);
    const cJSON *item;
    uint32_t hooks = 0;

    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            fault_set_lasting(fault, ERR_MALFORMED, FAULT_NO_OFFSET, member, "a list of texts");
            return 0;
        }
        hooks |= find(item->valuestring, strlen(item->valuestring));
    }
    return hooks;
}
