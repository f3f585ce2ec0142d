/* See harness.h. */
#include "verbs/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/microsoft.h"

static const char *from_environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

void harness_init(struct harness *harness)
{
    memset(harness, 0, sizeof *harness);
    harness->victims = from_environment("TWINSTACK_VICTIMS", "build/victims/bin");
#ifdef _WIN32
    harness->launcher = "";
#else
    harness->launcher = "wine";
    harness->prefix = from_environment("WINEPREFIX", "build/wine");
#endif
}

enum status harness_debugger(const struct harness *harness, struct fault *fault)
{
    return harness->debugger != NULL ? microsoft_set(harness->debugger, fault) : ERR_NONE;
}

bool harness_options(struct harness *harness, struct collect_options *options)
{
    size_t count = 0;

    (void)snprintf(harness->launcher_text, sizeof harness->launcher_text, "%s", harness->launcher);
    char *rest = harness->launcher_text;
    for (char *word = text_next_word(&rest); word != NULL; word = text_next_word(&rest)) {
        if (count + 1 == COUNT_OF(harness->words))
            return false;
        harness->words[count++] = word;
    }
    harness->words[count] = NULL;
    options->victims_folder = harness->victims;
    options->launcher = count > 0 ? harness->words : NULL;
    options->prefix_folder = harness->prefix;
    return true;
}

/* Who writes when --writer does not say: Microsoft's code where its files are, since a user of
 * Windows compares with that. On Windows it is there without them. */
static const char *writer_by_default(const struct harness *harness, struct arena *keep)
{
    const bool has_prefix = harness->prefix != NULL; /* DLLs are put into clones of it */
    return has_prefix && microsoft_path(MICROSOFT_DBGHELP, CPU_X64, keep) != NULL &&
                   microsoft_path(MICROSOFT_DBGCORE, CPU_X64, keep) != NULL
               ? "microsoft"
               : "wine";
}

/* Not msdia140.dll: with it, dbghelp opens PDBs while a program crashes. */
static bool find_dlls(enum cpu cpu, struct arena *keep, const char *out[3])
{
    out[0] = microsoft_path(MICROSOFT_DBGHELP, cpu, keep);
    out[1] = microsoft_path(MICROSOFT_DBGCORE, cpu, keep);
    return out[0] != NULL && out[1] != NULL;
}

enum status harness_writer(struct harness *harness, struct arena *keep,
                           struct collect_options *options, struct fault *fault)
{
    const char *writer =
        harness->writer != NULL ? harness->writer : writer_by_default(harness, keep);
    if (strcmp(writer, "wine") == 0)
        return ERR_NONE;
    if (strcmp(writer, "microsoft") != 0)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "--writer",
                              "it is wine or microsoft");
    if (!find_dlls(CPU_X64, keep, harness->dlls))
        return fault_set_lasting(fault, ERR_ABSENT, FAULT_NO_OFFSET, "--writer", microsoft_why_not);
    const char *version = microsoft_version(harness->dlls[1], keep);
    options->dlls = harness->dlls;
    if (find_dlls(CPU_X86, keep, harness->dlls_x86))
        options->dlls_x86 = harness->dlls_x86;
    options->writer = arena_printf(keep, "dbgcore %s", version != NULL ? version : "of Microsoft");
    if (options->writer == NULL)
        return fault_no_memory(fault, "--writer");
    if (harness->writer == NULL)
        log_note("dumps and walks by Microsoft's %s, since its files are here; --writer wine takes "
                 "Wine's",
                 options->writer);
    return ERR_NONE;
}
