/* See gather.h. */
#include "stream/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "base/thread.h"
#include "stream/ledger.h"

enum { LOOK_MS = 5, BUSY_REPORTS = 4 /* in GATHER_MS: then it is worth to wait */ };

/* A thread that waits until its report is stored. */
struct waiting {
    const struct report *report;
    struct ledger_id id;
    struct fault fault;
    bool is_known;        /* another collector has stored it, or its id is another's */
    bool is_over;         /* its thread goes on, and it may be gone as soon as the lock is free */
    struct waiting *next; /* of its group */
};

struct group {
    struct waiting *first;
    uint32_t count;
    size_t bytes;
    bool is_full; /* or another version waits for it to go */
};

struct sender {
    char *name;
    struct mutex *lock; /* guards what follows; the ledger's calls need `storing` instead */
    struct signal *changed;
    struct ledger *ledger; /* NULL: not read yet */
    bool storing;          /* a thread has the ledger */
    struct group *open, *going;
    uint64_t came_ns[BUSY_REPORTS]; /* when the last reports came, in a ring */
    uint32_t came;
    struct sender *next;
};

struct gather {
    struct queue *queue;
    struct mutex *lock;
    struct sender *senders;
};

struct gather *gather_new(struct queue *queue)
{
    struct gather *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->queue = queue;
    g->lock = mutex_new();
    if (g->lock != NULL)
        return g;
    free(g);
    return NULL;
}

static void free_sender(struct sender *s)
{
    ledger_free(s->ledger);
    if (s->lock != NULL)
        mutex_free(s->lock);
    if (s->changed != NULL)
        signal_free(s->changed);
    free(s->name);
    free(s);
}

void gather_free(struct gather *gather)
{
    if (gather == NULL)
        return;
    while (gather->senders != NULL) {
        struct sender *next = gather->senders->next;
        free_sender(gather->senders);
        gather->senders = next;
    }
    mutex_free(gather->lock);
    free(gather);
}

static struct sender *new_sender(const char *name)
{
    struct sender *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->name = malloc(strlen(name) + 1);
    s->lock = mutex_new();
    s->changed = signal_new();
    if (s->name == NULL || s->lock == NULL || s->changed == NULL) {
        free_sender(s);
        return NULL;
    }
    memcpy(s->name, name, strlen(name) + 1);
    return s;
}

static struct sender *find_sender(struct gather *g, const char *name)
{
    mutex_lock(g->lock);
    struct sender *s = g->senders;
    while (s != NULL && strcmp(s->name, name) != 0)
        s = s->next;
    if (s == NULL && (s = new_sender(name)) != NULL) {
        s->next = g->senders;
        g->senders = s;
    }
    mutex_unlock(g->lock);
    return s;
}

/* Whether so many reports come that one may wait for others; a sender that waits for each answer
 * before it sends the next report is not slowed down for long. */
static bool is_busy(struct sender *s)
{
    const uint64_t now_ns = clock_ns();
    uint64_t *oldest = &s->came_ns[s->came++ % BUSY_REPORTS];
    const bool is = *oldest != 0 && now_ns - *oldest < (uint64_t)GATHER_MS * 1000000U;
    *oldest = now_ns;
    return is;
}

/* ---- with the lock of the sender held; it is given up while the queue is asked ------------- */

static void begin_storing(struct sender *s)
{
    while (s->storing)
        signal_wait(s->changed, s->lock);
    s->storing = true;
    mutex_unlock(s->lock);
}

static void end_storing(struct sender *s)
{
    mutex_lock(s->lock);
    s->storing = false;
    signal_wake_all(s->changed);
}

/* Makes the table of ids say what is stored. */
static enum status read_ledger(struct gather *g, struct sender *s, struct fault *fault)
{
    while (fault->code == ERR_NONE && (s->ledger == NULL || ledger_is_unfinished(s->ledger))) {
        struct ledger *opened = NULL;
        begin_storing(s);
        if (s->ledger == NULL)
            (void)ledger_open(g->queue, s->name, s->lock, &opened, fault);
        else
            (void)ledger_finish(s->ledger, fault);
        end_storing(s);
        if (opened != NULL)
            s->ledger = opened;
    }
    return fault->code;
}

static bool is_known(struct sender *s, struct waiting *w)
{
    const enum ledger_state state = ledger_find(s->ledger, &w->id);
    if (state == LEDGER_OTHER)
        (void)fault_set_hint(&w->fault, ERR_MISMATCH, FAULT_NO_OFFSET, "report",
                             "another one has this id; send it with an id of its own");
    return state != LEDGER_NEW;
}

static bool has_id(const struct group *group, uint64_t id)
{
    const struct waiting *w = group != NULL ? group->first : NULL;
    while (w != NULL && w->id.id != id)
        w = w->next;
    return w != NULL;
}

