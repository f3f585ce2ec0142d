/* Which file names a module's symbols may have; see store_parts.h. */
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "symbol/store_parts.h"

/* The PDB of module M is called M with .pdb in place of the extension, or appended. */
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
