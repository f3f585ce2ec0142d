/* What the capture writes of modules, threads, walks and of the exception is what the analyser's
 * reader of records reads: two programs by capture/record.h. */
#include <string.h>

#include "base/array.h"
#include "format/record/record.h"
#include "test.h"
#include "use_code_map.h"

#define A_BASE UINT64_C(0x140000000)
#define B_BASE UINT64_C(0x180000000)
enum { A_BYTES = 0x9000, B_BYTES = 0x1A2000 };

static const uint8_t guid[16] = {0x9D, 0xD9, 0x49, 0x32, 0x40, 0x0C, 0x31, 0x49,
                                 0x86, 0x10, 0xF4, 0xE4, 0xFB, 0x0B, 0x69, 0x36};

static void put_module(uint32_t timestamp, uint64_t base_va, uint64_t image_bytes, const char *path,
                       const char *pdb)
{
    struct cap_module *m = &cap.modules[cap.module_count++];
    m->timestamp = timestamp;
    m->base_va = base_va;
    m->image_bytes = image_bytes;
    m->unloaded_ns = RECORD_NEVER;
    m->path_bytes = (uint16_t)strlen(path);
    m->pdb_bytes = (uint16_t)strlen(pdb);
    memcpy(m->path, path, m->path_bytes);
    memcpy(m->pdb, pdb, m->pdb_bytes);
    m->ready = 1;
}

/* A program and a DLL that was unloaded. */
static void put_modules(void)
{
    code_map_reset();
    cap.module_count = 0;
    put_module(0x5AB38077, A_BASE, A_BYTES, "C:\\x\\a.exe", "a.pdb");
    put_module(1, B_BASE, B_BYTES, "C:\\b.dll", "");
    memcpy(cap.modules[0].guid, guid, sizeof guid);
    cap.modules[0].age = 10;
    cap.modules[1].loaded_ns = 5;
    cap.modules[1].unloaded_ns = 9;
}

static void read_written(struct arena *keep, struct record *out)
{
    struct fault fault = FAULT_INIT;
    uint32_t bytes = 0;
    const uint8_t *at = code_map_written(&bytes);
    arena_init(keep, 0);
    REQUIRE(record_read(bytes_over(at, bytes, &fault), keep, out) == ERR_NONE);
    CHECK(!out->partial);
    CHECK_EQ(out->uncommitted_bytes, 0);
}

