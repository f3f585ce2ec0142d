/* See upload.h. */
#include "capture/upload.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>
#include <winhttp.h>

#include "capture/capture_port.h"

enum {
    HOST_UNITS = 256,
    QUERY_UNITS = 256,
    HEADER_UNITS = 192,
    ID_BYTES = 49, /* the collector takes 48 characters */
    PIECE_BYTES = 64 << 10,
    PAUSE_MOST_MS = 60000,
    SLICE_MS = 100
};

static const uint64_t DUMP_BYTES_MOST = 64ull << 20;

enum outcome { STORED, REFUSED, STOP };

/* The connection to the collector and the request that runs on it. Each request runs on a thread of
 * its own: the caller waits for it or, if the server is silent for too long, leaves it. WinHTTP's
 * own time limits are not enough: they hold for each step only, and Wine has none. A link that was
 * left belongs to its thread, which frees it when the network lets it go. */
struct link {
    volatile LONG owners; /* the caller, and the thread while a request runs */
    volatile LONG is_left;
    volatile LONG moved_ms; /* GetTickCount() when the last step of the request ended */
    HINTERNET session, connection;
    DWORD flags; /* of a request */
    wchar_t header[HEADER_UNITS], query[QUERY_UNITS];
    HANDLE file; /* of the thread; its position may move at any time */
    uint64_t bytes;
    DWORD status, retry_s;
    uint8_t piece[PIECE_BYTES];
};

struct upload {
    struct capture_upload_options options;
    struct capture_upload_result result;
    struct link *link; /* NULL: none yet, or the last one was left */
    ULONGLONG end_ms;
    bool stopping;
    uint8_t piece[PIECE_BYTES];
};

/* ---- the connection ---- */

static void release(struct link *link)
{
    if (InterlockedDecrement(&link->owners) > 0)
        return;
    if (link->connection != NULL)
        WinHttpCloseHandle(link->connection);
    if (link->session != NULL)
        WinHttpCloseHandle(link->session);
    HeapFree(GetProcessHeap(), 0, link);
}

/* Nothing is sent yet. NULL: out of memory. */
static struct link *make_link(const struct capture_upload_options *o)
{
    wchar_t host[HOST_UNITS];
    URL_COMPONENTS url = {
        .dwStructSize = sizeof url, .lpszHostName = host, .dwHostNameLength = HOST_UNITS};
    const int ms = (int)o->answer_ms;
    struct link *link = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof *link);
    if (link == NULL)
        return NULL;
    link->owners = 1;
    if (WinHttpCrackUrl(o->url, 0, 0, &url) &&
        swprintf(link->header, HEADER_UNITS, L"X-Token: %hs\r\n", o->token) > 0)
        link->session = WinHttpOpen(L"twinstack-capture", WINHTTP_ACCESS_TYPE_DEFAULT_PROXY,
                                    WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS, 0);
    link->flags = url.nScheme == INTERNET_SCHEME_HTTPS ? WINHTTP_FLAG_SECURE : 0;
    if (link->session != NULL && WinHttpSetTimeouts(link->session, ms, ms, ms, ms))
        link->connection = WinHttpConnect(link->session, host, url.nPort, 0);
    if (link->connection != NULL)
        return link;
    release(link);
    return NULL;
}

/* ---- one request, on its thread ---- */

/* Reads from AT, wherever the position of the file is. */
static bool read_piece(HANDLE file, uint64_t at, void *data, DWORD most, DWORD *got)
{
    OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    return ReadFile(file, data, most, got, &place) != 0 || GetLastError() == ERROR_HANDLE_EOF;
}

/* False: the caller waits no longer. */
static bool is_wanted(struct link *link)
{
    InterlockedExchange(&link->moved_ms, (LONG)GetTickCount());
    return link->is_left == 0;
}

/* Sends the body as it is read. False: the connection or the file failed. */
static bool send_body(struct link *link, HINTERNET request)
{
    for (uint64_t at = 0; at < link->bytes;) {
        DWORD got = 0, put = 0;
        const uint64_t left = link->bytes - at;
        const DWORD most = left < PIECE_BYTES ? (DWORD)left : PIECE_BYTES;
        if (!is_wanted(link) || !read_piece(link->file, at, link->piece, most, &got) || got == 0 ||
            !WinHttpWriteData(request, link->piece, got, &put) || put != got)
            return false;
        at += got;
    }
    return is_wanted(link);
}

