/* twinstack queue: what could not be counted, why, and the way back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/age.h"
#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "stream/queue.h"
#include "verbs/common.h"
#include "verbs/verbs.h"

struct queue_words {
    const char *queue;
    bool all, as_json;
};

/* One pass over the dead letters. */
struct pass {
    const char *id; /* of the message; NULL: all of them */
    struct queue *queue;
    struct json *json; /* NULL: text */
    bool (*act)(struct pass *pass, const struct queue_message *message,
                const struct queue_letter *letter, uint64_t stored_ns);
    uint32_t found, failed;
    struct fault fault; /* of the first that failed */
};

/* An id that this program made begins with '-', which would be an option: it is shown with this, of
 * which no id has any. */
static const char MADE = '+';

static uint64_t age_s(uint64_t stored_ns)
{
    const uint64_t now_ns = clock_wall_ns();
    return now_ns > stored_ns ? (now_ns - stored_ns) / 1000000000U : 0;
}

static bool visit(void *context, const struct queue_message *message, uint64_t stored_ns)
{
    struct pass *pass = context;
    struct queue_letter letter;
    struct fault fault = FAULT_INIT;
    if (queue_letter_read(message, &letter, &fault) != ERR_NONE) {
        letter = (struct queue_letter){.reason = "a letter that cannot be read",
                                       .data = message->data,
                                       .bytes = message->bytes};
        (void)snprintf(letter.id, sizeof letter.id, "%s", message->id);
    }
    if (letter.id[0] == '-')
        letter.id[0] = MADE;
    if (pass->id != NULL && strcmp(pass->id, letter.id) != 0)
        return false;
    pass->found++;
    return pass->act(pass, message, &letter, stored_ns);
}

static bool list_one(struct pass *pass, const struct queue_message *message,
                     const struct queue_letter *letter, uint64_t stored_ns)
{
    const uint64_t age = age_s(stored_ns);
    (void)message;
    if (pass->json == NULL) {
        char words[AGE_BYTES];
        (void)printf("%s  %s  %s  %zu bytes  %s\n", letter->id,
                     age_text(age * UINT64_C(1000000000), words),
                     queue_channel_name(letter->channel), letter->bytes, letter->reason);
        return false;
    }
    json_object(pass->json);
    json_key_string(pass->json, "id", letter->id);
    json_key_string(pass->json, "channel", queue_channel_name(letter->channel));
    json_key_uint(pass->json, "age_s", age);
    json_key_uint(pass->json, "bytes", letter->bytes);
    json_key_uint(pass->json, "delivered", letter->delivered);
    json_key_string(pass->json, "reason", letter->reason);
    json_object_end(pass->json);
    return false;
}

static bool show_one(struct pass *pass, const struct queue_message *message,
                     const struct queue_letter *letter, uint64_t stored_ns)
{
    (void)letter;
    (void)stored_ns;
    if (pass->found == 1)
        (void)fwrite(message->data, 1, message->bytes, stdout);
    return false;
}

static bool retry_one(struct pass *pass, const struct queue_message *message,
                      const struct queue_letter *letter, uint64_t stored_ns)
{
    struct fault fault = FAULT_INIT;
    struct queue_letter checked;
    (void)stored_ns;
    (void)letter;
    if (queue_letter_read(message, &checked, &fault) == ERR_NONE &&
        queue_letter_retry(pass->queue, &checked, &fault) == ERR_NONE)
        return true;
    if (pass->failed++ == 0)
        pass->fault = fault;
    return false;
}

static bool drop_one(struct pass *pass, const struct queue_message *message,
                     const struct queue_letter *letter, uint64_t stored_ns)
{
    (void)pass;
    (void)message;
    (void)letter;
    (void)stored_ns;
    return true;
}

static int run_pass(const struct verb *self, const struct queue_words *o, struct pass *pass)
{
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    if (o->queue == NULL)
        return verb_usage_error(self, "--queue is missing");
    process_catch_interrupts();
    if (queue_open_patiently(o->queue, process_interrupted, &pass->queue, &fault) != ERR_NONE ||
        pass->queue->visit(pass->queue, QUEUE_DEAD, visit, pass, &fault) != ERR_NONE)
        code = verb_fault(&fault);
    else if (pass->failed > 0)
        code = verb_fault(&pass->fault);
    else if (pass->id != NULL && pass->found == 0) {
        (void)fprintf(stderr, "twinstack queue: no dead letter has the id %s\n", pass->id);
        code = EXIT_NOTHING;
    }
    queue_close(pass->queue);
    return code;
}

static int list(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    const struct queue_words *o = options;
    struct pass pass = {.act = list_one};
    struct json j;
    (void)words;
    (void)keep;
    if (!o->as_json) {
        const int code = run_pass(self, o, &pass);
        if (code == EXIT_GOOD)
            (void)printf("%" PRIu32 " dead letter%s\n", pass.found, pass.found == 1 ? "" : "s");
        return code;
    }
    json_print_list(&j, "letters");
    pass.json = &j;
    const int code = run_pass(self, o, &pass);
    json_print_list_end(&j);
    return code;
}

static int show(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    struct pass pass = {.act = show_one, .id = words->items[0]};
    (void)keep;
    return run_pass(self, options, &pass);
}

/* One by its id, or --all. */
static int change(const struct verb *self, const struct queue_words *o,
                  const struct option_list *words, struct pass *pass, const char *done)
{
    if ((words->count == 1) == o->all)
        return verb_usage_error(self, "name one id, or --all");
    pass->id = o->all ? NULL : words->items[0];
    const int code = run_pass(self, o, pass);
    if (code == EXIT_GOOD)
        (void)printf("%" PRIu32 " dead letter%s %s\n", pass->found, pass->found == 1 ? "" : "s",
                     done);
    return code;
}

static int retry(const struct verb *self, void *options, const struct option_list *words,
                 struct arena *keep)
{
    struct pass pass = {.act = retry_one};
    (void)keep;
    return change(self, options, words, &pass, "put back");
}

static int drop(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    struct pass pass = {.act = drop_one};
    (void)keep;
    return change(self, options, words, &pass, "removed");
}

static const struct subcommand subcommands[] = {
    {"list", NULL, "every dead letter: id, age, channel, size, reason", 0, 0, list},
    {"show", "ID", "one letter: the reason, then the message as it came", 1, 1, show},
    {"retry", "ID", "put one message, or --all, back into its channel", 0, 1, retry},
    {"drop", "ID", "remove one letter, or --all, for good", 0, 1, drop},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct queue_words o = {0};
    const struct option_row rows[] = {
        OPTION(QUEUE, &o.queue),
        OPTION_AS(ALL, &o.all, "retry, drop: every dead letter"),
        OPTION_AS(JSON, &o.as_json, "list"),
    };
    return subcommand_main(self, "list", rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_queue = {
    .name = "queue",
    .summary = "list, retry or drop the dead letters of a queue",
    .subcommands = subcommands,
    .details =
        "A report that cannot be read, or that workers die of, becomes a dead letter: it is not\n"
        "counted, and it is kept. After the cause is gone (a worker of a newer version, more\n"
        "memory), retry puts it back. A report that was counted already does not count again.\n\n"
        "examples:\n  twinstack queue list --queue nats://127.0.0.1:4222\n"
        "  twinstack queue retry --all --queue spool",
    .exits = "  0  done\n  2  usage\n  3  the queue cannot be opened or changed\n"
             "  5  no dead letter has this id",
    .run = run,
};
