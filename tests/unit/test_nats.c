/* What a queue nats:// asks libnats, and what it makes of the answers: with a library that is a
 * table (tests/lib/fake_nats.c), so that no server is needed. */
#include <stdio.h>

#include "nats_table.h"

#define GB ((int64_t)1 << 30)
#define MB ((int64_t)1 << 20)

/* ---- who comes ------------------------------------------------------------------------- */

#define VARIABLE(name) "TWINSTACK_NATS_" name

/* The README's table of variables: each goes where the library expects it. */
TEST(a_server_learns_who_comes)
{
    static const struct {
        const char *name, *variables[8], *want; /* pairs: the name and the value */
    } rows[] = {
        {"without a name", {NULL}, ""},
        {"empty ones", {"USER", "", "TOKEN", "", "CA", "", "TLS", ""}, ""},
        {"a name and its password", {"USER", "ann", "PASSWORD", "s3cret"}, "user ann, s3cret; "},
        {"a name alone", {"USER", "ann"}, "user ann, ; "},
        {"a password alone", {"PASSWORD", "s3cret"}, ""},
        {"a token", {"TOKEN", "t0ken"}, "token t0ken; "},
        {"a file of credentials", {"CREDS", "/a"}, "creds /a, -; "},
        {"TLS", {"TLS", "1"}, "tls 1; "},
        {"an authority", {"CA", "/ca"}, "tls 1; ca /ca; "},
        {"a certificate", {"CERT", "/c", "KEY", "/k"}, "tls 1; cert /c, /k; "},
        {"a certificate and key in one file", {"CERT", "/c"}, "tls 1; cert /c, ; "},
        {"a key alone", {"KEY", "/k"}, ""},
        {"an authority and a certificate",
         {"CA", "/ca", "CERT", "/c", "KEY", "/k"},
         "tls 1; ca /ca; cert /c, /k; "},
        {"several names",
         {"USER", "ann", "TOKEN", "t", "CREDS", "/a"},
         "user ann, ; token t; creds /a, -; "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const char head[] = "url nats://h:1; timeout 5000; reconnect -1; ";
        char variable[64];
        start_row(rows[i].name);
        for (size_t k = 0; k < COUNT_OF(rows[i].variables) && rows[i].variables[k] != NULL;
             k += 2) {
            (void)snprintf(variable, sizeof variable, VARIABLE("%s"), rows[i].variables[k]);
            test_environment(variable, rows[i].variables[k + 1]);
        }
        closed(opened());
        char *end = strstr(nats->log, "connect ;");
        REQUIRE(end != NULL && strncmp(nats->log, head, sizeof head - 1) == 0);
        *end = '\0';
        CHECK_STR(nats->log + sizeof head - 1, rows[i].want);
        for (size_t k = 0; k < COUNT_OF(rows[i].variables) && rows[i].variables[k] != NULL;
             k += 2) {
            (void)snprintf(variable, sizeof variable, VARIABLE("%s"), rows[i].variables[k]);
            test_environment(variable, NULL);
        }
    }
}

/* A name that cannot be used is an error: without it the server would take this program for
 * another. */
TEST(nothing_connects_without_what_was_asked_for)
{
    static const char *const steps[] = {"url",   "timeout", "reconnect", "user", "token",
                                        "creds", "tls",     "ca",        "cert"};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct queue *queue = NULL;
        struct fault fault = FAULT_INIT;
        start_row(steps[i]);
        test_environment(VARIABLE("USER"), "ann");
        test_environment(VARIABLE("TOKEN"), "t");
        test_environment(VARIABLE("CREDS"), "/a");
        test_environment(VARIABLE("CA"), "/ca");
        test_environment(VARIABLE("CERT"), "/c");
        nats->failing = steps[i];
        nats->status = NATS_INVALID_ARG;
        CHECK_EQ(queue_open_nats("nats://h:1", &queue, &fault), ERR_IO);
        CHECK(queue == NULL);
        CHECK_HAS(fault.hint, "TWINSTACK_NATS_USER");
        const char *last = strstr(nats->log, steps[i]);
        REQUIRE(last != NULL);
        CHECK_EQ(strlen(strstr(last, "; ")), 2); /* nothing comes after it */
    }
}

