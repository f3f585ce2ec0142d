/* The DWARF reader beside libdwarf, which reads the same file by itself:
 *
 *     dwarf_second FILE...
 *
 * For every function and inlined call whose first entry states where it starts, the reader has to
 * find it there: with its name, the line of its call and the names around it. Prints one line per
 * file: "units N functions N inlined N differ N FILE"; exit status 1 if anything differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <libdwarf.h>

#include "base/files.h"
#include "format/dwarf/dwarf.h"
#include "format/object/file.h"

enum { STEPS = 8, SHOWN = 5, DEEPEST = 200 };

struct second {
    Dwarf_Debug debug;
    struct dwarf *ours;
    uint64_t base_va;
    const struct object_debug *sections;
    unsigned units, functions, inlined, differ;
};

static bool number(Dwarf_Die die, Dwarf_Half name, Dwarf_Unsigned *out)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    Dwarf_Signed value = 0;
    *out = 0;
    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK)
        return false;
    if (dwarf_formudata(attribute, out, &error) == DW_DLV_OK)
        return true;
    const bool good = dwarf_formsdata(attribute, &value, &error) == DW_DLV_OK;
    *out = (Dwarf_Unsigned)value;
    return good;
}

static const char *text(Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Error error = NULL;
    char *out = NULL;
    return dwarf_die_text(die, name, &out, &error) == DW_DLV_OK ? out : NULL;
}

/* The entry that an attribute refers to; NULL: none. */
static Dwarf_Die referred(struct second *s, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attribute;
    Dwarf_Die found = NULL;
    Dwarf_Off offset = 0;
    if (dwarf_attr(die, name, &attribute, &error) != DW_DLV_OK ||
        dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK ||
        dwarf_offdie_b(s->debug, offset, 1, &found, &error) != DW_DLV_OK)
        return NULL;
    return found;
}

/* The linkage name of the origin of an entry, or of what that completes, otherwise the first name;
 * NULL: none. */
static const char *name_of(struct second *s, Dwarf_Die die)
{
    const char *name = NULL;
    Dwarf_Die origin = referred(s, die, DW_AT_abstract_origin);
    die = origin != NULL ? origin : die;
    for (int step = 0; step < STEPS && die != NULL; step++) {
        const char *linkage = text(die, DW_AT_linkage_name);
        if (linkage == NULL)
            linkage = text(die, DW_AT_MIPS_linkage_name);
        if (linkage != NULL)
            return linkage;
        name = name != NULL ? name : text(die, DW_AT_name);
        Dwarf_Die next = referred(s, die, DW_AT_abstract_origin);
        die = next != NULL ? next : referred(s, die, DW_AT_specification);
    }
    return name;
}

/* Names may differ by the decoration of 32-bit Windows or an underscore of gfortran. */
static bool same_name(const char *ours, const char *other)
{
    return ours != NULL && other != NULL && ours[0] != '\0' && strstr(other, ours) != NULL;
}

/* gcc states calls of which no instruction is left. */
static bool is_empty(Dwarf_Die die, Dwarf_Addr low)
{
    Dwarf_Error error = NULL;
    Dwarf_Addr high = 0;
    Dwarf_Half form;
    enum Dwarf_Form_Class kind;
    if (dwarf_highpc_b(die, &high, &form, &kind, &error) != DW_DLV_OK)
        return false;
    return kind == DW_FORM_CLASS_CONSTANT ? high == 0 : high <= low;
}

