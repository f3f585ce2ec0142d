/* transfer.h with WinHTTP, which every Windows has.
 * Source: https://learn.microsoft.com/windows/win32/winhttp/winhttp-functions
 *
 * A user who interrupts the program has the request ended by another thread: closing it is how
 * WinHTTP ends a call that waits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <windows.h>
#include <winhttp.h>

#include "base/array.h"
#include "base/files.h"
#include "base/process.h"
#include "base/thread.h"
#include "fetch/shared_library.h"
#include "fetch/transfer_part.h"

enum {
    URL_UNITS_MAX = 4096,
    WATCH_MS = 100,
    BODY_BYTES = 64 << 10,
    AUTOMATIC_PROXY = 4,        /* WINHTTP_ACCESS_TYPE_AUTOMATIC_PROXY: since Windows 8.1 */
    OPTION_DECOMPRESSION = 118, /* since Windows 8.1 */
    ALL_ENCODINGS = 3,
};

/* The functions of winhttp.dll that are used. */
static struct {
    HINTERNET(WINAPI *open)
    (LPCWSTR agent, DWORD access, LPCWSTR proxy, LPCWSTR bypass, DWORD flags);
    HINTERNET(WINAPI *connect)(HINTERNET session, LPCWSTR host, INTERNET_PORT port, DWORD zero);
    HINTERNET(WINAPI *open_request)
    (HINTERNET connection, LPCWSTR verb, LPCWSTR object, LPCWSTR version, LPCWSTR referrer,
     LPCWSTR *types, DWORD flags);
    BOOL(WINAPI *set_timeouts)(HINTERNET handle, int resolve, int connect, int send, int receive);
    BOOL(WINAPI *set_option)(HINTERNET handle, DWORD option, LPVOID value, DWORD bytes);
    BOOL(WINAPI *send)
    (HINTERNET request, LPCWSTR headers, DWORD units, LPVOID body, DWORD bytes, DWORD total,
     DWORD_PTR context);
    BOOL(WINAPI *receive)(HINTERNET request, LPVOID reserved);
    BOOL(WINAPI *query)
    (HINTERNET request, DWORD which, LPCWSTR name, LPVOID value, LPDWORD bytes, LPDWORD index);
    BOOL(WINAPI *available)(HINTERNET request, LPDWORD bytes);
    BOOL(WINAPI *read)(HINTERNET request, LPVOID to, DWORD bytes, LPDWORD got);
    BOOL(WINAPI *crack)(LPCWSTR url, DWORD units, DWORD flags, LPURL_COMPONENTS out);
    BOOL(WINAPI *close)(HINTERNET handle);
    bool ready;
} lib;

enum status transfer_library(struct fault *fault)
{
    void *library = lib.ready ? NULL : library_open("winhttp.dll");

    if (lib.ready)
        return ERR_NONE;
    lib.ready = library != NULL && library_function(library, "WinHttpOpen", &lib.open) &&
                library_function(library, "WinHttpConnect", &lib.connect) &&
                library_function(library, "WinHttpOpenRequest", &lib.open_request) &&
                library_function(library, "WinHttpSetTimeouts", &lib.set_timeouts) &&
                library_function(library, "WinHttpSetOption", &lib.set_option) &&
                library_function(library, "WinHttpSendRequest", &lib.send) &&
                library_function(library, "WinHttpReceiveResponse", &lib.receive) &&
                library_function(library, "WinHttpQueryHeaders", &lib.query) &&
                library_function(library, "WinHttpQueryDataAvailable", &lib.available) &&
                library_function(library, "WinHttpReadData", &lib.read) &&
                library_function(library, "WinHttpCrackUrl", &lib.crack) &&
                library_function(library, "WinHttpCloseHandle", &lib.close);
    if (!lib.ready)
        return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol servers",
                              "winhttp.dll cannot be loaded");
    return ERR_NONE;
}

struct transfer {
    HINTERNET session;
    struct transfer_part part; /* of the request under way */
    uint64_t end_ns;
    HINTERNET connection;
    void *volatile request; /* the thread that takes it closes it */
    HANDLE over;            /* no request is under way any more */
    uint8_t body[BODY_BYTES];
};

