/* See store_listing.h.
 *
 * A file of the cache, in the byte order of this machine: a header, rows, and the texts that rows
 * point into. A row states one entry of a file; a file of no known kind has one row, too. */
#include "symbol/store_listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "symbol/store_find.h"

enum { NO_KIND = -1, CABINET = SOURCE_KINDS };
enum { IS_DEBUG = 1, CUT_SHORT = 2, IS_CODE = 4, HAS_CODE = 8, HAS_SPLIT = 16 };

#define SETTLED_NS (UINT64_C(2) * 1000000000)

static const char magic[8] = "twlist\n";

struct listing_head {
    char magic[8];
    uint64_t made_for; /* hash of all that the layout depends on */
    uint64_t rows, text_bytes;
};

/* Texts are offsets of the first byte after a 0; 0: NULL. */
struct listing_row {
    struct file_stamp stamp;
    uint32_t path, word, name, image_name, pdb_name, useless;
    int32_t kind;
    uint32_t slice, arch, object_kind, object_arch, flags;
    char debug_id[DEBUG_ID_BYTES], code_id[CODE_ID_BYTES], mvid[MVID_BYTES];
    char first_debug_id[DEBUG_ID_BYTES];
    char object_id[ELF_BUILD_ID_BYTES], object_debug_id[DEBUG_ID_BYTES];
};

struct listing {
    struct symbol_store *store;
    char *key;
    struct file_map map; /* of the cache's file; no data: none */
    const uint8_t *rows;
    const char *texts;
    uint64_t row_count, text_bytes;
    uint32_t *slots; /* of the first row of a path, plus 1; open addressing */
    uint8_t *kept;   /* not 0: the row's file is as it was */
    uint32_t slot_count, taken;
    struct listing_row *made; /* the new listing */
    uint32_t made_count, made_room;
    char *text;
    uint32_t text_used, text_room;
    bool differs, failed;
    struct listing *next; /* of the store */
};

/* ---- reading ------------------------------------------------------------------------------ */

static struct listing_row row_at(const struct listing *l, uint64_t at)
{
    struct listing_row row;
    memcpy(&row, l->rows + at * sizeof row, sizeof row);
    return row;
}

static uint64_t made_for(void)
{
    const uint32_t sizes[] = {LISTING_VERSION, sizeof(struct listing_row), SOURCE_KINDS,
                              ARCH_COUNT};
    uint64_t hash = hash_bytes(HASH_START, sizes, sizeof sizes);
    for (size_t i = 0; i < SOURCE_KINDS; i++)
        hash = hash_text(hash, source_kinds[i]->what);
    return hash;
}

static bool is_text(const struct listing *l, uint32_t offset)
{
    return offset < l->text_bytes;
}

static bool ends(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool is_row(const struct listing *l, const struct listing_row *r)
{
    return r->path != 0 && is_text(l, r->path) && is_text(l, r->word) && is_text(l, r->name) &&
           is_text(l, r->image_name) && is_text(l, r->pdb_name) && is_text(l, r->useless) &&
           r->kind >= NO_KIND && r->kind <= CABINET && r->arch < ARCH_COUNT &&
           r->object_arch < ARCH_COUNT && r->object_kind <= OBJECT_ARCHIVE &&
           ends(r->debug_id, sizeof r->debug_id) && ends(r->code_id, sizeof r->code_id) &&
           ends(r->mvid, sizeof r->mvid) && ends(r->first_debug_id, sizeof r->first_debug_id) &&
           ends(r->object_id, sizeof r->object_id) &&
           ends(r->object_debug_id, sizeof r->object_debug_id);
}

/* True when the whole file is what this program wrote. */
static bool check(struct listing *l)
{
    struct listing_head head;
    if (l->map.bytes < sizeof head)
        return false;
    memcpy(&head, l->map.data, sizeof head);
    const uint64_t left = l->map.bytes - sizeof head;
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.made_for != made_for() ||
        head.rows > left / sizeof(struct listing_row) || head.rows > UINT32_MAX / 4 ||
        head.text_bytes != left - head.rows * sizeof(struct listing_row) || head.text_bytes == 0)
        return false;
    l->rows = l->map.data + sizeof head;
    l->row_count = head.rows;
    l->texts = (const char *)l->map.data + (l->map.bytes - head.text_bytes);
    l->text_bytes = head.text_bytes;
    if (l->texts[l->text_bytes - 1] != '\0')
        return false;
    for (uint64_t i = 0; i < l->row_count; i++) {
        const struct listing_row row = row_at(l, i);
        if (!is_row(l, &row))
            return false;
    }
    return true;
}

static const char *text_of(const struct listing *l, uint32_t offset)
{
    return offset != 0 ? l->texts + offset : NULL;
}

/* The slot of PATH, or the empty one where it belongs. */
static uint32_t *slot_of(const struct listing *l, const char *path)
{
    uint32_t at = (uint32_t)hash_text(HASH_START, path) & (l->slot_count - 1);
    while (l->slots[at] != 0 && strcmp(text_of(l, row_at(l, l->slots[at] - 1).path), path) != 0)
        at = (at + 1) & (l->slot_count - 1);
    return &l->slots[at];
}

