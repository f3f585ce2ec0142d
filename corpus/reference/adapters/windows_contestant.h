/* The protocol of the suite for a contestant that is a program for Windows: serve(). Its answer
 * reads `line`, a question about files in `folder`. Link with -lversion. */
#ifndef WINDOWS_CONTESTANT_H
#define WINDOWS_CONTESTANT_H

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1 << 22 };

/* The question, the folder of the suite, and why the question is unsupported ("": it is not). */
static char line[LINE_BYTES], folder[1024], why[256];
static int is_of_wine; /* the DLL that answers */

/* The value of the first member KEY from JSON on, up to END; NULL: there is none. */
static const char *member(const char *json, const char *end, const char *key)
{
    char quoted[32];
    const int bytes = snprintf(quoted, sizeof quoted, "\"%s\"", key);
    for (const char *p = strstr(json, quoted); p != NULL && p < end; p = strstr(p + 1, quoted)) {
        const char *value = p + bytes + strspn(p + bytes, " ");
        if (*value == ':')
            return value + 1 + strspn(value + 1, " ");
    }
    return NULL;
}

/* A string at P, with \\ and \/ read; 0 if it is none. */
static int text(const char *p, char *out, size_t bytes)
{
    size_t used = 0;
    if (p == NULL || *p++ != '"')
        return 0;
    for (; *p != '"' && *p != '\0' && used + 1 < bytes; p++) {
        if (*p == '\\')
            p++;
        out[used++] = *p;
    }
    out[used] = '\0';
    return *p == '"';
}

static uint64_t number(const char *p)
{
    return p != NULL && *p == '"' ? strtoull(p + 1, NULL, 16) : 0;
}

static int refuse(const char *reason, uint64_t address)
{
    snprintf(why, sizeof why, "%s 0x%llx", reason, (unsigned long long)address);
    return 0;
}

/* The version of Wine or, on Windows and for a file of dbghelp, that of the file DLL. */
static void print_welcome(const char *mode, const char *dll, const char *can)
{
    static uint8_t data[1 << 16];
    const char *(*wine)(void) = (const char *(*)(void))(void *)GetProcAddress(
        GetModuleHandleA("ntdll"), "wine_get_version");
    VS_FIXEDFILEINFO *facts;
    UINT bytes;
    char version[64] = "unknown";

    is_of_wine = wine != NULL && strpbrk(dll, "/\\") == NULL;
    if (is_of_wine)
        snprintf(version, sizeof version, "%s", wine());
    else if (GetFileVersionInfoA(dll, 0, sizeof data, data) &&
             VerQueryValueA(data, "\\", (void **)&facts, &bytes))
        snprintf(version, sizeof version, "%u.%u.%u.%u", HIWORD(facts->dwFileVersionMS),
                 LOWORD(facts->dwFileVersionMS), HIWORD(facts->dwFileVersionLS),
                 LOWORD(facts->dwFileVersionLS));
    printf("{\"name\":\"%s %s\",\"version\":\"%s\",\"bugs\":%s,\"can\":[\"%s\"]}\n",
           strpbrk(dll, "/\\") != NULL || wine == NULL ? "Windows" : "Wine", mode, version,
           is_of_wine ? "\"https://bugs.winehq.org\"" : "null", can);
}

/* Calls ANSWER(end of `line`, MODE) of each question. DLL: a file, or a name that Windows finds;
 * its version is the contestant's. */
static int serve(const char *mode, const char *dll, const char *can,
                 void (*answer)(const char *end, const char *mode))
{
    (void)_setmode(_fileno(stdout), _O_BINARY);
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *end = line + strlen(line);
        if (member(line, end, "hello") == NULL)
            answer(end, mode);
        else if (text(member(line, end, "suite"), folder, sizeof folder))
            print_welcome(mode, dll, can);
        fflush(stdout);
    }
    return 0;
}

#endif
