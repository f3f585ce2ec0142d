/* Rules on names: which file may have a module's symbols, and which modules belong to the
 * system. */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "symbol/store_find.h"

/* The PDB of module M is named M with .pdb in place of the extension, or appended. */
bool store_pdb_name_fits(const char *pdb_path, const struct module *module)
{
    const char *name = path_base(pdb_path);
    const char *dot = strrchr(name, '.');
    const size_t stem = dot != NULL ? (size_t)(dot - name) : strlen(name);
    const char *module_dot = strrchr(module->name, '.');
    const size_t module_stem =
        module_dot != NULL ? (size_t)(module_dot - module->name) : strlen(module->name);
    char text[256];

    if (module->pdb_name != NULL && text_equal_nocase(path_base(module->pdb_name), name))
        return true;
    if (stem == 0 || stem >= sizeof text)
        return false;
    memcpy(text, name, stem);
    text[stem] = '\0';
    if (text_equal_nocase(text, module->name))
        return true;
    char module_text[256];
    if (module_stem >= sizeof module_text)
        return false;
    memcpy(module_text, module->name, module_stem);
    module_text[module_stem] = '\0';
    return text_equal_nocase(text, module_text);
}

bool symbol_is_system_module(const char *name)
{
    static const char *const patterns[] = {
        "ntdll*",      "kernel32*",  "kernelbase*",    "user32*",   "win32u*",     "gdi32*",
        "msvcrt*",     "msvcp*",     "vcruntime*",     "ucrtbase*", "concrt*",     "msvcr*",
        "combase*",    "ole32*",     "oleaut32*",      "rpcrt4*",   "advapi32*",   "sechost*",
        "shell32*",    "shlwapi*",   "ws2_32*",        "mswsock*",  "crypt32*",    "bcrypt*",
        "dbghelp*",    "dbgcore*",   "comctl32*",      "imm32*",    "uxtheme*",    "wow64*",
        "clr.dll",     "mscoree*",   "ntoskrnl*",      "hal.dll",   "api-ms-win*", "ext-ms-win*",
        "winhttp*",    "wininet*",   "d3d*.dll",       "dxgi*",     "opengl32*",   "winmm*",
        "libstdc++-*", "libgcc_s_*", "libwinpthread*",
    };
    for (size_t i = 0; i < COUNT_OF(patterns); i++)
        if (text_glob(patterns[i], name))
            return true;
    return false;
}

void store_pdb_names(const struct module *module, const char *stated, struct arena *scratch,
                     const char *out[STORE_PDB_NAMES_MAX])
{
    const char *dot = strrchr(module->name, '.');
    uint32_t n = 0;
    if (stated != NULL)
        out[n++] = stated;
    if (module->pdb_name != NULL)
        out[n++] = path_base(module->pdb_name);
    if (module->name[0] != '\0') {
        const int stem = dot != NULL ? (int)(dot - module->name) : (int)strlen(module->name);
        out[n++] = arena_printf(scratch, "%.*s.pdb", stem, module->name);
        out[n++] = arena_printf(scratch, "%s.pdb", module->name);
    }
    out[n] = NULL;
}

enum source_fit source_fit_as_pdb(const struct source_id *id, const struct source_want *want)
{
    if (want->debug_id[0] != '\0' && strcmp(id->debug_id, want->debug_id) == 0)
        return FIT_IDENTITY;
    return store_pdb_name_fits(id->name, want->module) ||
                   (want->pdb_name != NULL && text_equal_nocase(want->pdb_name, id->name))
               ? FIT_NAME
               : FIT_NONE;
}

bool source_has_debug_id(const struct source_id *id, const char *key)
{
    return text_equal_nocase(id->debug_id, key);
}

uint32_t source_places_of_pdb(const struct source_want *want, struct arena *keep,
                              struct source_place out[SOURCE_PLACES_MAX])
{
    const char *names[STORE_PDB_NAMES_MAX];
    uint32_t count = 0;

    for (store_pdb_names(want->module, want->pdb_name, keep, names); names[count] != NULL; count++)
        out[count] = (struct source_place){names[count], want->debug_id, names[count]};
    return count;
}

void source_store_by_debug_id(const struct source_id *id, struct arena *keep,
                              struct source_place *out)
{
    (void)keep;
    *out = (struct source_place){id->name, id->debug_id, id->name};
}
