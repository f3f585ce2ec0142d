/* Reading JSON: see json.h. */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

/* The offset at which arrays and objects first nest deeper than LIMIT_JSON_DEPTH; BYTES when they
 * never do. cJSON recurses once per level and stops only at 1,000 levels, which would overflow the
 * stack of a small thread. */
static size_t find_too_deep(const char *text, size_t bytes)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '[' || c == '{') && ++depth > LIMIT_JSON_DEPTH)
            return i;
        else if (!in_string && (c == ']' || c == '}') && depth > 0)
            depth--;
    }
    return bytes;
}

enum status json_parse(const char *text, size_t bytes, cJSON **out, struct fault *fault)
{
    const char *end = NULL;

    *out = NULL;
    if (bytes > LIMIT_JSON_BYTES)
        return fault_set(fault, ERR_LIMIT, LIMIT_JSON_BYTES, "JSON document");
    const size_t deep_at = find_too_deep(text, bytes);
    if (deep_at < bytes)
        return fault_set(fault, ERR_LIMIT, deep_at, "nesting of a JSON document");
    *out = cJSON_ParseWithLengthOpts(text, bytes, &end, 0);
    if (*out == NULL) {
        const uint64_t at = end != NULL && end >= text ? (uint64_t)(end - text) : 0;
        return fault_set(fault, ERR_MALFORMED, at, "JSON document");
    }
    for (const char *rest = end; rest < text + bytes; rest++) {
        if (strchr(" \t\r\n", *rest) == NULL) {
            cJSON_Delete(*out);
            *out = NULL;
            return fault_set(fault, ERR_MALFORMED, (uint64_t)(rest - text),
                             "text after the JSON document");
        }
    }
    return ERR_NONE;
}

static const cJSON *json_member(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return item == NULL || cJSON_IsNull(item) ? NULL : item;
}

static void json_wrong_type(struct fault *fault, const char *key)
{
    fault_set_lasting(fault, ERR_MALFORMED, FAULT_NO_OFFSET, key, "JSON member of another type");
}

const char *json_get_string(const cJSON *object, const char *key, struct arena *keep,
                            struct fault *fault)
{
    const cJSON *item = json_member(object, key);
    if (item == NULL)
        return NULL;
    if (!cJSON_IsString(item)) {
        json_wrong_type(fault, key);
        return NULL;
    }
    const char *text = arena_string(keep, item->valuestring);
    if (text == NULL)
        fault_set_lasting(fault, ERR_MEMORY, FAULT_NO_OFFSET, key, NULL);
    return text;
}

uint64_t json_get_uint(const cJSON *object, const char *key, uint64_t fallback, struct fault *fault)
{
    const double exact_max =
        9007199254740992.0; /* 2^53: above it a double cannot hold every integer */
    const cJSON *item = json_member(object, key);
    if (item == NULL)
        return fallback;
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > exact_max ||
        floor(item->valuedouble) != item->valuedouble) {
        json_wrong_type(fault, key);
        return fallback;
    }
    return (uint64_t)item->valuedouble;
}

uint64_t json_get_hex(const cJSON *object, const char *key, uint64_t fallback, struct fault *fault)
{
    const cJSON *item = json_member(object, key);
    uint64_t value = 0;
    if (item == NULL)
        return fallback;
    if (!cJSON_IsString(item))
        return json_get_uint(object, key, fallback, fault);
    if (!text_parse_hex(item->valuestring, strlen(item->valuestring), &value)) {
        json_wrong_type(fault, key);
        return fallback;
    }
    return value;
}

bool json_get_bool(const cJSON *object, const char *key, bool fallback, struct fault *fault)
{
    const cJSON *item = json_member(object, key);
    if (item == NULL)
        return fallback;
    if (!cJSON_IsBool(item)) {
        json_wrong_type(fault, key);
        return fallback;
    }
    return cJSON_IsTrue(item) != 0;
}

const cJSON *json_get_array(const cJSON *object, const char *key, struct fault *fault)
{
    const cJSON *item = json_member(object, key);
    if (item != NULL && !cJSON_IsArray(item)) {
        json_wrong_type(fault, key);
        return NULL;
    }
    return item;
}

const char **json_get_texts(const cJSON *object, const char *key, struct arena *keep,
                            uint32_t *count, struct fault *fault)
{
    const cJSON *list = json_get_array(object, key, fault);
    const cJSON *item;
    const char **texts = ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(list) + 1, const char *);
    bool failed = texts == NULL;

    *count = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            fault_set_lasting(fault, ERR_MALFORMED, FAULT_NO_OFFSET, key, "a list of texts");
            return NULL;
        }
        if (!failed)
            texts[*count] = arena_string(keep, item->valuestring);
        failed = failed || texts[(*count)++] == NULL;
    }
    if (failed)
        fault_set_lasting(fault, ERR_MEMORY, FAULT_NO_OFFSET, key, NULL);
    return failed ? NULL : texts;
}

const cJSON *json_get_object(const cJSON *object, const char *key, struct fault *fault)
{
    const cJSON *item = json_member(object, key);
    if (item != NULL && !cJSON_IsObject(item)) {
        json_wrong_type(fault, key);
        return NULL;
    }
    return item;
}