static DWORD header_number(HINTERNET request, DWORD which)
{
    DWORD value = 0, size = sizeof value;
    if (!WinHttpQueryHeaders(request, which | WINHTTP_QUERY_FLAG_NUMBER,
                             WINHTTP_HEADER_NAME_BY_INDEX, &value, &size, WINHTTP_NO_HEADER_INDEX))
        return 0;
    return value;
}

/* Leaves the status of the answer, 0: there was none, and the pause that the server asks for. */
static void run_request(struct link *link)
{
    DWORD policy = WINHTTP_OPTION_REDIRECT_POLICY_NEVER;
    HINTERNET request =
        WinHttpOpenRequest(link->connection, L"POST", link->query, NULL, WINHTTP_NO_REFERER,
                           WINHTTP_DEFAULT_ACCEPT_TYPES, link->flags);
    if (request == NULL)
        return;
    WinHttpSetOption(request, WINHTTP_OPTION_REDIRECT_POLICY, &policy, sizeof policy);
    if (WinHttpSendRequest(request, link->header, (DWORD)-1, WINHTTP_NO_REQUEST_DATA, 0,
                           (DWORD)link->bytes, 0) &&
        send_body(link, request) && WinHttpReceiveResponse(request, NULL)) {
        link->status = header_number(request, WINHTTP_QUERY_STATUS_CODE);
        link->retry_s = header_number(request, WINHTTP_QUERY_RETRY_AFTER);
    }
    WinHttpCloseHandle(request);
}

static DWORD WINAPI request_thread(void *context)
{
    struct link *link = context;
    run_request(link);
    CloseHandle(link->file);
    release(link);
    return 0;
}

/* ---- one request, as the caller sees it ---- */

/* Returns the thread of the request; NULL: there is none. */
static HANDLE start_request(struct link *link, const wchar_t *query, HANDLE file, uint64_t bytes)
{
    HANDLE self = GetCurrentProcess(), thread = NULL;
    link->status = link->retry_s = 0;
    link->bytes = bytes;
    if (swprintf(link->query, QUERY_UNITS, L"%ls", query) <= 0 ||
        !DuplicateHandle(self, file, self, &link->file, 0, FALSE, DUPLICATE_SAME_ACCESS))
        return NULL;
    (void)is_wanted(link);
    InterlockedIncrement(&link->owners);
    thread = CreateThread(NULL, 0, request_thread, link, 0, NULL);
    if (thread == NULL) {
        CloseHandle(link->file);
        InterlockedDecrement(&link->owners);
    }
    return thread;
}

static bool is_late(const struct upload *u)
{
    return GetTickCount64() > u->end_ms ||
           GetTickCount() - (DWORD)u->link->moved_ms > u->options.answer_ms;
}

/* The status of the answer; 0: there was none. *RETRY_S: what the server asks for. */
static DWORD ask(struct upload *u, const wchar_t *query, HANDLE file, uint64_t bytes,
                 DWORD *retry_s)
{
    DWORD status = 0;
    *retry_s = 0;
    if (u->link == NULL)
        u->link = make_link(&u->options);
    HANDLE thread = u->link != NULL ? start_request(u->link, query, file, bytes) : NULL;
    u->result.end = CAPTURE_UPLOAD_NO_ANSWER;
    if (thread == NULL)
        return 0;
    while (WaitForSingleObject(thread, SLICE_MS) == WAIT_TIMEOUT && !is_late(u))
        ;
    if (WaitForSingleObject(thread, 0) == WAIT_OBJECT_0) {
        status = u->link->status;
        *retry_s = u->link->retry_s;
    } else {
        InterlockedExchange(&u->link->is_left, 1);
        release(u->link);
        u->link = NULL;
    }
    CloseHandle(thread);
    return status;
}

/* ---- tries ---- */

static bool is_worth_a_try(DWORD status)
{
    return status == 0 || status == 408 || status == 429 || status >= 500;
}

