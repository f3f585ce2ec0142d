/* The victim program: finds its scenarios, answers questions about them, runs one. */
#include "victims/victim.h"

#include <stdio.h>
#include <string.h>

#include "victims/limit.h"

/* What a calm program prints before and after its scenario; its name is between them. */
#define CALM_FIRST "staying calm, as asked"
#define CALM_LAST "stayed calm"

enum { HANG_MS = 300, LIMIT_MS = 40000, DUMP_LIMIT_MS = 25000, SCENARIO_LIMIT = 512 };

void victim_open_terminate_hook(void); /* terminate.cpp */

volatile int victim_zero;
volatile int *volatile victim_null;

IN_SECTION("vict$a") const struct scenario *const scenario_first = NULL;
IN_SECTION("vict$z") const struct scenario *const scenario_last = NULL;

static const struct scenario *scenarios[SCENARIO_LIMIT];
static int scenario_count;

static const struct {
    uint32_t bit;
    const char *name;
} hook_names[] = {
    {RECORD_HOOK_VECTORED, "vectored"},   {RECORD_HOOK_UNHANDLED, "unhandled"},
    {RECORD_HOOK_SIGABRT, "sigabrt"},     {RECORD_HOOK_INVALID_PARAMETER, "invalid_parameter"},
    {RECORD_HOOK_PURE_CALL, "pure_call"}, {RECORD_HOOK_TERMINATE, "terminate"},
    {RECORD_HOOK_WATCHER, "watcher"},     {RECORD_HOOK_HEARTBEAT, "heartbeat"},
};

static const struct {
    uint32_t bit;
    const char *name;
} walker_names[] = {
#define WALKER_NAME(ID, NUMBER, NAME, WALK, TRAITS, SHARES) {NUMBER, NAME},
    RECORD_WALKERS(WALKER_NAME)
#undef WALKER_NAME
};

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct scenario *const *)a)->name,
                  (*(const struct scenario *const *)b)->name);
}

/* The linker put the pointers of all files between the two ends, with gaps of zero. */
static void find_scenarios(void)
{
    const struct scenario *const volatile *at = &scenario_first;
    const uintptr_t end = (uintptr_t)&scenario_last;
    for (; (uintptr_t)at < end && scenario_count < SCENARIO_LIMIT; at++)
        if (*at != NULL)
            scenarios[scenario_count++] = *at;
    qsort(scenarios, (size_t)scenario_count, sizeof scenarios[0], by_name);
}

static const struct scenario *find(const char *name)
{
    for (int i = 0; i < scenario_count; i++)
        if (strcmp(scenarios[i]->name, name) == 0)
            return scenarios[i];
    return NULL;
}

static bool on_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

/* ---- what a scenario promises on this host ---- */

static const char *unsupported(const struct scenario *s)
{
    if (s->not_built != NULL)
        return s->not_built;
    if (on_wine() && s->not_on_wine != NULL)
        return s->not_on_wine;
    return s->missing != NULL ? s->missing() : NULL;
}

static uint32_t expected_code(const struct scenario *s)
{
    return s->wine_code != 0 && on_wine() ? s->wine_code : s->code;
}

static uint32_t expected_exit(const struct scenario *s)
{
    if (s->wine_exit_code != 0 && on_wine())
        return s->wine_exit_code;
    if (s->exit_code != 0)
        return s->exit_code;
    return s->kind == KIND_CRASH ? expected_code(s) : s->kind == KIND_HANG ? CAPTURE_EXIT_HANG : 0;
}

static uint32_t expected_hooks(const struct scenario *s)
{
    if (s->hooks != 0 || s->no_case)
        return s->hooks;
    return s->kind == KIND_CRASH  ? (uint32_t)HOOKS_OF_A_CRASH
           : s->kind == KIND_HANG ? (uint32_t)RECORD_HOOK_HEARTBEAT
                                  : 0;
}

static const char *kind_name(const struct scenario *s)
{
    return s->kind == KIND_CRASH ? "crash" : s->kind == KIND_HANG ? "hang" : "calm";
}

