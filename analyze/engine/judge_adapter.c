/* judge:NAME: any outside program as a judge. The protocol is in engine/README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/judge_protocol.h"
#include "engine/judges.h"

#define JUDGE_ADDRESS(NAME) &judge_##NAME,

static char adapter_name[80] = "judge:adapter";
static char adapter_command[1024];

static bool is_name(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (strchr(" /\\{}", text[i]) != NULL)
            return false;
    return bytes > 0 && bytes <= 64;
}

/* Two engines of one name could not be kept apart: a name that another judge has gets an end. */
static void set_name(const char *name, size_t bytes)
{
    static const struct judge *const all[] = {JUDGES(JUDGE_ADDRESS)};
    (void)snprintf(adapter_name, sizeof adapter_name, "judge:%.*s", (int)bytes, name);
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i] != &judge_adapter && strcmp(all[i]->engine.name, adapter_name) == 0) {
            (void)snprintf(adapter_name, sizeof adapter_name, "judge:%.*s-adapter", (int)bytes,
                           name);
            return;
        }
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
    set_name(name, bytes);
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
    set_name(spec, (size_t)(equals - spec));
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

/* The first line: a welcome is asked for, and a program of the older form finds its case in it. */
static void write_case(struct json *j, const struct judge_work *w)
{
    const struct crash_case *crash = w->in->opened->crash;
    json_object(j);
    json_key_uint(j, "hello", 1);
    json_key_string(j, "suite", w->stage->folder);
    json_key_string(j, "edition", "case");
    json_key_uint(j, "schema_version", 1);
    json_key_string(j, "scenario", crash->scenario);
    json_key_string(j, "variant", crash->variant);
    json_key_string(j, "arch", cpu_name(crash->arch));
    json_key_string(j, "kind", case_kind_name(crash->kind));
    json_key_string(j, "folder", w->stage->folder);
    json_key_array(j, "files");
    for (uint32_t i = 0; i < crash->file_count; i++) {
        const struct case_file *file = &crash->files[i];
        if (file->role != ROLE_DUMP && file->role != ROLE_IMAGE && file->role != ROLE_PDB)
            continue;
        json_object(j);
        json_key_string(j, "role", case_role_name(file->role));
        json_key_string(j, "path", path_base(file->path));
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
    json_newline(j);
}

static enum status prepare(const struct judge_work *w, struct judge_question *out)
{
    struct json j;
    size_t bytes = 0;
    json_to_text(&j, false);
    write_case(&j, w);
    judge_protocol_write(&j, w);
    char *text = json_take(&j, &bytes);
    out->argv = command_words(w->stage, w->keep);
    if (text != NULL) {
        out->input = arena_text(w->keep, text, bytes);
        out->again = arena_text(w->keep, text, strcspn(text, "\n") + 1);
    }
    free(text);
    return out->argv != NULL && out->input != NULL && out->again != NULL
               ? ERR_NONE
               : fault_no_memory(w->fault, "judge");
}

static enum status take(const struct judge_work *w, const struct judge_question *question,
                        char *answer, size_t bytes)
{
    (void)question;
    return judge_protocol_speaks(answer)
               ? judge_protocol_read(w, answer)
               : judge_read_answer(answer, bytes, w->judge->engine.name, w->keep, w->out, w->fault);
}

const struct judge judge_adapter = {
    .engine = {JUDGE_ENGINE, .name = adapter_name, .shares = "nothing: an outside program",
               .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_SYMBOL_FILES},
    .concerns = concerns,
    .prepare = prepare,
    .read = take,
};
