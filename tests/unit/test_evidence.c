/* Which case is made of the files that a victim left, without a victim: records are written for
 * it, and the images are small files of the corpus under other names. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/thread.h"
#include "capture/record.h"
#include "collect/runner.h"
#include "collect/sealing.h"
#include "format/record/record.h"
#include "test.h"

/* Of the files' headers: time stamp and size of the image (PE format, section 3.4); GUID and age
 * of its CodeView entry. Read with a few lines of Python. */
#define ALLOC_ID "DACC9BB05000"
#define CHAIN_ID "A8A8E3C35000"
#define SHAPES_ID "FF95BF308000"
#define SHAPES_PDB_ID "B53353DF72B34F03ABD5AD2A99F843691"

struct bench {
    struct arena keep;
    struct collect_options options;
    struct evidence evidence;
    struct runner runner;
    struct scenario scenario;
    const char *folder;
};

static const char *in(struct bench *b, const char *name)
{
    const char *path = arena_printf(&b->keep, "%s/%s", test_scratch(), name);
    REQUIRE(path != NULL);
    return path;
}

static void copy(struct bench *b, const char *from, const char *to)
{
    size_t bytes = 0;
    struct fault fault = FAULT_INIT;
    const char *path = in(b, to);
    const char *folder = arena_printf(&b->keep, "%.*s", (int)(path_base(path) - path - 1), path);
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    const uint8_t *data = test_read(test_source(from), &bytes);
    test_write(path, data, bytes);
}

static void leave(struct bench *b, const char *name, const char *text)
{
    test_write(path_join(&b->keep, b->folder, name), text, strlen(text));
}

static void open_bench(struct bench *b)
{
    struct fault fault = FAULT_INIT;
    static const char toolchain[] =
        "{\"compiler\":\"cc 1\",\"variants\":{\"ob2\":\"-O2\",\"ob0\":\"-O0\"}}";
    static const char *subjects[] = {"dump", "offset:rtl"};
    static const struct named_version tools[] = {{"twinstack", "9.8.7"}};
    memset(b, 0, sizeof *b);
    arena_init(&b->keep, 0);
    copy(b, "corpus/reference/images/x64-alloc.dll", "victims/victims-ob2.exe");
    copy(b, "corpus/managed/shapes.dll", "victims/shapes.dll");
    copy(b, "corpus/managed/shapes.pdb", "victims/shapes.pdb");
    copy(b, "corpus/reference/images/x64-chain.dll",
         "prefix/drive_c/windows/system32/kernel32.dll");
    copy(b, "corpus/reference/images/x64-chain.dll", "prefix/drive_c/windows/system32/ntdll.dll");
    copy(b, "corpus/managed/shapes.dll", "prefix/drive_c/windows/syswow64/kernel32.dll");
    b->folder = in(b, "out/cases/a.ob2");
    REQUIRE(path_remove(b->folder, &fault) == ERR_NONE &&
            folder_make(b->folder, &fault) == ERR_NONE);
    b->options = (struct collect_options){.victims_folder = in(b, "victims"),
                                          .out_folder = in(b, "out"),
                                          .source_root = "/src",
                                          .tools = tools,
                                          .tool_count = 1};
    test_write(in(b, "victims/toolchain.json"), toolchain, sizeof toolchain - 1);
    REQUIRE(evidence_open(&b->options, &b->keep, &b->evidence, &fault) == ERR_NONE);
    b->runner.options = &b->options;
    b->runner.prefix = in(b, "prefix");
    b->runner.drives[0] = b->options.victims_folder; /* V: */
    b->scenario = (struct scenario){.name = "a",
                                    .variant = "ob2",
                                    .kind = CASE_KIND_CRASH,
                                    .program = in(b, "victims/victims-ob2.exe"),
                                    .code = 0xC0000005,
                                    .exit_code = 0xC0000006,
                                    .hooks = RECORD_HOOK_VECTORED | RECORD_HOOK_UNHANDLED,
                                    .subjects = subjects,
                                    .subject_count = 2,
                                    .output = "hello"};
    leave(b, "outcome.json",
          "{\"exit_code\":\"0xC0000374\",\"wall_ms\":12,\"ended_by\":\"exit\"}\n");
}

