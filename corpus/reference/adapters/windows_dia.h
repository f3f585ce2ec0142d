/* Microsoft's DIA without a header of theirs: a method is known by its number ("Debug Interface
 * Access SDK" lists them in order). */
#ifndef WINDOWS_DIA_H
#define WINDOWS_DIA_H

#include <windows.h>

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
enum line_record { LINE_FILE = 4, LINE_NUMBER = 5 };
enum source_file { FILE_NAME = 4 };
enum tag { TAG_FUNCTION = 5, TAG_INLINE_SITE = 32 };

static void(WINAPI *free_string)(wchar_t *); /* of a text that DIA gave; set by load_dia() */

static void release(void *object)
{
    if (object != NULL)
        CALL(object, UNKNOWN_RELEASE);
}

/* The factory of sources of data in the DLL at PATH; NULL: it cannot be loaded. */
static void *load_dia(const char *path)
{
    static const GUID class_source = {
        0xe6756135, 0x1e65, 0x4d17, {0x85, 0x76, 0x61, 0x07, 0x61, 0x39, 0x8c, 0x3c}};
    static const GUID class_factory = {1, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
    typedef HRESULT(WINAPI * get_class)(const GUID *, const GUID *, void **);
    void *factory = NULL;
    HMODULE dll = LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    FARPROC get = dll != NULL ? GetProcAddress(dll, "DllGetClassObject") : NULL;
    free_string = (void(WINAPI *)(wchar_t *))(void *)GetProcAddress(LoadLibraryA("oleaut32.dll"),
                                                                    "SysFreeString");
    return get != NULL && free_string != NULL &&
                   ((get_class)(void *)get)(&class_source, &class_factory, &factory) == S_OK
               ? factory
               : NULL;
}

/* Opens PDB. The caller releases *SOURCE and *SESSION, also after a failure. */
static HRESULT open_pdb(void *factory, const wchar_t *pdb, void **source, void **session)
{
    static const GUID data_source = {
        0x79f1bb5f, 0xb66e, 0x48e5, {0xb6, 0xa9, 0x15, 0x45, 0xc3, 0x23, 0xca, 0x3d}};
    *source = *session = NULL;
    HRESULT result = CALL(factory, FACTORY_CREATE, (void *)NULL, &data_source, source);
    if (result == S_OK)
        result = CALL(*source, SOURCE_LOAD_PDB, pdb);
    if (result == S_OK)
        result = CALL(*source, SOURCE_OPEN, session);
    return result;
}

/* The next one of a list; NULL: there is none. */
static void *next_of(void *enumerator)
{
    void *item = NULL;
    DWORD got = 0;
    return CALL(enumerator, ENUM_NEXT, 1, &item, &got) == S_OK && got == 1 ? item : NULL;
}

/* The lines at RVA: of an inlined call by its SYMBOL. NULL: none. */
static void *lines_at(void *session, void *symbol, DWORD rva, int is_inlined)
{
    void *lines = NULL;
    if (is_inlined)
        CALL(session, SESSION_INLINE_LINES, symbol, rva, 1, &lines);
    else
        CALL(session, SESSION_LINES, rva, 1, &lines);
    return lines;
}

#endif