static void check(struct second *s, Dwarf_Die die, bool inlined, const char *name)
{
    Dwarf_Error error = NULL;
    Dwarf_Unsigned line = 0;
    Dwarf_Addr low = 0;
    struct dwarf_place place;
    if (dwarf_lowpc(die, &low, &error) != DW_DLV_OK || is_empty(die, low) || low < s->base_va ||
        low - s->base_va > UINT32_MAX || !object_is_code(s->sections, low))
        return;
    if (inlined)
        s->inlined++;
    else
        s->functions++;
    (void)number(die, DW_AT_call_line, &line);
    dwarf_at(s->ours, (uint32_t)(low - s->base_va), &place);
    bool found = false;
    for (const struct dwarf_scope *scope = place.scope; scope != NULL; scope = scope->around)
        found = found || ((scope->around != NULL) == inlined && scope->call_line == line &&
                          (name == NULL ? dwarf_scope_name(scope) == NULL
                                        : same_name(dwarf_scope_name(scope), name)) &&
                          scope->start <= low - s->base_va);
    if (!found && s->differ++ < SHOWN)
        printf("  0x%llx: %s called at line %llu, not %s\n", (unsigned long long)low,
               name != NULL ? name : "?", (unsigned long long)line,
               place.scope != NULL && dwarf_scope_name(place.scope) != NULL
                   ? dwarf_scope_name(place.scope)
                   : "nothing");
}

/* Checks the entries below PARENT. */
static void walk(struct second *s, Dwarf_Die parent, int depth)
{
    Dwarf_Error error = NULL;
    Dwarf_Die die, next;
    int status = depth < DEEPEST ? dwarf_child(parent, &die, &error) : DW_DLV_NO_ENTRY;
    for (; status == DW_DLV_OK; die = next) {
        Dwarf_Half tag = 0;
        (void)dwarf_tag(die, &tag, &error);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            check(s, die, tag == DW_TAG_inlined_subroutine, name_of(s, die));
        walk(s, die, depth + 1);
        status = dwarf_siblingof_b(s->debug, die, 1, &next, &error);
    }
}

static void walk_units(struct second *s)
{
    Dwarf_Unsigned length, type_offset, next = 0;
    Dwarf_Half version, address, offset, extension, kind;
    Dwarf_Off abbreviations;
    Dwarf_Error error = NULL;
    Dwarf_Sig8 id;
    Dwarf_Die die;
    while (dwarf_next_cu_header_d(s->debug, 1, &length, &version, &abbreviations, &address, &offset,
                                  &extension, &id, &type_offset, &next, &kind,
                                  &error) == DW_DLV_OK) {
        if (dwarf_siblingof_b(s->debug, NULL, 1, &die, &error) != DW_DLV_OK)
            continue;
        s->units++;
        walk(s, die, 0);
    }
}

/* The parameters differ between the libdwarf of Debian 12 and 0.2.0 and later. */
static int open_libdwarf(const char *path, Dwarf_Debug *out)
{
    Dwarf_Error error = NULL;
    char real[4096];
#ifdef DW_LIBDWARF_VERSION
    return dwarf_init_path(path, real, sizeof real, DW_GROUPNUMBER_ANY, NULL, NULL, out, &error);
#else
    return dwarf_init_path(path, real, sizeof real, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL,
                           out, NULL, 0, NULL, &error);
#endif
}

static int compare(const char *path)
{
    struct fault fault = FAULT_INIT;
    struct object_debug debug;
    struct object_file file;
    struct second s = {.sections = &debug};
    struct dwarf_input input = {.debug = &debug};
    struct file_map map;
    struct arena keep;

    arena_init(&keep, 0);
    if (file_map(path, &map, &fault) != ERR_NONE ||
        object_file_open(map.data, map.bytes, 0, &file, &fault) != ERR_NONE ||
        !object_file_debug(&file, &keep, &debug, &fault) ||
        dwarf_open(&input, &s.ours, &fault) != ERR_NONE ||
        open_libdwarf(path, &s.debug) != DW_DLV_OK) {
        (void)fprintf(stderr, "dwarf_second: %s: cannot be read\n", path);
        return 3;
    }
    s.base_va = debug.base_va;
    walk_units(&s);
    printf("units %u functions %u inlined %u differ %u %s\n", s.units, s.functions, s.inlined,
           s.differ, path);
    dwarf_close(s.ours);
    arena_free(&keep);
    file_unmap(&map);
    return s.differ > 0;
}

int main(int argc, char **argv)
{
    int worst = argc > 1 ? 0 : 2;
    for (int i = 1; i < argc; i++) {
        const int status = compare(argv[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}