static void close_bench(struct bench *b)
{
    evidence_close(&b->evidence);
    arena_free(&b->keep);
}

/* The path of a file of this test as a Windows program sees it. */
static const char *windows_path(struct bench *b, const char *name)
{
    char *path = arena_printf(&b->keep, "Z:%s", in(b, name));
    REQUIRE(path != NULL);
    for (char *p = path; *p != '\0'; p++)
        *p = *p == '/' ? '\\' : *p;
    return path;
}

struct loaded {
    const char *name, *path, *code_id, *debug_id;
};

/* A record with one frame in each module. */
static void leave_record(struct bench *b, uint32_t machine, const struct loaded *loaded,
                         uint32_t count)
{
    struct module modules[8];
    struct frame frames[8];
    struct fault fault = FAULT_INIT;
    memset(modules, 0, sizeof modules);
    memset(frames, 0, sizeof frames);
    for (uint32_t i = 0; i < count; i++) {
        struct module *m = &modules[i];
        *m = (struct module){.index = i,
                             .name = loaded[i].name,
                             .path = loaded[i].path,
                             .base_va = UINT64_C(0x10000) * (i + 1),
                             .unloaded_at_ns = MODULE_STILL_LOADED};
        (void)snprintf(m->code_id, sizeof m->code_id, "%s", loaded[i].code_id);
        (void)snprintf(m->debug_id, sizeof m->debug_id, "%s",
                       loaded[i].debug_id != NULL ? loaded[i].debug_id : "");
        frames[i] = (struct frame){.index = i,
                                   .kind = i == 0 ? PC_INTERRUPTED : PC_RETURN,
                                   .module = m,
                                   .module_name = m->name,
                                   .offset = 0x1000 + i};
    }
    const struct record facts = {.machine = machine,
                                 .kind = RECORD_KIND_CRASH,
                                 .pointer_bytes = machine == 0x8664 ? 8 : 4,
                                 .writer = RECORD_WRITER_IN_PROCESS,
                                 .exception_code = 0xC0000005,
                                 .hooks = RECORD_HOOK_VECTORED,
                                 .modules = modules,
                                 .module_count = count};
    const struct stack stack = {.frames = frames, .frame_count = count};
    REQUIRE(record_write(path_join(&b->keep, b->folder, "record.rec"), &facts, &stack,
                         RECORD_STOP_WALKER, &b->keep, &fault) == ERR_NONE);
}

/* "ROLE PATH, ..." of every file, in the order of the case. */
static const char *files_of(struct bench *b, const struct crash_case *c)
{
    const char *out = "";
    for (uint32_t i = 0; i < c->file_count; i++)
        out = arena_printf(&b->keep, "%s%s%s %s", out, i > 0 ? ", " : "",
                           case_role_name(c->files[i].role), c->files[i].path);
    return out;
}

static const char *images_of(struct bench *b, const struct crash_case *c)
{
    const char *out = "";
    for (uint32_t i = 0; i < c->own.image_count; i++)
        out = arena_printf(&b->keep, "%s%s%s", out, i > 0 ? " " : "", c->own.images[i]);
    return out;
}

