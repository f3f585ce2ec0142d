/* The embedded pages and what belongs to them. */
#include "dashboard/assets.h"

#include <string.h>

#include "dashboard/answer.h"
#include "dashboard/options.h"
#include "dashboard/route.h"
#include "dashboard/state.h"
#include "web/web.h"

/* Letters that need no quotes in HTML, and that a browser sends as they are; no "..". */
static bool is_plain(const char *text)
{
    return text != NULL && text[0] != '.' &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-.")] == '\0';
}

/* The link for ASK of struct web_first. QUERY: what comes after the path of ASK; "": nothing. */
static const char *preload(struct exchange *x, const char *ask, const char *query)
{
    const char *path = "";
    uint32_t names = 0;
    for (const char *p = ask; path != NULL && *p != '\0'; p++) {
        const char *name = *p == '*' ? x->query.params[names++] : NULL;
        path = *p != '*'        ? arena_printf(&x->keep, "%s%c", path, *p)
               : is_plain(name) ? arena_printf(&x->keep, "%s%s", path, name)
                                : NULL;
    }
    if (path == NULL)
        return "";
    const char *out = arena_printf(
        &x->keep, "<link rel=\"preload\" as=\"fetch\" crossorigin href=\"./api/v1/%s%s%s\">\n",
        path, query[0] != '\0' ? "?" : "", query);
    return out != NULL ? out : "";
}

/* Only where the address has no query that the page passes on in ways of its own, and where no
 * token is needed, which the browser cannot add. */
static const char *preloads(struct exchange *x)
{
    const struct dashboard_options *options = &x->dashboard->options;
    const char *query = x->request->query_string != NULL ? x->request->query_string : "";
    const bool names_run =
        strncmp(query, "run=", 4) == 0 && query[4] != '\0' && is_plain(query + 4);
    const char *out = "";
    if (x->route == NULL || options->allow_write || options->allow_remote)
        return out;
    for (size_t i = 0; i < web_first_count && out != NULL; i++)
        if (strcmp(web_first[i].page, x->route->pattern) == 0 &&
            (query[0] == '\0' || (names_run && web_first[i].takes_run)))
            out = arena_printf(&x->keep, "%s%s", out, preload(x, web_first[i].ask, query));
    return out != NULL ? out : "";
}

/* The frame with what its page asks for. */
static const char *frame_of(struct exchange *x, const struct web_asset *frame)
{
    static const char before[] = "<link rel=\"icon\"";
    const char *text = arena_text(&x->keep, (const char *)frame->plain, frame->plain_bytes);
    const char *at = text != NULL ? strstr(text, before) : NULL;
    return at == NULL ? text
                      : arena_printf(&x->keep, "%.*s%s%s", (int)(at - text), text, preloads(x), at);
}

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

int answer_page(struct exchange *x)
{
    char etag[ETAG_BYTES];
    const struct web_asset *frame = web_asset_find("/");
    const char *whole = frame_of(x, frame);
    const char *text = whole != NULL ? frame_at(x, whole) : NULL;
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
