/* See fetch_options.h. */
#include "verbs/fetch_options.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "fetch/fetch.h"
#include "library/twinstack.h"
#include "symbol/symbol_store.h"

static void print_progress(const struct fetch_event *event)
{
    char total[48] = "";

    if (event->total_bytes > 0)
        (void)snprintf(total, sizeof total, " of %.1f", (double)event->total_bytes / 1e6);
    log_progress_of(event->bytes, event->total_bytes, "fetch: %" PRIu32 " files, %.1f%s MB, %s",
                    event->running, (double)event->bytes / 1e6, total, event->name);
}

static void on_event(void *context, const struct fetch_event *event)
{
    (void)context;
    switch (event->kind) {
    case FETCH_EVENT_PROGRESS:
        print_progress(event);
        break;
    case FETCH_EVENT_LOADED:
        log_progress_news("fetched %s: %s", event->name, event->text);
        break;
    case FETCH_EVENT_FAULT:
        log_warn("%s: %s", event->name, event->text);
        break;
    }
}

static void on_library_event(void *context, const struct twinstack_fetch_event *event)
{
    const struct fetch_event same = {.kind = (enum fetch_event_kind)event->kind,
                                     .name = event->name,
                                     .text = event->text,
                                     .bytes = event->bytes,
                                     .total_bytes = event->total_bytes,
                                     .running = event->running};
    on_event(context, &same);
}

static uint32_t at_most_u32(uint64_t ms)
{
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

struct fetch_options fetch_options_make(const struct fetch_words *words)
{
    return (struct fetch_options){
        .offline = words->offline,
        .limit_ms = at_most_u32(words->limit_ms),
        .missing_ms = at_most_u32(words->missing_ms),
        .event = on_event,
    };
}

void fetch_options_fill(struct twinstack_options *out, const struct fetch_words *words)
{
    out->offline = words->offline;
    out->fetch_limit_ms = at_most_u32(words->limit_ms);
    out->fetch_missing_ms = at_most_u32(words->missing_ms);
    out->fetched = on_library_event;
}

void fetch_options_warn(const char *text)
{
    log_warn("the symbol path of the environment is not used whole: %s", text);
}

void fetch_options_check(const struct symbol_store *store)
{
    char text[1024];
    const struct fault *fault = symbol_store_path_fault(store);
    if (fault->code == ERR_NONE)
        return;
    fault_describe(fault, text, sizeof text);
    fetch_options_warn(text);
}
