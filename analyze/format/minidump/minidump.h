/* Minidumps: reads every stream that known writers emit, without trusting the file.
 *
 * Source of the format: https://learn.microsoft.com/windows/win32/api/minidumpapiset/ and, for the
 * extras, Breakpad's minidump_format.h and Crashpad's minidump_extensions.h.
 *
 *   HEADER            OFFSET SIZE      DIRECTORY entry   OFFSET SIZE
 *   "MDMP"                 0    4      stream type            0    4
 *   version                4    4      bytes                  4    4
 *   stream count           8    4      file offset            8    4
 *   directory offset      12    4                            12
 *   checksum              16    4
 *   timestamp             20    4
 *   flags                 24    8
 *                         32
 *
 * Every stream is reported: by the structs below, as a tree of values, or as its bytes where only
 * the writer knows the type. streams.c has the table. Damage to one stream does not affect the
 * others: its row of `streams` keeps the fault, the part read before the damage is kept, and
 * `partial` is set. Only a damaged header or directory fails the whole dump. Of two streams of one
 * type the first is used.
 *
 * All data is in the arena or in the caller's bytes; both must outlive the struct. */
#ifndef FORMAT_MINIDUMP_H
#define FORMAT_MINIDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/json.h"
#include "format/context/registers.h"
#include "format/record/record.h"
#include "model/module.h"

enum minidump_stream_type {
    STREAM_UNUSED = 0,
    STREAM_THREAD_LIST = 3,
    STREAM_MODULE_LIST = 4,
    STREAM_MEMORY_LIST = 5,
    STREAM_EXCEPTION = 6,
    STREAM_SYSTEM_INFO = 7,
    STREAM_THREAD_EX_LIST = 8,
    STREAM_MEMORY64_LIST = 9,
    STREAM_COMMENT_A = 10,
    STREAM_COMMENT_W = 11,
    STREAM_HANDLE_DATA = 12,
    STREAM_FUNCTION_TABLE = 13,
    STREAM_UNLOADED_MODULE_LIST = 14,
    STREAM_MISC_INFO = 15,
    STREAM_MEMORY_INFO_LIST = 16,
    STREAM_THREAD_INFO_LIST = 17,
    STREAM_HANDLE_OPERATION_LIST = 18,
    STREAM_TOKEN = 19,
    STREAM_SYSTEM_MEMORY_INFO = 21,
    STREAM_PROCESS_VM_COUNTERS = 22,
    STREAM_JAVASCRIPT_DATA = 20,
    STREAM_IPT_TRACE = 23,
    STREAM_THREAD_NAMES = 24,
    STREAM_WINE_ELF_MODULES = 0xfff0,
    STREAM_CRASHPAD_INFO = 0x43500001,
    STREAM_BREAKPAD_INFO = 0x47670001,
    STREAM_ASSERTION_INFO = 0x47670002,
    STREAM_LINUX_CPU_INFO = 0x47670003,
    STREAM_LINUX_STATUS = 0x47670004,
    STREAM_LINUX_LSB_RELEASE = 0x47670005,
    STREAM_LINUX_CMD_LINE = 0x47670006,
    STREAM_LINUX_ENVIRON = 0x47670007,
    STREAM_LINUX_AUXV = 0x47670008,
    STREAM_LINUX_MAPS = 0x47670009,
    STREAM_LINUX_DSO_DEBUG = 0x4767000a,
    STREAM_LINUX_STAT = 0x4767000b,
    STREAM_LINUX_UPTIME = 0x4767000c,
    STREAM_MAC_CRASH_INFO = 0x4d7a0001,
    STREAM_SENTRY_STACKS = 0x53790001,
    STREAM_MAC_BOOT_ARGS = 0x4d7a0002,
    STREAM_LINUX_LIMITS = 0x4d7a0003,
    STREAM_SOFT_ERRORS = 0x4d7a0004,
};

/* A place in the dump file.  foff + bytes was checked against the file's size. */
struct minidump_place {
    uint64_t foff;
    uint64_t bytes;
};

/* The contents of a stream that no struct below covers: values in stream order, nested by OBJECT or
 * ARRAY ... END. A list that damage cut short may lack its last ENDs. */
enum minidump_value_kind {
    VALUE_OBJECT,
    VALUE_ARRAY,
    VALUE_END,
    VALUE_UINT,
    VALUE_INT, /* of 32 bits, in `number` */
    VALUE_HEX,
    VALUE_TEXT,  /* NULL: none is stated                 */
    VALUE_BYTES, /* `number` bytes of the dump, borrowed */
};

