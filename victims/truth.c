/* Filling the truth mapping: opening it, threads, images.  Linked into the program and,
 * for the slot alone, into plugins. */
#include "victims/shadow.h"

#include <string.h>

uint32_t truth_slot;
static struct truth_map *truth;
static HRESULT(WINAPI *set_name)(HANDLE, PCWSTR); /* NULL: an older Windows */

static bool open_mapping(void)
{
    wchar_t name[128];
    HANDLE mapping;
    DWORD length = GetEnvironmentVariableW(TRUTH_VARIABLE, name, 128);
    if (length > 0 && length < 128)
        mapping = OpenFileMappingW(FILE_MAP_ALL_ACCESS, FALSE, name);
    else /* run by hand: no launcher will read it */
        mapping = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
                                     sizeof(struct truth_map), NULL);
    if (mapping == NULL)
        return false;
    truth = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, sizeof(struct truth_map));
    return truth != NULL;
}

void truth_image(const void *base)
{
    const uint8_t *image = base;
    const IMAGE_NT_HEADERS *nt =
        (const IMAGE_NT_HEADERS *)(image + ((const IMAGE_DOS_HEADER *)image)->e_lfanew);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(nt);
    for (int i = 0; i < nt->FileHeader.NumberOfSections; i++, section++) {
        const uint32_t bytes = section->Misc.VirtualSize;
        if (memcmp(section->Name, ".rdata", 6) != 0 || truth->image_count >= TRUTH_IMAGES ||
            bytes > TRUTH_TEXT_BYTES - truth->text_used)
            continue;
        struct truth_image *entry = &truth->images[truth->image_count];
        entry->va = (uintptr_t)image + section->VirtualAddress;
        entry->bytes = bytes;
        entry->text_offset = truth->text_used;
        memcpy(truth->text + truth->text_used, image + section->VirtualAddress, bytes);
        truth->text_used += bytes;
        truth->image_count++;
    }
}

const char *truth_keep_text(const char *text)
{
    static CRITICAL_SECTION keeping;
    static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    static uint32_t first, used;
    enum { POOL_BYTES = 64 << 10 };
    BOOL is_first = FALSE;
    InitOnceBeginInitialize(&once, 0, &is_first, NULL);
    if (is_first) { /* the pool is an image's texts that lie in the mapping itself */
        InitializeCriticalSection(&keeping);
        first = truth->text_used;
        truth->text_used += POOL_BYTES;
        struct truth_image *entry = &truth->images[truth->image_count++];
        entry->va = (uintptr_t)truth->text + first;
        entry->bytes = POOL_BYTES;
        entry->text_offset = first;
        InitOnceComplete(&once, 0, NULL);
    }
    EnterCriticalSection(&keeping);
    char *at = truth->text + first, *end = at + used;
    while (at < end && strcmp(at, text) != 0)
        at += strlen(at) + 1;
    if (at == end && strlen(text) < POOL_BYTES - used) {
        memcpy(at, text, strlen(text) + 1);
        used += (uint32_t)strlen(text) + 1;
    }
    LeaveCriticalSection(&keeping);
    return at < end || used > 0 ? at : "";
}

bool truth_start(void)
{
    DWORD slot = TlsAlloc();
    if (slot >= 64 || !open_mapping()) /* later slots are not in the environment block */
        return false;
    truth_slot = slot;
    set_name = (HRESULT(WINAPI *)(HANDLE, PCWSTR))(void (*)(void))GetProcAddress(
        GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription");
    truth_image(GetModuleHandleW(NULL));
    truth->magic = TRUTH_MAGIC;
    return true;
}

void truth_thread(const char *role, bool suspect)
{
    LONG at = InterlockedIncrement((volatile LONG *)&truth->stack_count) - 1;
    if (at >= TRUTH_THREADS) {
        TerminateProcess(GetCurrentProcess(), EXIT_USAGE);
        return;
    }
    struct truth_stack *stack = &truth->stacks[at];
    stack->thread_id = GetCurrentThreadId();
    wchar_t name[sizeof stack->role] = {0};
    for (size_t i = 0; i + 1 < sizeof stack->role && role[i] != 0; i++) {
        stack->role[i] = role[i];
        name[i] = (wchar_t)role[i];
    }
    if (set_name != NULL)
        set_name(GetCurrentThread(), name);
    stack->suspect = suspect;
    if (TlsGetValue(truth_slot) != NULL)
        TRUTH_STACK->left = 1;
    TlsSetValue(truth_slot, stack);
    TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_THREAD_START);
}

uint32_t truth_depth(void)
{
    return TRUTH_STACK->depth;
}

void truth_cut(uint32_t depth)
{
    TRUTH_STACK->depth = depth;
}
