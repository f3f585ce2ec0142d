/* The metrics of a worker or a reducer as a file in Prometheus' text format, for the textfile
 * collector of its node_exporter: these processes have no server. */
#ifndef STUDY_WORK_METRICS_H
#define STUDY_WORK_METRICS_H

#include "stream/work.h"

struct work_metrics {
    const char *path; /* written anew once per second and at the end, whole or not at all */
    const char *role; /* "worker" or "reducer" */
    struct queue *queue;
    /* of the last time; zeros at first */
    uint64_t written_ns, stacks, reports;
};

/* For work_options.progress; CONTEXT is a struct work_metrics. */
void work_metrics_write(void *context, const struct work_figures *figures);

/* Writes the last figures, whatever the time. */
void work_metrics_end(struct work_metrics *metrics, const struct work_figures *figures);

#endif