TEST(a_server_that_refuses_is_not_one_that_is_gone)
{
    static const struct {
        const char *name, *hint;
        natsStatus status;
        enum status want;
    } rows[] = {
        {"the name", "TWINSTACK_NATS_USER", NATS_CONNECTION_AUTH_FAILED, ERR_UNSUPPORTED},
        {"the certificate", "TWINSTACK_NATS_USER", NATS_SSL_ERROR, ERR_UNSUPPORTED},
        {"it asks for TLS", "_CA and _CERT", NATS_SECURE_CONNECTION_REQUIRED, ERR_UNSUPPORTED},
        {"it has none", "_CA and _CERT", NATS_SECURE_CONNECTION_WANTED, ERR_UNSUPPORTED},
        {"another reason", "TWINSTACK_NATS_USER", NATS_ERR, ERR_IO},
        {"no server", "no server is there", NATS_NO_SERVER, ERR_IO},
        {"no answer", "the queue's server does not answer", NATS_TIMEOUT, ERR_IO},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue *queue = NULL;
        struct fault fault = FAULT_INIT;
        start_row(rows[i].name);
        nats->failing = "connect";
        nats->status = rows[i].status;
        CHECK_EQ(queue_open_nats("nats://h:1", &queue, &fault), rows[i].want);
        CHECK_HAS(fault.hint, rows[i].hint);
        CHECK(queue == NULL);
        CHECK_EQ(times("add"), 0);
    }
}

/* ---- streams --------------------------------------------------------------------------- */

static int64_t bytes_of(const char *name)
{
    const struct fake_stream *stream = stream_of(name);
    return stream != NULL ? stream->config.MaxBytes : 0;
}

/* The head of queue_nats_streams.c: partial results have half of what reports have below 8 GB, the
 * three small streams an eighth each, and none less than 8 MB. */
