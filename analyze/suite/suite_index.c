/* suite.json, written: see suite_index.h. */
#include "suite/suite_index.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"

/* As Python's json.dumps(indent=1), which writes suite.json, so that a difference shows only what
 * was added. */
static void put_tree(FILE *out, const cJSON *item, int depth)
{
    const bool object = cJSON_IsObject(item);
    const cJSON *child;
    if (item == NULL || item->child == NULL) {
        char *text = cJSON_PrintUnformatted(item);
        (void)fputs(text != NULL ? text : "", out);
        cJSON_free(text);
        return;
    }
    (void)fputc(object ? '{' : '[', out);
    for (child = item->child; child != NULL; child = child->next) {
        (void)fprintf(out, "%s\n%*s", child == item->child ? "" : ",", depth + 1, "");
        if (object)
            (void)fprintf(out, "\"%s\": ", child->string);
        put_tree(out, child, depth + 1);
    }
    (void)fprintf(out, "\n%*s%c", depth, "", object ? '}' : ']');
}

const char *suite_index_hash(const cJSON *index, const char *path)
{
    const cJSON *file;
    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(index, "files"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(file, "path"));
        if (name != NULL && strcmp(name, path) == 0)
            return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(file, "sha256"));
    }
    return NULL;
}

enum status suite_index_write(const cJSON *index, const char *path, struct fault *fault)
{
    FILE *stream = tmpfile();
    if (stream == NULL)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    put_tree(stream, index, 0);
    (void)fputc('\n', stream);
    (void)file_write_stream(path, stream, fault);
    (void)fclose(stream);
    return fault->code;
}
