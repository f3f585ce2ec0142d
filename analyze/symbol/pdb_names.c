/* See pdb_names.h. */
#include "symbol/pdb_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"
#include "format/pe/pe.h"

/* The top bits of a key are the kind of the name; the rest identify what it names. */
enum name_kind { NAME_ID = 1, NAME_PROCEDURE, NAME_FILE, NAME_MODULE_FILE, NAME_PUBLIC, NAME_JUMP };

static uint64_t name_key(enum name_kind kind, uint32_t high, uint32_t low)
{
    return (uint64_t)kind << 60 | (uint64_t)(high & 0xfffffff) << 32 | low;
}

static uint32_t key_hash(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32);
}

void pdb_names_open(const struct pdb *pdb, enum symbol_names spelling, struct pdb_names *out)
{
    memset(out, 0, sizeof *out);
    out->pdb = pdb;
    out->spelling = spelling;
    (void)pdb_types_open(pdb, PDB_STREAM_TPI, &out->types);
    (void)pdb_types_open(pdb, PDB_STREAM_IPI, &out->ids);
    arena_init(&out->keep, 0);
    arena_init(&out->scratch, 0);
}

void pdb_names_index(struct pdb_names *names)
{
    pdb_types_index(&names->ids, &names->keep);
    pdb_types_note(&names->types, &names->keep);
}

void pdb_names_close(struct pdb_names *names)
{
    arena_free(&names->keep);
    arena_free(&names->scratch);
    free(names->slots);
    free(names->by_name.at);
    names->slots = NULL;
    names->by_name.at = NULL;
}