struct transfer *transfer_open(void)
{
    static const wchar_t agent[] = L"" TRANSFER_USER_AGENT;
    struct transfer *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->over = CreateEventW(NULL, TRUE, FALSE, NULL);
    t->session = lib.open(agent, AUTOMATIC_PROXY, NULL, NULL, 0);
    if (t->session == NULL)
        t->session = lib.open(agent, WINHTTP_ACCESS_TYPE_DEFAULT_PROXY, NULL, NULL, 0);
    if (t->session == NULL || t->over == NULL) {
        transfer_close(t);
        return NULL;
    }
    return t;
}

void transfer_close(struct transfer *t)
{
    if (t != NULL && t->session != NULL)
        (void)lib.close(t->session);
    if (t != NULL && t->over != NULL)
        CloseHandle(t->over);
    free(t);
}

/* ---- errors --------------------------------------------------------------------------- */

static const struct {
    DWORD code;
    enum transfer_outcome outcome;
    const char *text;
} errors[] = {
    {ERROR_WINHTTP_TIMEOUT, TRANSFER_AGAIN, "no answer in time"},
    {ERROR_WINHTTP_NAME_NOT_RESOLVED, TRANSFER_AGAIN, "the name of the server is not known"},
    {ERROR_WINHTTP_CANNOT_CONNECT, TRANSFER_AGAIN, "it cannot be reached"},
    {ERROR_WINHTTP_CONNECTION_ERROR, TRANSFER_AGAIN, "the connection broke off"},
    {ERROR_WINHTTP_INVALID_SERVER_RESPONSE, TRANSFER_AGAIN, "its answer is not HTTP"},
    {ERROR_WINHTTP_SECURE_FAILURE, TRANSFER_REFUSED, "its certificate is not trusted"},
    {ERROR_WINHTTP_CLIENT_AUTH_CERT_NEEDED, TRANSFER_REFUSED, "it asks for a certificate"},
    {ERROR_WINHTTP_REDIRECT_FAILED, TRANSFER_REFUSED, "it leads elsewhere too often"},
    {ERROR_WINHTTP_INVALID_URL, TRANSFER_REFUSED,
     "the URL is malformed, or has a name and a password"},
    {ERROR_WINHTTP_UNRECOGNIZED_SCHEME, TRANSFER_REFUSED, "the URL is not http or https"},
    {ERROR_WINHTTP_INVALID_OPTION, TRANSFER_REFUSED,
     "it compresses what was asked for as it is, which this Windows cannot decode"},
    {ERROR_NOT_ENOUGH_MEMORY, TRANSFER_REFUSED, "out of memory"},
};

static void broke(struct transfer *t, DWORD code)
{
    char text[64];
    (void)snprintf(text, sizeof text, "WinHTTP error %lu", code);
    if (process_interrupted()) {
        transfer_part_broke(&t->part, TRANSFER_INTERRUPTED, "interrupted");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(errors); i++)
        if (errors[i].code == code) {
            transfer_part_broke(&t->part, errors[i].outcome, errors[i].text);
            return;
        }
    transfer_part_broke(&t->part, TRANSFER_AGAIN, text);
}

/* ---- one request ---------------------------------------------------------------------- */

static void close_request(struct transfer *t)
{
    HINTERNET request = InterlockedExchangePointer(&t->request, NULL);
    if (request != NULL)
        (void)lib.close(request);
}

static void watch(void *context)
{
    struct transfer *t = context;
    while (WaitForSingleObject(t->over, WATCH_MS) == WAIT_TIMEOUT)
        if (process_interrupted())
            close_request(t);
}

static uint32_t left_ms(const struct transfer *t)
{
    const uint64_t now_ns = clock_ns();
    return now_ns < t->end_ns ? (uint32_t)((t->end_ns - now_ns) / 1000000) : 0;
}

static int shorter_ms(uint32_t a, uint32_t b)
{
    return (int)(a < b ? a : b);
}

