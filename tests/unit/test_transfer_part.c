/* What an answer does to the file of a download: by RFC 9110, 8.8 (validators), 10.2.3
 * (Retry-After), 14 (ranges) and 15 (status codes). */
#include <stdio.h>
#include <string.h>

#include "fetch/transfer_part.h"
#include "test.h"

#define HAVE "old: "

enum { HEADERS_MAX = 4, ANY_LIMIT = 100 };

struct header {
    enum transfer_header header;
    const char *value; /* NULL: no more */
};

struct world {
    struct transfer_request request;
    struct transfer_answer answer;
    struct transfer_part part;
    char path[700];
    char begun[64];     /* the validator that `begins` was called with; "-": it was not */
    uint64_t bytes, of; /* what `progress` was called with; 99: it was not */
};

static void on_begin(void *context, const char *validator)
{
    struct world *w = context;
    (void)snprintf(w->begun, sizeof w->begun, "%s", validator);
}

static void on_progress(void *context, uint64_t bytes, uint64_t total_bytes)
{
    struct world *w = context;
    w->bytes = bytes;
    w->of = total_bytes;
}

/* A request for what follows HAVE, if RESUMES. */
static void begin(struct world *w, bool resumes, const struct header *headers)
{
    *w = (struct world){.begun = "-", .bytes = 99, .of = 99};
    (void)snprintf(w->path, sizeof w->path, "%s/part", test_scratch());
    test_write(w->path, HAVE, strlen(HAVE));
    w->request = (struct transfer_request){.part = w->path,
                                           .have_bytes = resumes ? strlen(HAVE) : 0,
                                           .validator = "\"before\"",
                                           .limit_bytes = ANY_LIMIT,
                                           .progress = on_progress,
                                           .begins = on_begin,
                                           .context = w};
    transfer_part_begin(&w->part, &w->request, &w->answer);
    CHECK_EQ(w->answer.part_bytes, resumes ? strlen(HAVE) : 0);
    CHECK_STR(w->answer.validator, "\"before\"");
    transfer_part_next_answer(&w->part);
    for (size_t i = 0; i < HEADERS_MAX && headers != NULL && headers[i].value != NULL; i++)
        transfer_part_header(&w->part, headers[i].header, headers[i].value);
}

static void check_file(const struct world *w, const char *want)
{
    size_t bytes;
    const uint8_t *data = test_read(w->path, &bytes);
    CHECK_EQ(bytes, strlen(want));
    if (bytes == strlen(want))
        CHECK_MEM(data, want, bytes);
}

static const struct {
    const char *name;
    long status;
    bool resumes;
    struct header headers[HEADERS_MAX];
    bool taken;
    const char *file, *validator, *begun;
} downloads[] = {
    {"a new file", 200, false, {{0, NULL}}, true, "new", "", ""},
    {"with a tag", 200, false, {{TRANSFER_HEADER_ETAG, "\"1\""}}, true, "new", "\"1\"", "\"1\""},
    {"with a weak tag, which is no validator of bytes",
     200,
     false,
     {{TRANSFER_HEADER_ETAG, "W/\"1\""}},
     true,
     "new",
     "",
     ""},
    {"with a date",
     200,
     false,
     {{TRANSFER_HEADER_MODIFIED, "a date"}},
     true,
     "new",
     "a date",
     "a date"},
    {"the tag goes before the date",
     200,
     false,
     {{TRANSFER_HEADER_MODIFIED, "a date"}, {TRANSFER_HEADER_ETAG, "\"1\""}},
     true,
     "new",
     "\"1\"",
     "\"1\""},
    {"compressed: it cannot be resumed",
     200,
     false,
     {{TRANSFER_HEADER_ETAG, "\"1\""}, {TRANSFER_HEADER_ENCODING, "gzip"}},
     true,
     "new",
     "",
     ""},
    {"not compressed",
     200,
     false,
     {{TRANSFER_HEADER_ETAG, "\"1\""}, {TRANSFER_HEADER_ENCODING, "Identity"}},
     true,
     "new",
     "\"1\"",
     "\"1\""},
    {"the rest",
     206,
     true,
     {{TRANSFER_HEADER_RANGE, "bytes 5-7/8"}, {TRANSFER_HEADER_ETAG, "\"1\""}},
     true,
     HAVE "new",
     "\"1\"",
     "-"},
    {"all instead of the rest",
     200,
     true,
     {{TRANSFER_HEADER_ETAG, "\"1\""}},
     true,
     "new",
     "\"1\"",
     "\"1\""},
    {"another rest", 206, true, {{TRANSFER_HEADER_RANGE, "bytes 4-7/8"}}, false, HAVE, "", "-"},
    {"a rest of which no place is said", 206, true, {{0, NULL}}, false, HAVE, "", "-"},
    {"a rest in other units",
     206,
     true,
     {{TRANSFER_HEADER_RANGE, "items 5-7/8"}},
     false,
     HAVE,
     "",
     "-"},
    {"a compressed rest",
     206,
     true,
     {{TRANSFER_HEADER_RANGE, "bytes 5-7/8"}, {TRANSFER_HEADER_ENCODING, "br"}},
     false,
     HAVE,
     "",
     "-"},
    {"a rest that was not asked for",
     206,
     false,
     {{TRANSFER_HEADER_RANGE, "bytes 0-2/8"}},
     false,
     HAVE,
     "",
     "-"},
    {"the page of an error", 404, false, {{0, NULL}}, true, HAVE, "\"before\"", "-"},
    {"a redirection", 302, false, {{0, NULL}}, true, HAVE, "\"before\"", "-"},
};

