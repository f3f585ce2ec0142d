/* transfer.h with libcurl. Source: https://curl.se/libcurl/c/ */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "base/text.h"
#include "fetch/shared_library.h"
#include "fetch/transfer_part.h"

/* The functions of libcurl that are used. */
static struct {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    void (*easy_reset)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *easy);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    bool ready;
} lib;

enum status transfer_library(struct fault *fault)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.dll",
                                        "libcurl.4.dylib"};
    const char *named = getenv("TWINSTACK_LIBCURL");
    void *library = NULL;

    if (lib.ready)
        return ERR_NONE;
    if (named != NULL)
        library = library_open(named);
    for (size_t i = 0; named == NULL && library == NULL && i < COUNT_OF(names); i++)
        library = library_open(names[i]);
    lib.ready = library != NULL &&
                library_function(library, "curl_global_init", &lib.global_init) &&
                library_function(library, "curl_easy_init", &lib.easy_init) &&
                library_function(library, "curl_easy_cleanup", &lib.easy_cleanup) &&
                library_function(library, "curl_easy_reset", &lib.easy_reset) &&
                library_function(library, "curl_easy_setopt", &lib.easy_setopt) &&
                library_function(library, "curl_easy_perform", &lib.easy_perform) &&
                library_function(library, "curl_easy_getinfo", &lib.easy_getinfo) &&
                library_function(library, "curl_easy_strerror", &lib.easy_strerror) &&
                library_function(library, "curl_slist_append", &lib.slist_append) &&
                library_function(library, "curl_slist_free_all", &lib.slist_free_all) &&
                lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!lib.ready)
        return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol servers",
                              "libcurl is not installed (Debian: libcurl4)");
    return ERR_NONE;
}

struct transfer {
    CURL *easy;
    char error[CURL_ERROR_SIZE];
    struct transfer_part part; /* of the request under way */
};

struct transfer *transfer_open(void)
{
    struct transfer *t = calloc(1, sizeof *t);
    if (t != NULL && (t->easy = lib.easy_init()) == NULL) {
        free(t);
        t = NULL;
    }
    return t;
}

void transfer_close(struct transfer *t)
{
    if (t != NULL)
        lib.easy_cleanup(t->easy);
    free(t);
}

/* The value of header NAME in LINE, trimmed, in OUT. */
static bool header_value(const char *line, size_t bytes, const char *name, char *out, size_t room)
{
    const size_t name_bytes = strlen(name);
    char start[32];

    if (bytes <= name_bytes || name_bytes >= sizeof start || line[name_bytes] != ':')
        return false;
    memcpy(start, line, name_bytes);
    start[name_bytes] = '\0';
    if (!text_equal_nocase(start, name))
        return false;
    line += name_bytes + 1;
    bytes -= name_bytes + 1;
    while (bytes > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        bytes--;
    }
    while (bytes > 0 &&
           (line[bytes - 1] == '\r' || line[bytes - 1] == '\n' || line[bytes - 1] == ' '))
        bytes--;
    if (bytes >= room || memchr(line, '\n', bytes) != NULL)
        return false;
    memcpy(out, line, bytes);
    out[bytes] = '\0';
    return true;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const size_t bytes = size * count;
    char value[TRANSFER_VALIDATOR_BYTES];

    if (bytes > 5 && memcmp(line, "HTTP/", 5) == 0) /* the answer after a redirection */
        transfer_part_next_answer(&t->part);
    for (int i = 0; i < TRANSFER_HEADER_COUNT; i++)
        if (header_value(line, bytes, transfer_header_names[i], value, sizeof value))
            transfer_part_header(&t->part, (enum transfer_header)i, value);
    return bytes;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const size_t bytes = size * count;
    long status = 0;

    (void)lib.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    return transfer_part_write(&t->part, status, data, bytes) ? bytes : CURL_WRITEFUNC_ERROR;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up)
{
    const struct transfer *t = context;
    (void)up_total;
    (void)up;
    (void)now;
    transfer_part_progress(&t->part, total > 0 ? (uint64_t)total : 0);
    return process_interrupted() ? 1 : 0;
}

static enum transfer_outcome of_error(CURLcode code)
{
    switch (code) {
    case CURLE_FILESIZE_EXCEEDED:
        return TRANSFER_LIMIT;
    case CURLE_ABORTED_BY_CALLBACK:
        return TRANSFER_INTERRUPTED;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_OUT_OF_MEMORY:
        return TRANSFER_REFUSED;
    default:
        return TRANSFER_AGAIN;
    }
}

static void set_options(struct transfer *t)
{
    const struct transfer_request *request = t->part.request;
    const bool https = strncmp(request->url, "https", 5) == 0;
    CURL *easy = t->easy;

    (void)lib.easy_setopt(easy, CURLOPT_URL, request->url);
    (void)lib.easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
    (void)lib.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)lib.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)lib.easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
    (void)lib.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    (void)lib.easy_setopt(easy, CURLOPT_MAXREDIRS, (long)TRANSFER_REDIRECTS_MAX);
    (void)lib.easy_setopt(easy, CURLOPT_USERAGENT, TRANSFER_USER_AGENT);
    (void)lib.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, ""); /* decodes compressed answers */
    (void)lib.easy_setopt(
        easy, CURLOPT_CONNECTTIMEOUT_MS,
        (long)(request->limit_ms < TRANSFER_CONNECT_MS ? request->limit_ms : TRANSFER_CONNECT_MS));
    (void)lib.easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)request->limit_bytes);
    (void)lib.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)request->limit_ms);
    (void)lib.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)lib.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)((request->stall_ms + 999) / 1000));
    (void)lib.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)lib.easy_setopt(easy, CURLOPT_HEADERDATA, t);
    (void)lib.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)lib.easy_setopt(easy, CURLOPT_WRITEDATA, t);
    (void)lib.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)lib.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)lib.easy_setopt(easy, CURLOPT_XFERINFODATA, t);
}

/* An encoding is not asked for, because a compressed answer cannot be resumed. */
static struct curl_slist *make_headers(const struct transfer_request *request)
{
    char text[TRANSFER_VALIDATOR_BYTES + 64];
    struct curl_slist *list = lib.slist_append(NULL, "Accept-Encoding: identity");

    if (request->have_bytes == 0 || request->validator[0] == '\0')
        return list;
    (void)snprintf(text, sizeof text, "Range: bytes=%" PRIu64 "-", request->have_bytes);
    list = lib.slist_append(list, text);
    (void)snprintf(text, sizeof text, "If-Range: %s", request->validator);
    return lib.slist_append(list, text);
}

void transfer_get(struct transfer *t, const struct transfer_request *request,
                  struct transfer_answer *answer)
{
    long status = 0;

    CURL *easy = t->easy;
    t->error[0] = '\0';
    transfer_part_begin(&t->part, request, answer);
    lib.easy_reset(easy);
    set_options(t);
    struct curl_slist *headers = make_headers(request);
    (void)lib.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = lib.easy_perform(easy);
    (void)lib.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    transfer_part_end(&t->part, status, code == CURLE_OK);
    lib.slist_free_all(headers);
    if (code == CURLE_OK && !t->part.failed_write)
        transfer_part_answer(&t->part, status);
    else
        transfer_part_broke(&t->part, of_error(code),
                            t->error[0] != '\0' ? t->error : lib.easy_strerror(code));
}