/* The object that is asked for, in ROOM. False: the last error says why not. */
static bool connect_to(struct transfer *t, const char *url, wchar_t *room, bool *is_secure)
{
    static const wchar_t slash[] = L"/";
    wchar_t *host = room + URL_UNITS_MAX; /* a second room */
    URL_COMPONENTS parts = {.dwStructSize = sizeof parts,
                            .dwUserNameLength = (DWORD)-1,
                            .dwPasswordLength = (DWORD)-1,
                            .dwHostNameLength = (DWORD)-1,
                            .dwUrlPathLength = (DWORD)-1,
                            .dwExtraInfoLength = (DWORD)-1};
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, url, -1, room, URL_UNITS_MAX) == 0) {
        SetLastError(ERROR_WINHTTP_INVALID_URL);
        return false;
    }
    if (!lib.crack(room, 0, 0, &parts))
        return false;
    if (parts.dwUserNameLength != 0 || parts.dwHostNameLength == 0) {
        SetLastError(ERROR_WINHTTP_INVALID_URL); /* a name and a password are not sent */
        return false;
    }
    wmemcpy(host, parts.lpszHostName, parts.dwHostNameLength);
    host[parts.dwHostNameLength] = L'\0';
    *is_secure = parts.nScheme == INTERNET_SCHEME_HTTPS;
    t->connection = lib.connect(t->session, host, parts.nPort, 0);
    const size_t units = parts.dwUrlPathLength == 0 ? 0 : wcslen(parts.lpszUrlPath);
    wmemmove(room, units == 0 ? slash : parts.lpszUrlPath, units == 0 ? 2 : units + 1);
    return t->connection != NULL;
}

static void set_limits(struct transfer *t, HINTERNET request)
{
    const struct transfer_request *asked = t->part.request;
    const int wait_ms = shorter_ms(asked->stall_ms, left_ms(t));
    const int connect_ms = shorter_ms(TRANSFER_CONNECT_MS, left_ms(t));
    DWORD redirects = TRANSFER_REDIRECTS_MAX;
    (void)lib.set_timeouts(request, connect_ms, connect_ms, wait_ms, wait_ms);
    DWORD first_ms = (DWORD)wait_ms; /* otherwise 90 seconds */
    (void)lib.set_option(request, WINHTTP_OPTION_RECEIVE_RESPONSE_TIMEOUT, &first_ms,
                         sizeof first_ms);
    (void)lib.set_option(request, WINHTTP_OPTION_MAX_HTTP_AUTOMATIC_REDIRECTS, &redirects,
                         sizeof redirects);
}

/* An encoding is not asked for, because a compressed answer cannot be resumed: only from a server
 * that compresses nevertheless. */
static bool send_request(struct transfer *t, HINTERNET request, bool decodes)
{
    const struct transfer_request *asked = t->part.request;
    char text[2 * TRANSFER_VALIDATOR_BYTES] = "Accept-Encoding: identity\r\n";
    wchar_t wide[2 * TRANSFER_VALIDATOR_BYTES];
    DWORD encodings = ALL_ENCODINGS;
    if (decodes) {
        text[0] = '\0';
        if (!lib.set_option(request, OPTION_DECOMPRESSION, &encodings, sizeof encodings))
            return false;
    } else if (asked->have_bytes > 0 && asked->validator[0] != '\0') {
        (void)snprintf(text, sizeof text,
                       "Accept-Encoding: identity\r\nRange: bytes=%" PRIu64 "-\r\nIf-Range: %s\r\n",
                       asked->have_bytes, asked->validator);
    }
    const int units = MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, (int)COUNT_OF(wide));
    return lib.send(request, units > 1 ? wide : NULL, units > 1 ? (DWORD)units - 1 : 0, NULL, 0, 0,
                    0) &&
           lib.receive(request, NULL);
}

static long status_of(HINTERNET request)
{
    DWORD status = 0, bytes = sizeof status;
    if (!lib.query(request, WINHTTP_QUERY_STATUS_CODE | WINHTTP_QUERY_FLAG_NUMBER, NULL, &status,
                   &bytes, NULL))
        return 0;
    return (long)status;
}

/* False: the answer has no such header, or a longer one. */
static bool header_of(HINTERNET request, const char *name, char *out, int room)
{
    wchar_t wide_name[32], value[TRANSFER_VALIDATOR_BYTES];
    DWORD bytes = sizeof value - sizeof value[0];
    if (MultiByteToWideChar(CP_UTF8, 0, name, -1, wide_name, (int)COUNT_OF(wide_name)) == 0 ||
        !lib.query(request, WINHTTP_QUERY_CUSTOM, wide_name, value, &bytes, NULL))
        return false;
    value[bytes / sizeof value[0]] = L'\0';
    return WideCharToMultiByte(CP_UTF8, 0, value, -1, out, room, NULL, NULL) > 0;
}

