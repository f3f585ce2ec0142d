/* See toolchain.h. */
#include "collect/toolchain.h"

#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "collect/collect.h"

enum { TOOLCHAIN_MAX_BYTES = 1 << 20 };

static void read_builds(const cJSON *root, struct arena *keep, struct toolchain *out,
                        struct fault *fault)
{
    const cJSON *builds = json_get_object(root, "variants", fault), *row;

    out->builds = ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(builds) + 1, struct named_version);
    cJSON_ArrayForEach(row, builds)
    {
        if (out->builds != NULL && cJSON_IsString(row))
            out->builds[out->build_count++] = (struct named_version){
                arena_string(keep, row->string), arena_string(keep, row->valuestring)};
    }
}

static void read_plugins(const cJSON *root, const char *victims_folder, struct arena *keep,
                         struct toolchain *out, struct fault *fault)
{
    const cJSON *builds = json_get_object(root, "plugins", fault), *build, *name;
    size_t room = 1, count = 0;

    cJSON_ArrayForEach(build, builds) room += (size_t)cJSON_GetArraySize(build);
    out->plugins = ARENA_ARRAY(keep, room, const char *);
    cJSON_ArrayForEach(build, builds)
    {
        const char *program =
            arena_printf(keep, "%s/victims-%s.exe", victims_folder, build->string);
        if (out->plugins == NULL || program == NULL || !path_is_file(program) ||
            !cJSON_IsArray(build))
            continue;
        cJSON_ArrayForEach(name, build)
        {
            const char *plugin =
                cJSON_IsString(name) ? arena_string(keep, name->valuestring) : NULL;
            if (plugin != NULL)
                out->plugins[count++] = plugin;
        }
    }
}

enum status toolchain_read(const char *victims_folder, struct arena *keep, struct toolchain *out,
                           struct fault *fault)
{
    const char *path = path_join(keep, victims_folder, "toolchain.json");
    char *text = NULL;
    size_t bytes = 0;
    cJSON *root = NULL;

    memset(out, 0, sizeof *out);
    if (path == NULL)
        return fault_no_memory(fault, "toolchain.json");
    if (!path_is_file(path))
        return ERR_NONE;
    if (file_read(path, TOOLCHAIN_MAX_BYTES, keep, &text, &bytes, fault) == ERR_NONE &&
        json_parse(text, bytes, &root, fault) == ERR_NONE) {
        out->compiler = json_get_string(root, "compiler", keep, fault);
        read_builds(root, keep, out, fault);
        read_plugins(root, victims_folder, keep, out, fault);
    }
    cJSON_Delete(root);
    if (fault->code != ERR_NONE)
        fault_set_path(fault, path);
    return fault->code;
}

const char *collect_lacking_plugins(const char *victims_folder, struct arena *keep)
{
    struct fault ignored = FAULT_INIT;
    struct toolchain toolchain;
    const char *list = NULL;

    (void)toolchain_read(victims_folder, keep, &toolchain, &ignored);
    for (const char **plugin = toolchain.plugins; plugin != NULL && *plugin != NULL; plugin++) {
        const char *path = path_join(keep, victims_folder, *plugin);
        if (path != NULL && !path_is_file(path))
            list = arena_printf(keep, "%s%s%s", list != NULL ? list : "", list != NULL ? ", " : "",
                                *plugin);
    }
    return list;
}
