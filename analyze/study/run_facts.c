/* See run_facts.h. */
#include "study/run_facts.h"

#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "collect/collect.h"

enum { TOOLS_MAX = 8, GIT_LIMIT_MS = 10000, TOOLCHAIN_MAX_BYTES = 1 << 20 };

/* First line of what a program prints, or NULL. */
static const char *ask(const char *const *argv, struct arena *keep)
{
    struct process_request request;
    struct process_result answer;
    struct fault ignored = FAULT_INIT;

    memset(&request, 0, sizeof request);
    request.argv = argv;
    request.limit_ms = GIT_LIMIT_MS;
    if (process_run(&request, keep, &answer, &ignored) != ERR_NONE || answer.timed_out ||
        answer.exit_code != 0 || answer.output_bytes == 0)
        return NULL;
    return arena_text(keep, answer.output, strcspn(answer.output, "\r\n"));
}

/* Quotes a word so that a POSIX shell, and run_facts_words(), read it back. */
static const char *quoted(const char *word, struct arena *keep)
{
    static const char special[] = " \t\r\n'\"\\()[]{}<>|&;*?$`#~!";
    char *out = arena_alloc(keep, strlen(word) * 4 + 3), *at = out;

    if (out == NULL || (word[0] != '\0' && strpbrk(word, special) == NULL))
        return out != NULL ? word : NULL;
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\'", 3);
            at += 3;
        }
        *at++ = *word;
    }
    *at++ = '\'';
    *at = '\0';
    return out;
}

const char *run_facts_join(int argc, char *const *argv, const char *label, struct arena *keep)
{
    const char *text = arena_printf(keep, "twinstack %s", label);
    for (int i = 0; i < argc && text != NULL; i++) {
        const char *word = quoted(argv[i], keep);
        text = word != NULL ? arena_printf(keep, "%s %s", text, word) : NULL;
    }
    return text;
}

/* Takes one word off *AT into OUT, which has room for all of it. */
static bool take_word(const char **at, char *out)
{
    bool inside = false;
    for (; **at != '\0' && (inside || **at != ' '); (*at)++) {
        if (**at == '\'')
            inside = !inside;
        else if (!inside && **at == '\\' && (*at)[1] != '\0')
            *out++ = *++*at;
        else
            *out++ = **at;
    }
    *out = '\0';
    return !inside;
}

enum status run_facts_words(const char *command, struct arena *keep, int *argc, char ***argv,
                            struct fault *fault)
{
    const size_t size = command != NULL ? strlen(command) : 0;
    char **words = ARENA_ARRAY(keep, size + 1, char *);
    int count = 0;

    *argc = 0;
    if (words == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "command line");
    for (const char *at = command; size > 0 && *at != '\0'; at += *at == ' ') {
        words[count] = arena_alloc(keep, strlen(at) + 1);
        if (words[count] == NULL)
            return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "command line");
        if (!take_word(&at, words[count++]))
            return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "the run's command line");
    }
    if (count < 2)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "the run's command line");
    *argc = count - 2; /* after "twinstack run" */
    *argv = words + 2;
    return ERR_NONE;
}

static void add_tool(struct run_info *out, const char *name, const char *version)
{
    if (version == NULL || out->tool_count == TOOLS_MAX)
        return;
    out->tools[out->tool_count].name = name;
    out->tools[out->tool_count++].version = version;
}

/* Compiler and flags of the victims, from the toolchain.json beside them. */
static void read_toolchain(const char *victims_folder, struct arena *keep, struct run_info *out)
{
    char *text = NULL;
    size_t bytes = 0;
    cJSON *root = NULL;
    const cJSON *row;
    struct fault ignored = FAULT_INIT;
    const char *path = path_join(keep, victims_folder, "toolchain.json");

    if (path == NULL ||
        file_read(path, TOOLCHAIN_MAX_BYTES, keep, &text, &bytes, &ignored) != ERR_NONE ||
        json_parse(text, bytes, &root, &ignored) != ERR_NONE)
        return;
    out->compiler = json_get_string(root, "compiler", keep, &ignored);
    cJSON_ArrayForEach(row, json_get_object(root, "variants", &ignored))
    {
        if (cJSON_IsString(row))
            out->flags =
                arena_printf(keep, "%s%s%s: %s", out->flags != NULL ? out->flags : "",
                             out->flags != NULL ? "; " : "", row->string, row->valuestring);
    }
    cJSON_Delete(root);
}

enum status run_facts(const struct collect_options *options, const char *label, int argc,
                      char *const *argv, struct arena *keep, struct run_info *out,
                      struct fault *fault)
{
    static const char *const commit[] = {"git", "rev-parse", "HEAD", NULL};
    static const char *const branch[] = {"git", "rev-parse", "--abbrev-ref", "HEAD", NULL};
    struct collect_host host;

    memset(out, 0, sizeof *out);
    if (collect_describe_host(options, keep, &host, fault) != ERR_NONE)
        return fault->code;
    out->label = label;
    out->started_ns = clock_wall_ns();
    out->commit = ask(commit, keep);
    out->branch = out->commit != NULL ? ask(branch, keep) : NULL;
    out->platform = host.wine != NULL ? arena_printf(keep, "%s, %s", host.os, host.wine) : host.os;
    out->cpu = host.cpu;
    out->command = run_facts_join(argc, argv, label, keep);
    read_toolchain(options->victims_folder, keep, out);
    out->tools = ARENA_ARRAY(keep, TOOLS_MAX, struct named_version);
    if (out->tools == NULL || out->command == NULL || out->platform == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "run");
    add_tool(out, "twinstack", TWINSTACK_VERSION);
    add_tool(out, "victims' compiler", out->compiler);
    add_tool(out, "wine", host.wine);
    return ERR_NONE;
}