TEST(a_case_says_what_the_victim_left)
{
    struct bench b;
    struct crash_case c;
    struct fault fault = FAULT_INIT;
    open_bench(&b);
    const char *shapes = windows_path(&b, "victims/shapes.dll");
    const struct loaded loaded[] = {
        {"victims-ob2.exe", "V:\\victims-ob2.exe", ALLOC_ID, NULL},
        {"shapes.dll", shapes, SHAPES_ID, SHAPES_PDB_ID},
        {"kernel32.dll", "C:\\Windows\\System32\\kernel32.dll", CHAIN_ID, NULL},
        {"ntdll.dll", "C:\\windows\\system32\\ntdll.dll", "A8A8E3C35001", NULL}, /* another one */
        {"gone.dll", windows_path(&b, "victims/gone.dll"), "1234", NULL},
        {"SHAPES.DLL", shapes, "FF95BF318000",
         NULL}, /* loaded again: the writer gives it the first id */
    };
    leave_record(&b, 0x8664, loaded, COUNT_OF(loaded));
    struct record record;
    REQUIRE(record_read_file(path_join(&b.keep, b.folder, "record.rec"), &b.keep, &record,
                             &fault) == ERR_NONE);
    REQUIRE(record.module_count == 6);
    CHECK_STR(record.modules[5].code_id, SHAPES_ID);
    leave(&b, "dump.dmp", "dump");
    leave(&b, "dump-tuned.dmp", "dump");
    leave(&b, "stdout.txt", "hello\n");
    leave(&b, "truth.json", "{}");
    REQUIRE(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault) == ERR_NONE);
    REQUIRE(case_read(b.folder, &b.keep, &c, &fault) == ERR_NONE);
    CHECK_EQ(case_verify(&c, &fault), ERR_NONE);
    case_close(&c);
    CHECK_STR(c.scenario, "a");
    CHECK_STR(c.variant, "ob2");
    CHECK_EQ(c.kind, CASE_KIND_CRASH);
    CHECK_EQ(c.arch, CPU_X64);
    CHECK_HEX(c.expect.code, 0xC0000005);
    CHECK_HEX(c.expect.exit_code, 0xC0000006);
    CHECK_EQ(c.expect.hooks, RECORD_HOOK_VECTORED | RECORD_HOOK_UNHANDLED);
    CHECK_STR(c.expect.output, "hello");
    REQUIRE(c.expect.subject_count == 2);
    CHECK_STR(c.expect.subjects[1], "offset:rtl");
    CHECK_STR(c.host.os, b.evidence.host.os);
    CHECK_STR(c.host.cpu, b.evidence.host.cpu);
    CHECK(c.host.wine == NULL);
    CHECK_HEX(c.got.code, 0xC0000005);
    CHECK_HEX(c.got.exit_code, 0xC0000374);
    CHECK_EQ(c.got.hooks, RECORD_HOOK_VECTORED);
    CHECK_EQ(c.got.wall_ms, 12);
    CHECK_EQ(c.got.ended_by, case_ending_parse("exit"));
    CHECK_STR(c.own.source_root, "/src");
    CHECK_STR(c.toolchain.compiler, "cc 1");
    CHECK_STR(c.toolchain.flags, "-O2");
    CHECK_EQ(c.tool_count, 1);
    CHECK_STR(c.tools[0].version, "9.8.7");
    CHECK_STR(images_of(&b, &c), "victims-ob2.exe shapes.dll");
    CHECK_STR(files_of(&b, &c),
              "other dump-tuned.dmp, dump dump.dmp, other outcome.json, record record.rec, "
              "stdout stdout.txt, truth truth.json, "
              "image ../../symbols/victims-ob2.exe/" ALLOC_ID "/victims-ob2.exe, "
              "image ../../symbols/shapes.dll/" SHAPES_ID "/shapes.dll, "
              "pdb ../../symbols/shapes.pdb/" SHAPES_PDB_ID "/shapes.pdb");
    /* System images are kept beside them, if the file is the one that was loaded. */
    CHECK(path_is_file(in(&b, "out/symbols/kernel32.dll/" CHAIN_ID "/kernel32.dll")));
    CHECK(!path_is_folder(in(&b, "out/symbols/ntdll.dll")));
    CHECK(!path_is_folder(in(&b, "out/symbols/gone.dll")));
    CHECK(path_is_file(in(&b, "out/symbols/shapes.pdb/" SHAPES_PDB_ID "/shapes.pdb")));
    close_bench(&b);
}

TEST(an_image_of_ours_is_the_one_that_ran)
{
    static const struct {
        const char *name, *code_id, *debug_id;
        enum status want;
    } rows[] = {
        {"it is", SHAPES_ID, SHAPES_PDB_ID, ERR_NONE},
        {"in small letters", "ff95bf308000", SHAPES_PDB_ID, ERR_NONE},
        {"the record has a wrong code id", "FF95BF308001", SHAPES_PDB_ID, ERR_NONE},
        {"built anew", "FF95BF318000", "B53353DF72B34F03ABD5AD2A99F843692", ERR_MISMATCH},
        {"nothing is known", "", "", ERR_MISMATCH},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        struct fault fault = FAULT_INIT;
        open_bench(&b);
        test_row(rows[i].name);
        const struct loaded loaded = {"shapes.dll", windows_path(&b, "victims/shapes.dll"),
                                      rows[i].code_id, rows[i].debug_id};
        leave_record(&b, 0x8664, &loaded, 1);
        CHECK_EQ(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault),
                 rows[i].want);
        if (rows[i].want != ERR_NONE)
            CHECK_HAS(fault.path, "victims/shapes.dll");
        close_bench(&b);
    }
}