struct minidump_value {
    const char *key; /* NULL in an array, and of the outermost */
    enum minidump_value_kind kind;
    uint64_t number;
    const void *data; /* const char * of VALUE_TEXT */
};

struct minidump_stream {
    uint32_t type;
    struct minidump_place place;
    struct fault fault;      /* code ERR_NONE: valid, or not examined */
    const char *json_member; /* member of the JSON that has its facts; NULL: none */
    const struct minidump_value *values;
    uint32_t value_count;
    const char *text;    /* of a stream of unknown type, if it is text; or NULL */
    uint64_t text_bytes; /* number of bytes that `text` was made from; the stream ends or a zero
                            follows */
};

struct minidump_text { /* "key: value" rows of Crashpad's annotations; a stream that is text */
    const char *key, *value;
    uint32_t type; /* of an annotation object; from 2 on its value is hexadecimal digits */
};

struct minidump_module {
    struct module module; /* identity, as stated by the dump's module list */
    uint32_t timestamp, checksum;
    uint64_t file_version, product_version;  /* 4 x 16 bits; 0: none stated */
    uint32_t file_flags, file_os, file_type; /* of VS_FIXEDFILEINFO */
    const char *codeview;                    /* "RSDS", "NB10", "BpEL", or NULL */
    const char *build_id;                    /* of "BpEL": hexadecimal; NULL    */
    struct minidump_place codeview_place, misc_place;
    uint32_t name_foff;
    const struct minidump_text *annotations;
    uint32_t annotation_count;
};

struct minidump_unloaded {
    struct module module;
    uint32_t timestamp, checksum, name_foff;
};

struct minidump_thread {
    uint32_t id;
    uint32_t suspend_count, priority_class, priority;
    uint64_t teb_va;
    uint64_t stack_start_va;
    struct minidump_place stack, context, backing_store;
    const char *name;      /* from the ThreadNames stream, otherwise our user stream; or NULL */
    enum thread_role role; /* stated by our user stream */
    bool has_info;         /* ThreadInfoList */
    uint32_t dump_flags, dump_error, exit_status;
    uint64_t create_time, exit_time, kernel_time, user_time, start_va, affinity;
};

struct minidump_memory { /* sorted, without overlaps: of two ranges the earlier start wins */
    uint64_t start_va;
    struct minidump_place place;
};

struct minidump_region { /* MemoryInfoList */
    uint64_t base_va, allocation_base_va, bytes;
    uint32_t allocation_protection, state, protection, type;
};

struct minidump_exception {
    bool present;
    uint32_t thread_id, code, flags, info_count;
    uint64_t record_va, address_va, info[15];
    struct minidump_place context;
};

struct minidump_system {
    bool present;
    uint16_t architecture, level, revision;
    uint8_t processors, product_type;
    uint32_t major, minor, build, platform;
    uint16_t suite;
    const char *service_pack;       /* NULL: none */
    char vendor[13];                /* x86 only; "" */
    uint32_t cpu_features[3];       /* x86: version, features, AMD's extended features */
    uint64_t processor_features[2]; /* others: bits of IsProcessorFeaturePresent()     */
};

struct minidump_misc {
    bool present;
    uint32_t bytes, flags, process_id;
    uint32_t create_time, user_s, kernel_s; /* create_time: seconds since 1970 */
    uint32_t max_mhz, current_mhz, limit_mhz;
    uint32_t integrity_level, execute_flags, protected_process;
    int32_t bias_minutes;
    const char *time_zone, *build, *debugger_build; /* NULL: not stated */
    uint32_t process_cookie;
    uint64_t xstate_features;
    uint32_t xstate_cet_offset; /* of CET_U in an XSAVE area; 0: not stated */
};

struct minidump_handle {
    uint64_t handle;
    const char *type, *name; /* NULL: none */
    uint32_t attributes, access, handle_count, pointer_count;
};

struct minidump_function_table { /* generated code with registered unwind data */
    uint64_t start_va, end_va, base_va;
    uint32_t entry_count, entry_bytes;
    struct minidump_place entries;
};

struct minidump_token {
    uint32_t id;
    uint64_t handle;
    uint32_t bytes;
};

struct minidump_breakpad {
    bool present;
    uint32_t validity, dump_thread_id, requesting_thread_id;
    const char *assert_expression, *assert_function, *assert_file; /* NULL: no such stream */
    uint32_t assert_line, assert_type;
};

struct minidump_crashpad {
    bool present;
    uint32_t version;
    char report_id[40], client_id[40];
    const struct minidump_text *annotations;
    uint32_t annotation_count;
    uint64_t address_mask; /* significant bits of addresses; 0: not stated */
};

