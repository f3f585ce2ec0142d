/* See shadow_result.h. */
#include "stream/shadow_result.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/names.h"
#include "stream/queue.h"

static const char mark[] = "{\"shadow\":";
static const char *const result_names[SHADOW_RESULTS] = {"same", "differs", "failed"};

enum { FORM_VERSION = 1, WORD_BYTES_MAX = 4096 };

bool shadow_is_sampled(const char *id, double share)
{
    char digest[65];
    uint64_t value = 0;
    text_sha256(id, strlen(id), digest);
    (void)text_parse_hex(digest, 8, &value);
    return (double)value < share * 4294967296.0; /* 8 digits: below 2 to the 32nd */
}

const char *shadow_result_name(enum shadow_result result)
{
    return result_names[result];
}

static bool shadow_result_parse(const char *name, enum shadow_result *out)
{
    const int found = name_index(result_names, SHADOW_RESULTS, name);
    if (found >= 0)
        *out = (enum shadow_result)found;
    return found >= 0;
}

bool shadow_is_text(const char *text, size_t bytes)
{
    return bytes >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0;
}

char *shadow_write(const struct shadow *shadow, struct arena *keep, size_t *bytes)
{
    struct json j;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "shadow", FORM_VERSION);
    json_key_string(&j, "id", shadow->id);
    json_key_string(&j, "hour", shadow->hour);
    json_key_string(&j, "version", shadow->version);
    json_key_string(&j, "verdict", shadow->verdict);
    json_key_string(&j, "signature", shadow->signature);
    json_key_array(&j, "engines");
    for (uint32_t i = 0; i < shadow->count; i++) {
        const struct shadow_engine *e = &shadow->engines[i];
        json_object(&j);
        json_key_string(&j, "engine", e->engine);
        json_key_string(&j, "against", e->against);
        json_key_string(&j, "result", shadow_result_name(e->result));
        json_key_string(&j, "cause", e->cause);
        json_key_string(&j, "module", e->module);
        json_key_uint(&j, "ns", e->ns);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
    char *text = json_take(&j, bytes);
    char *kept = text != NULL ? arena_text(keep, text, *bytes) : NULL;
    free(text);
    return kept;
}

static bool is_short(const char *text)
{
    return text == NULL || strlen(text) < WORD_BYTES_MAX;
}

static enum status read_engines(const cJSON *list, struct arena *keep, struct shadow *out,
                                struct fault *fault)
{
    const cJSON *item = NULL;
    if (!cJSON_IsArray(list))
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "engines of a shadow comparison");
    out->engines = ARENA_ARRAY(keep, SHADOW_ENGINES_MAX, struct shadow_engine);
    if (out->engines == NULL)
        return fault_no_memory(fault, "shadow comparison");
    cJSON_ArrayForEach(item, list)
    {
        if (out->count == SHADOW_ENGINES_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "engines of a shadow comparison");
        struct shadow_engine *e = &out->engines[out->count++];
        e->engine = json_get_string(item, "engine", keep, fault);
        e->against = json_get_string(item, "against", keep, fault);
        e->cause = json_get_string(item, "cause", keep, fault);
        e->module = json_get_string(item, "module", keep, fault);
        e->ns = json_get_uint(item, "ns", 0, fault);
        const char *result = json_get_string(item, "result", keep, fault);
        if (fault->code != ERR_NONE)
            return fault->code;
        if (e->engine == NULL || !shadow_result_parse(result, &e->result) || !is_short(e->engine) ||
            !is_short(e->against) || !is_short(e->cause) || !is_short(e->module) ||
            e->ns > INT64_MAX)
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET,
                             "engine of a shadow comparison");
    }
    return ERR_NONE;
}

enum status shadow_read(const char *text, size_t bytes, struct arena *keep, struct shadow *out,
                        struct fault *fault)
{
    cJSON *root = NULL;
    memset(out, 0, sizeof *out);
    if (json_parse(text, bytes, &root, fault) != ERR_NONE)
        return fault->code;
    const uint64_t version = json_get_uint(root, "shadow", 0, fault);
    if (fault->code == ERR_NONE && version > FORM_VERSION) {
        cJSON_Delete(root);
        return fault_set_reason(fault, ERR_UNSUPPORTED, "version of a shadow comparison",
                                FAULT_NEWER, "a newer version of this program reads it");
    }
    out->id = json_get_string(root, "id", keep, fault);
    out->hour = json_get_string(root, "hour", keep, fault);
    out->version = json_get_string(root, "version", keep, fault);
    out->verdict = json_get_string(root, "verdict", keep, fault);
    out->signature = json_get_string(root, "signature", keep, fault);
    if (fault->code == ERR_NONE && version != FORM_VERSION)
        (void)fault_set(fault, ERR_UNSUPPORTED, 0, "version of a shadow comparison");
    else if (fault->code == ERR_NONE &&
             (out->id == NULL || !queue_id_is_valid(out->id) || out->hour == NULL ||
              strlen(out->hour) != 13 || out->verdict == NULL || !is_short(out->version) ||
              !is_short(out->verdict)))
        (void)fault_set(fault, ERR_MALFORMED, 0, "head of a shadow comparison");
    else if (fault->code == ERR_NONE)
        (void)read_engines(cJSON_GetObjectItemCaseSensitive(root, "engines"), keep, out, fault);
    cJSON_Delete(root);
    return fault->code;
}
