/* See ledger.h. */
#include "stream/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"

enum {
    TABLES = 3, /* by age: the oldest is dropped as a whole */
    ROOM_FIRST = 1024,
    HEAD_BYTES = 160,
    ID_BYTES = 16,
    HINT_EVERY = 16, /* pages */
    PAGE_VERSION = 1
};
static const char mark[] = "#ids ";
#define TABLE_NS (UINT64_C(12) * 3600 * 1000000000)
#define HINT_NS (UINT64_C(1800) * 1000000000)

struct table {
    struct ledger_id *slots; /* id 0: free */
    uint64_t count, room;
    uint64_t begun_ns;
};

struct ledger {
    struct queue *queue;
    struct mutex *lock;
    const char *sender; /* in arena */
    struct arena arena;
    struct table tables[TABLES];
    uint64_t next;      /* page */
    uint64_t hinted_ns; /* when the number of a page was stored */
    bool is_unfinished; /* page next - 1 */
};

/* ---- the table --------------------------------------------------------------------------- */

static uint64_t number_of(const char *hex)
{
    uint64_t out = 0;
    for (int i = 0; i < 16; i++)
        out = out << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    return out;
}

struct ledger_id ledger_id_of(const char *id, const void *body, size_t bytes)
{
    char name[65], whole[65];
    text_sha256(id, strlen(id), name);
    text_sha256(body, bytes, whole);
    const uint64_t number = number_of(name);
    return (struct ledger_id){number != 0 ? number : 1, number_of(whole)};
}

static struct ledger_id *slot_of(const struct table *t, uint64_t id)
{
    uint64_t at = id & (t->room - 1);
    while (t->slots[at].id != 0 && t->slots[at].id != id)
        at = (at + 1) & (t->room - 1);
    return &t->slots[at];
}

static bool grow(struct table *t)
{
    struct table wider = {.room = t->room > 0 ? t->room * 2 : ROOM_FIRST, .begun_ns = t->begun_ns};
    wider.slots = calloc((size_t)wider.room, sizeof *wider.slots);
    if (wider.slots == NULL)
        return false;
    for (uint64_t i = 0; i < t->room; i++)
        if (t->slots[i].id != 0)
            *slot_of(&wider, t->slots[i].id) = t->slots[i];
    wider.count = t->count;
    free(t->slots);
    *t = wider;
    return true;
}

static bool insert(struct ledger *l, const struct ledger_id *id)
{
    struct table *t = &l->tables[0];
    if (clock_ns() - t->begun_ns > TABLE_NS) {
        free(l->tables[TABLES - 1].slots);
        for (int i = TABLES - 1; i > 0; i--)
            l->tables[i] = l->tables[i - 1];
        *t = (struct table){.begun_ns = clock_ns()};
    }
    if (t->count + 1 > t->room / 4 * 3 && !grow(t))
        return false;
    struct ledger_id *slot = slot_of(t, id->id);
    t->count += slot->id == 0;
    *slot = *id;
    return true;
}

enum ledger_state ledger_find(const struct ledger *ledger, const struct ledger_id *id)
{
    for (int i = 0; i < TABLES; i++) {
        const struct table *t = &ledger->tables[i];
        const struct ledger_id *slot = t->room > 0 ? slot_of(t, id->id) : NULL;
        if (slot != NULL && slot->id != 0)
            return slot->body == id->body ? LEDGER_KNOWN : LEDGER_OTHER;
    }
    return LEDGER_NEW;
}

static enum status insert_all(struct ledger *l, const struct ledger_id *ids, uint32_t count,
                              struct fault *fault)
{
    bool whole = true;
    mutex_lock(l->lock);
    for (uint32_t i = 0; whole && i < count; i++)
        whole = insert(l, &ids[i]);
    mutex_unlock(l->lock);
    return whole ? fault->code : fault_no_memory(fault, "ids");
}

bool ledger_is_unfinished(const struct ledger *ledger)
{
    return ledger->is_unfinished;
}

static void set_unfinished(struct ledger *l, bool is_unfinished)
{
    mutex_lock(l->lock);
    l->is_unfinished = is_unfinished;
    mutex_unlock(l->lock);
}

/* ---- pages ------------------------------------------------------------------------------- */

struct page {
    struct ledger_id ids[LEDGER_PAGE_IDS];
    uint32_t count;
    const char *message; /* its id; NULL: none is to be stored */
    const char *data;
    size_t bytes;
};

static void page_name(const struct ledger *l, uint64_t number, char out[QUEUE_ID_BYTES])
{
    (void)snprintf(out, QUEUE_ID_BYTES, "-page-%s-%llu", l->sender, (unsigned long long)number);
}

static void put_number(unsigned char *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_number(const unsigned char *from)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | from[i];
    return value;
}

