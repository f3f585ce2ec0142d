/* A round of a worker: the messages that it took at once. */
#ifndef STREAM_WORK_ROUND_H
#define STREAM_WORK_ROUND_H

#include "stream/partial.h"
#include "stream/queued_report.h"
#include "stream/work_hold.h"

/* One round: what was taken at once. */
struct round {
    const struct work_options *options;
    struct hold *hold;
    struct work_figures *figures;
    struct arena keep;
    struct queue_message *messages;
    bool *settled; /* or buried, or left to another worker */
    uint32_t count;
    struct text_buffer text; /* results that are not stored yet */
    bool unsent;             /* the queue refused one: not the report's fault */
};

typedef enum status round_fn(struct round *r, void *context, struct fault *fault);

/* Takes at most MOST messages at a time and lets PROCESS work on them until it is to stop. What
 * PROCESS does not settle comes again. A failure of the queue or of the disk is waited out. */
enum status work_rounds(const struct work_options *options, enum queue_channel channel,
                        uint32_t most, round_fn *process, void *context,
                        struct work_figures *figures, struct fault *fault);

/* Settles message I. False: that failed, so it comes again and is known by its id. */
bool work_settle(struct round *r, enum queue_channel channel, uint32_t i, enum queue_end end);

/* Makes a dead letter of message I. */
void work_bury(struct round *r, enum queue_channel channel, uint32_t i, const char *reason);

/* Puts each report of a split group by itself. Fails: as put(). */
enum status work_put_members(struct round *r, const struct report *report, struct fault *fault);
/* Message I was delivered before. True: it was a group, and is settled. */
bool work_split(struct round *r, uint32_t i, struct fault *fault);

/* Of a message that was delivered before: how many workers have died while they had it alone. Zero
 * if the queue does not answer. */
uint32_t work_deaths(const struct work_options *options, enum queue_channel channel,
                     const struct queue_message *message);
/* Before such a message is processed alone: stores that this worker would be the next one, after
 * DEATHS. Fails: as item_set(). */
enum status work_trial(const struct work_options *options, enum queue_channel channel,
                       const struct queue_message *message, uint32_t deaths, struct fault *fault);
/* The worker is alive: stores DEATHS again, until the queue does or it is to stop. */
void work_survived(const struct work_options *options, enum queue_channel channel,
                   const struct queue_message *message, uint32_t deaths);

/* Puts a sampled record into the channel of shadow comparisons; true if that was done, so that its
 * parts are needed. A failure is counted and loses the sample: what is counted must not wait for
 * it. */
bool work_forward(const struct work_options *options, const struct queue_message *message,
                  const struct report *report, struct work_figures *figures);

/* Judges at most one sampled report. False: none was waiting. */
bool work_judge_one(const struct work_options *options, struct hold *hold,
                    struct work_figures *figures);

#endif
