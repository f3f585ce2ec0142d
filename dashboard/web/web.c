/* Finds embedded assets and writes the offline page.  The bytes are in web_assets.c, which
 * build.mjs makes. */
#include "web/web.h"

#include <string.h>

const struct web_asset *web_asset_find(const char *path)
{
    for (size_t i = 0; i < web_asset_count; i++)
        if (strcmp(web_assets[i].path, path) == 0)
            return &web_assets[i];
    return NULL;
}

/* In JSON '<' can only stand inside a string, where \u003c means the same; so no string can
 * close the element that holds the document. */
static void write_escaped(FILE *out, const char *data, size_t bytes)
{
    size_t start = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] != '<')
            continue;
        (void)fwrite(data + start, 1, i - start, out);
        (void)fputs("\\u003c", out);
        start = i + 1;
    }
    (void)fwrite(data + start, 1, bytes - start, out);
}

enum status web_offline_page(FILE *out, const char *data, size_t bytes, struct fault *fault)
{
    (void)fwrite(web_offline_head.data, 1, web_offline_head.bytes, out);
    write_escaped(out, data, bytes);
    (void)fwrite(web_offline_tail.data, 1, web_offline_tail.bytes, out);
    if (ferror(out))
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the offline page");
    return ERR_NONE;
}