struct minidump {
    const uint8_t *data; /* borrowed */
    uint64_t data_bytes;
    uint32_t version, timestamp, checksum;
    uint64_t flags;
    bool partial;      /* at least one stream has a fault */
    enum cpu cpu;      /* of the process: a WoW64 dump says x86 here    */
    enum cpu dump_cpu; /* of the thread contexts: WoW64 dumps say x64   */
    struct minidump_stream *streams;
    struct minidump_system system;
    struct minidump_misc misc;
    struct minidump_exception exception;
    struct minidump_breakpad breakpad;
    struct minidump_crashpad crashpad;
    struct minidump_module *modules;
    struct minidump_unloaded *unloaded;
    struct minidump_thread *threads;
    struct minidump_memory *memory;
    struct minidump_region *regions;
    struct minidump_handle *handles;
    struct minidump_function_table *tables;
    struct minidump_token *tokens;
    struct minidump_text *texts; /* streams that are texts, such as Linux's files: name, text */
    const char *comment;         /* NULL: none */
    const struct record *user;   /* our user stream; NULL: the dump has none */
    uint32_t stream_count, module_count, unloaded_count, thread_count, memory_count, region_count,
        handle_count, table_count, token_count, text_count;
    uint32_t memory_listed;   /* ranges as listed, before overlaps were removed */
    uint32_t unloaded_listed; /* as listed; only the first LIMIT_MODULES are kept */
};

/* Reads a dump.  DATA is borrowed.  Fails: ERR_TRUNCATED, ERR_MALFORMED (not a dump),
 * ERR_LIMIT, ERR_MEMORY; see above for damage in single streams. */
enum status minidump_read(const void *data, size_t bytes, struct arena *keep, struct minidump *out,
                          struct fault *fault);

/* Reads the data that only people need and no walk does: streams that no struct above covers, and
 * the parts of others that their structs lack. Call it once after minidump_read(), which leaves
 * these streams without values, texts and faults. Fails: ERR_MEMORY. */
enum status minidump_read_details(struct minidump *dump, struct arena *keep, struct fault *fault);

/* Copies SIZE bytes of the crashed process at VA. False when the dump lacks any of them. */
bool minidump_memory_read(const struct minidump *dump, uint64_t va, void *out, size_t bytes);

/* The dump's bytes at VA (borrowed); NULL: none. *BYTES: how many there are up to the next gap. */
const uint8_t *minidump_memory_at(const struct minidump *dump, uint64_t va, uint64_t *bytes);

/* The thread of that id, or NULL. */
const struct minidump_thread *minidump_thread_find(const struct minidump *dump, uint32_t id);

/* Registers of a thread, from its CONTEXT in the thread list. In a WoW64 process this is the x86
 * context, found through the 64-bit TEB (TLS slot 1), and *WOW64 is set. Fails: ERR_ABSENT no
 * context, ERR_TRUNCATED, ERR_UNSUPPORTED. */
enum status minidump_thread_registers(const struct minidump *dump,
                                      const struct minidump_thread *thread, struct registers *out,
                                      bool *wow64, struct fault *fault);

/* Registers of the exception.  Fails as above; ERR_ABSENT: no exception stream. */
enum status minidump_exception_registers(const struct minidump *dump, struct registers *out,
                                         bool *wow64, struct fault *fault);

/* Id of the thread that the dump is about: exception stream, then our user stream, then
 * Breakpad's requesting thread, then the first thread.  *why names the source. */
uint32_t minidump_suspect(const struct minidump *dump, const char **why);

/* Writes everything above as one JSON object; streams that no struct or value covers are written as
 * bytes. */
void minidump_write_json(struct json *j, const struct minidump *dump);

const char *minidump_stream_name(uint32_t type); /* "ThreadList"; NULL: unknown   */
/* "EXCEPTION_ACCESS_VIOLATION", "SIGSEGV", "EXC_BAD_ACCESS": the name of the exception code on the
 * dump's system; NULL: unknown. */
const char *minidump_code_name(const struct minidump *dump);
/* "EXCEPTION_ACCESS_VIOLATION_WRITE", with the fast-fail or access kind; never NULL. */
const char *minidump_reason(const struct minidump *dump, struct arena *keep);
/* The address accessed, for access violations; otherwise the exception's address. */
uint64_t minidump_crash_va(const struct minidump *dump);
/* False: Breakpad or Crashpad wrote it for a process on Linux, macOS or the like. Its streams are
 * read; its exception codes are signals or Mach exceptions, and its images have no known unwind
 * data. */
bool minidump_is_windows(const struct minidump *dump);
const char *minidump_os_name(const struct minidump *dump, struct arena *keep);

#endif