TEST(a_download_goes_on_only_where_the_server_does)
{
    for (size_t i = 0; i < COUNT_OF(downloads); i++) {
        struct world w;
        test_row(downloads[i].name);
        begin(&w, downloads[i].resumes, downloads[i].headers);
        CHECK_EQ(transfer_part_write(&w.part, downloads[i].status, "ne", 2), downloads[i].taken);
        if (downloads[i].taken)
            CHECK(transfer_part_write(&w.part, downloads[i].status, "w", 1));
        transfer_part_end(&w.part, downloads[i].status, true);
        check_file(&w, downloads[i].file);
        CHECK_STR(w.answer.validator, downloads[i].validator);
        CHECK_STR(w.begun, downloads[i].begun);
        CHECK(w.part.file == NULL);
    }
}

TEST(a_server_may_ask_to_wait_up_to_a_minute)
{
    static const struct {
        const char *value;
        uint32_t want_ms;
    } rows[] = {{"0", 0},      {"1", 1000},       {"59", 59000}, {"60", 60000},
                {"61", 60000}, {"86400", 60000},  {"-1", 0},     {"18446744073709551616", 0},
                {"a date", 0}, {"4294967", 60000}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct header headers[HEADERS_MAX] = {{TRANSFER_HEADER_RETRY, rows[i].value}};
        struct world w;
        test_row(rows[i].value);
        begin(&w, false, headers);
        CHECK_EQ(w.answer.wait_ms, rows[i].want_ms);
    }
}

/* Nothing of the answer that redirects is kept for the one after it. */
TEST(each_answer_has_its_own_headers)
{
    static const struct header headers[HEADERS_MAX] = {{TRANSFER_HEADER_ETAG, "\"1\""},
                                                       {TRANSFER_HEADER_ENCODING, "gzip"},
                                                       {TRANSFER_HEADER_RETRY, "7"},
                                                       {TRANSFER_HEADER_RANGE, "bytes 5-7/8"}};
    struct world w;
    begin(&w, false, headers);
    transfer_part_header(&w.part, TRANSFER_HEADER_MODIFIED, "a date");
    transfer_part_next_answer(&w.part);
    CHECK_STR(w.part.etag, "");
    CHECK_STR(w.part.modified, "");
    CHECK(!w.part.encoded);
    CHECK_EQ(w.part.range_start, 0);
    CHECK_EQ(w.answer.wait_ms, 0);
}

