/* Makes a written dump complete, so that a Windows debugger takes it:
 *
 *  - the modules that our callback left out are added to the module list, which otherwise has only
 *    those whose data was kept (Wine also leaves the size of a list of all of them in the
 *    directory: such a dump "does not have a module list");
 *  - Wine's list of ELF modules, whose type is one that Microsoft reserves, becomes an unused
 * entry;
 *  - Wine's text of the service pack gets the zero that ends it.
 *
 * A dump that needs none of it keeps its bytes. Runs on a runner, which may allocate. */
#include "capture/complete_dump.h"

#include <stddef.h>
#include <string.h>

enum { WINE_ELF_MODULES = 0xfff0, MODULES_MAX = 4096, ROOM_BYTES = 2 << 20, NAME_UNITS_MAX = 1024 };
enum { STREAMS_MAX = 64, ALIGNMENT = 8, CODEVIEW_MAX = 4096, PACK_UNITS_MAX = 128 };

/* ---- what the callback left out ---- */

/* The rows, and after them, in the same allocation, what they refer to: names as MINIDUMP_STRINGs
 * and CodeView records. Until the dump's size is known, a place in a row is an offset in `data`. */
struct left_out {
    MINIDUMP_MODULE *rows;
    uint8_t *data;
    uint32_t count, data_bytes, room_bytes; /* room: for `data` */
    uint32_t longest_bytes;                 /* of a name */
};

static struct left_out left_out;

