/* The embedded pages and what belongs to them. */
#include "pages/assets.h"

#include <string.h>

#include "http/response.h"
#include "http/route.h"
#include "web/web.h"

/* The frame names its script and style as "./assets/...".  At /runs/3 that must be "../assets/...",
 * so that the pages also work below a prefix that a proxy takes off: neither the proxy nor we need
 * a setting.  NULL when out of memory. */
static const char *frame_at(struct exchange *x, const char *frame)
{
    static const char here[] = "\"./", up[] = "../";
    size_t ups = 0, links = 0;
    for (const char *p = x->path; *p != '\0'; p++)
        ups += *p == '/' && p != x->path;
    for (const char *p = frame; (p = strstr(p, here)) != NULL; p++)
        links++;
    char *out = arena_alloc(&x->keep, strlen(frame) + links * ups * (sizeof up - 1) + 1);
    char *to = out;
    while (out != NULL && *frame != '\0') {
        const bool is_link = strncmp(frame, here, sizeof here - 1) == 0;
        *to++ = *frame++;
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
    const char *plain = arena_text(&x->keep, (const char *)frame->plain, frame->plain_bytes);
    const char *text = plain != NULL ? frame_at(x, plain) : NULL;
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
