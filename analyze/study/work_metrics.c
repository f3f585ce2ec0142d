/* See work_metrics.h. */
#include "study/work_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"

enum { TEXT_BYTES = 4096 };
static const uint64_t EVERY_NS = 1000000000U;

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

static void put(struct text *t, const char *name, const char *type, const char *labels,
                double value)
{
    const size_t room = sizeof t->bytes - t->length;
    char head[160] = "";
    if (type != NULL)
        (void)snprintf(head, sizeof head, "# TYPE twinstack_%s %s\n", name, type);
    const int n = snprintf(t->bytes + t->length, room, "%stwinstack_%s{%s} %.17g\n", head, name,
                           labels, value);
    if (n > 0 && (size_t)n < room)
        t->length += (size_t)n;
}

static void put_pending(struct text *t, struct queue *queue, const char *role)
{
    char labels[80];
    for (int i = 0; i < QUEUE_CHANNELS; i++) {
        uint64_t pending = 0;
        (void)snprintf(labels, sizeof labels, "role=\"%s\",channel=\"%s\"", role,
                       queue_channel_name((enum queue_channel)i));
        if (queue->pending(queue, (enum queue_channel)i, &pending))
            put(t, "work_queue_pending", i == 0 ? "gauge" : NULL, labels, (double)pending);
    }
    (void)snprintf(labels, sizeof labels, "role=\"%s\",channel=\"dead\"", role);
    put(t, "work_queue_oldest_seconds", "gauge", labels, (double)queue_oldest_s(queue, QUEUE_DEAD));
}

static void write_metrics(struct work_metrics *m, const struct work_figures *f)
{
    struct text t = {.length = 0};
    struct fault fault = FAULT_INIT;
    char role[40];
    const uint64_t now_ns = clock_ns(), past_ns = now_ns - m->written_ns;
    /* a rate is that of a second at least: the last figures come soon after those before */
    const double seconds =
        m->written_ns != 0 ? (double)(past_ns > EVERY_NS ? past_ns : EVERY_NS) / (double)EVERY_NS
                           : 0;
    (void)snprintf(role, sizeof role, "role=\"%s\"", m->role);
    const struct {
        const char *name;
        uint64_t value;
    } counters[] = {
        {"work_reports_total", f->reports},         {"work_stacks_total", f->stacks},
        {"work_bad_lines_total", f->bad},           {"work_dead_letters_total", f->buried},
        {"work_queue_failures_total", f->failures}, {"work_judged_total", f->judged},
        {"work_left_to_newer_total", f->newer},
    };
    for (size_t i = 0; i < COUNT_OF(counters); i++)
        put(&t, counters[i].name, "counter", role, (double)counters[i].value);
    put(&t, "work_stacks_per_second", "gauge", role,
        seconds > 0 ? (double)(f->stacks - m->stacks) / seconds : 0);
    put(&t, "work_reports_per_second", "gauge", role,
        seconds > 0 ? (double)(f->reports - m->reports) / seconds : 0);
    put(&t, "work_waiting", "gauge", role, f->waiting);
    put(&t, "work_disk_full", "gauge", role, f->disk_full);
    put(&t, "work_written_seconds", "gauge", role, (double)clock_wall_ns() / (double)EVERY_NS);
    put_pending(&t, m->queue, m->role);
    m->written_ns = now_ns;
    m->stacks = f->stacks;
    m->reports = f->reports;
    (void)file_write(m->path, t.bytes, t.length, &fault); /* the next second tries again */
}

void work_metrics_write(void *context, const struct work_figures *f)
{
    struct work_metrics *m = context;
    if (m->path != NULL && (m->written_ns == 0 || clock_ns() - m->written_ns >= EVERY_NS))
        write_metrics(m, f);
}

void work_metrics_end(struct work_metrics *m, const struct work_figures *f)
{
    if (m->path != NULL)
        write_metrics(m, f);
}
