/* judge:NAME: any outside program as a judge. The protocol is in engine/README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/judges.h"

static char adapter_name[80] = "judge:adapter";
static char adapter_command[1024];

static bool is_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (strchr(" /\\{}", text[i]) != NULL)
            return false;
    return bytes > 0 && bytes <= 64;
}

enum status judge_adapter_set(const char *spec, struct fault *fault)
{
    const char *equals = strchr(spec, '=');
    const size_t word = strcspn(spec, " ");
    const bool named = equals != NULL && is_name(spec, (size_t)(equals - spec));
    const char *command = named ? equals + 1 : spec;
    const char *name = spec;
    for (size_t i = 0; !named && i < word; i++)
        if (spec[i] == '/' || spec[i] == '\\')
            name = spec + i + 1;
    const size_t bytes = named ? (size_t)(equals - spec) : (size_t)(spec + word - name);
    if (!is_name(name, bytes) || command[strspn(command, " ")] == '\0' ||
        strlen(command) >= sizeof adapter_command)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "outside program",
                              "NAME=COMMAND WORD..., of at most 1,000 characters");
    (void)snprintf(adapter_name, sizeof(adapter_name), "judge:%.*s", (int)bytes, name);
    (void)snprintf(adapter_command, sizeof(adapter_command), "%s", command);
    return ERR_NONE;
}

void judge_adapter_configure(void)
{
    const char *spec = getenv("TWINSTACK_ADAPTER");
    const char *equals = spec != NULL ? strchr(spec, '=') : NULL;
    adapter_command[0] = '\0';
    if (equals == NULL || equals == spec || equals - spec > 64)
        return;
    (void)snprintf(adapter_name, sizeof(adapter_name), "judge:%.*s", (int)(equals - spec), spec);
    (void)snprintf(adapter_command, sizeof(adapter_command), "%s", equals + 1);
}

static bool concerns(const struct engine_input *in, const char **why)
{
    if (adapter_command[0] != '\0')
        return judge_has_dump(in, why);
    *why = "TWINSTACK_ADAPTER names no program";
    return false;
}

/* The command runs in the staging folder. A relative path that leads to something from here is
 * made absolute; a bare name is searched in PATH or is an argument. */
static const char *from_here(const char *word, struct arena *keep)
{
    const char *path = path_base(word) != word ? path_absolute(word, keep) : NULL;
    return path != NULL ? path : word;
}

static const char *expanded(const char *word, const struct judge_stage *stage, struct arena *keep)
{
    if (strcmp(word, "{dump}") == 0)
        return stage->dump;
    return strcmp(word, "{folder}") == 0 ? stage->folder : from_here(word, keep);
}

/* The command's words; {dump} is the dump's name, {folder} the staging folder. */
static const char *const *command_words(const struct judge_stage *stage, struct arena *keep)
{
    const char **argv = ARENA_ARRAY(keep, JUDGE_WORDS_MAX + 1, const char *);
    char *text = arena_string(keep, adapter_command);
    uint32_t count = 0;
    char *word;
    while (argv != NULL && text != NULL && (word = text_next_word(&text)) != NULL) {
        if (count == JUDGE_WORDS_MAX)
            return NULL;
        argv[count++] = expanded(word, stage, keep);
    }
    return count > 0 ? argv : NULL;
}

static char *write_case(const struct engine_input *in, const struct judge_stage *stage,
                        size_t *bytes)
{
    const struct crash_case *crash = in->opened->crash;
    struct json j;
    json_to_text(&j, false);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key_string(&j, "scenario", crash->scenario);
    json_key_string(&j, "variant", crash->variant);
    json_key_string(&j, "arch", cpu_name(crash->arch));
    json_key_string(&j, "kind", case_kind_name(crash->kind));
    json_key_string(&j, "folder", stage->folder);
    json_key(&j, "files");
    json_array(&j);
    for (uint32_t i = 0; i < crash->file_count; i++) {
        const struct case_file *file = &crash->files[i];
        if (file->role != ROLE_DUMP && file->role != ROLE_IMAGE && file->role != ROLE_PDB)
            continue;
        json_object(&j);
        json_key_string(&j, "role", case_role_name(file->role));
        json_key_string(&j, "path", path_base(file->path));
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
    return json_take(&j, bytes);
}

static enum status prepare(const struct judge_work *w, struct judge_question *out)
{
    size_t bytes;
    char *input = write_case(w->in, w->stage, &bytes);
    out->argv = command_words(w->stage, w->keep);
    out->input = input != NULL ? arena_text(w->keep, input, bytes) : NULL;
    free(input);
    return out->argv != NULL && out->input != NULL ? ERR_NONE : fault_no_memory(w->fault, "judge");
}

const struct judge judge_adapter = {
    .engine = {JUDGE_ENGINE, .name = adapter_name, .shares = "nothing: an outside program",
               .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_SYMBOL_FILES},
    .concerns = concerns,
    .prepare = prepare,
};
