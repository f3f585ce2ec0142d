/* The embedded pages and what belongs to them. */
#include "pages/assets.h"

#include <string.h>

#include "http/answer.h"
#include "http/route.h"
#include "http/state.h"
#include "pages/first.h"
#include "pages/stores.h"
#include "web/web.h"

/* The frame names its script and style as "./assets/...".  At /runs/3 that must be "../assets/...",
 * so that the pages also work below a prefix that a proxy takes off: neither the proxy nor we need
 * a setting.  NULL when out of memory. */
static const char *frame_at(struct exchange *x, const char *frame)
{
    static const char here[] = "\"./", up[] = "../";
    size_t folders = 0, links = 0;
    for (const char *p = x->path; *p != '\0'; p++)
        folders += *p == '/';
    for (const char *p = frame; (p = strstr(p, here)) != NULL; p++)
        links++;
    const size_t ups = folders > 0 ? folders - 1 : 0;
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

struct page {
    struct first first;
    const char *tail;
};

static const char *make_rest(struct exchange *x, void *context, size_t *bytes)
{
    struct page *page = context;
    first_make(x, &page->first);
    return first_write(x, &page->first, page->tail, bytes);
}

/* What the cache has goes out with the frame, in one write.  What must be made first does not delay
 * the frame, which names the script and the style that a browser fetches meanwhile. */
static int answer_with_data(struct exchange *x, struct page *page, const char *frame)
{
    static const char end[] = "</body>";
    const char *at = strstr(frame, end);
    const bool whole_only = x->head_only || strcmp(x->request->http_version, "1.1") != 0;
    page->tail = at != NULL ? at : "";
    struct answer_body body = {.mime = web_asset_find("/")->mime,
                               .body = frame,
                               .bytes = strlen(frame) - strlen(page->tail),
                               .cache = "no-store"};
    x->data_version = store_pool_version(x->dashboard->stores);
    if (!whole_only && !first_kept(x, &page->first))
        return answer_in_two(x, &body, make_rest, page);
    size_t rest_bytes = 0;
    const char *rest = make_rest(x, page, &rest_bytes);
    char *whole = rest != NULL ? arena_alloc(&x->keep, body.bytes + rest_bytes) : NULL;
    if (whole == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    memcpy(whole, frame, body.bytes);
    memcpy(whole + body.bytes, rest, rest_bytes);
    char etag[ETAG_BYTES];
    body.body = whole;
    body.bytes += rest_bytes;
    body.etag = etag;
    etag_of(whole, body.bytes, etag);
    return answer_body(x, 200, &body);
}

int answer_page(struct exchange *x)
{
    char etag[ETAG_BYTES];
    struct page *page = ARENA_NEW(&x->keep, struct page);
    const struct web_asset *frame = web_asset_find("/");
    const char *plain = arena_text(&x->keep, (const char *)frame->plain, frame->plain_bytes);
    const char *text = plain != NULL ? frame_at(x, plain) : NULL;
    if (text == NULL || page == NULL)
        return answer_error(x, 503, "no_memory", "There is no memory for this answer", NULL);
    first_find(x, &page->first);
    if (page->first.count > 0)
        return answer_with_data(x, page, text);
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
