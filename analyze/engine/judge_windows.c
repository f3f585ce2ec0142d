/* judge:dbghelp, judge:dbghelp-microsoft and judge:dbgeng: Windows's own code opens the dump, walks
 * it and names the frames. The programs that call it are ours (victims/harness/judge).
 *
 * `dbghelp` is the system's, which under Wine is Wine's. The other two take Microsoft's DLLs, where
 * the user has them: these are linked into a folder beside the program, because Windows and Wine
 * look there first. Their programs and DLLs are for x64, and read dumps of any processor. */
#include "engine/judges.h"

static const char *const dbghelp[] = {"twinstack-dbghelp.exe", NULL};
static const char *const dbgeng[] = {"twinstack-dbgeng.exe", NULL};
static const char *const dump_and_folder[] = {"{dump}", ".", NULL};
static const char *const serve[] = {"--serve", NULL};

/* Wine takes its own DLLs unless it must take those of the program's folder; and the launcher's
 * overrides, which these replace, keep Wine's debugger from starting. */
static const char natives[] =
    "mscoree,mshtml,winedbg.exe=;dbghelp,dbgcore,msdia140,dbgeng,dbgmodel=n";

const struct judge judge_dbghelp = {
    .engine = {JUDGE_ENGINE, .starts = judge_starts, .name = "judge:dbghelp",
               .shares = "nothing: dbghelp reads, walks and names by itself",
               .parts =
                   ENGINE_SHARES_DUMP | ENGINE_SHARES_SYMBOL_FILES | ENGINE_SHARES_SYSTEM_DBGHELP},
    .home = JUDGE_OF_WINDOWS,
    .programs = dbghelp,
    .program_x86 = "twinstack-dbghelp-x86.exe",
    .absent = "twinstack-dbghelp.exe is not in the folder of judges",
    .arguments = dump_and_folder,
    .serves = serve,
};

static bool has_files_of_its_own(const struct engine_input *in, const char **why)
{
    if (!microsoft_is_system())
        return judge_has_dump(in, why);
    *why = "the system's dbghelp, which is Microsoft's, is judge:dbghelp";
    return false;
}

const struct judge judge_dbghelp_microsoft = {
    .engine = {JUDGE_ENGINE, .name = "judge:dbghelp-microsoft",
               .shares = "nothing: Microsoft's dbghelp reads, walks and names by itself",
               .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_SYMBOL_FILES |
                        ENGINE_SHARES_MICROSOFT_DBGHELP},
    .home = JUDGE_OF_WINDOWS,
    .programs = dbghelp,
    .absent = "its program is not in the folder of judges",
    .arguments = dump_and_folder,
    .serves = serve,
    .folder = "microsoft",
    .concerns = has_files_of_its_own,
    .files = {MICROSOFT_DBGHELP, MICROSOFT_DBGCORE, MICROSOFT_MSDIA},
    .file_count = 3,
    .overrides = natives,
};

const struct judge judge_dbgeng = {
    .engine = {JUDGE_ENGINE, .name = "judge:dbgeng",
               .shares = "nothing of ours; dbghelp and its PDB reader with judge:dbghelp-microsoft",
               .parts = ENGINE_SHARES_DUMP | ENGINE_SHARES_SYMBOL_FILES |
                        ENGINE_SHARES_MICROSOFT_DBGHELP},
    .home = JUDGE_OF_WINDOWS,
    .programs = dbgeng,
    .absent = "its program is not in the folder of judges",
    .arguments = dump_and_folder,
    .serves = serve,
    .folder = "microsoft-engine",
    .files = {MICROSOFT_DBGHELP, MICROSOFT_DBGCORE, MICROSOFT_MSDIA, MICROSOFT_DBGENG,
              MICROSOFT_DBGMODEL},
    .file_count = 5,
    .overrides = natives,
};