/* Stores what is new in a group: those that another collector has stored meanwhile are known. */
static void store_group(struct sender *s, struct group *group)
{
    const struct report *reports[REPORT_MEMBERS_MAX];
    struct ledger_id ids[REPORT_MEMBERS_MAX];
    struct fault fault = FAULT_INIT;
    for (bool again = true; again && fault.code == ERR_NONE;) {
        char id[QUEUE_ID_BYTES];
        struct arena work;
        size_t bytes = 0;
        uint32_t count = 0;
        again = false;
        for (struct waiting *w = group->first; w != NULL; w = w->next) {
            w->is_known = w->is_known || is_known(s, w);
            if (w->is_known)
                continue;
            reports[count] = w->report;
            ids[count++] = w->id;
        }
        if (count == 0)
            break;
        mutex_unlock(s->lock);
        arena_init(&work, 0);
        char *text = report_write_group(reports, count, &work, id, &bytes);
        if (text == NULL)
            (void)fault_no_memory(&fault, "reports");
        else
            (void)ledger_add(s->ledger, ids, count, id, text, bytes, &again, &fault);
        arena_free(&work);
        mutex_lock(s->lock);
    }
    for (struct waiting *w = group->first; w != NULL; w = w->next) {
        if (!w->is_known)
            w->fault = fault;
        w->is_over = true;
    }
}

/* The first of a group waits for others, and stores it. */
static void lead(struct sender *s, struct waiting *w, bool may_wait)
{
    struct group group = {.first = w, .count = 1, .bytes = w->report->bytes};
    s->open = &group;
    for (int ms = 0; may_wait && ms < GATHER_MS && !group.is_full; ms += LOOK_MS) {
        mutex_unlock(s->lock);
        thread_sleep_ms(LOOK_MS);
        mutex_lock(s->lock);
    }
    while (s->storing)
        signal_wait(s->changed, s->lock);
    s->storing = true;
    s->open = NULL;
    s->going = &group;
    signal_wake_all(s->changed); /* the next one may open */
    store_group(s, &group);
    s->going = NULL;
    s->storing = false;
    signal_wake_all(s->changed);
}

static bool fits(const struct group *group, const struct report *report)
{
    return !group->is_full && group->bytes + report->bytes <= REPORT_GROUP_BYTES &&
           strcmp(text_or_empty(group->first->report->version), text_or_empty(report->version)) ==
               0;
}

static void follow(struct sender *s, struct waiting *w)
{
    w->next = s->open->first->next;
    s->open->first->next = w;
    s->open->bytes += w->report->bytes;
    if (++s->open->count == REPORT_MEMBERS_MAX)
        s->open->is_full = true;
    while (!w->is_over)
        signal_wait(s->changed, s->lock);
}

/* A large report goes by itself; its id is remembered first, and its messages have ids made of it,
 * so a repetition of it stores what is missing. */
static void store_large(struct gather *g, struct sender *s, struct waiting *w)
{
    bool again = true;
    while (again && w->fault.code == ERR_NONE && !is_known(s, w)) {
        begin_storing(s);
        (void)ledger_add(s->ledger, &w->id, 1, NULL, NULL, 0, &again, &w->fault);
        end_storing(s);
    }
    mutex_unlock(s->lock);
    if (w->fault.code == ERR_NONE)
        (void)report_put(g->queue, w->report, &w->fault);
    mutex_lock(s->lock);
}

enum status gather_put(struct gather *gather, const struct report *report, struct fault *fault)
{
    struct waiting w = {.report = report, .fault = FAULT_INIT};
    if (report_check(report, fault) != ERR_NONE)
        return fault->code;
    struct sender *s = find_sender(gather, report->sender);
    if (s == NULL)
        return fault_no_memory(fault, "report");
    w.id = ledger_id_of(report->id, report->stacks, report->bytes);
    const bool is_alone = report->bytes > REPORT_SMALL_BYTES;
    mutex_lock(s->lock);
    const bool may_wait = is_busy(s);
    while (!w.is_over && read_ledger(gather, s, &w.fault) == ERR_NONE) {
        if (is_alone) {
            store_large(gather, s, &w);
            break;
        }
        if (is_known(s, &w))
            break;
        if (has_id(s->open, w.id.id) || has_id(s->going, w.id.id)) {
            signal_wait(s->changed, s->lock); /* the same report, which is being stored */
        } else if (s->open == NULL) {
            lead(s, &w, may_wait);
        } else if (fits(s->open, report)) {
            follow(s, &w);
        } else {
            s->open->is_full = true;
            signal_wait(s->changed, s->lock);
        }
    }
    mutex_unlock(s->lock);
    *fault = w.fault;
    return fault->code;
}
