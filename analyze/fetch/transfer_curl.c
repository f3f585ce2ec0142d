/* transfer.h with libcurl. Source: https://curl.se/libcurl/c/ */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"
#include "fetch/library.h"
#include "fetch/transfer.h"

enum {
    REDIRECTS_MAX = 5,
    CONNECT_MS = 15 * 1000,
    WAIT_MS_MAX = 60 * 1000, /* what a server may ask to wait */
};

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
    /* of the request under way */
    const struct transfer_request *request;
    struct transfer_answer *answer;
    FILE *file;
    bool opened, over_limit, failed_write;
    bool encoded; /* sent compressed: byte counts of the file and of the server differ */
    uint64_t range_start;
    char etag[TRANSFER_VALIDATOR_BYTES], modified[TRANSFER_VALIDATOR_BYTES];
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
    uint64_t number;

    if (bytes > 5 && memcmp(line, "HTTP/", 5) == 0) { /* the answer after a redirection */
        t->etag[0] = t->modified[0] = '\0';
        t->encoded = false;
        t->range_start = 0;
        t->answer->wait_ms = 0;
    } else if (header_value(line, bytes, "ETag", value, sizeof value)) {
        (void)snprintf(t->etag, sizeof t->etag, "%s", value[0] == '"' ? value : "");
    } else if (header_value(line, bytes, "Last-Modified", value, sizeof value)) {
        (void)snprintf(t->modified, sizeof t->modified, "%s", value);
    } else if (header_value(line, bytes, "Content-Encoding", value, sizeof value)) {
        t->encoded = !text_equal_nocase(value, "identity");
    } else if (header_value(line, bytes, "Retry-After", value, sizeof value) &&
               text_parse_uint(value, strlen(value), &number)) {
        t->answer->wait_ms = number < WAIT_MS_MAX / 1000 ? (uint32_t)number * 1000 : WAIT_MS_MAX;
    } else if (header_value(line, bytes, "Content-Range", value, sizeof value) &&
               strncmp(value, "bytes ", 6) == 0 &&
               text_parse_uint(value + 6, strcspn(value + 6, "-"), &number)) {
        t->range_start = number;
    }
    return bytes;
}

/* Opens the part at the first byte of an answer that holds the file: to append to it, or to start
 * again. */
static bool open_part(struct transfer *t)
{
    const struct transfer_request *request = t->request;
    long status = 0;

    (void)lib.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != 206)
        return false;
    t->opened = true;
    const bool goes_on = status == 206 && request->have_bytes > 0 && !t->encoded &&
                         t->range_start == request->have_bytes;
    struct transfer_answer *answer = t->answer;
    if (status == 206 && !goes_on) {
        answer->validator[0] = '\0'; /* not the requested range: start again */
        return false;
    }
    const char *validator = t->etag[0] != '\0' ? t->etag : t->modified;
    (void)snprintf(answer->validator, sizeof answer->validator, "%s", t->encoded ? "" : validator);
    answer->part_bytes = goes_on ? request->have_bytes : 0;
    if (!goes_on)
        request->begins(request->context, answer->validator);
    t->file = file_open(request->part, goes_on ? "ab" : "wb");
    t->failed_write = t->file == NULL;
    return t->file != NULL;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const size_t bytes = size * count;

    if (!t->opened && !open_part(t))
        return t->failed_write || t->opened ? CURL_WRITEFUNC_ERROR : bytes; /* a page of an error */
    if (t->file == NULL)
        return CURL_WRITEFUNC_ERROR;
    if (bytes > t->request->limit_bytes - t->answer->part_bytes) {
        t->over_limit = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (fwrite(data, 1, bytes, t->file) != bytes) {
        t->failed_write = true;
        return CURL_WRITEFUNC_ERROR;
    }
    t->answer->part_bytes += bytes;
    return bytes;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up)
{
    struct transfer *t = context;
    (void)up_total;
    (void)up;
    (void)now;
    if (t->file != NULL)
        t->request->progress(t->request->context, t->answer->part_bytes,
                             total > 0 && !t->encoded ? (uint64_t)total : 0);
    return process_interrupted() ? 1 : 0;
}

static enum transfer_outcome of_status(long status, char *text, size_t room)
{
    (void)snprintf(text, room, "it answered %ld", status);
    switch (status) {
    case 200:
    case 206:
        return TRANSFER_DONE;
    case 404:
    case 410:
        return TRANSFER_ABSENT;
    case 408:
    case 416: /* the part is longer than the file: the caller starts again */
    case 425:
    case 429:
        return TRANSFER_AGAIN;
    default:
        return status >= 500 ? TRANSFER_AGAIN : TRANSFER_REFUSED;
    }
}

static enum transfer_outcome of_error(const struct transfer *t, CURLcode code)
{
    if (t->over_limit || code == CURLE_FILESIZE_EXCEEDED)
        return TRANSFER_LIMIT;
    if (t->failed_write)
        return TRANSFER_IO;
    switch (code) {
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
    const struct transfer_request *request = t->request;
    const bool https = strncmp(request->url, "https", 5) == 0;
    CURL *easy = t->easy;

    (void)lib.easy_setopt(easy, CURLOPT_URL, request->url);
    (void)lib.easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
    (void)lib.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)lib.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)lib.easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
    (void)lib.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    (void)lib.easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    /* the name that symsrv uses: some symbol servers answer no other client */
    (void)lib.easy_setopt(easy, CURLOPT_USERAGENT, "Microsoft-Symbol-Server/10.0 twinstack");
    (void)lib.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, ""); /* decodes compressed answers */
    (void)lib.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                          (long)(request->limit_ms < CONNECT_MS ? request->limit_ms : CONNECT_MS));
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

    *answer = (struct transfer_answer){.part_bytes = request->have_bytes};
    (void)snprintf(answer->validator, sizeof answer->validator, "%s", request->validator);
    CURL *easy = t->easy;
    *t = (struct transfer){.easy = easy, .request = request, .answer = answer};
    lib.easy_reset(easy);
    set_options(t);
    struct curl_slist *headers = make_headers(request);
    (void)lib.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = lib.easy_perform(easy);
    (void)lib.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && (status == 200 || status == 206) && !t->opened)
        (void)open_part(t); /* an empty file */
    if (t->file != NULL && fclose(t->file) != 0)
        t->failed_write = true;
    lib.slist_free_all(headers);
    if (status == 416)
        answer->validator[0] = '\0';
    if (code == CURLE_OK && !t->failed_write) {
        answer->outcome = of_status(status, answer->text, sizeof answer->text);
        return;
    }
    answer->outcome = of_error(t, code);
    const char *why = t->error[0] != '\0' ? t->error : lib.easy_strerror(code);
    if (t->over_limit || code == CURLE_FILESIZE_EXCEEDED)
        why = "larger than the limit";
    else if (t->failed_write)
        why = "it cannot be written";
    (void)snprintf(answer->text, sizeof answer->text, "%s", why);
}