/* False: the time for all of it is over. */
static bool pause(struct upload *u, uint64_t ms)
{
    const ULONGLONG end_ms = GetTickCount64() + (ms < PAUSE_MOST_MS ? ms : PAUSE_MOST_MS);
    if (end_ms > u->end_ms) {
        u->result.end = CAPTURE_UPLOAD_OUT_OF_TIME;
        return false;
    }
    while (GetTickCount64() < end_ms)
        Sleep(SLICE_MS);
    return true;
}

static enum outcome send_file(struct upload *u, const wchar_t *query, HANDLE file, uint64_t bytes)
{
    uint64_t wait_ms = u->options.wait_ms;
    for (uint32_t i = 0; i < u->options.tries; i++) {
        DWORD retry_s;
        const DWORD status = ask(u, query, file, bytes, &retry_s);
        u->result.status = status;
        if (status == 401 || status == 403)
            u->result.end = CAPTURE_UPLOAD_TOKEN;
        else if (status != 0)
            u->result.end = CAPTURE_UPLOAD_NOT_NOW;
        if (status >= 200 && status < 300)
            return STORED;
        if (status == 401 || status == 403)
            return STOP;
        if (!is_worth_a_try(status))
            return REFUSED;
        const uint64_t asked_ms = (uint64_t)retry_s * 1000;
        if (i + 1 == u->options.tries || !pause(u, asked_ms > wait_ms ? asked_ms : wait_ms))
            return STOP;
        wait_ms *= 2;
    }
    return STOP;
}

/* ---- one capture ---- */

static HANDLE open_file(const wchar_t *path, uint64_t *bytes)
{
    LARGE_INTEGER size = {0};
    HANDLE file = path == NULL
                      ? INVALID_HANDLE_VALUE
                      : CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file != INVALID_HANDLE_VALUE && !GetFileSizeEx(file, &size)) {
        CloseHandle(file);
        file = INVALID_HANDLE_VALUE;
    }
    *bytes = (uint64_t)size.QuadPart;
    return file;
}

/* TIME-PID of the file's name and the FNV-1a hash of its bytes: the same capture has the same id at
 * every start, and captures of two machines have different ones. */
static bool make_id(struct upload *u, const wchar_t *path, HANDLE file, char id[ID_BYTES])
{
    const wchar_t *name = wcsrchr(path, L'\\');
    const wchar_t *stem = name != NULL ? wcschr(name, L'-') : NULL;
    uint64_t hash = 0xcbf29ce484222325ull, done = 0;
    DWORD got = 0;
    int at = 0;
    if (stem == NULL)
        return false;
    for (stem++; at < 30 && ((*stem >= L'0' && *stem <= L'9') || *stem == L'-'); stem++)
        id[at++] = (char)*stem;
    do {
        if (!read_piece(file, done, u->piece, PIECE_BYTES, &got))
            return false;
        for (DWORD i = 0; i < got; i++)
            hash = (hash ^ u->piece[i]) * 0x100000001b3ull;
        done += got;
    } while (got > 0);
    return snprintf(id + at, (size_t)(ID_BYTES - at), "-%016llx", (unsigned long long)hash) == 17;
}

static enum outcome send_part(struct upload *u, const char *id, bool dump, HANDLE file,
                              uint64_t bytes)
{
    wchar_t query[QUERY_UNITS];
    const char *version = u->options.version;
    const int length = swprintf(query, QUERY_UNITS, L"/api/v1/reports?id=%hs%ls%ls%hs", id,
                                dump ? L"&kind=dump" : L"", version != NULL ? L"&version=" : L"",
                                version != NULL ? version : "");
    return length > 0 ? send_file(u, query, file, bytes) : REFUSED;
}

/* The dump goes first: the collector's workers compare it with the record as soon as that comes. A
 * capture without a record is sent as a dump alone. */
