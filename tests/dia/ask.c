/* What Microsoft's DIA answers about a PDB: ask.exe MSDIA140.DLL PDB <RVAS, one in each line,
 * hexadecimal.
 *
 * For each a line of JSON: rva, start (of the function), frames (function, file, line, the last of
 * several line records; outermost first). The interfaces IDia* are public documentation, "Debug
 * Interface Access SDK"; no header of theirs is needed, since a method is known by its number. */
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>

typedef HRESULT (*method)(void *self, ...);
#define CALL(object, number, ...) ((*(method **)(object))[number]((object), ##__VA_ARGS__))

enum unknown { UNKNOWN_RELEASE = 2 };
enum factory { FACTORY_CREATE = 3 };
enum data_source { SOURCE_LOAD_PDB = 4, SOURCE_OPEN = 8 };
enum session {
    SESSION_SYMBOL = 19,
    SESSION_LINES = 25,
    SESSION_INLINE_FRAMES = 31,
    SESSION_INLINE_LINES = 35
};
enum symbol { SYMBOL_TAG = 4, SYMBOL_NAME = 5, SYMBOL_RVA = 13 };
enum enumerator { ENUM_NEXT = 6 };
enum line { LINE_FILE = 4, LINE_NUMBER = 5 };
enum source_file { FILE_NAME = 4 };
enum tag { TAG_FUNCTION = 5, TAG_INLINE_SITE = 32 };
enum { INLINE_MAX = 64, UTF8_MAX = 16384 };

static const GUID class_source = {
    0xe6756135, 0x1e65, 0x4d17, {0x85, 0x76, 0x61, 0x07, 0x61, 0x39, 0x8c, 0x3c}};
static const GUID class_factory = {1, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
static const GUID data_source = {
    0x79f1bb5f, 0xb66e, 0x48e5, {0xb6, 0xa9, 0x15, 0x45, 0xc3, 0x23, 0xca, 0x3d}};
static void(WINAPI *free_string)(wchar_t *);

static void fail(const char *what, HRESULT result)
{
    fprintf(stderr, "%s: %08lx\n", what, (unsigned long)result);
    exit(1);
}

static void release(void *object)
{
    if (object != NULL)
        CALL(object, UNKNOWN_RELEASE);
}

static void *open_session(const char *dll, const wchar_t *pdb)
{
    typedef HRESULT(WINAPI * get_class)(const GUID *, const GUID *, void **);
    void *factory = NULL, *source = NULL, *session = NULL;
    HMODULE dia = LoadLibraryExA(dll, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (dia == NULL)
        fail(dll, (HRESULT)GetLastError());
    HRESULT result = ((get_class)(void *)GetProcAddress(dia, "DllGetClassObject"))(
        &class_source, &class_factory, &factory);
    if (result == S_OK)
        result = CALL(factory, FACTORY_CREATE, (void *)NULL, &data_source, &source);
    if (result == S_OK)
        result = CALL(source, SOURCE_LOAD_PDB, pdb);
    if (result == S_OK)
        result = CALL(source, SOURCE_OPEN, &session);
    if (result != S_OK)
        fail("the PDB cannot be opened", result);
    return session;
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

static void *next_of(void *enumerator)
{
    void *item = NULL;
    DWORD got = 0;
    return CALL(enumerator, ENUM_NEXT, 1, &item, &got) == S_OK && got == 1 ? item : NULL;
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
    void *lines = NULL;
    wchar_t *name = NULL;
    CALL(symbol, SYMBOL_NAME, &name);
    printf(is_inlined ? ",[" : "[");
    print_text(name);
    putchar(',');
    if (is_inlined)
        CALL(session, SESSION_INLINE_LINES, symbol, rva, 1, &lines);
    else
        CALL(session, SESSION_LINES, rva, 1, &lines);
    print_line(lines);
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
    free_string = (void(WINAPI *)(wchar_t *))(void *)GetProcAddress(LoadLibraryA("oleaut32.dll"),
                                                                    "SysFreeString");
    void *session = open_session(dll, argv[2]);
    while (fgets(text, sizeof text, stdin) != NULL)
        answer(session, (DWORD)strtoul(text, NULL, 16));
    return 0;
}