TEST(a_program_of_32_bits_has_a_system_folder_of_its_own)
{
    static const struct {
        const char *name;
        uint32_t machine;
        enum cpu cpu;
        const char *kept;
    } rows[] = {
        {"x64", 0x8664, CPU_X64, "out/symbols/kernel32.dll/" CHAIN_ID "/kernel32.dll"},
        {"x86", 0x14c, CPU_X86, "out/symbols/kernel32.dll/" SHAPES_ID "/kernel32.dll"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        struct crash_case c;
        struct fault fault = FAULT_INIT;
        open_bench(&b);
        test_row(rows[i].name);
        const struct loaded loaded = {"kernel32.dll", "C:\\Windows\\system32\\kernel32.dll",
                                      i == 0 ? CHAIN_ID : SHAPES_ID, NULL};
        REQUIRE(path_remove(in(&b, "out/symbols"), &fault) == ERR_NONE);
        leave_record(&b, rows[i].machine, &loaded, 1);
        REQUIRE(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault) == ERR_NONE);
        REQUIRE(case_read(b.folder, &b.keep, &c, &fault) == ERR_NONE);
        CHECK_EQ(c.arch, rows[i].cpu);
        CHECK(path_is_file(in(&b, rows[i].kept)));
        /* The program is not in the record, and listed. */
        CHECK_STR(images_of(&b, &c), "victims-ob2.exe");
        close_bench(&b);
    }
}

/* capture/capture_port.h: another library leaves stack.txt. */
TEST(a_text_in_place_of_a_record_becomes_one)
{
    struct bench b;
    struct crash_case c;
    struct record record;
    struct fault fault = FAULT_INIT;
    open_bench(&b);
    leave(&b, "stack.txt", "> thread 77\nshapes.dll!0x1234\nkernel32.dll!0x2345\nlost.dll!0x10\n");
    REQUIRE(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault) == ERR_NONE);
    REQUIRE(case_read(b.folder, &b.keep, &c, &fault) == ERR_NONE);
    CHECK_STR(files_of(&b, &c), "other outcome.json, record record.rec, other stack.txt, "
                                "image ../../symbols/shapes.dll/" SHAPES_ID "/shapes.dll, "
                                "pdb ../../symbols/shapes.pdb/" SHAPES_PDB_ID "/shapes.pdb, "
                                "image ../../symbols/victims-ob2.exe/" ALLOC_ID "/victims-ob2.exe");
    REQUIRE(record_read_file(path_join(&b.keep, b.folder, "record.rec"), &b.keep, &record,
                             &fault) == ERR_NONE);
    CHECK_HEX(record.machine, 0x8664);
    CHECK_EQ(record.suspect_id, 77);
    REQUIRE(record.module_count == 3 && record.stack_count == 1);
    CHECK_STR(record.modules[0].code_id, SHAPES_ID);
    CHECK_STR(record.modules[0].debug_id, SHAPES_PDB_ID);
    CHECK_STR(record.modules[0].pdb_name, "shapes.pdb");
    CHECK_STR(record.modules[0].path, "V:\\shapes.dll");
    CHECK_STR(record.modules[1].code_id, CHAIN_ID);
    CHECK_STR(record.modules[1].path, "C:\\windows\\system32\\kernel32.dll");
    CHECK_STR(record.modules[2].code_id, "");
    struct stack stack;
    record_stack_describe(&record, &record.stacks[0], &stack);
    REQUIRE(stack.frame_count == 3);
    CHECK_HEX(stack.frames[0].offset, 0x1234);
    CHECK_HEX(stack.frames[1].offset, 0x2345);
    CHECK_HEX(stack.frames[2].offset, 0x10);
    close_bench(&b);
}