static bool hash_paths(struct listing *l)
{
    for (l->slot_count = 64; l->slot_count < l->row_count * 2; l->slot_count *= 2)
        continue;
    l->slots = calloc(l->slot_count, sizeof *l->slots);
    l->kept = calloc(l->row_count + 1, sizeof *l->kept);
    for (uint32_t i = 0; l->slots != NULL && i < l->row_count; i++) {
        uint32_t *slot = slot_of(l, text_of(l, row_at(l, i).path));
        if (*slot == 0)
            *slot = i + 1;
    }
    return l->slots != NULL && l->kept != NULL;
}

static void forget(struct listing *l)
{
    if (l->map.data != NULL)
        file_unmap(&l->map);
    memset(&l->map, 0, sizeof l->map);
    free(l->slots);
    free(l->kept);
    l->slots = NULL;
    l->kept = NULL;
    l->rows = NULL;
    l->row_count = 0;
}

struct listing *listing_open(struct symbol_store *store, const char *root)
{
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    struct listing *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    arena_init(&scratch, 0);
    const char *whole = path_absolute(root, &scratch);
    l->store = store;
    l->key = whole != NULL
                 ? arena_printf(&store->arena, "folder.%016llx.%d.twlist",
                                (unsigned long long)hash_text(HASH_START, whole), LISTING_VERSION)
                 : NULL;
    const char *path =
        l->key != NULL ? cache_path(&store->cache, CACHE_INDEX, l->key, &scratch) : NULL;
    if (path != NULL && file_map(path, &l->map, &fault) == ERR_NONE) {
        if (check(l) && hash_paths(l))
            cache_used(path, l->map.modified_ns);
        else
            forget(l);
    }
    arena_free(&scratch);
    if (path == NULL) {
        free(l);
        return NULL;
    }
    l->next = store->listings;
    store->listings = l;
    return l;
}

/* ---- writing ------------------------------------------------------------------------------ */

static uint32_t put_text(struct listing *l, const char *text)
{
    if (text == NULL)
        return 0;
    const size_t bytes = strlen(text) + 1;
    const uint64_t used = l->text_used == 0 ? 1 : l->text_used; /* the first byte is for NULL */
    if (!ARRAY_ROOM(l->text, l->text_room, used + bytes) || used + bytes > UINT32_MAX / 2) {
        l->failed = true;
        return 0;
    }
    l->text[0] = '\0';
    memcpy(l->text + used, text, bytes);
    l->text_used = (uint32_t)(used + bytes);
    return (uint32_t)used;
}

static struct listing_row *more(struct listing *l)
{
    if (!ARRAY_ROOM(l->made, l->made_room, (uint64_t)l->made_count + 1)) {
        l->failed = true;
        return NULL;
    }
    memset(&l->made[l->made_count], 0, sizeof *l->made);
    return &l->made[l->made_count++];
}

/* A file in a cabinet has a kind that is no row of the table. */
static int32_t number_of(const struct source_kind *kind)
{
    int32_t i = 0;
    while (i < CABINET && source_kinds[i] != kind)
        i++;
    return i;
}

static void put_file(struct listing *l, const char *path, const struct file_stamp *stamp,
                     const struct store_file *file)
{
    struct listing_row *r = more(l);
    if (r == NULL)
        return;
    r->stamp = *stamp;
    r->path = put_text(l, path);
    r->kind = file != NULL ? number_of(file->kind) : NO_KIND;
    if (file == NULL)
        return;
    const struct source_id *id = &file->id;
    r->word = put_text(l, id->word);
    r->name = put_text(l, id->name);
    r->image_name = put_text(l, id->image_name);
    r->pdb_name = put_text(l, id->pdb_name);
    r->useless = put_text(l, id->useless);
    r->slice = id->object.slice;
    r->arch = (uint32_t)id->arch;
    r->object_kind = (uint32_t)id->object.kind;
    r->object_arch = (uint32_t)id->object.arch;
    r->flags = (id->is_debug ? IS_DEBUG : 0U) | (id->cut_short ? CUT_SHORT : 0U) |
               (id->object.is_code ? IS_CODE : 0U) | (id->object.has_code ? HAS_CODE : 0U) |
               (id->object.has_split ? HAS_SPLIT : 0U);
    memcpy(r->debug_id, id->debug_id, sizeof r->debug_id);
    memcpy(r->first_debug_id, id->first_debug_id, sizeof r->first_debug_id);
    memcpy(r->code_id, id->code_id, sizeof r->code_id);
    memcpy(r->mvid, id->mvid, sizeof r->mvid);
    memcpy(r->object_id, id->object.id, sizeof r->object_id);
    memcpy(r->object_debug_id, id->object.debug_id, sizeof r->object_debug_id);
}