static enum outcome send_capture(struct upload *u, const struct capture_report *report)
{
    uint64_t record_bytes, dump_bytes;
    HANDLE record = open_file(report->record, &record_bytes);
    HANDLE dump = open_file(report->dump, &dump_bytes);
    enum outcome outcome = REFUSED;
    char id[ID_BYTES];
    const bool has_record = record != INVALID_HANDLE_VALUE, has_dump = dump != INVALID_HANDLE_VALUE;
    if ((has_record && make_id(u, report->record, record, id)) ||
        (!has_record && has_dump && make_id(u, report->dump, dump, id))) {
        if (has_dump && dump_bytes > 0 && dump_bytes <= u->options.dump_bytes)
            outcome = send_part(u, id, true, dump, dump_bytes);
        if (has_record && outcome != STOP)
            outcome = send_part(u, id, false, record, record_bytes);
    }
    if (has_record)
        CloseHandle(record);
    if (has_dump)
        CloseHandle(dump);
    return outcome;
}

static bool send_one(const struct capture_report *report, void *context)
{
    struct upload *u = context;
    const enum outcome outcome = u->stopping ? STOP : send_capture(u, report);
    u->result.no_dump = report->no_dump != 0 ? report->no_dump : u->result.no_dump;
    u->result.sent += outcome == STORED;
    u->result.refused += outcome == REFUSED;
    u->result.left += outcome == STOP;
    u->stopping = outcome == STOP;
    return outcome == STORED;
}

/* ---- the session ---- */

static bool is_word(const char *text)
{
    for (; text != NULL && *text != 0; text++)
        if (!((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
              (*text >= 'A' && *text <= 'Z') || *text == '-' || *text == '_' || *text == '.'))
            return false;
    return true;
}

/* An address of the web with a host. */
static bool is_address(const wchar_t *text)
{
    URL_COMPONENTS url = {.dwStructSize = sizeof url, .dwHostNameLength = (DWORD)-1};
    return WinHttpCrackUrl(text, 0, 0, &url) && url.dwHostNameLength > 0;
}

/* CAPTURE_UPLOAD_DONE: they can be used. */
static uint32_t read_options(struct upload *u, const struct capture_upload_options *options)
{
    if (options->size > sizeof u->options || options->size == 0)
        return CAPTURE_UPLOAD_BAD_OPTIONS;
    memcpy(&u->options, options, options->size);
    struct capture_upload_options *o = &u->options;
    o->tries = o->tries != 0 ? o->tries : 5;
    o->wait_ms = o->wait_ms != 0 ? o->wait_ms : 1000;
    o->answer_ms = o->answer_ms != 0 ? o->answer_ms : 20000;
    o->limit_ms = o->limit_ms != 0 ? o->limit_ms : 300000;
    o->dump_bytes =
        o->dump_bytes != 0 && o->dump_bytes < DUMP_BYTES_MOST ? o->dump_bytes : DUMP_BYTES_MOST;
    u->end_ms = GetTickCount64() + o->limit_ms;
    if (!o->consent)
        return CAPTURE_UPLOAD_NO_CONSENT;
    if (o->folder == NULL || o->token == NULL || !is_word(o->token) || !is_word(o->version))
        return CAPTURE_UPLOAD_BAD_OPTIONS;
    return o->url != NULL && is_address(o->url) ? CAPTURE_UPLOAD_DONE : CAPTURE_UPLOAD_BAD_URL;
}

bool capture_upload(const struct capture_upload_options *options,
                    struct capture_upload_result *result)
{
    struct upload *u = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof *u);
    if (result != NULL)
        memset(result, 0, sizeof *result);
    if (u == NULL) {
        if (result != NULL)
            result->end = CAPTURE_UPLOAD_OUT_OF_MEMORY;
        return false;
    }
    u->result.end = read_options(u, options);
    if (u->result.end == CAPTURE_UPLOAD_DONE && (u->link = make_link(&u->options)) == NULL)
        u->result.end = CAPTURE_UPLOAD_OUT_OF_MEMORY;
    u->stopping = u->result.end != CAPTURE_UPLOAD_DONE;
    if (u->options.folder != NULL)
        (void)capture_pending(u->options.folder, send_one, u);
    if (u->link != NULL)
        release(u->link);
    const bool is_done = u->result.left == 0;
    if (is_done && u->result.end >= CAPTURE_UPLOAD_NO_ANSWER)
        u->result.end = CAPTURE_UPLOAD_DONE;
    if (result != NULL)
        *result = u->result;
    HeapFree(GetProcessHeap(), 0, u);
    return is_done;
}