void cap_dump_begin(void)
{
    left_out.count = left_out.data_bytes = left_out.longest_bytes = 0;
    if (left_out.rows != NULL)
        return;
    uint8_t *room = VirtualAlloc(NULL, ROOM_BYTES, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    const uint32_t rows_bytes = MODULES_MAX * (uint32_t)sizeof(MINIDUMP_MODULE);
    if (room == NULL)
        return;
    left_out.rows = (MINIDUMP_MODULE *)room;
    left_out.data = room + rows_bytes;
    left_out.room_bytes = ROOM_BYTES - rows_bytes - (uint32_t)sizeof(wchar_t) * NAME_UNITS_MAX;
}

/* Appends to the data; returns the place. The caller has checked that there is room. */
static RVA append(const void *bytes, uint32_t count)
{
    const RVA at = left_out.data_bytes;
    cap_crash_copy(left_out.data + at, bytes, count);
    left_out.data_bytes += count;
    return at;
}

bool cap_dump_leave_out(const MINIDUMP_MODULE_CALLBACK *module)
{
    const wchar_t end = 0;
    ULONG32 length = 0;
    const ULONG codeview_bytes = module->CvRecord != NULL && module->SizeOfCvRecord < CODEVIEW_MAX
                                     ? module->SizeOfCvRecord
                                     : 0;
    while (length < 2 * NAME_UNITS_MAX && module->FullPath[length / 2] != 0)
        length += 2;
    const uint32_t wanted =
        (uint32_t)(sizeof length + length + sizeof end) + codeview_bytes + ALIGNMENT;
    if (left_out.rows == NULL || left_out.count == MODULES_MAX ||
        wanted > left_out.room_bytes - left_out.data_bytes)
        return false;
    MINIDUMP_MODULE *row = &left_out.rows[left_out.count++];
    *row = (MINIDUMP_MODULE){.BaseOfImage = module->BaseOfImage,
                             .SizeOfImage = module->SizeOfImage,
                             .CheckSum = module->CheckSum,
                             .TimeDateStamp = module->TimeDateStamp,
                             .VersionInfo = module->VersionInfo};
    if (left_out.longest_bytes < length)
        left_out.longest_bytes = length;
    row->ModuleNameRva = append(&length, sizeof length);
    (void)append(module->FullPath, length);
    (void)append(&end, sizeof end);
    if (codeview_bytes > 0) {
        row->CvRecord.DataSize = codeview_bytes;
        row->CvRecord.Rva = append(module->CvRecord, codeview_bytes);
    }
    left_out.data_bytes = (left_out.data_bytes + ALIGNMENT - 1) & ~(uint32_t)(ALIGNMENT - 1);
    return true;
}

/* ---- the file ---- */

static bool move_to(HANDLE file, uint64_t foff)
{
    LARGE_INTEGER to;
    to.QuadPart = (LONGLONG)foff;
    return SetFilePointerEx(file, to, NULL, FILE_BEGIN);
}

static bool read_at(HANDLE file, uint64_t foff, void *out, uint32_t bytes)
{
    DWORD got = 0;
    return move_to(file, foff) && ReadFile(file, out, bytes, &got, NULL) && got == bytes;
}

static bool write_at(HANDLE file, uint64_t foff, const void *data, uint32_t bytes)
{
    DWORD written = 0;
    return move_to(file, foff) && WriteFile(file, data, bytes, &written, NULL) && written == bytes;
}

/* Where the next part goes: at the file's end, on a multiple of ALIGNMENT. 0: it would be past what
 * 32 bits can state. */
static uint32_t end_of(HANDLE file, uint32_t bytes)
{
    LARGE_INTEGER size;
    if (!GetFileSizeEx(file, &size) || size.QuadPart > UINT32_MAX - bytes - ALIGNMENT)
        return 0;
    return ((uint32_t)size.QuadPart + ALIGNMENT - 1) & ~(uint32_t)(ALIGNMENT - 1);
}

/* WinDbg's engine takes the length of a module's name, which is in bytes, for UTF-16 units, and
 * reads as many bytes again after the name. Past the last page of the file it gives up this module
 * and all that follow: so bytes follow the last name, too. There is room for them. */
static uint32_t end_names(void)
{
    memset(left_out.data + left_out.data_bytes, 0, left_out.longest_bytes);
    return left_out.data_bytes + left_out.longest_bytes;
}

/* Writes the list anew: the rows that the writer kept, then those that were left out. */
static bool write_modules(HANDLE file, MINIDUMP_LOCATION_DESCRIPTOR *place)
{
    const uint32_t row_bytes = (uint32_t)sizeof(MINIDUMP_MODULE);
    ULONG32 kept = 0;
    if (!read_at(file, place->Rva, &kept, sizeof kept) || kept > MODULES_MAX - left_out.count)
        return false;
    MINIDUMP_MODULE *rows = left_out.rows + left_out.count; /* after those of the callback */
    if (kept > 0 && !read_at(file, place->Rva + sizeof kept, rows, kept * row_bytes))
        return false;
    const ULONG32 count = kept + left_out.count;
    const uint32_t list_bytes = (uint32_t)sizeof count + count * row_bytes;
    const uint32_t data_bytes = end_names(), start = end_of(file, list_bytes + data_bytes);
    for (uint32_t i = 0; i < left_out.count; i++) {
        MINIDUMP_MODULE *row = &left_out.rows[i];
        row->ModuleNameRva += start + list_bytes;
        row->CvRecord.Rva += row->CvRecord.DataSize > 0 ? start + list_bytes : 0;
    }
    const uint32_t kept_at = start + (uint32_t)sizeof count;
    if (start == 0 || !write_at(file, start, &count, sizeof count) ||
        (kept > 0 && !write_at(file, kept_at, rows, kept * row_bytes)) ||
        !write_at(file, kept_at + kept * row_bytes, left_out.rows, left_out.count * row_bytes) ||
        !write_at(file, start + list_bytes, left_out.data, data_bytes))
        return false;
    place->Rva = start;
    place->DataSize = list_bytes;
    return true;
}

/* Wine writes the text of the service pack without the zero that ends it: it is written anew. */
static bool end_service_pack(HANDLE file, uint32_t system_rva)
{
    struct {
        ULONG32 bytes;
        WCHAR units[PACK_UNITS_MAX + 1];
    } text;
    ULONG32 rva = 0;
    const uint64_t at = system_rva + offsetof(MINIDUMP_SYSTEM_INFO, CSDVersionRva);
    const uint32_t head_bytes = sizeof text.bytes, end_bytes = sizeof text.units[0];
    if (!read_at(file, at, &rva, sizeof rva) || rva == 0 ||
        !read_at(file, rva, &text, head_bytes) || text.bytes > 2 * PACK_UNITS_MAX ||
        !read_at(file, rva + head_bytes, text.units, text.bytes + end_bytes) ||
        text.units[text.bytes / 2] == 0)
        return true;
    text.units[text.bytes / 2] = 0;
    const uint32_t bytes = head_bytes + text.bytes + end_bytes;
    rva = end_of(file, bytes);
    return rva != 0 && write_at(file, rva, &text, bytes) && write_at(file, at, &rva, sizeof rva);
}

/* Corrects what ENTRY names; *CHANGED: the entry itself. */
static bool correct(HANDLE file, MINIDUMP_DIRECTORY *entry, bool *changed)
{
    *changed = true;
    switch (entry->StreamType) {
    case WINE_ELF_MODULES:
        entry->StreamType = UnusedStream;
        return true;
    case ModuleListStream:
        if (left_out.count > 0)
            return write_modules(file, &entry->Location);
        break;
    case SystemInfoStream:
        *changed = false;
        return end_service_pack(file, entry->Location.Rva);
    default:
        break;
    }
    *changed = false;
    return true;
}

bool cap_dump_complete(HANDLE file)
{
    MINIDUMP_HEADER header;
    MINIDUMP_DIRECTORY entry;
    bool ok = read_at(file, 0, &header, sizeof header) && header.NumberOfStreams <= STREAMS_MAX;
    for (uint32_t i = 0; ok && i < header.NumberOfStreams; i++) {
        const uint64_t at = header.StreamDirectoryRva + (uint64_t)i * sizeof entry;
        bool changed = false;
        ok = read_at(file, at, &entry, sizeof entry) && correct(file, &entry, &changed) &&
             (!changed || write_at(file, at, &entry, sizeof entry));
    }
    return ok;
}