static void print_json(const struct scenario *s)
{
    const char *reason = unsupported(s), *comma = "";
    const uint32_t hooks = expected_hooks(s);
    printf("{\"name\":\"%s\",\"kind\":\"%s\",\"group\":\"%s\",\"sentence\":\"%s\","
           "\"code\":\"0x%08X\",\"exit_code\":\"0x%08X\",\"doors\":[",
           s->name, kind_name(s), s->group, s->sentence, (unsigned)expected_code(s),
           (unsigned)expected_exit(s));
    for (size_t i = 0; i < sizeof hook_names / sizeof hook_names[0]; i++)
        if ((hooks & hook_names[i].bit) != 0) {
            printf("%s\"%s\"", comma, hook_names[i].name);
            comma = ",";
        }
#ifdef VICTIM_SUBJECTS
    printf("],\"subjects\":[" VICTIM_SUBJECTS);
#else
    if (s->offsets_only)
        printf("],\"subjects\":[\"offset:rtl\"");
#endif
    printf("],\"output\":");
    printf(s->kind == KIND_CALM ? "\"" CALM_FIRST "\\n%s\\n" CALM_LAST "\\n\"" : "null", s->name);
    printf(",\"limit_ms\":%u,\"supported\":%s,\"reason\":",
           (unsigned)(s->limit_ms != 0 ? s->limit_ms : LIMIT_MS),
           reason == NULL ? "true" : "false");
    printf(reason != NULL ? "\"%s\"}\n" : "null}\n", reason);
}

static int list(bool json)
{
    for (int i = 0; i < scenario_count; i++) {
        if (json)
            print_json(scenarios[i]);
        else
            printf("%s\n", scenarios[i]->name);
    }
    return 0;
}

static int describe(const struct scenario *s)
{
    const uint32_t hooks = expected_hooks(s);
    printf("%s (%s, group %s)\n%s\n", s->name, kind_name(s), s->group, s->sentence);
    printf("expected: code 0x%08X, exit code 0x%08X, hooks", (unsigned)expected_code(s),
           (unsigned)expected_exit(s));
    for (size_t i = 0; i < sizeof hook_names / sizeof hook_names[0]; i++)
        if ((hooks & hook_names[i].bit) != 0)
            printf(" %s", hook_names[i].name);
    printf("%s\n", hooks == 0 ? " none" : "");
    if (unsupported(s) != NULL)
        printf("UNSUPPORTED(%s)\n", unsupported(s));
    return 0;
}

/* ---- for scenarios ---- */

void victim_say(const char *text)
{
    DWORD done;
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    WriteFile(out, text, (DWORD)strlen(text), &done, NULL);
    WriteFile(out, "\n", 1, &done, NULL);
}

void victim_stayed_calm(void)
{
    victim_say(CALM_LAST);
}

void victim_ready(void)
{
    victim_say("ready to hang");
    capture_heartbeat();
}

static void fail(const char *text)
{
    victim_say(text);
    TerminateProcess(GetCurrentProcess(), EXIT_USAGE);
}

FARPROC victim_function(HMODULE plugin, const char *name)
{
    FARPROC function = plugin != NULL ? GetProcAddress(plugin, name) : NULL;
    if (function == NULL)
        fail("a plugin or its function is missing");
    return function;
}

void victim_plugin_path(const char *name, wchar_t path[VICTIM_PATH_UNITS])
{
    DWORD length = GetModuleFileNameW(NULL, path, VICTIM_PATH_UNITS - 128);
    while (length > 0 && path[length - 1] != L'\\')
        length--;
    swprintf(path + length, VICTIM_PATH_UNITS - length, L"%hs-%hs.dll", name, VICTIM_VARIANT);
}

HMODULE victim_load(const char *name)
{
    wchar_t path[VICTIM_PATH_UNITS];
    victim_plugin_path(name, path);
    return victim_load_file(path);
}

/* Else a plugin that is missing would be one that the loader refuses, as some scenarios expect. */
static void require_file(const wchar_t *path)
{
    wchar_t own[VICTIM_PATH_UNITS];
    char text[VICTIM_PATH_UNITS];
    if (GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES)
        return;
    DWORD length = GetModuleFileNameW(NULL, own, VICTIM_PATH_UNITS);
    while (length > 0 && own[length - 1] != L'\\')
        length--;
    const wchar_t *name = wcsncmp(path, own, length) == 0 ? path + length : path;
    if (WideCharToMultiByte(CP_UTF8, 0, name, -1, text, sizeof text, NULL, NULL) == 0)
        text[0] = 0;
    for (char *at = text; *at != 0; at++)
        *at = *at == '\\' ? '/' : *at;
    victim_say(text);
    TerminateProcess(GetCurrentProcess(), EXIT_LACKS_FILE);
}

