/* The embedded pages and what belongs to them. */
#include "dashboard/assets.h"

#include <string.h>

#include "dashboard/answer.h"
#include "web/web.h"

/* The frame of the pages names its script and style as "./assets/...".  At /runs/3 that must be
 * "../assets/...", so that the pages also work below a prefix that a proxy takes off: neither the
 * proxy nor we need a setting.  NULL when out of memory. */
static const char *frame_at(struct exchange *x, const struct web_asset *frame)
{
    static const char here[] = "\"./", up[] = "../";
    size_t folders = 0, links = 0;
    const char *at = (const char *)frame->plain, *end = at + frame->plain_bytes;
    for (const char *p = x->path; *p != '\0'; p++)
        folders += *p == '/';
    for (const char *p = at; p + sizeof here <= end; p++)
        links += memcmp(p, here, sizeof here - 1) == 0;
    const size_t ups = folders > 0 ? folders - 1 : 0;
    char *out = arena_alloc(&x->keep, frame->plain_bytes + links * ups * (sizeof up - 1) + 1);
    char *to = out;
    while (out != NULL && at < end) {
        const bool is_link =
            (size_t)(end - at) >= sizeof here && memcmp(at, here, sizeof here - 1) == 0;
        *to++ = *at++;
        for (size_t i = 0; is_link && i < ups; i++, to += sizeof up - 1)
            memcpy(to, up, sizeof up - 1);
    }
    if (out != NULL)
        *to = '\0';
    return out;
}

int answer_page(struct exchange *x)
{
    char etag[ETAG_BYTES];
    const struct web_asset *frame = web_asset_find("/");
    const char *text = frame_at(x, frame);
    if (text == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    struct answer_body body = {.mime = frame->mime,
                               .body = text,
                               .bytes = strlen(text),
                               .etag = etag,
                               .cache = "no-cache"};
    etag_of(text, body.bytes, etag);
    return answer_body(x, x->route != NULL ? 200 : 404, &body);
}

int answer_embedded(struct exchange *x)
{
    const struct web_asset *asset = web_asset_find(x->path);
    if (asset == NULL)
        return answer_error(x, 404, "absent", "There is no such asset in this build",
                            "load the page again");
    return answer_asset(x, 200, asset);
}