TEST(a_part_has_at_most_the_bytes_of_the_limit)
{
    static const struct {
        const char *name;
        bool resumes;
        size_t first, second;
        bool fits;
        uint64_t part_bytes;
    } rows[] = {
        {"one write of all", false, 10, 0, true, 10},
        {"a byte more", false, 11, 0, false, 0},
        {"two writes of all", false, 4, 6, true, 10},
        {"a byte more in the second", false, 4, 7, false, 4},
        {"all that is left", true, 5, 0, true, 10},
        {"a byte more than is left", true, 6, 0, false, 5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const struct header rest[HEADERS_MAX] = {{TRANSFER_HEADER_RANGE, "bytes 5-9/10"}};
        const long status = rows[i].resumes ? 206 : 200;
        struct world w;
        test_row(rows[i].name);
        begin(&w, rows[i].resumes, rest);
        w.request.limit_bytes = 10;
        bool fits = transfer_part_write(&w.part, status, "0123456789a", rows[i].first);
        if (fits && rows[i].second > 0)
            fits = transfer_part_write(&w.part, status, "0123456789a", rows[i].second);
        CHECK_EQ(fits, rows[i].fits);
        CHECK_EQ(w.part.over_limit, !rows[i].fits);
        transfer_part_end(&w.part, status, rows[i].fits);
        CHECK_EQ(w.answer.part_bytes, rows[i].part_bytes);
        transfer_part_broke(&w.part, TRANSFER_AGAIN, "cut");
        CHECK_EQ(w.answer.outcome, rows[i].fits ? TRANSFER_AGAIN : TRANSFER_LIMIT);
        CHECK_STR(w.answer.text, rows[i].fits ? "cut" : "larger than the limit");
    }
}

TEST(an_empty_file_is_made_of_a_whole_answer)
{
    static const struct {
        const char *name;
        long status;
        bool is_whole;
        const char *file, *validator;
    } rows[] = {
        {"whole", 200, true, "", "\"1\""},
        {"cut", 200, false, HAVE, "\"before\""},
        {"an error", 500, true, HAVE, "\"before\""},
        {"the part is longer than the file", 416, false, HAVE, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const struct header headers[HEADERS_MAX] = {{TRANSFER_HEADER_ETAG, "\"1\""}};
        struct world w;
        test_row(rows[i].name);
        begin(&w, false, headers);
        transfer_part_end(&w.part, rows[i].status, rows[i].is_whole);
        check_file(&w, rows[i].file);
        CHECK_STR(w.answer.validator, rows[i].validator);
        CHECK_EQ(w.answer.part_bytes, 0);
    }
}

TEST(progress_is_of_the_part)
{
    static const struct {
        const char *name, *encoding;
        bool writes;
        uint64_t bytes, of;
    } rows[] = {
        {"of a plain file", "identity", true, 3, 8},
        {"of a compressed one, whose length is another", "gzip", true, 3, 0},
        {"before the first byte", "identity", false, 99, 99},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct header headers[HEADERS_MAX] = {{TRANSFER_HEADER_ENCODING, rows[i].encoding}};
        struct world w;
        test_row(rows[i].name);
        begin(&w, false, headers);
        CHECK(!rows[i].writes || transfer_part_write(&w.part, 200, "new", 3));
        transfer_part_progress(&w.part, 8);
        transfer_part_end(&w.part, 200, true);
        CHECK_EQ(w.bytes, rows[i].bytes);
        CHECK_EQ(w.of, rows[i].of);
    }
}

/* Servers that may have it later are asked again: RFC 9110, 15.5 and 15.6, RFC 8470 (425), RFC
 * 6585 (429). */
TEST(each_status_has_an_outcome)
{
    static const struct {
        long status;
        enum transfer_outcome want;
        const char *text;
    } rows[] = {
        {200, TRANSFER_DONE, "it answered 200"},    {206, TRANSFER_DONE, "it answered 206"},
        {201, TRANSFER_REFUSED, "it answered 201"}, {302, TRANSFER_REFUSED, "it answered 302"},
        {400, TRANSFER_REFUSED, "it answered 400"}, {403, TRANSFER_REFUSED, "it answered 403"},
        {404, TRANSFER_ABSENT, "it answered 404"},  {410, TRANSFER_ABSENT, "it answered 410"},
        {408, TRANSFER_AGAIN, "it answered 408"},   {416, TRANSFER_AGAIN, "it answered 416"},
        {425, TRANSFER_AGAIN, "it answered 425"},   {429, TRANSFER_AGAIN, "it answered 429"},
        {499, TRANSFER_REFUSED, "it answered 499"}, {500, TRANSFER_AGAIN, "it answered 500"},
        {503, TRANSFER_AGAIN, "it answered 503"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].text);
        begin(&w, false, NULL);
        transfer_part_answer(&w.part, rows[i].status);
        CHECK_EQ(w.answer.outcome, rows[i].want);
        CHECK_STR(w.answer.text, rows[i].text);
    }
}

TEST(a_reason_of_the_file_goes_before_that_of_the_connection)
{
    static const struct {
        const char *name;
        enum transfer_outcome given, want;
        bool no_folder;
        const char *text;
    } rows[] = {
        {"the connection's", TRANSFER_INTERRUPTED, TRANSFER_INTERRUPTED, false, "cut"},
        {"a limit that the library knows", TRANSFER_LIMIT, TRANSFER_LIMIT, false,
         "larger than the limit"},
        {"it cannot be written", TRANSFER_AGAIN, TRANSFER_IO, true, "it cannot be written"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        begin(&w, false, NULL);
        if (rows[i].no_folder)
            (void)snprintf(w.path, sizeof w.path, "%s/none/part", test_scratch());
        CHECK_EQ(transfer_part_write(&w.part, 200, "new", 3), !rows[i].no_folder);
        CHECK_EQ(transfer_part_write(&w.part, 200, "new", 3), !rows[i].no_folder);
        transfer_part_end(&w.part, 200, false);
        transfer_part_broke(&w.part, rows[i].given, "cut");
        CHECK_EQ(w.answer.outcome, rows[i].want);
        CHECK_STR(w.answer.text, rows[i].text);
    }
}