void listing_add(struct listing *l, const char *path, const struct file_stamp *stamp,
                 uint32_t first)
{
    struct file_stamp trusted = *stamp;
    l->differs = true;
    if (trusted.modified_ns + SETTLED_NS > clock_wall_ns())
        trusted.modified_ns = 0;
    if (first == l->store->file_count)
        put_file(l, path, &trusted, NULL);
    for (uint32_t i = first; i < l->store->file_count; i++)
        put_file(l, path, &trusted, &l->store->files[i]);
}

static void write(struct listing *l)
{
    const struct listing_head head = {
        .made_for = made_for(), .rows = l->made_count, .text_bytes = l->text_used};
    struct listing_head named = head;
    struct fault fault = FAULT_INIT;
    struct arena scratch;
    memcpy(named.magic, magic, sizeof magic);
    arena_init(&scratch, 0);
    const struct file_part parts[] = {
        {&named, sizeof named, NULL},
        {l->made, (size_t)l->made_count * sizeof *l->made, NULL},
        {l->text, l->text_used, NULL},
    };
    const char *partial = cache_partial(&l->store->cache, &scratch);
    if (partial != NULL && file_write_parts(partial, parts, COUNT_OF(parts), &fault) == ERR_NONE)
        (void)cache_publish(&l->store->cache, partial, CACHE_INDEX, l->key, &fault);
    arena_free(&scratch);
}

/* A row of the old listing in the new one. */
static void put_row(struct listing *l, const struct listing_row *old)
{
    struct listing_row *r = more(l);
    if (r == NULL)
        return;
    *r = *old;
    r->path = put_text(l, text_of(l, old->path));
    r->word = put_text(l, text_of(l, old->word));
    r->name = put_text(l, text_of(l, old->name));
    r->image_name = put_text(l, text_of(l, old->image_name));
    r->pdb_name = put_text(l, text_of(l, old->pdb_name));
    r->useless = put_text(l, text_of(l, old->useless));
}

void listing_end(struct listing *l)
{
    if (l == NULL)
        return;
    if (l->differs || l->taken < l->row_count) { /* or files are gone */
        for (uint64_t i = 0; i < l->row_count; i++) {
            const struct listing_row row = row_at(l, i);
            if (l->kept[i] != 0)
                put_row(l, &row);
        }
        if (!l->failed && l->made_count >= l->store->listed_least)
            write(l);
    }
    free(l->made);
    free(l->text);
    l->made = NULL;
    l->text = NULL;
}

void listings_free(struct symbol_store *store)
{
    while (store->listings != NULL) {
        struct listing *l = store->listings;
        store->listings = l->next;
        forget(l);
        free(l);
    }
}

/* ---- files that did not change ------------------------------------------------------------- */

/* Texts stay where they are: the map lives as long as the store. */
static bool take_row(const struct listing *l, const struct listing_row *r)
{
    struct store_file *file =
        store_add_file(l->store, text_of(l, r->path),
                       r->kind == CABINET ? &source_cabinet : source_kinds[r->kind]);
    if (file == NULL)
        return false;
    file->id.word = text_of(l, r->word);
    if (r->name != 0)
        file->id.name = text_of(l, r->name);
    file->id.image_name = text_of(l, r->image_name);
    file->id.pdb_name = text_of(l, r->pdb_name);
    file->id.useless = text_of(l, r->useless);
    file->id.arch = (enum object_arch)r->arch;
    file->id.is_debug = (r->flags & IS_DEBUG) != 0;
    file->id.cut_short = (r->flags & CUT_SHORT) != 0;
    memcpy(file->id.debug_id, r->debug_id, sizeof r->debug_id);
    memcpy(file->id.first_debug_id, r->first_debug_id, sizeof r->first_debug_id);
    memcpy(file->id.code_id, r->code_id, sizeof r->code_id);
    memcpy(file->id.mvid, r->mvid, sizeof r->mvid);
    file->id.object = (struct object_candidate){.path = file->path,
                                                .name = file->id.name,
                                                .kind = (enum object_kind)r->object_kind,
                                                .slice = r->slice,
                                                .arch = (enum object_arch)r->object_arch,
                                                .is_code = (r->flags & IS_CODE) != 0,
                                                .has_code = (r->flags & HAS_CODE) != 0,
                                                .has_split = (r->flags & HAS_SPLIT) != 0};
    memcpy(file->id.object.id, r->object_id, sizeof r->object_id);
    memcpy(file->id.object.debug_id, r->object_debug_id, sizeof r->object_debug_id);
    return true;
}

bool listing_take(struct listing *l, const char *path, const struct file_stamp *stamp)
{
    const uint32_t slot = l->slots != NULL ? *slot_of(l, path) : 0;
    if (slot == 0)
        return false;
    bool room = true;
    uint64_t at = slot - 1;
    struct listing_row row = row_at(l, at);
    if (memcmp(&row.stamp, stamp, sizeof *stamp) != 0)
        return false;
    while (strcmp(text_of(l, row.path), path) == 0) {
        l->kept[at++] = 1; /* also without room: the listing holds all slices of a file or none */
        l->taken++;
        room = room && (row.kind == NO_KIND || take_row(l, &row));
        if (at == l->row_count)
            break;
        row = row_at(l, at);
    }
    return true;
}