static struct name_slot *find_slot(struct name_slot *slots, uint32_t count, uint64_t key)
{
    uint32_t at = key_hash(key) & (count - 1);
    while (slots[at].key != 0 && slots[at].key != key)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

/* The slot of KEY, free (text NULL, key 0) when it is new; NULL when out of memory. */
static struct name_slot *name_slot(struct pdb_names *names, uint64_t key)
{
    if (names->used * 2 >= names->slot_count) {
        const uint32_t count = names->slot_count != 0 ? names->slot_count * 2 : 64;
        struct name_slot *slots = calloc(count, sizeof *slots);
        if (slots == NULL)
            return NULL;
        for (uint32_t i = 0; i < names->slot_count; i++)
            if (names->slots[i].key != 0)
                *find_slot(slots, count, names->slots[i].key) = names->slots[i];
        free(names->slots);
        names->slots = slots;
        names->slot_count = count;
    }
    return find_slot(names->slots, names->slot_count, key);
}

static const char *keep_name(struct pdb_names *names, struct name_slot *slot, uint64_t key,
                             const char *text)
{
    slot->key = key;
    slot->text = text != NULL && text[0] != '\0' ? text : NULL;
    names->used++;
    return slot->text;
}

/* Compilers write an unnamed namespace as "?A0x" and a hash of the file, "::" after it. (Inside a
 * decorated name, as in C++/CLI's "__t2m@?f@?A0x12ab@@YMXXZ", '@' is after it.) */
static const char *unnamed_in(const char *text)
{
    for (; (text = strchr(text, '?')) != NULL; text++)
        if (strncmp(text, "?A0x", 4) == 0 &&
            strncmp(text + 4 + strspn(text + 4, "0123456789abcdef"), "::", 2) == 0)
            return text;
    return NULL;
}

static const char *with_unnamed(struct pdb_names *names, const char *text)
{
    static const char unnamed[] = "`anonymous namespace'";
    const char *at = text != NULL ? unnamed_in(text) : NULL;
    if (at == NULL)
        return text;
    /* Four letters become 21: a name grows to six times its length at most. */
    char *out = arena_alloc(&names->keep, 6 * strlen(text) + 1), *to = out;
    if (out == NULL)
        return text;
    for (; at != NULL; at = unnamed_in(text)) {
        memcpy(to, text, (size_t)(at - text));
        to += at - text;
        memcpy(to, unnamed, sizeof unnamed - 1);
        to += sizeof unnamed - 1;
        text = at + 4 + strspn(at + 4, "0123456789abcdef");
    }
    memcpy(to, text, strlen(text) + 1);
    return out;
}

static bool in_word(unsigned char c)
{
    return c == '_' || c == '$' || c >= 0x80 || (c >= '0' && c <= '9') ||
           ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_convention(const char *word, size_t bytes)
{
    static const char *const words[] = {"__cdecl",      "__stdcall", "__thiscall", "__fastcall",
                                        "__vectorcall", "__clrcall", "__pascal"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strlen(words[i]) == bytes && memcmp(words[i], word, bytes) == 0)
            return true;
    return false;
}

/* Compilers state the calling convention of function types in the template arguments of a name:
 * "f<void (__cdecl*)(int)>". The full form leaves conventions out, there as in parameters. */
static const char *without_conventions(struct pdb_names *names, const char *text)
{
    const char *at = names->spelling == NAMES_FULL && text != NULL ? strstr(text, "__") : NULL;
    char *out = at != NULL ? arena_alloc(&names->keep, strlen(text) + 1) : NULL, *to = out;
    if (out == NULL)
        return text;
    for (const char *start = text; at != NULL; at = strstr(at, "__")) {
        const bool is_first = at == start || !in_word((unsigned char)at[-1]);
        size_t bytes = 0; /* of a word: such as "__cdecl", but not "my__cdecl" */
        while (in_word((unsigned char)at[bytes]))
            bytes++;
        const char *after = at + bytes;
        if (is_first && is_convention(at, bytes)) {
            memcpy(to, text, (size_t)(at - text));
            to += at - text;
            after += *after == ' ';
            text = after;
        }
        at = after;
    }
    memcpy(to, text, strlen(text) + 1);
    return out;
}

static const char *spelt(struct pdb_names *names, const char *text)
{
    return with_unnamed(names, without_conventions(names, text));
}

/* LINKER: a public's name, which on x86 has the decorations of C, too. */
static const char *readable(struct pdb_names *names, const char *text, bool linker)
{
    const bool x86 = linker && names->pdb->machine == PE_MACHINE_X86;
    char out[UNDECORATED_BYTES];
    if (text == NULL || undecorate(text, names->spelling, x86, out, sizeof out) == 0)
        return text;
    return arena_string(&names->keep, out);
}

/* Joins "scope::name" and the suffix; without printf, because it runs for every inlined
 * function. */
static const char *join(struct arena *keep, const char *scope, const char *name, const char *tail)
{
    const size_t a = strlen(scope), b = strlen(name), c = strlen(tail), colons = a != 0 ? 2 : 0;
    char *out = arena_alloc(keep, a + colons + b + c + 1);
    if (out == NULL)
        return NULL;
    memcpy(out, scope, a);
    memcpy(out + a, "::", colons);
    memcpy(out + a + colons, name, b);
    memcpy(out + a + colons + b, tail, c + 1);
    return out;
}

/* NAME followed by the parameters of its type, if the spelling includes them. */
static const char *with_parameters(struct pdb_names *names, const char *scope, const char *name,
                                   uint32_t function_type)
{
    char parameters[8192]; /* of an arena they would be zeroed for each name */
    parameters[0] = '\0';
    if (names->spelling == NAMES_FULL && function_type != 0)
        (void)pdb_type_parameters(&names->types, function_type, &names->scratch, parameters,
                                  sizeof parameters);
    if (scope[0] == '\0' && parameters[0] == '\0')
        return name;
    return join(&names->keep, scope, name, parameters);
}

static uint32_t procedure_type(struct pdb_names *names, const struct pdb_procedure *procedure)
{
    struct pdb_id_name id;
    if (procedure->is_managed)
        return 0;
    if (!procedure->type_is_id)
        return procedure->type;
    return pdb_id_function(&names->ids, &names->types, procedure->type, &names->scratch, &id)
               ? id.function_type
               : 0;
}

static const char *decorated_at(struct pdb_names *names, struct pdb_place place)
{
    struct pdb_public pub;
    if (!pdb_public_before(names->pdb, place, &names->keep, &pub) ||
        pub.place.offset != place.offset)
        return NULL;
    return pub.name;
}

/* A jump gets the name of its target: the public there, which takes one search. Functions that are
 * private to their module have no public. */
static const char *target_name(struct pdb_names *names, struct pdb_place place)
{
    struct pdb_unit unit;
    struct pdb_procedure target;
    struct pdb_public pub;
    if (pdb_public_before(names->pdb, place, NULL, &pub) && pub.place.offset == place.offset)
        return pdb_names_public(names, &pub);
    memset(&unit, 0, sizeof unit);
    if (!pdb_procedure_at(names->pdb, place, &names->scratch, &unit.module, &target) ||
        target.kind == PDB_CODE_TRAMPOLINE)
        return NULL;
    return arena_string(&names->keep, pdb_names_procedure(names, &unit, &target));
}

const char *pdb_names_jump(struct pdb_names *names, struct pdb_place target)
{
    const uint64_t key = name_key(NAME_JUMP, target.section, target.offset);
    struct name_slot *slot = name_slot(names, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : NULL;
    const char *text = target_name(names, target);
    arena_reset(&names->scratch);
    slot = name_slot(names, key); /* naming the target may have moved the table */
    return slot != NULL ? keep_name(names, slot, key, text) : NULL;
}

/* True for text in a copy of the unit's stream, which may be freed before the names. */
static bool is_in_copy(const struct pdb_names *names, const struct pdb_unit *unit, const char *text)
{
    const struct pdb_module *module = &unit->module;
    const uintptr_t at = (uintptr_t)text, copy = (uintptr_t)module->data;
    return module->data != NULL &&
           copy - (uintptr_t)names->pdb->msf.data >= names->pdb->msf.bytes &&
           at - copy < (uintptr_t)module->symbol_bytes + module->c11_bytes + module->c13_bytes;
}

const char *pdb_names_procedure(struct pdb_names *names, const struct pdb_unit *unit,
                                const struct pdb_procedure *procedure)
{
    if (procedure->kind == PDB_CODE_TRAMPOLINE)
        return pdb_names_jump(names, procedure->parent);
    const bool terminated = procedure->name[procedure->name_bytes] == '\0';
    /* Assembly code for x86 has records "@name@8"; other decorations of C are not in records. */
    const bool fastcall = names->pdb->machine == PE_MACHINE_X86 && procedure->name_bytes != 0 &&
                          procedure->name[0] == '@';
    const bool plain = terminated && names->spelling == NAMES_SHORT && !fastcall &&
                       !undecorate_is_decorated(procedure->name);
    if (plain && (procedure->name_bytes == 0 || !is_in_copy(names, unit, procedure->name)))
        return procedure->name_bytes != 0 ? procedure->name : NULL;
    const uint64_t key = name_key(NAME_PROCEDURE, unit->module.index, procedure->soff);
    struct name_slot *slot = name_slot(names, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : NULL;
    const char *text = arena_text(&names->keep, procedure->name, procedure->name_bytes);
    if (plain) {
        /* as it is */
    } else if (names->spelling == NAMES_DECORATED) {
        const char *decorated = decorated_at(names, procedure->start);
        if (decorated != NULL)
            text = decorated;
    } else if (text != NULL && (fastcall || undecorate_is_decorated(text))) {
        text = readable(names, text, fastcall);
    } else if (text != NULL) {
        text = spelt(names, with_parameters(names, "", text, procedure_type(names, procedure)));
    }
    arena_reset(&names->scratch);
    return keep_name(names, slot, key, text);
}

const char *pdb_names_inlinee(struct pdb_names *names, const struct pdb_unit *unit, uint32_t id)
{
    const uint32_t global = pdb_names_global_id(names, unit, id);
    const uint64_t key = name_key(NAME_ID, 0, global);
    struct name_slot *slot = name_slot(names, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : NULL;
    return keep_name(names, slot, key, pdb_names_id(names, global));
}

const char *pdb_names_id(struct pdb_names *names, uint32_t global)
{
    struct pdb_id_name name;
    const char *text = NULL;
    if (global != 0 && pdb_id_function(&names->ids, &names->types, global, &names->keep, &name))
        text = spelt(names, with_parameters(names, name.scope, name.name, name.function_type));
    arena_reset(&names->scratch);
    return text;
}

const char *pdb_names_file(struct pdb_names *names, const struct pdb_unit *unit,
                           struct pdb_file file)
{
    if (file.at == UINT32_MAX)
        return NULL;
    const uint64_t key = file.in_module ? name_key(NAME_MODULE_FILE, unit->module.index, file.at)
                                        : name_key(NAME_FILE, 0, file.at);
    struct name_slot *slot = name_slot(names, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : NULL;
    const char *text = pdb_file_name(&unit->module, file, &names->keep);
    return keep_name(names, slot, key,
                     is_in_copy(names, unit, text) ? arena_string(&names->keep, text) : text);
}

const char *pdb_names_public(struct pdb_names *names, const struct pdb_public *pub)
{
    struct pdb_public read;
    const uint64_t key = name_key(NAME_PUBLIC, pub->place.section, pub->place.offset);
    struct name_slot *slot = name_slot(names, key);
    if (slot == NULL || slot->key == key)
        return slot != NULL ? slot->text : NULL;
    const char *text = NULL;
    if (pdb_public_before(names->pdb, pub->place, &names->keep, &read))
        text = readable(names, read.name, true);
    arena_reset(&names->scratch);
    return keep_name(names, slot, key, text);
}

/* Cross-module ids: link-time code generation leaves, in a module, ids that refer to ids of
 * other modules.  0xf7 imports: module name in "/names", count, ids; 0xf8 exports: pairs of a
 * module's id and the program's.  0x80000000 | import << 20 | number in that import. */
enum { SUBSECTION_IMPORTS = 0xf7, SUBSECTION_EXPORTS = 0xf8, CROSS_MODULE = 1 };

static const uint8_t *subsection(const struct pdb_module *module, uint32_t wanted, uint32_t *bytes)
{
    uint32_t at = 0;
    *bytes = 0;
    if (module->data == NULL)
        return NULL;
    const uint8_t *c13 = module->data + module->symbol_bytes + module->c11_bytes;
    while (at <= module->c13_bytes && module->c13_bytes - at >= 8) {
        const uint32_t kind = load_u32(c13 + at), size = load_u32(c13 + at + 4);
        if (size > module->c13_bytes - at - 8)
            return NULL;
        if (kind == wanted) {
            *bytes = size;
            return c13 + at + 8;
        }
        at += 8 + size;
        at += (4 - (at & 3)) & 3;
    }
    return NULL;
}

/* The id that import number NUMBER of import MODULE refers to in the exporting module. */
static bool import_at(const struct pdb_module *module, uint32_t import, uint32_t number,
                      uint32_t *module_name, uint32_t *id)
{
    uint32_t left;
    const uint8_t *at = subsection(module, SUBSECTION_IMPORTS, &left);
    for (; at != NULL && left >= 8; import--) {
        const uint32_t count = load_u32(at + 4);
        if (count > (left - 8) / 4)
            return false;
        if (import == 0) {
            *module_name = load_u32(at);
            *id = number < count ? load_u32(at + 8 + 4 * (size_t)number) : 0;
            return number < count;
        }
        at += 8 + 4 * (size_t)count;
        left -= 8 + 4 * count;
    }
    return false;
}

static bool export_of(struct pdb_names *names, uint32_t module_index, uint32_t id, uint32_t *out)
{
    struct pdb_module module;
    uint32_t bytes;
    if (!pdb_module_open(names->pdb, module_index, &names->scratch, &module))
        return false;
    const uint8_t *pairs = subsection(&module, SUBSECTION_EXPORTS, &bytes);
    for (uint32_t i = 0; pairs != NULL && i < bytes / 8; i++) {
        if (load_u32(pairs + 8 * (size_t)i) == id) {
            *out = load_u32(pairs + 8 * (size_t)i + 4);
            return true;
        }
    }
    return false;
}

/* Modules by name, in a hash table that is built on first use. */
static bool module_named(struct pdb_names *names, const char *name, uint32_t *out)
{
    struct pdb_module module;
    uint32_t at, hash;
    struct slot *slot;
    for (; pdb_module_info(names->pdb, names->named, &module); names->named++) {
        at = hash = hash_fold(hash_text_nocase(HASH_START, module.name));
        if (!slots_reserve(&names->by_name, 64))
            return false;
        while ((slot = slots_next(&names->by_name, hash, &at))->row != 0)
            continue;
        slots_take(&names->by_name, slot, hash, names->named + 1);
    }
    at = hash = hash_fold(hash_text_nocase(HASH_START, name));
    while (names->named > 0 && (slot = slots_next(&names->by_name, hash, &at))->row != 0) {
        *out = slot->row - 1;
        if (pdb_module_info(names->pdb, *out, &module) && text_equal_nocase(module.name, name))
            return true;
    }
    return false;
}

uint32_t pdb_names_global_id(struct pdb_names *names, const struct pdb_unit *unit, uint32_t id)
{
    uint32_t name, module, global = 0;
    if (id >> 31 != CROSS_MODULE)
        return id;
    if (!import_at(&unit->module, id >> 20 & 0x7ff, id & 0xfffff, &name, &id))
        return 0;
    if (module_named(names, pdb_name(names->pdb, name, &names->keep), &module))
        (void)export_of(names, module, id, &global);
    arena_reset(&names->scratch);
    return global;
}
