/* What Microsoft's DIA answers about a PDB: ask.exe MSDIA140.DLL PDB <RVAS, one in each line,
 * hexadecimal.
 *
 * For each a line of JSON: rva, start (of the function), frames (function, file, and the lines of
 * the first and the last of its line records; outermost first). */
#include <stdio.h>
#include <stdlib.h>

#include "windows_dia.h"

enum { INLINE_MAX = 64, UTF8_MAX = 16384 };

static void fail(const char *what, HRESULT result)
{
    fprintf(stderr, "%s: %08lx\n", what, (unsigned long)result);
    exit(1);
}

static void print_text(wchar_t *text)
{
    static char utf8[UTF8_MAX];
    utf8[0] = '\0';
    if (text != NULL)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof utf8, NULL, NULL);
    putchar('"');
    for (const char *c = utf8; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            putchar('\\');
        putchar(*c);
    }
    putchar('"');
    if (text != NULL)
        free_string(text);
}

/* The first line record counts. */
static void print_line(void *lines)
{
    DWORD first = 0, last = 0, count = 0;
    wchar_t *name = NULL;
    for (void *line; lines != NULL && (line = next_of(lines)) != NULL; release(line)) {
        void *file = NULL;
        CALL(line, LINE_NUMBER, &last);
        if (count++ > 0)
            continue;
        first = last;
        if (CALL(line, LINE_FILE, &file) == S_OK && file != NULL)
            CALL(file, FILE_NAME, &name);
        release(file);
    }
    print_text(name);
    printf(",%lu,%lu]", first, last);
    release(lines);
}

static void print_frame(void *session, void *symbol, DWORD rva, int is_inlined)
{
    wchar_t *name = NULL;
    CALL(symbol, SYMBOL_NAME, &name);
    printf(is_inlined ? ",[" : "[");
    print_text(name);
    putchar(',');
    print_line(lines_at(session, symbol, rva, is_inlined));
}

static void answer(void *session, DWORD rva)
{
    void *function = NULL, *frames = NULL, *inlined[INLINE_MAX];
    long distance = 0;
    DWORD start = 0;
    int count = 0;
    printf("{\"rva\":\"0x%lx\",\"frames\":[", rva);
    if (CALL(session, SESSION_SYMBOL, rva, TAG_FUNCTION, &function, &distance) == S_OK &&
        function != NULL) {
        CALL(function, SYMBOL_RVA, &start);
        print_frame(session, function, rva, 0);
        if (CALL(session, SESSION_INLINE_FRAMES, function, rva, &frames) == S_OK && frames != NULL)
            while (count < INLINE_MAX && (inlined[count] = next_of(frames)) != NULL)
                count++;
        while (count-- > 0) { /* innermost first, and the function itself is among them */
            DWORD tag = 0;
            CALL(inlined[count], SYMBOL_TAG, &tag);
            if (tag == TAG_INLINE_SITE)
                print_frame(session, inlined[count], rva, 1);
            release(inlined[count]);
        }
        release(frames);
        release(function);
    }
    printf("],\"start\":%lu}\n", start);
}

int wmain(int argc, wchar_t **argv)
{
    char dll[MAX_PATH], text[32];
    if (argc != 3 || WideCharToMultiByte(CP_ACP, 0, argv[1], -1, dll, sizeof dll, NULL, NULL) == 0)
        fail("usage: ask.exe MSDIA140.DLL PDB <RVAS", 0);
    void *factory = load_dia(dll), *source, *session;
    if (factory == NULL)
        fail(dll, (HRESULT)GetLastError());
    const HRESULT result = open_pdb(factory, argv[2], &source, &session);
    if (result != S_OK)
        fail("the PDB cannot be opened", result);
    while (fgets(text, sizeof text, stdin) != NULL)
        answer(session, (DWORD)strtoul(text, NULL, 16));
    return 0;
}