/* NULL: out of memory. */
static char *write_page(const struct page *page, struct arena *keep, size_t *bytes)
{
    const char *id = text_or_empty(page->message);
    const size_t more = page->message != NULL ? page->bytes : 0;
    char *text = arena_alloc(keep, HEAD_BYTES + (size_t)page->count * ID_BYTES + more);
    if (text == NULL)
        return NULL;
    size_t at = (size_t)snprintf(text, HEAD_BYTES, "%s%u %u %s\n", mark, (unsigned)PAGE_VERSION,
                                 (unsigned)page->count, id);
    for (uint32_t i = 0; i < page->count; i++, at += ID_BYTES) {
        put_number((unsigned char *)text + at, page->ids[i].id);
        put_number((unsigned char *)text + at + ID_BYTES / 2, page->ids[i].body);
    }
    if (more > 0)
        memcpy(text + at, page->data, more);
    *bytes = at + more;
    return text;
}

/* The number at *AT and the space after it, before END; *AT is then after them. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
    const char *space = *at < end ? memchr(*at, ' ', (size_t)(end - *at)) : NULL;
    if (space == NULL || !text_parse_uint(*at, (size_t)(space - *at), out))
        return false;
    *at = space + 1;
    return true;
}

static enum status read_page(const struct queue_item *item, struct arena *keep, struct page *out,
                             struct fault *fault)
{
    const char *const end = item->data + item->bytes;
    const char *stop = memchr(item->data, '\n', item->bytes);
    const char *text = item->data + sizeof mark - 1;
    uint64_t version = 0, count = 0;
    if (stop == NULL || stop < text || memcmp(item->data, mark, sizeof mark - 1) != 0 ||
        !take_number(&text, stop, &version))
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "ids of a sender");
    if (version > PAGE_VERSION)
        return fault_set_reason(fault, ERR_UNSUPPORTED, "ids of a sender", FAULT_NEWER,
                                "a collector of a newer version stores them: end this one");
    if (!take_number(&text, stop, &count) || count > LEDGER_PAGE_IDS ||
        (size_t)(end - stop - 1) < count * ID_BYTES)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "ids of a sender");
    const unsigned char *at = (const unsigned char *)stop + 1;
    for (uint64_t i = 0; i < count; i++, at += ID_BYTES)
        out->ids[i] = (struct ledger_id){get_number(at), get_number(at + ID_BYTES / 2)};
    out->count = (uint32_t)count;
    out->message = text < stop ? arena_text(keep, text, (size_t)(stop - text)) : NULL;
    out->data = (const char *)at;
    out->bytes = (size_t)(end - out->data);
    if (out->message != NULL && !queue_id_is_valid(out->message))
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "ids of a sender");
    return ERR_NONE;
}

/* Stores the message of a page; the page then holds only the ids. */
static enum status finish_page(struct ledger *l, uint64_t number, struct page *page,
                               struct arena *work, struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    char name[QUEUE_ID_BYTES];
    size_t bytes = 0;
    if (page->message == NULL)
        return ERR_NONE;
    if (l->queue->transport->put(l->queue, QUEUE_REPORTS, page->message, page->data, page->bytes,
                                 fault) != ERR_NONE)
        return fault->code;
    page->message = NULL;
    const char *text = write_page(page, work, &bytes);
    page_name(l, number, name);
    if (text != NULL) /* otherwise it is stored once more when it is read: nothing is counted */
        (void)l->queue->transport->item_set(l->queue, QUEUE_NOTES, name, text, bytes, &ignored);
    return ERR_NONE;
}

/* Reads page NUMBER. ERR_ABSENT: there is none. */
static enum status take_page(struct ledger *l, uint64_t number, struct fault *fault)
{
    struct queue_item item = {NULL, 0};
    struct arena work;
    char name[QUEUE_ID_BYTES];
    arena_init(&work, 0);
    struct page *page = ARENA_NEW(&work, struct page);
    page_name(l, number, name);
    if (page == NULL)
        (void)fault_no_memory(fault, "ids");
    else if (l->queue->transport->item_get(l->queue, QUEUE_NOTES, name, &work, &item, fault) ==
             ERR_NONE) {
        struct fault damaged =
            FAULT_INIT; /* what it knew is lost; nothing else is to wait for it */
        if (read_page(&item, &work, page, &damaged) == ERR_NONE &&
            finish_page(l, number, page, &work, fault) == ERR_NONE)
            (void)insert_all(l, page->ids, page->count, fault);
        if (damaged.reason == FAULT_NEWER) /* it says which ids are known, but not to this one */
            *fault = damaged;
    }
    arena_free(&work);
    return fault->code;
}

/* ---- opening ----------------------------------------------------------------------------- */

static void hint_name(const struct ledger *l, char out[QUEUE_ID_BYTES])
{
    (void)snprintf(out, QUEUE_ID_BYTES, "-pages-%s", l->sender);
}

/* Stores now and then the number of a page, for the next start. It is forgotten later than most
 * ids. */