TEST(a_case_without_a_record_has_its_program)
{
    struct bench b;
    struct crash_case c;
    struct fault fault = FAULT_INIT;
    open_bench(&b);
    b.scenario.variant = "ob3"; /* no flags are known for it */
    REQUIRE(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault) == ERR_NONE);
    REQUIRE(case_read(b.folder, &b.keep, &c, &fault) == ERR_NONE);
    CHECK_STR(images_of(&b, &c), "victims-ob2.exe");
    CHECK_EQ(c.arch, CPU_X64);
    CHECK_HEX(c.got.code, 0);
    CHECK(c.toolchain.flags == NULL);
    test_row("a damaged record is evidence, too");
    close_bench(&b);
    open_bench(&b);
    leave(&b, "record.rec", "no record");
    REQUIRE(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault) == ERR_NONE);
    REQUIRE(case_read(b.folder, &b.keep, &c, &fault) == ERR_NONE);
    CHECK(case_file(&c, ROLE_RECORD) != NULL);
    test_row("no outcome");
    REQUIRE(path_remove(path_join(&b.keep, b.folder, "outcome.json"), &fault) == ERR_NONE);
    CHECK_EQ(evidence_seal(&b.evidence, &b.runner, &b.scenario, b.folder, &fault), ERR_ABSENT);
    close_bench(&b);
}

/* Wine is what starts programs under a name with "wine". */
TEST(the_host_names_its_wine)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;
    char other[700], wine[700];
    arena_init(&keep, 0);
    (void)snprintf(other, sizeof other, "%s/other", test_scratch());
    (void)snprintf(wine, sizeof wine, "%s/my-wine64", test_scratch());
    struct {
        const char *name;
        const char *launcher[3];
        const char *wine;
    } rows[] = {
        {"none", {NULL}, NULL},
        {"another program", {other, wine, NULL}, NULL},
        {"a script", {wine, NULL}, "wine-9.0 (Test)"},
        {"asked once", {wine, NULL}, "wine-9.0 (Test)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct collect_options options = {.launcher = rows[i].launcher};
        struct collect_host host;
        test_row(rows[i].name);
        const char *script = i < 3 ? "#!/bin/sh\necho 'wine-9.0 (Test)'\n" : "#!/bin/sh\n";
        test_write(wine, script, strlen(script));
        REQUIRE(chmod(wine, 0755) == 0);
        REQUIRE(collect_describe_host(&options, &keep, &host, &fault) == ERR_NONE);
        CHECK_STR(host.wine, rows[i].wine);
        CHECK(host.os != NULL && host.cpu != NULL);
    }
    arena_free(&keep);
}

static bool gives_up(void *context)
{
    (void)context;
    return false;
}

TEST(a_prefix_that_another_process_uses_is_waited_for)
{
    struct runner runner;
    struct fault fault = FAULT_INIT;
    char prefix[700], file[710], byte = 0;
    int ready[2], done[2];
    const char *const launcher[] = {test_actor(), "exit 0", NULL};
    (void)snprintf(prefix, sizeof prefix, "%s/prefix", test_scratch());
    (void)snprintf(file, sizeof file, "%s.lock", prefix);
    REQUIRE(pipe(ready) == 0 && pipe(done) == 0);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const pid_t child = fork();
    if (child == 0) {
        const int lock = open(file, O_RDWR | O_CREAT, 0666);
        const bool held = lock >= 0 && fcntl(lock, F_SETLK, &whole) == 0;
        (void)close(done[1]);
        _exit(held && write(ready[1], "x", 1) == 1 && read(done[0], &byte, 1) == 0 ? 0 : 1);
    }
    (void)close(ready[1]);
    REQUIRE(child > 0 && read(ready[0], &byte, 1) == 1);
    const struct collect_options options = {
        .prefix_folder = prefix, .launcher = launcher, .keeps_waiting = gives_up};
    CHECK_EQ(runner_open(&options, 0, &runner, &fault), ERR_TIMEOUT);
    CHECK_HAS(fault.hint, "--prefix");
    runner_close(&runner);
    (void)close(done[1]);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}