HMODULE victim_load_file(const wchar_t *path)
{
    require_file(path);
    HMODULE plugin = LoadLibraryW(path);
    FARPROC set_slot = plugin != NULL ? GetProcAddress(plugin, "plugin_set_slot") : NULL;
    if (set_slot != NULL)
        ((void (*)(uint32_t))(void (*)(void))set_slot)(truth_slot);
    if (plugin != NULL)
        truth_image(plugin);
    return plugin;
}

/* ---- running ---- */

static uint32_t chosen_walkers(void)
{
    wchar_t names[256];
    uint32_t walkers = 1u << RECORD_WALKER_RTL;
    DWORD length = GetEnvironmentVariableW(TRUTH_WALKERS_VARIABLE, names, 256);
    if (length == 0 || length >= 256)
        return 0;
    for (wchar_t *part = wcstok(names, L","); part != NULL; part = wcstok(NULL, L","))
        for (size_t i = 0; i < sizeof walker_names / sizeof walker_names[0]; i++) {
            wchar_t wide[32];
            swprintf(wide, 32, L"%hs", walker_names[i].name);
            if (wcscmp(part, wide) == 0)
                walkers |= 1u << walker_names[i].bit;
        }
    return walkers;
}

/* How long a dump may take: the capture's own limit, made longer by what the time limit of this
 * run is longer than the scenario's. */
static uint32_t dump_limit_ms(const struct scenario *s)
{
    wchar_t text[16];
    const DWORD length = GetEnvironmentVariableW(LIMIT_VARIABLE, text, 16);
    const uint64_t given_ms = length > 0 && length < 16 ? wcstoul(text, NULL, 10) : 0;
    const uint64_t stated_ms = s->limit_ms != 0 ? s->limit_ms : LIMIT_MS;
    const uint64_t dump_ms = s->dump_limit_ms != 0 ? s->dump_limit_ms : DUMP_LIMIT_MS;
    return (uint32_t)(given_ms > stated_ms ? dump_ms * given_ms / stated_ms : dump_ms);
}

static bool install(const struct scenario *s)
{
    static wchar_t folder[VICTIM_PATH_UNITS];
    DWORD length = GetEnvironmentVariableW(TRUTH_OUT_VARIABLE, folder, VICTIM_PATH_UNITS);
    if (length == 0 || length >= VICTIM_PATH_UNITS)
        return true;
    const bool full = GetEnvironmentVariableW(TRUTH_FULL_VARIABLE, NULL, 0) > 0;
    struct capture_options options = {
        .version = CAPTURE_VERSION,
        .size = sizeof options,
        .folder = folder,
        .hang_ms = s->hang_ms != 0        ? s->hang_ms
                   : s->kind == KIND_HANG ? HANG_MS
                                          : 0,
        .walkers = chosen_walkers(),
        .end_after_hang = true,
        .ring_bytes = s->ring_kb * 1024ull,
        .from_outside = s->watched,
        .tuned_dump = s->dump_limit_ms == 0,
        .dump_limit_ms = dump_limit_ms(s),
        .offsets_only = (s->offsets_only && !full) ||
                        GetEnvironmentVariableW(TRUTH_OFFSETS_VARIABLE, NULL, 0) > 0,
        .on_crash = s->on_crash,
        .full_memory = full,
    };
    victim_open_terminate_hook();
    return capture_install(&options);
}

static int usage(void)
{
    fprintf(stderr, "usage: victims-%s SCENARIO | --list [--json] | --describe SCENARIO\n",
            VICTIM_VARIANT);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const struct scenario *s;
    find_scenarios();
    if (argc >= 2 && strcmp(argv[1], "--list") == 0)
        return list(argc == 3 && strcmp(argv[2], "--json") == 0);
    s = argc == 3 && strcmp(argv[1], "--describe") == 0 ? find(argv[2]) : NULL;
    if (s != NULL)
        return describe(s);
    s = argc == 2 ? find(argv[1]) : NULL;
    if (s == NULL)
        return usage();

    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    setvbuf(stdout, NULL, _IONBF, 0);
    const bool has_truth = truth_start();
    if (has_truth && s->prepare != NULL)
        s->prepare();
    if (!has_truth || !install(s)) {
        fprintf(stderr, "victims-%s: cannot set up the truth mapping or the capture\n",
                VICTIM_VARIANT);
        return 3;
    }
    truth_thread("main", false);
    victim_say(s->kind == KIND_CALM ? CALM_FIRST : "about to die, as asked");
    victim_say(s->name);
    int result = HERE(s->run());
    if (s->kind == KIND_CALM) {
        capture_uninstall();
        victim_stayed_calm();
        return result;
    }
    victim_say("survived the fault");
    return EXIT_SURVIVED;
}
