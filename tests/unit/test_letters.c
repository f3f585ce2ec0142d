/* Dead letters as they are written: what a worker buries is what `queue` shows. */
#include <stdio.h>
#include <string.h>

#include "stream/queue.h"
#include "test.h"

#define HEAD "reason: no such module\nchannel: reports\nid: alice-1\ndelivered: 5\n\n"
#define ID_95                                                                                      \
    "a234567890b234567890c234567890d234567890e234567890f234567890g234567890h234567890i23456789012" \
    "34x"

#define REASON_51 "a symbol file that is not there, and three others. "
#define REASON_255 REASON_51 REASON_51 REASON_51 REASON_51 REASON_51

/* What a line is, and how much fits, is in queue.h. */
TEST(a_letter_is_read_or_damaged)
{
    static const struct {
        const char *name, *text;
        enum status want;
        const char *reason, *id;
        enum queue_channel channel;
        uint64_t delivered;
        const char *body;
    } rows[] = {
        {"a report", HEAD "body\n\nmore", ERR_NONE, "no such module", "alice-1", QUEUE_REPORTS, 5,
         "body\n\nmore"},
        {"without a body", HEAD, ERR_NONE, "no such module", "alice-1", QUEUE_REPORTS, 5, ""},
        {"no id", "reason: r\nchannel: partials\ndelivered: 0\n\nx", .want = ERR_MALFORMED},
        {"in another order", "delivered: 4294967296\nid: b\nchannel: shadow\nreason: \n\nx",
         ERR_NONE, "", "b", QUEUE_SHADOW, 4294967296, "x"},
        {"the first of two lines",
         "reason: r\nreason: s\nchannel: shadow\nid: a\ndelivered: 1\n\nx", ERR_NONE, "r", "a",
         QUEUE_SHADOW, 1, "x"},
        {"the longest id", "reason: r\nchannel: reports\nid: " ID_95 "\ndelivered: 1\n\nx",
         ERR_NONE, "r", ID_95, QUEUE_REPORTS, 1, "x"},
        {"an id too long", "reason: r\nchannel: reports\nid: " ID_95 "y\ndelivered: 1\n\nx",
         .want = ERR_MALFORMED},
        {"no end of the head", "reason: r\nchannel: reports\nid: a\ndelivered: 1\n",
         .want = ERR_MALFORMED},
        {"nothing", "", .want = ERR_MALFORMED},
        {"an empty head", "\n\nreason: r\nchannel: reports\nid: a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
        {"no reason", "channel: reports\nid: a\ndelivered: 1\n\nreason: r\n",
         .want = ERR_MALFORMED},
        {"no channel", "reason: r\nid: a\ndelivered: 1\n\nchannel: reports\n",
         .want = ERR_MALFORMED},
        {"no number", "reason: r\nchannel: reports\nid: a\n\ndelivered: 1\n",
         .want = ERR_MALFORMED},
        {"a word as a number", "reason: r\nchannel: reports\nid: a\ndelivered: x\n\n",
         .want = ERR_MALFORMED},
        {"a channel that is none", "reason: r\nchannel: other\nid: a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
        {"a letter of a letter", "reason: r\nchannel: dead\nid: a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
        {"a path as an id", "reason: r\nchannel: reports\nid: ../a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
        {"the longest reason", "reason: " REASON_255 "\nchannel: reports\nid: a\ndelivered: 1\n\n",
         ERR_NONE, REASON_255, "a", QUEUE_REPORTS, 1, ""},
        {"a reason too long", "reason: " REASON_255 "x\nchannel: reports\nid: a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
        {"the start of a key", "rea\nreason: r\nchannel: reports\nid: a\ndelivered: 1\n\n",
         ERR_NONE, "r", "a", QUEUE_REPORTS, 1, ""},
        {"a channel that begins like one", "reason: r\nchannel: reports2\nid: a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
        {"a key inside a line", "x reason: r\nchannel: reports\nid: a\ndelivered: 1\n\n",
         .want = ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct queue_message message = {
            .id = "letter-1", .data = rows[i].text, .bytes = strlen(rows[i].text)};
        struct fault fault = FAULT_INIT;
        struct queue_letter letter;
        memset(&letter, 'x', sizeof letter);
        test_row(rows[i].name);
        CHECK_EQ(queue_letter_read(&message, &letter, &fault), rows[i].want);
        if (rows[i].want != ERR_NONE)
            continue;
        CHECK_STR(letter.reason, rows[i].reason);
        CHECK_STR(letter.id, rows[i].id);
        CHECK_EQ(letter.channel, rows[i].channel);
        CHECK_EQ(letter.delivered, rows[i].delivered);
        REQUIRE(letter.bytes == strlen(rows[i].body));
        CHECK_MEM(letter.data, rows[i].body, letter.bytes);
    }
}

/* The head is in the first QUEUE_LETTER_BYTES. */
TEST(a_head_has_an_end_within_its_bytes)
{
    static const char head[] = "reason: r\nchannel: reports\nid: a\ndelivered: 1\nx: ";
    for (size_t end = QUEUE_LETTER_BYTES - 2; end <= QUEUE_LETTER_BYTES + 1; end++) {
        char text[QUEUE_LETTER_BYTES + 8];
        const struct queue_message message = {.id = "a", .data = text, .bytes = sizeof text};
        struct fault fault = FAULT_INIT;
        struct queue_letter letter;
        memset(text, 'x', sizeof text);
        memcpy(text, head, sizeof head - 1);
        memcpy(text + end, "\n\n", 2);
        CHECK_EQ(queue_letter_read(&message, &letter, &fault),
                 end < QUEUE_LETTER_BYTES ? ERR_NONE : ERR_MALFORMED);
    }
}
