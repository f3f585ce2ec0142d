/* The command line of the judges' programs, and their questions in lines of text. */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "victims/harness/judge/dbghelp_judge.h"

enum { EXIT_USAGE = 2, QUESTION_BYTES = 3 * JUDGE_PATH_UNITS };

/* Under Wine drive Z: is the root of the Unix file system. */
static void windows_path(const wchar_t *from, wchar_t path[JUDGE_PATH_UNITS])
{
    path[JUDGE_PATH_UNITS - 1] = 0;
    swprintf(path, JUDGE_PATH_UNITS, L"%ls%ls", from[0] == L'/' ? L"Z:" : L"", from);
    for (wchar_t *c = path; *c != 0; c++)
        if (*c == L'/')
            *c = L'\\';
}

/* One question per line, FILE.dmp and at most one folder with a tab between them; one line per
 * answer: the document, or {"error"}. */
static int serve(judge_answer_fn *answer)
{
    static char line[QUESTION_BYTES];
    static wchar_t wide[QUESTION_BYTES], dump[JUDGE_PATH_UNITS];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *why = "not a question";
        line[strcspn(line, "\r\n")] = 0;
        if (MultiByteToWideChar(CP_UTF8, 0, line, -1, wide, QUESTION_BYTES) > 0) {
            wchar_t *folder = wcschr(wide, L'\t');
            judge.folder_count = 0;
            if (folder != NULL) {
                *folder = 0;
                windows_path(folder + 1, judge.folders[judge.folder_count++]);
            }
            windows_path(wide, dump);
            if (answer(dump, &why) == 0)
                why = NULL;
            judge_close_dump();
        }
        if (why != NULL)
            printf("{\"error\":\"%s\"}\n", why);
        fflush(stdout);
    }
    return 0;
}

int judge_main(int argc, wchar_t **argv, const char *name, judge_answer_fn *answer)
{
    static wchar_t dump[JUDGE_PATH_UNITS];
    const bool serves = argc == 2 && wcscmp(argv[1], L"--serve") == 0;
    const char *why = "";
    if (argc < 2 || (argv[1][0] == L'-' && !serves)) {
        fprintf(stderr, "usage: %s FILE.dmp [SYMDIR...]\n       %s --serve\n", name, name);
        return EXIT_USAGE;
    }
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (serves)
        return serve(answer);
    windows_path(argv[1], dump);
    for (int i = 2; i < argc && judge.folder_count < JUDGE_FOLDERS; i++)
        windows_path(argv[i], judge.folders[judge.folder_count++]);
    const int status = answer(dump, &why);
    if (status != 0)
        fprintf(stderr, "%s: %s\n", name, why);
    fflush(stdout);
    return status;
}