static void store_hint(struct ledger *l)
{
    struct fault ignored = FAULT_INIT;
    char name[QUEUE_ID_BYTES], text[24];
    const uint64_t now_ns = clock_ns();
    if (l->hinted_ns != 0 && now_ns - l->hinted_ns < HINT_NS && l->next % HINT_EVERY != 1)
        return;
    hint_name(l, name);
    const int bytes = snprintf(text, sizeof text, "%llu", (unsigned long long)(l->next - 1));
    if (l->queue->transport->item_set(l->queue, QUEUE_NOTES, name, text, (size_t)bytes, &ignored) ==
        ERR_NONE)
        l->hinted_ns = now_ns;
}

static enum status read_hint(struct ledger *l, uint64_t *page, struct fault *fault)
{
    struct queue_item item = {NULL, 0};
    struct arena work;
    char name[QUEUE_ID_BYTES];
    arena_init(&work, 0);
    hint_name(l, name);
    *page = 0;
    if (l->queue->transport->item_get(l->queue, QUEUE_NOTES, name, &work, &item, fault) ==
        ERR_ABSENT)
        fault_clear(fault);
    else if (fault->code == ERR_NONE && !text_parse_uint(item.data, item.bytes, page))
        (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "ids of a sender");
    arena_free(&work);
    return fault->code;
}

/* The pages before FROM, until one is forgotten, and all later ones. */
static enum status read_pages(struct ledger *l, uint64_t from, struct fault *fault)
{
    for (uint64_t i = from; i > 0 && take_page(l, i - 1, fault) == ERR_NONE; i--)
        ;
    if (fault->code == ERR_ABSENT)
        fault_clear(fault);
    for (l->next = from; fault->code == ERR_NONE && take_page(l, l->next, fault) == ERR_NONE;)
        l->next++;
    if (fault->code == ERR_ABSENT)
        fault_clear(fault);
    return fault->code;
}

enum status ledger_open(struct queue *queue, const char *sender, struct mutex *lock,
                        struct ledger **out, struct fault *fault)
{
    struct ledger *l = calloc(1, sizeof *l);
    uint64_t from = 0;
    *out = NULL;
    if (l == NULL)
        return fault_no_memory(fault, "ids");
    arena_init(&l->arena, 0);
    l->queue = queue;
    l->lock = lock;
    l->sender = arena_string(&l->arena, sender);
    l->tables[0].begun_ns = clock_ns();
    if (l->sender == NULL)
        (void)fault_no_memory(fault, "ids");
    else if (read_hint(l, &from, fault) == ERR_NONE)
        (void)read_pages(l, from, fault);
    if (fault->code == ERR_NONE)
        *out = l;
    else
        ledger_free(l);
    return fault->code;
}

void ledger_free(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    for (int i = 0; i < TABLES; i++)
        free(ledger->tables[i].slots);
    arena_free(&ledger->arena);
    free(ledger);
}

/* ---- adding ------------------------------------------------------------------------------ */

enum status ledger_finish(struct ledger *ledger, struct fault *fault)
{
    if (!ledger->is_unfinished)
        return ERR_NONE;
    if (take_page(ledger, ledger->next - 1, fault) == ERR_ABSENT)
        fault_clear(fault); /* forgotten: it waited for a day */
    if (fault->code == ERR_NONE)
        set_unfinished(ledger, false);
    return fault->code;
}

enum status ledger_add(struct ledger *ledger, const struct ledger_id *ids, uint32_t count,
                       const char *id, const void *data, size_t bytes, bool *again,
                       struct fault *fault)
{
    struct queue_item have = {NULL, 0};
    struct arena work;
    char name[QUEUE_ID_BYTES];
    size_t page_bytes = 0;
    *again = false;
    if (ledger_finish(ledger, fault) != ERR_NONE)
        return fault->code;
    arena_init(&work, 0);
    struct page *page = ARENA_NEW(&work, struct page);
    char *text = NULL;
    if (page != NULL) {
        *page = (struct page){.count = count, .message = id, .data = data, .bytes = bytes};
        memcpy(page->ids, ids, count * sizeof *ids);
        text = write_page(page, &work, &page_bytes);
    }
    page_name(ledger, ledger->next, name);
    if (text == NULL) {
        (void)fault_no_memory(fault, "ids");
    } else if (ledger->queue->transport->item_add(ledger->queue, QUEUE_NOTES, name, text,
                                                  page_bytes, &work, &have, fault) == ERR_NONE) {
        ledger->next++;
        *again = have.bytes != page_bytes || memcmp(have.data, text, page_bytes) != 0;
        if (*again) { /* of another collector, or of this one, which had no answer then */
            set_unfinished(ledger, true);
            (void)ledger_finish(ledger, fault);
        } else {
            store_hint(ledger);
            const bool is_stored =
                finish_page(ledger, ledger->next - 1, page, &work, fault) == ERR_NONE;
            set_unfinished(ledger, !is_stored); /* before its ids are found */
            (void)insert_all(ledger, ids, count, fault);
        }
    }
    arena_free(&work);
    return fault->code;
}
