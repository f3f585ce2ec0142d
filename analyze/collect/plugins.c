/* The DLLs that victims load when they run. No image imports them, so only toolchain.json names
 * them. */
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "collect/sealing.h"

enum { TOOLCHAIN_MAX_BYTES = 1 << 20 };

static const char **read_plugins(const cJSON *root, const char *victims_folder, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    const cJSON *builds = json_get_object(root, "plugins", &ignored), *build, *name;
    const char **list;
    size_t room = 1, count = 0;

    cJSON_ArrayForEach(build, builds) room += (size_t)cJSON_GetArraySize(build);
    list = ARENA_ARRAY(keep, room, const char *);
    if (list == NULL)
        return NULL;
    cJSON_ArrayForEach(build, builds)
    {
        const char *program =
            arena_printf(keep, "%s/victims-%s.exe", victims_folder, build->string);
        if (program == NULL || !path_is_file(program) || !cJSON_IsArray(build))
            continue;
        cJSON_ArrayForEach(name, build)
        {
            const char *plugin =
                cJSON_IsString(name) ? arena_string(keep, name->valuestring) : NULL;
            if (plugin != NULL)
                list[count++] = plugin;
        }
    }
    list[count] = NULL;
    return list;
}

const char *const *collect_plugins(const char *victims_folder, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    const char **list = NULL;
    char *text = NULL;
    size_t bytes = 0;
    cJSON *root = NULL;
    const char *path = path_join(keep, victims_folder, "toolchain.json");

    if (path == NULL ||
        file_read(path, TOOLCHAIN_MAX_BYTES, keep, &text, &bytes, &ignored) != ERR_NONE ||
        json_parse(text, bytes, &root, &ignored) != ERR_NONE)
        return NULL;
    list = read_plugins(root, victims_folder, keep);
    cJSON_Delete(root);
    return list;
}

const char *collect_lacking_plugins(const char *victims_folder, struct arena *keep)
{
    const char *const *plugins = collect_plugins(victims_folder, keep);
    const char *list = NULL;

    for (; plugins != NULL && *plugins != NULL; plugins++) {
        const char *path = path_join(keep, victims_folder, *plugins);
        if (path != NULL && !path_is_file(path))
            list = arena_printf(keep, "%s%s%s", list != NULL ? list : "", list != NULL ? ", " : "",
                                *plugins);
    }
    return list;
}