TEST(the_head_says_who_crashed_and_why)
{
    static const struct {
        const char *name;
        uint32_t parameters;
        uint64_t info[2];
        bool has_exception;
    } rows[] = {
        {"a hang", 0, {0, 0}, false},
        {"no parameter", 0, {0, 0}, true},
        {"one", 1, {11, 0}, true},
        {"two", 2, {11, 22}, true},
        {"three, of which two are kept", 3, {11, 22}, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const EXCEPTION_RECORD exception = {.ExceptionCode = 0xC0000005,
                                            .ExceptionFlags = 1,
                                            .NumberParameters = rows[i].parameters,
                                            .ExceptionAddress = (void *)(uintptr_t)0x140001234,
                                            .ExceptionInformation = {11, 22, 33}};
        const struct cap_stops stops = {.copy_ns = 1001, .rtl_ns = 1002, .dump_ns = 1003};
        const bool has = rows[i].has_exception;
        struct record r;
        struct arena keep;
        test_row(rows[i].name);
        put_modules();
        cap.process_id = 4242;
        cap.writer = RECORD_WRITER_WATCHER;
        cap_crash_record_begin(has ? RECORD_KIND_CRASH : RECORD_KIND_HANG, 77,
                               has ? &exception : NULL, RECORD_HOOK_VECTORED | RECORD_HOOK_SIGABRT);
        cap_crash_record_stops(&stops, 4, 2);
        read_written(&keep, &r);
        CHECK_EQ(r.machine, 0x8664);
        CHECK_EQ(r.pointer_bytes, 8);
        CHECK_EQ(r.kind, has ? RECORD_KIND_CRASH : RECORD_KIND_HANG);
        CHECK_EQ(r.process_id, 4242);
        CHECK_EQ(r.suspect_id, 77);
        CHECK_EQ(r.writer, RECORD_WRITER_WATCHER);
        CHECK_EQ(r.hooks, RECORD_HOOK_VECTORED | RECORD_HOOK_SIGABRT);
        CHECK_HEX(r.exception_code, has ? 0xC0000005 : 0);
        CHECK_EQ(r.exception_flags, has);
        CHECK_HEX(r.exception_va, has ? 0x140001234 : 0);
        CHECK_EQ(r.exception_info[0], rows[i].info[0]);
        CHECK_EQ(r.exception_info[1], rows[i].info[1]);
        CHECK_EQ(r.stop_copy_ns, 1001);
        CHECK_EQ(r.stop_rtl_ns, 1002);
        CHECK_EQ(r.stop_dump_ns, 1003);
        CHECK_EQ(r.sample_count, 4);
        CHECK_EQ(r.left_suspended, 2);
        arena_free(&keep);
    }
}

TEST(modules_are_read_with_their_identities)
{
    struct record r;
    struct arena keep;
    put_modules();
    cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
    cap_crash_record_modules();
    read_written(&keep, &r);
    REQUIRE(r.module_count == 2);
    test_row("a program");
    CHECK_STR(r.modules[0].name, "a.exe");
    CHECK_STR(r.modules[0].path, "C:\\x\\a.exe");
    CHECK_STR(r.modules[0].pdb_name, "a.pdb");
    CHECK_STR(r.modules[0].code_id, "5AB380779000");
    CHECK_STR(r.modules[0].debug_id, "3249D99D0C4049318610F4E4FB0B6936a");
    CHECK_HEX(r.modules[0].base_va, A_BASE);
    CHECK_HEX(r.modules[0].image_bytes, A_BYTES);
    CHECK_EQ(r.modules[0].loaded_at_ns, 0);
    CHECK(r.modules[0].unloaded_at_ns == MODULE_STILL_LOADED);
    test_row("an unloaded DLL");
    CHECK_STR(r.modules[1].path, "C:\\b.dll");
    CHECK_STR(r.modules[1].code_id, "000000011a2000");
    CHECK_STR(r.modules[1].debug_id, "");
    CHECK_EQ(r.modules[1].loaded_at_ns, 5);
    CHECK_EQ(r.modules[1].unloaded_at_ns, 9);
    test_row("how long they took");
    REQUIRE(r.timing_count == 1);
    CHECK_EQ(r.timings[0].stage, RECORD_STAGE_MODULES);
    CHECK_EQ(r.timings[0].walker, 0);
    CHECK_EQ(r.timings[0].ns, 7);
    /* a head of 16 bytes; of each entry 64 bytes and its texts, padded to 8 */
    CHECK_EQ(r.timings[0].bytes, 16 + 64 + 16 + 64 + 8);
    arena_free(&keep);
}

TEST(a_walk_is_read_frame_by_frame)
{
    static const struct {
        const char *name;
        uint64_t pc_va;
        uint32_t flags;
        int module; /* -1: none */
        uint64_t offset;
        enum pc_kind kind;
        enum frame_class class;
    } rows[] = {
        {"interrupted", A_BASE + 0x1000, 0, 0, 0x1000, PC_INTERRUPTED, CLASS_NONE},
        {"a return address", B_BASE + 0x20, RECORD_FRAME_RETURN, 1, 0x20, PC_RETURN, CLASS_NONE},
        {"that follows the last call of a module", A_BASE + A_BYTES, RECORD_FRAME_RETURN, 0,
         A_BYTES, PC_RETURN, CLASS_NONE},
        {"interrupted after the end of a module", A_BASE + A_BYTES, 0, -1, A_BASE + A_BYTES,
         PC_INTERRUPTED, CLASS_NONE},
        {"in generated code", 0x100008, RECORD_FRAME_RETURN, -1, 0x100008, PC_RETURN,
         CLASS_GENERATED},
        {"the capture itself", B_BASE + 0x108, RECORD_FRAME_RETURN, 1, 0x108, PC_RETURN,
         CLASS_CAPTURE},
        {"after the capture itself", B_BASE + 0x110, RECORD_FRAME_RETURN, 1, 0x110, PC_RETURN,
         CLASS_NONE},
        {"nowhere", 0x77, 0, -1, 0x77, PC_INTERRUPTED, CLASS_NONE},
    };
    static const struct capture_method method = {
        .size = sizeof method, .token = 0x06000001, .start = (const void *)0x100000, .bytes = 16};
    static struct cap_walk walk;
    struct record r;
    struct arena keep;
    walk = (struct cap_walk){.walker = RECORD_WALKER_RTL,
                             .state = RECORD_STATE_FAULTED,
                             .stop = RECORD_STOP_READ_FAULT,
                             .thread_id = 78,
                             .total = COUNT_OF(rows),
                             .sample = 3,
                             .walk_ns = 1234,
                             .at_ns = 5678,
                             .reason = "why not"};
    for (uint32_t i = 0; i < COUNT_OF(rows); i++)
        walk.frames[i] = (struct cap_frame){
            rows[i].pc_va, rows[i].flags | RECORD_FOUND_UNWIND << RECORD_FRAME_SHIFT_FOUND};
    put_modules();
    cap.own_code = (struct cap_bounds){B_BASE + 0x100, B_BASE + 0x110};
    CHECK(capture_register_method(&method));
    cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
    cap_crash_record_modules();
    cap_crash_record_stack(&walk);
    walk.total = CAP_FRAMES + 5;
    walk.reason = NULL;
    cap_crash_record_stack(&walk);
    read_written(&keep, &r);
    REQUIRE(r.stack_count == 2 && r.stacks[0].frame_count == COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        const struct frame *frame = &r.stacks[0].frames[i];
        test_row(rows[i].name);
        CHECK(frame->module == (rows[i].module < 0 ? NULL : &r.modules[rows[i].module]));
        CHECK_HEX(frame->offset, rows[i].offset);
        CHECK_EQ(frame->kind, rows[i].kind);
        CHECK_EQ(frame->frame_class, rows[i].class);
        CHECK_EQ(frame->found_by, FOUND_UNWIND);
    }
    test_row("the walk");
    CHECK_EQ(r.stacks[0].walker, RECORD_WALKER_RTL);
    CHECK_EQ(r.stacks[0].state, RECORD_STATE_FAULTED);
    CHECK_EQ(r.stacks[0].stop, RECORD_STOP_READ_FAULT);
    CHECK_EQ(r.stacks[0].thread_id, 78);
    CHECK_EQ(r.stacks[0].sample, 3);
    CHECK_EQ(r.stacks[0].left_out, 0);
    CHECK_EQ(r.stacks[0].walk_ns, 1234);
    CHECK_EQ(r.stacks[0].at_ns, 5678);
    CHECK_STR(r.stacks[0].reason, "why not");
    test_row("one of more frames than are kept");
    CHECK_EQ(r.stacks[1].frame_count, CAP_FRAMES);
    CHECK_EQ(r.stacks[1].left_out, 5);
    CHECK_STR(r.stacks[1].reason, NULL);
    arena_free(&keep);
}

TEST(threads_are_read_with_their_names)
{
    static struct cap_thread threads[] = {
        {.id = 77, .flags = RECORD_THREAD_SUSPECT, .name_bytes = 4, .name = "main"},
        {.id = 78, .flags = RECORD_THREAD_MAIN | RECORD_THREAD_CAPTURE},
    };
    struct record r;
    struct arena keep;
    put_modules();
    cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
    cap_crash_record_threads(threads, COUNT_OF(threads));
    read_written(&keep, &r);
    REQUIRE(r.thread_count == 2);
    CHECK_EQ(r.threads[0].id, 77);
    CHECK_EQ(r.threads[0].flags, RECORD_THREAD_SUSPECT);
    CHECK_STR(r.threads[0].name, "main");
    CHECK_EQ(r.threads[1].id, 78);
    CHECK_EQ(r.threads[1].flags, RECORD_THREAD_MAIN | RECORD_THREAD_CAPTURE);
    CHECK_STR(r.threads[1].name, NULL);
    arena_free(&keep);
}

/* An assembly is of the module that the runtime has mapped at its base; the MVID names its symbols.
 */
TEST(an_assembly_has_the_module_of_its_base)
{
    static const struct {
        const char *name;
        uint64_t base_va;
        int module; /* -1: none */
    } rows[] = {
        {"of the first module", A_BASE, 0},
        {"of the second", B_BASE, 1},
        {"of no module", A_BASE + 0x1000, -1},
        {"whose base is not known", 0, -1},
    };
    put_modules();
    CHECK_EQ(capture_register_assembly(L"", (const void *)(uintptr_t)A_BASE, guid), 1);
    CHECK_EQ(code_map_flat.path_units, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char mvid[MVID_BYTES];
        struct record r;
        struct arena keep;
        test_row(rows[i].name);
        put_modules();
        CHECK_EQ(
            capture_register_assembly(L"a.dll", (const void *)(uintptr_t)rows[i].base_va, guid), 1);
        CHECK_HEX(code_map_flat.base_va, rows[i].base_va);
        CHECK_EQ(code_map_flat.path_units, rows[i].base_va != 0 ? 5 : 0);
        cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
        cap_crash_record_modules();
        cap_crash_record_code_map();
        read_written(&keep, &r);
        REQUIRE(r.assembly_count == 1);
        module_mvid(guid, mvid);
        CHECK(r.assemblies[0].module == (rows[i].module < 0 ? NULL : &r.modules[rows[i].module]));
        for (int k = 0; k < 2; k++)
            CHECK_STR(r.modules[k].mvid, k == rows[i].module ? mvid : "");
        arena_free(&keep);
    }
}

/* In a dump, generated code has its bytes and unwind data beside it. All memory is ones here: the
 * head of an UNWIND_INFO states one slot, which takes two: 4 + 2 * 2 + 4 bytes (Microsoft, "x64
 * exception handling"). Functions of 0x40 bytes are counted from 0x10000. */
TEST(generated_code_is_read_with_its_bytes_and_unwind_data)
{
    uint8_t ones[0x51];
    static const struct capture_method method = {
        .size = sizeof method, .token = 0x06000001, .start = (const void *)0x200000, .bytes = 0x51};
    struct fault fault = FAULT_INIT;
    struct record r;
    struct arena keep;
    uint64_t base_va = 0;
    uint32_t bytes = 0;
    memset(ones, 1, sizeof ones);
    code_map_reset();
    CHECK(capture_register_code("f", (const void *)0x100040, 24));
    CHECK(capture_register_code("leaf", (const void *)0x8000, 8)); /* has no unwind data */
    CHECK(capture_register_method(&method));
    const uint8_t *at = code_map_stream(&bytes);
    arena_init(&keep, 0);
    REQUIRE(record_read_stream(bytes_over(at, bytes, &fault), &keep, &r) == ERR_NONE);
    REQUIRE(r.code_count == 2 && r.method_count == 1);
    CHECK_HEX(r.codes[0].start_va, 0x8000);
    CHECK_EQ(r.codes[0].code_bytes, 8);
    CHECK_HEX(r.codes[1].start_va, 0x100040);
    CHECK_EQ(r.codes[1].code_bytes, 24);
    CHECK_EQ(r.methods[0].code_bytes, 0x51);
    static const struct {
        const char *name;
        uint64_t va;
        uint32_t bytes;
    } memory[] = {{"code without unwind data", 0x8000, 8},
                  {"unwind data of the first function", 0x10010, 12},
                  {"the same of the second", 0x10010, 12},
                  {"the same of the third", 0x10010, 12},
                  {"the code", 0x100040, 24},
                  {"the method", 0x200000, 0x51}};
    REQUIRE(r.memory_count == COUNT_OF(memory));
    for (size_t i = 0; i < COUNT_OF(memory); i++) {
        test_row(memory[i].name);
        CHECK_HEX(r.memory[i].va, memory[i].va);
        REQUIRE(r.memory[i].bytes == memory[i].bytes);
        CHECK_MEM(r.memory[i].at, ones, memory[i].bytes);
    }
    test_row("functions, those of methods first");
    static const uint32_t begins[] = {0x1F0000, 0x1F0040, 0xF0040};
    REQUIRE(r.function_count == COUNT_OF(begins));
    for (size_t i = 0; i < COUNT_OF(begins); i++) {
        CHECK_HEX(r.functions[i].base_va, 0x10000);
        CHECK_HEX(r.functions[i].begin_rva, begins[i]);
        CHECK_HEX(r.functions[i].end_rva, begins[i] + 0x40);
        CHECK_HEX(r.functions[i].unwind_rva, 0x10);
    }
    static const struct {
        const char *name;
        uint64_t va;
        uint32_t begin; /* 0: no function */
    } places[] = {{"the first byte of the method", 0x200000, 0x1F0000},
                  {"the last of its first function", 0x20003F, 0x1F0000},
                  {"the first of its second one", 0x200040, 0x1F0040},
                  {"the last of the method", 0x200050, 0x1F0040},
                  {"after the method", 0x200051, 0}};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        const RUNTIME_FUNCTION *found = cap_crash_managed_function(places[i].va, &base_va);
        test_row(places[i].name);
        CHECK_HEX(found != NULL ? found->BeginAddress : 0, places[i].begin);
        CHECK_HEX(base_va, 0x10000);
    }
    arena_free(&keep);
}

TEST(what_has_no_room_is_counted_in_a_file_too)
{
    struct record r;
    struct arena keep;
    put_modules();
    for (uint32_t i = 0; i < CAP_ASSEMBLIES + 2; i++)
        (void)capture_register_assembly(L"a.dll", NULL, guid);
    cap_crash_record_begin(RECORD_KIND_CRASH, 1, NULL, 0);
    cap_crash_record_code_map();
    read_written(&keep, &r);
    CHECK_EQ(r.assembly_count, CAP_ASSEMBLIES);
    CHECK_EQ(r.code_left_out, 2);
    arena_free(&keep);
}