TEST(the_room_of_a_server_is_divided)
{
    static const struct {
        const char *name;
        int64_t room, had; /* HAD: bytes of the reports' stream; 0: there is none */
        int64_t reports, partials, small, parts; /* REPORTS 0: it has no room */
        unsigned updates;
    } rows[] = {
        {"no limit", 0, 0, 8 * GB, 8 * GB, GB, GB, 1},
        {"20 GB", 20 * GB, 0, 8 * GB, 8 * GB, GB, GB, 1},
        {"all of 19 GB", 19 * GB, 0, 8 * GB, 8 * GB, GB, GB, 1},
        {"10 GB", 10 * GB, 0, 4 * GB, 2 * GB, GB / 2, GB / 2, 1},
        {"7.5 GB", 15 * GB / 2, 0, 4 * GB, 2 * GB, GB / 2, GB / 2, 1},
        {"two bytes less", 15 * GB / 2 - 2, 0, 2 * GB, GB, GB / 4, GB / 4, 1},
        {"48 MB", 48 * MB, 0, 16 * MB, 8 * MB, 8 * MB, 8 * MB, 1},
        {"40 MB are for reports without parts", 40 * MB, 0, 16 * MB, 8 * MB, 8 * MB, 0, 1},
        {"less", 40 * MB - 2, 0, 0, 0, 0, 0, 0},
        {"the last one ended before it divided", 20 * GB, 19 * GB - 1, 8 * GB, 8 * GB, GB, GB, 1},
        {"so did one with less room", 8 * GB, 15 * GB / 2 - 1, 4 * GB, 2 * GB, GB / 2, GB / 2, 1},
        {"it was divided", 20 * GB, 4 * GB, 4 * GB, 2 * GB, GB / 2, GB / 2, 0},
        {"by an operator", 20 * GB, 800 * MB, 800 * MB, 400 * MB, 100 * MB, 100 * MB, 0},
        {"without a limit by one", 0, -1, -1, 8 * GB, GB, GB, 0},
        {"far above ours by one", 0, 100 * GB, 100 * GB, 8 * GB, GB, GB, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue *queue = NULL;
        struct fault fault = FAULT_INIT;
        start_row(rows[i].name);
        nats->room = rows[i].room;
        if (rows[i].had != 0) {
            strcpy(nats->streams[0].name, "TWINSTACK_REPORTS");
            strcpy(nats->streams[0].subject, "twinstack.reports");
            nats->streams[0].config.MaxBytes = rows[i].had;
        }
        CHECK_EQ(queue_open_nats("nats://h:1", &queue, &fault),
                 rows[i].reports != 0 ? ERR_NONE : ERR_LIMIT);
        if (queue == NULL)
            CHECK_STR(fault.hint, "the disk of its server has no room for it");
        CHECK_EQ(bytes_of("TWINSTACK_REPORTS"), rows[i].reports);
        CHECK_EQ(bytes_of("TWINSTACK_PARTIALS"), rows[i].partials);
        CHECK_EQ(bytes_of("TWINSTACK_DEAD"), rows[i].small);
        CHECK_EQ(bytes_of("TWINSTACK_SHADOW"), rows[i].small);
        CHECK_EQ(bytes_of("TWINSTACK_PARTS"), rows[i].parts);
        CHECK_EQ(bytes_of("TWINSTACK_NOTES"), rows[i].reports != 0 ? -1 : 0);
        CHECK_EQ(times("update"), rows[i].updates);
        if (queue != NULL)
            closed(queue);
    }
}

/* Of reports of 4 GB, partial results should have 2 and the small ones 0.5 each. Of 1.5 GB partial
 * results take 1 and dead letters 0.5, and what is left is for samples. 8 MB is the least, also
 * where a half of a half is less: 125, 62.5, 31.25, 15.6. */
TEST(a_stream_takes_half_as_long_as_there_is_no_room)
{
    static const struct {
        const char *name;
        int64_t reports, partials, dead, left, samples; /* SAMPLES 0: it has no room */
    } rows[] = {
        {"32 MB are left", 4 * GB, GB, GB / 2, 32 * MB, 32 * MB},
        {"17 MB", 4 * GB, GB, GB / 2, 17 * MB, 16 * MB},
        {"16 MB", 4 * GB, GB, GB / 2, 16 * MB, 16 * MB},
        {"a byte less", 4 * GB, GB, GB / 2, 16 * MB - 1, 8 * MB},
        {"8 MB, the least", 4 * GB, GB, GB / 2, 8 * MB, 8 * MB},
        {"less than that", 4 * GB, GB, GB / 2, 8 * MB - 1, 0},
        {"no half is as much", 1000 * MB, 500 * MB, 125 * MB, 8 * MB, 8 * MB},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue *queue = NULL;
        struct fault fault = FAULT_INIT;
        start_row(rows[i].name);
        nats->room = rows[i].reports + rows[i].partials + rows[i].dead + rows[i].left;
        strcpy(nats->streams[0].name, "TWINSTACK_REPORTS");
        nats->streams[0].config.MaxBytes = rows[i].reports;
        CHECK_EQ(queue_open_nats("nats://h:1", &queue, &fault),
                 rows[i].samples != 0 ? ERR_NONE : ERR_LIMIT);
        CHECK_EQ(bytes_of("TWINSTACK_PARTIALS"), rows[i].partials);
        CHECK_EQ(bytes_of("TWINSTACK_DEAD"), rows[i].dead);
        CHECK_EQ(bytes_of("TWINSTACK_SHADOW"), rows[i].samples);
        CHECK_EQ(bytes_of("TWINSTACK_PARTS"), 0); /* which a queue can be without */
        if (queue != NULL)
            closed(queue);
    }
}

TEST(streams_keep_what_queue_h_says)
{
    static const struct {
        const char *name, *subject;
        jsRetentionPolicy retention;
        int64_t remembers_s, keeps_s, most; /* 0: no limit */
    } rows[] = {
        {"TWINSTACK_REPORTS", "twinstack.reports", js_WorkQueuePolicy, 86400, 0, 0},
        {"TWINSTACK_PARTIALS", "twinstack.partials", js_WorkQueuePolicy, 86400, 0, 0},
        {"TWINSTACK_DEAD", "twinstack.dead", js_LimitsPolicy, 86400, 0, 0},
        {"TWINSTACK_SHADOW", "twinstack.shadow", js_WorkQueuePolicy, 86400, 14 * 86400, 0},
        {"TWINSTACK_NOTES", "twinstack.notes.*", js_LimitsPolicy, 0, 25 * 3600, 1},
        {"TWINSTACK_PARTS", "twinstack.parts.*", js_LimitsPolicy, 0, 14 * 86400, 1},
    };
    start_row("all");
    closed(opened());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct fake_stream *stream = stream_of(rows[i].name);
        test_row(rows[i].name);
        REQUIRE(stream != NULL);
        CHECK_STR(stream->subject, rows[i].subject);
        CHECK_EQ(stream->config.Retention, rows[i].retention);
        CHECK_EQ(stream->config.Duplicates, rows[i].remembers_s * 1000000000);
        CHECK_EQ(stream->config.MaxAge, rows[i].keeps_s * 1000000000);
        CHECK_EQ(stream->config.MaxMsgsPerSubject, rows[i].most);
        CHECK_EQ(stream->config.Storage, js_FileStorage);
        CHECK_EQ(stream->config.Discard, js_DiscardNew);
        CHECK_EQ(stream->config.Replicas, 1);
    }
}

