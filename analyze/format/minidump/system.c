/* The system on which a minidump's process ran: processor, version, name.
 *
 *   SYSTEM INFO (56)
 *   architecture      0
 *   level, revision   2
 *   processors        6
 *   product type      7
 *   version           8
 *   platform         20
 *   service pack     24
 *   suite            28
 *   CPU              32 */
#include <inttypes.h>
#include <string.h>

#include "format/minidump/streams.h"

static enum cpu cpu_of(uint16_t architecture)
{
    switch (architecture) {
    case 0:  /* PROCESSOR_ARCHITECTURE_INTEL */
    case 10: /* IA32_ON_WIN64 */
        return CPU_X86;
    case 9: /* AMD64 */
        return CPU_X64;
    case 5: /* ARM */
        return CPU_ARM;
    case 12:     /* ARM64 */
    case 0x8003: /* Breakpad's older number for it */
        return CPU_ARM64;
    default:
        return CPU_UNKNOWN;
    }
}

void minidump_read_system(struct minidump_reader *m, struct bytes r)
{
    struct minidump_system *out = &m->out->system;
    out->architecture = bytes_u16(&r);
    out->level = bytes_u16(&r);
    out->revision = bytes_u16(&r);
    out->processors = bytes_u8(&r);
    out->product_type = bytes_u8(&r);
    out->major = bytes_u32(&r);
    out->minor = bytes_u32(&r);
    out->build = bytes_u32(&r);
    out->platform = bytes_u32(&r);
    uint32_t service_pack = bytes_u32(&r);
    out->suite = bytes_u16(&r);
    bytes_skip(&r, 2);
    m->out->dump_cpu = cpu_of(out->architecture);
    if (bytes_failed(&r))
        return;
    out->present = true;
    out->service_pack = minidump_string(m, service_pack, "service pack");
    if (out->service_pack != NULL && out->service_pack[0] == '\0')
        out->service_pack = NULL;
    if (m->out->dump_cpu != CPU_X86 && r.left >= 16) {
        out->processor_features[0] = bytes_u64(&r);
        out->processor_features[1] = bytes_u64(&r);
    } else if (r.left >= 24) {
        memcpy(out->vendor, bytes_take(&r, 12), 12);
        for (size_t i = 0; i < 3; i++)
            out->cpu_features[i] = bytes_u32(&r);
    }
}

bool minidump_is_windows(const struct minidump *dump)
{
    return !dump->system.present || dump->system.platform <= 3;
}

const char *minidump_os_name(const struct minidump *dump, struct arena *keep)
{
    static const struct {
        uint32_t number;
        const char *name;
    } platforms[] = {
        {1, "Windows"},
        {2, "Windows NT"},
        {3, "Windows CE"},
        {0x8000, "Unix"},
        {PLATFORM_MACOS, "Mac OS X"},
        {PLATFORM_IOS, "iOS"},
        {PLATFORM_LINUX, "Linux"},
        {0x8202, "Solaris"},
        {PLATFORM_ANDROID, "Android"},
        {0x8205, "NaCl"},
        {0x8206, "Fuchsia"},
    };
    const struct minidump_system *system = &dump->system;
    if (!system->present)
        return "unknown";
    const char *name = "unknown";
    for (size_t i = 0; i < COUNT_OF(platforms); i++)
        if (platforms[i].number == system->platform)
            name = platforms[i].name;
    const char *text =
        arena_printf(keep, "%s %" PRIu32 ".%" PRIu32 ".%" PRIu32 "%s%s", name, system->major,
                     system->minor, system->build, system->service_pack != NULL ? " " : "",
                     system->service_pack != NULL ? system->service_pack : "");
    return text != NULL ? text : "unknown";
}
