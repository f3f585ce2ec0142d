/* The pages of the dashboard, bundled at build and embedded: no file is read at run time.
 *
 * One bundle, three carriers: served live, served from a published read-only database, and
 * as one offline HTML file.  An asset is found by comparing its whole path with this table,
 * so there is no path and nothing to traverse. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/fault.h"

struct web_asset {
    const char *path; /* as in the URL: "/", "/assets/app-HASH.js" */
    const char *mime;
    const char *etag; /* quoted; of the plain bytes */
    bool immutable;   /* its path holds its hash    */
    const unsigned char *plain;
    size_t plain_bytes;
    const unsigned char *gzip;
    size_t gzip_bytes;
    const unsigned char *brotli;
    size_t brotli_bytes;
};

extern const struct web_asset web_assets[];
extern const size_t web_asset_count;

struct web_text {
    const unsigned char *data;
    size_t bytes;
};

extern const struct web_text web_offline_head, web_offline_tail;

/* The asset of exactly this path; NULL when there is none. */
const struct web_asset *web_asset_find(const char *path);

/* Writes the offline page: everything in one HTML file that fetches nothing.  DATA is a
 * JSON object from API path ("/api/v1/runs/3") to what the live API has under "data", packed; see
 * view_write_offline().  It may hold hostile strings: '<' never reaches the page bare.
 * Fails: ERR_IO. */
enum status web_offline_page(FILE *out, const char *data, size_t bytes, struct fault *fault);

#endif