/* What is acknowledged is on a disk that was synced, or on three of them. */
TEST(an_acknowledgement_that_may_be_lost_is_said)
{
    static const struct {
        const char *name, *replicas, *sync, *in_memory, *want; /* NULL: not set; no doubt */
        int64_t stored;                                        /* servers that store a message */
    } rows[] = {
        {"one server", NULL, NULL, NULL, "loses its power", 1},
        {"one that syncs", NULL, "always", NULL, NULL, 1},
        {"one that syncs at times", NULL, "2m", NULL, "loses its power", 1},
        {"two", "2", NULL, NULL, "loses its power", 2},
        {"three", "3", NULL, NULL, NULL, 3},
        {"five", "5", NULL, NULL, NULL, 5},
        {"six are too many", "6", NULL, NULL, "loses its power", 1},
        {"none is too few", "0", NULL, NULL, "loses its power", 1},
        {"no number", "3x", NULL, NULL, "loses its power", 1},
        {"reports in memory", NULL, "always", "TWINSTACK_REPORTS", "kept in memory", 1},
        {"samples in memory", "3", NULL, "TWINSTACK_SHADOW", "kept in memory", 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        start_row(rows[i].name);
        test_environment("TWINSTACK_NATS_REPLICAS", rows[i].replicas);
        test_environment("TWINSTACK_NATS_SYNC", rows[i].sync);
        struct queue *queue = opened();
        CHECK_EQ(stream_of("TWINSTACK_REPORTS")->config.Replicas, rows[i].stored);
        if (rows[i].in_memory != NULL) {
            closed(queue);
            stream_of(rows[i].in_memory)->config.Storage = js_MemoryStorage;
            queue = opened();
        }
        if (CHECK_EQ(queue->doubt != NULL, rows[i].want != NULL) && rows[i].want != NULL)
            CHECK_HAS(queue->doubt, rows[i].want);
        closed(queue);
    }
}
