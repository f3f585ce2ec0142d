/* Parts of the document that both judges print: texts, and whose library the judge was given, and
 * which: Microsoft's can also be used under Wine. */
#include <stdio.h>
#include <string.h>

#include "victims/harness/judge/dbghelp_judge.h"

static void print_text(const char *text)
{
    putchar('"');
    for (; *text != 0; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

void judge_print_known(const char *key, const char *text)
{
    printf(",\"%s\":", key);
    if (text != NULL)
        print_text(text);
    else
        printf("null");
}

/* VS_VERSIONINFO is a header of 6 bytes, the key "VS_VERSION_INFO" with its zero, padding to a
 * multiple of 4, and then VS_FIXEDFILEINFO. */
enum { FIXED_INFO_AT = 40, FIXED_INFO_SIGNATURE = 0xfeef04bd, WINE_MARK_AT = 0x40 };
enum { VERSION_TYPE = 16 }; /* RT_VERSION, which is of another type without UNICODE */

/* Wine marks the files of its own after the DOS header. */
static bool is_of_wine(HMODULE library)
{
    static const char mark[] = "Wine builtin DLL";
    return memcmp((const char *)library + WINE_MARK_AT, mark, sizeof mark - 1) == 0;
}

static bool read_fixed_info(HMODULE library, VS_FIXEDFILEINFO *out)
{
    HRSRC found =
        FindResourceW(library, MAKEINTRESOURCEW(VS_VERSION_INFO), MAKEINTRESOURCEW(VERSION_TYPE));
    HGLOBAL loaded = found != NULL ? LoadResource(library, found) : NULL;
    const char *bytes = loaded != NULL ? LockResource(loaded) : NULL;
    if (bytes == NULL || SizeofResource(library, found) < FIXED_INFO_AT + sizeof *out)
        return false;
    memcpy(out, bytes + FIXED_INFO_AT, sizeof *out);
    return out->dwSignature == (DWORD)FIXED_INFO_SIGNATURE;
}

void judge_print_version(const wchar_t *library_name, const char *name)
{
    char text[96];
    VS_FIXEDFILEINFO info;
    HMODULE library = GetModuleHandleW(library_name);
    FARPROC wine = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version");
    if (wine != NULL && is_of_wine(library))
        snprintf(text, sizeof text, "%s of Wine %s", name,
                 ((const char *(*)(void))(void (*)(void))wine)());
    else if (read_fixed_info(library, &info))
        snprintf(text, sizeof text, "%s of Microsoft %u.%u.%u.%u", name,
                 HIWORD(info.dwFileVersionMS), LOWORD(info.dwFileVersionMS),
                 HIWORD(info.dwFileVersionLS), LOWORD(info.dwFileVersionLS));
    else
        snprintf(text, sizeof text, "%s of Microsoft", name);
    print_text(text);
}