/* Bytes of the body; 0: not stated. */
static uint64_t length_of(HINTERNET request, bool *is_stated)
{
    char text[32];
    *is_stated = header_of(request, "Content-Length", text, sizeof text);
    return *is_stated ? strtoull(text, NULL, 10) : 0;
}

/* False: it broke off, and the last error says why, or the part. */
static bool read_body(struct transfer *t, HINTERNET request, long status)
{
    bool is_stated = false;
    const uint64_t length = length_of(request, &is_stated);
    uint64_t done = 0;
    if (is_stated && (status == 200 || status == 206) && length > t->part.request->limit_bytes) {
        t->part.over_limit = true;
        return false;
    }
    for (;;) {
        DWORD got = 0;
        if (process_interrupted() || left_ms(t) == 0) {
            SetLastError(ERROR_WINHTTP_TIMEOUT);
            return false;
        }
        if (!lib.available(request, &got))
            return false;
        if (got == 0)
            break;
        if (!lib.read(request, t->body, got < BODY_BYTES ? got : BODY_BYTES, &got))
            return false;
        if (!transfer_part_write(&t->part, status, t->body, got))
            return false;
        done += got;
        transfer_part_progress(&t->part, length);
    }
    SetLastError(ERROR_WINHTTP_CONNECTION_ERROR);
    return !is_stated || t->part.encoded || done >= length; /* else the server closed early */
}

enum try { TRY_DONE, TRY_COMPRESSED };

static enum try ask(struct transfer *t, const wchar_t *object, bool is_secure, bool decodes)
{
    const DWORD flags = (is_secure ? WINHTTP_FLAG_SECURE : 0) | WINHTTP_FLAG_ESCAPE_DISABLE |
                        WINHTTP_FLAG_ESCAPE_DISABLE_QUERY;
    char value[TRANSFER_VALIDATOR_BYTES];
    HINTERNET request = lib.open_request(t->connection, L"GET", object, NULL, WINHTTP_NO_REFERER,
                                         WINHTTP_DEFAULT_ACCEPT_TYPES, flags);
    if (request == NULL) {
        broke(t, GetLastError());
        return TRY_DONE;
    }
    (void)InterlockedExchangePointer(&t->request, request);
    set_limits(t, request);
    if (!send_request(t, request, decodes)) {
        broke(t, GetLastError());
        return TRY_DONE;
    }
    const long status = status_of(request);
    transfer_part_next_answer(&t->part);
    for (int i = 0; i < TRANSFER_HEADER_COUNT; i++)
        if (header_of(request, transfer_header_names[i], value, sizeof value))
            transfer_part_header(&t->part, (enum transfer_header)i, value);
    if (t->part.encoded && !decodes && (status == 200 || status == 206))
        return TRY_COMPRESSED;
    t->part.encoded = t->part.encoded || decodes;
    const bool is_whole = read_body(t, request, status);
    const DWORD code = GetLastError();
    transfer_part_end(&t->part, status, is_whole);
    if (is_whole && !t->part.failed_write)
        transfer_part_answer(&t->part, status);
    else
        broke(t, code);
    return TRY_DONE;
}

static void ask_all(struct transfer *t)
{
    wchar_t room[2 * URL_UNITS_MAX];
    bool is_secure = false;
    t->connection = NULL;
    if (!connect_to(t, t->part.request->url, room, &is_secure)) {
        broke(t, GetLastError());
        return;
    }
    const bool is_compressed = ask(t, room, is_secure, false) == TRY_COMPRESSED;
    close_request(t);
    if (is_compressed)
        (void)ask(t, room, is_secure, true);
    close_request(t);
    (void)lib.close(t->connection);
}

void transfer_get(struct transfer *t, const struct transfer_request *request,
                  struct transfer_answer *answer)
{
    transfer_part_begin(&t->part, request, answer);
    t->end_ns = clock_ns() + (uint64_t)request->limit_ms * 1000000;
    ResetEvent(t->over);
    struct thread *watcher = thread_start(watch, t);
    ask_all(t);
    transfer_part_end(&t->part, 0, false); /* closes the file of one that broke off */
    SetEvent(t->over);
    if (watcher != NULL)
        thread_join(watcher);
}
