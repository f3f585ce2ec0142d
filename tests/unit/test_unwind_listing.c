/* The unwind data of whole images, printed in the form of LLVM's tools and compared with their
 * output; and the call frame information that another tool derived from the same image. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/text.h"
#include "test.h"
#include "unwind/arm64_info.h"
#include "unwind/x64_info.h"
#include "unwind_world.h"

struct listing {
    char *text;
    size_t bytes, room;
};

static void say(struct listing *l, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void say(struct listing *l, const char *format, ...)
{
    va_list arguments;
    if (l->room - l->bytes < 512) {
        l->room = l->room * 2 + 4096;
        l->text = realloc(l->text, l->room);
        REQUIRE(l->text != NULL);
    }
    va_start(arguments, format);
    l->bytes += (size_t)vsnprintf(l->text + l->bytes, l->room - l->bytes, format, arguments);
    va_end(arguments);
}

static char *gunzip(const char *path, struct arena *keep)
{
    const char *const argv[] = {"gzip", "-dc", path, NULL};
    struct process_request request = {.argv = argv};
    struct process_result result;
    struct fault fault = FAULT_INIT;
    if (process_run(&request, keep, &result, &fault) == ERR_ABSENT)
        SKIP("gzip is not installed");
    REQUIRE(fault.code == ERR_NONE && result.exit_code == 0);
    return result.output;
}

/* Not strcspn(): the sanitizer's looks for the end of the whole text at each call. */
static size_t line_bytes(const char *at, const char *end)
{
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((found != NULL ? found : end) - at);
}

/* Prints the first line that differs, which is more useful than two whole texts. */
static void compare(const char *got, const char *want)
{
    const char *const got_end = got + strlen(got), *const want_end = want + strlen(want);
    for (unsigned line = 1;; line++) {
        const size_t a = line_bytes(got, got_end), b = line_bytes(want, want_end);
        if (a != b || memcmp(got, want, a) != 0) {
            FAIL("line %u is '%.*s', not '%.*s'", line, (int)a, got, (int)b, want);
            return;
        }
        if (got[a] == '\0' || want[b] == '\0') {
            CHECK(got[a] == want[b]);
            return;
        }
        got += a + 1;
        want += b + 1;
    }
}

static const char *upper(const char *name, char out[8])
{
    size_t i = 0;
    for (; name[i] != '\0' && i < 7; i++)
        out[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
    out[i] = '\0';
    return out;
}

static void say_x64_code(struct listing *l, const struct x64_code *code)
{
    char name[8];
    say(l, "      0x%02x: ", code->prologue_offset);
    switch (code->op) {
    case X64_PUSH_NONVOL:
        say(l, "UOP_PushNonVol %s\n", upper(register_name(CPU_X64, code->info), name));
        break;
    case X64_ALLOC_LARGE: /* LLVM does not scale the scaled form */
        say(l, "UOP_AllocLarge %" PRIu32 "\n", code->info == 0 ? code->bytes / 8 : code->bytes);
        break;
    case X64_ALLOC_SMALL:
        say(l, "UOP_AllocSmall %" PRIu32 "\n", code->bytes);
        break;
    case X64_SET_FPREG:
        say(l, "UOP_SetFPReg \n");
        break;
    case X64_SAVE_NONVOL:
        say(l, "UOP_SaveNonVol %s [0x%04" PRIx32 "]\n",
            upper(register_name(CPU_X64, code->info), name), code->bytes);
        break;
    case X64_SAVE_XMM128:
        say(l, "UOP_SaveXMM128 XMM%u [0x%04" PRIx32 "]\n", code->info, code->bytes);
        break;
    case X64_EPILOG:
        say(l, "UOP_Epilog\n");
        break;
    default:
        say(l, "%s\n", x64_op_name(code->op));
    }
}

static void say_x64_function(struct listing *l, struct world *w, const struct unwind_entry *entry)
{
    static const char *const flags[] = {
        "",
        " UNW_ExceptionHandler",
        " UNW_TerminateHandler",
        " UNW_ExceptionHandler UNW_TerminateHandler",
        " UNW_ChainInfo",
    };
    struct x64_info info;
    char name[8];
    REQUIRE(x64_info_read(&w->process, entry->base_va, entry->unwind_rva, &info) == STOP_NONE);
    say(l, "Function Table:\n  Start Address: 0x%" PRIx32 "\n  End Address: 0x%" PRIx32 "\n",
        entry->begin_rva, entry->end_rva);
    say(l, "  Unwind Info Address: 0x%" PRIx32 "\n    Version: %u\n    Flags: %u%s\n",
        entry->unwind_rva, info.version, info.flags, flags[info.flags < 5 ? info.flags : 0]);
    say(l, "    Size of prolog: %u\n    Number of Codes: %u\n", info.prologue_bytes,
        info.slot_count);
    if (info.frame_register != 0)
        say(l, "    Frame register: %s\n    Frame offset: %u\n",
            upper(register_name(CPU_X64, info.frame_register), name), info.frame_offset);
    else
        say(l, "    No frame pointer used\n");
    if (info.slot_count > 0)
        say(l, "    Unwind Codes:\n");
    for (uint32_t i = 0; i < info.code_count; i++) {
        say_x64_code(l, &info.codes[i]);
        i += info.codes[i].op == X64_EPILOG; /* LLVM takes these in pairs */
    }
    say(l, "\n");
}

static struct unwind_entry row_of(const struct world *w, uint32_t number, uint32_t entry_bytes)
{
    const struct unwind_module *facts = unwind_module_of(&w->process, &w->module);
    uint8_t raw[12];
    CHECK(w->process.read(w->process.self,
                          w->module.base_va + facts->pdata_rva + (uint64_t)number * entry_bytes,
                          raw, entry_bytes));
    struct unwind_entry entry = {w->module.base_va, load_u32(raw), load_u32(raw + 4), 0};
    entry.unwind_rva = load_u32(raw + (entry_bytes == 12 ? 8 : 4));
    return entry;
}

struct image {
    struct pe pe;
    struct world *world;
    const struct unwind_module *facts;
};

static void open_image(const char *name, struct image *out)
{
    static struct world w;
    size_t bytes;
    struct fault fault = FAULT_INIT;
    uint8_t *data = test_read(test_fixture(name), &bytes);
    REQUIRE(pe_open(data, bytes, &out->pe, &fault) == ERR_NONE);
    out->world = &w;
    world_init_file(&w, &out->pe);
    w.module.base_va = out->pe.preferred_base_va;
    out->facts = unwind_module_of(&w.process, &w.module);
    REQUIRE(out->facts != NULL && out->facts->pdata_count > 0);
}

TEST(x64_images_list_as_llvm_lists_them)
{
    static const char *const names[] = {"g03-basic64-pe/basic64.dll", "g07-conpty-x64/conpty.node",
                                        "g11-seh-tests/x64_nested_collided.exe",
                                        "g11-seh-tests/x64_xcpt4.exe"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char want_name[128];
        struct image image;
        struct listing l = {0};
        test_row(names[i]);
        open_image(names[i], &image);
        (void)snprintf(want_name, sizeof(want_name), "%s.unwind.txt.gz", names[i]);
        say(&l, "\n%s:\tfile format coff-x86-64\nUnwind info:\n\n", strrchr(names[i], '/') + 1);
        for (uint32_t k = 0; k < image.facts->pdata_count; k++) {
            struct unwind_entry entry = row_of(image.world, k, 12);
            say_x64_function(&l, image.world, &entry);
        }
        compare(l.text, gunzip(test_fixture(want_name), &image.world->arena));
        free(l.text);
        world_free(image.world);
    }
}

/* One operation as an instruction; LOAD: as in an epilogue. */
static void say_arm64_op(struct listing *l, const struct arm64_code *c, bool load, const char *lr)
{
    static const char *const moves[][2] = {[ARM64_SAVE_REGP] = {"stp", "ldp"},
                                           [ARM64_SAVE_REG] = {"str", "ldr"},
                                           [ARM64_SAVE_LRPAIR] = {"stp", "ldp"},
                                           [ARM64_SAVE_FREGP] = {"stp", "ldp"},
                                           [ARM64_SAVE_FREG] = {"str", "ldr"}};
    char file = c->op == ARM64_SAVE_FREGP || c->op == ARM64_SAVE_FREG ? 'd' : 'x';
    switch (c->op) {
    case ARM64_ALLOC:
        say(l, "%s sp, #%" PRIu32 "\n", load ? "add sp," : "sub sp,", c->bytes);
        return;
    case ARM64_SIGN_LR:
        say(l, "%s\n", load ? "autibsp" : "pacibsp");
        return;
    case ARM64_END:
        say(l, "end\n");
        return;
    case ARM64_SET_FP:
        say(l, "%s\n", lr[0] == 'l' ? "mov x29, sp" : load ? "mov sp, fp" : "mov fp, sp");
        return;
    case ARM64_NOP:
        say(l, "nop\n");
        return;
    default:
        break;
    }
    say(l, "%s ", moves[c->op][load]);
    if (c->op == ARM64_SAVE_REG && c->reg == 30)
        say(l, "lr");
    else
        say(l, "%c%u", file, c->reg);
    if (c->op == ARM64_SAVE_LRPAIR || (c->op == ARM64_SAVE_REGP && c->reg == 29))
        say(l, ", %s", lr);
    else if (c->op == ARM64_SAVE_REGP || c->op == ARM64_SAVE_FREGP)
        say(l, ", %c%u", file, c->reg + 1u);
    if (c->writeback && load)
        say(l, ", [sp], #%" PRIu32 "\n", c->bytes);
    else if (c->writeback)
        say(l, ", [sp, #-%" PRIu32 "]!\n", c->bytes);
    else if (c->bytes == 0)
        say(l, ", [sp]\n");
    else
        say(l, ", [sp, #%" PRIu32 "]\n", c->bytes);
}

static void say_prologue(struct listing *l, const struct arm64_info *info)
{
    const struct arm64_packed *p = &info->packed;
    struct arm64_code codes[64];
    uint32_t count = arm64_packed_expand(p, codes, 64);
    for (uint32_t i = 0; i < count; i++) {
        if (codes[i].op == ARM64_SAVE_LRPAIR && p->reg_i == 1) {
            say(l, "INVALID!\n"); /* LLVM does not know the two-step form */
            i++;
            continue;
        }
        say_arm64_op(l, &codes[i], false, "lr");
    }
}

static void say_packed(struct listing *l, const struct arm64_info *info)
{
    const struct arm64_packed *p = &info->packed;
    say(l, "    Fragment: %s\n    FunctionLength: %" PRIu32 "\n",
        info->form == ARM64_PACKED_FRAGMENT ? "Yes" : "No", p->function_bytes);
    say(l, "    RegF: %u\n    RegI: %u\n    HomedParameters: %s\n    CR: %u\n", p->reg_f, p->reg_i,
        p->homes ? "Yes" : "No", p->cr);
    say(l, "    FrameSize: %" PRIu32 "\n    Prologue [\n", p->frame_bytes);
    struct listing prologue = {0};
    say_prologue(&prologue, info);
    for (char *line = strtok(prologue.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        say(l, "      %s\n", line);
    free(prologue.text);
    say(l, "    ]\n");
}

static void say_codes(struct listing *l, struct world *w, const struct arm64_info *info,
                      uint32_t index, const char *indent, bool load)
{
    struct arm64_code codes[ARM64_CODES_MAX];
    uint32_t count;
    CHECK(arm64_codes_read(&w->process, info, index, codes, ARM64_CODES_MAX, &count) == STOP_NONE);
    for (uint32_t i = 0; i < count; i++) {
        char text[24] = "0x";
        uint8_t raw[4];
        CHECK(w->process.read(w, info->codes_va + index, raw, codes[i].raw_bytes));
        for (uint32_t k = 0; k < codes[i].raw_bytes; k++)
            (void)snprintf(text + 2 + 2 * k, 3, "%02x", raw[k]);
        say(l, "%s%-20s; ", indent, text);
        say_arm64_op(l, &codes[i], load, "x30");
        index += codes[i].raw_bytes;
    }
}

static void say_scopes(struct listing *l, struct world *w, const struct arm64_info *info)
{
    say(l, "      EpilogueScopes [\n");
    for (uint32_t i = 0; i < info->epilogue_count; i++) {
        uint32_t start, index;
        CHECK(arm64_scope_read(&w->process, info, i, &start, &index));
        say(l, "        EpilogueScope {\n          StartOffset: %" PRIu32 "\n", start / 4);
        say(l, "          EpilogueStartIndex: %" PRIu32 "\n          Opcodes [\n", index);
        say_codes(l, w, info, index, "            ", true);
        say(l, "          ]\n        }\n");
    }
    say(l, "      ]\n");
}

static void say_xdata(struct listing *l, struct world *w, const struct arm64_info *info,
                      uint64_t record_va)
{
    say(l, "    ExceptionRecord: 0x%" PRIX64 "\n    ExceptionData {\n", record_va);
    say(l, "      FunctionLength: %" PRIu32 "\n      Version: %u\n      ExceptionData: %s\n",
        info->function_bytes, info->version, info->has_handler ? "Yes" : "No");
    say(l, "      EpiloguePacked: %s\n      %s: %" PRIu32 "\n",
        info->single_epilogue ? "Yes" : "No",
        info->single_epilogue ? "EpilogueOffset" : "EpilogueScopes", info->epilogue_count);
    say(l, "      ByteCodeLength: %" PRIu32 "\n      Prologue [\n", info->code_bytes);
    say_codes(l, w, info, 0, "        ", false);
    say(l, "      ]\n");
    if (info->single_epilogue && info->epilogue_count > 0) { /* 0: the prologue's own codes */
        say(l, "      Epilogue [\n");
        say_codes(l, w, info, info->epilogue_count, "        ", true);
        say(l, "      ]\n");
    } else if (!info->single_epilogue) {
        say_scopes(l, w, info);
    }
    if (info->has_handler)
        say(l,
            "      ExceptionHandler [\n        Routine: 0x%" PRIX64 "\n"
            "        Parameter: 0x%" PRIX32 "\n      ]\n",
            w->module.base_va + info->handler_rva, info->handler_data_rva);
    say(l, "    }\n");
}

TEST(arm64_images_list_as_llvm_lists_them)
{
    static const char *const names[] = {"g11-seh-tests/ARM64_xframe_eh_exe.exe",
                                        "g20-arm64/ARM64_CETShadowStack_NotApplicable.exe"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char want_name[128];
        struct image image;
        struct listing l = {0};
        test_row(names[i]);
        open_image(names[i], &image);
        (void)snprintf(want_name, sizeof(want_name), "%s.unwind.txt.gz", names[i]);
        say(&l, "\nFile: %s\nFormat: COFF-ARM64\nArch: aarch64\nAddressSize: 64bit\n",
            strrchr(names[i], '/') + 1);
        say(&l, "UnwindInformation [\n");
        for (uint32_t k = 0; k < image.facts->pdata_count; k++) {
            struct unwind_entry entry = row_of(image.world, k, 8);
            struct arm64_info info;
            CHECK(arm64_info_read(&image.world->process, entry.base_va, entry.unwind_rva, &info) ==
                  STOP_NONE);
            say(&l, "  RuntimeFunction {\n    Function: 0x%" PRIX64 "\n",
                entry.base_va + entry.begin_rva);
            if (info.form == ARM64_XDATA)
                say_xdata(&l, image.world, &info, entry.base_va + entry.unwind_rva);
            else
                say_packed(&l, &info);
            say(&l, "  }\n");
        }
        struct pe_section section; /* LLVM reads to the section's end, or to an empty row */
        REQUIRE(pe_section_named(&image.pe, ".pdata", &section));
        if (section.virtual_bytes > image.facts->pdata_count * 8)
            say(&l, "  RuntimeFunction {\n  }\n");
        say(&l, "]\n");
        compare(l.text, gunzip(test_fixture(want_name), &image.world->arena));
        free(l.text);
        world_free(image.world);
    }
}

/* What `llvm-readobj-19 --unwind` says of packed words, where it spells out each `nop`. */
TEST(arm64_packed_words_list_as_llvm_lists_them)
{
    static const struct {
        const char *name;
        uint32_t word;
        const char *want;
    } rows[] = {
        {"every register that can be saved", 0x052be0c9,
         "stp d14, d15, [sp, #144]\n"
         "stp d12, d13, [sp, #128]\n"
         "stp d10, d11, [sp, #112]\n"
         "stp d8, d9, [sp, #96]\n"
         "stp x29, lr, [sp, #80]\n"
         "stp x27, x28, [sp, #64]\n"
         "stp x25, x26, [sp, #48]\n"
         "stp x23, x24, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-160]!\n"
         "end\n"},
        {"an odd number of float registers and homed parameters", 0x0194c051,
         "nop\n"
         "nop\n"
         "nop\n"
         "nop\n"
         "str d14, [sp, #80]\n"
         "stp d12, d13, [sp, #64]\n"
         "stp d10, d11, [sp, #48]\n"
         "stp d8, d9, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-160]!\n"
         "end\n"},
        {"the last of five registers is beside lr", 0x02a5a071,
         "stp d12, d13, [sp, #80]\n"
         "stp d10, d11, [sp, #64]\n"
         "stp d8, d9, [sp, #48]\n"
         "stp x23, lr, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-96]!\n"
         "end\n"},
        {"lr above six registers, and locals", 0x02a60079,
         "sub sp, sp, #16\n"
         "str lr, [sp, #48]\n"
         "stp x23, x24, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-64]!\n"
         "end\n"},
        {"everything at once", 0x06b72071,
         "sub sp, sp, #64\n"
         "nop\n"
         "nop\n"
         "nop\n"
         "nop\n"
         "stp d8, d9, [sp, #64]\n"
         "stp x25, lr, [sp, #48]\n"
         "stp x23, x24, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-144]!\n"
         "end\n"},
        {"a chain at the largest offset", 0x11e60029,
         "mov x29, sp\n"
         "stp x29, lr, [sp, #-512]!\n"
         "stp x23, x24, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-48]!\n"
         "end\n"},
        {"more than 4,080 bytes of locals", 0x81050031,
         "sub sp, sp, #4080\n"
         "str x23, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-48]!\n"
         "end\n"},
        {"a chain below float registers", 0x05e96091,
         "mov x29, sp\n"
         "stp x29, lr, [sp, #-64]!\n"
         "stp d10, d11, [sp, #88]\n"
         "stp d8, d9, [sp, #72]\n"
         "str x27, [sp, #64]\n"
         "stp x25, x26, [sp, #48]\n"
         "stp x23, x24, [sp, #32]\n"
         "stp x21, x22, [sp, #16]\n"
         "stp x19, x20, [sp, #-112]!\n"
         "end\n"},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct listing l = {0};
        struct arm64_info info;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        CHECK(arm64_info_read(&w.process, w.module.base_va, rows[i].word, &info) == STOP_NONE);
        say_prologue(&l, &info);
        CHECK_STR(l.text, rows[i].want);
        free(l.text);
        world_free(&w);
    }
}

TEST(arm64_codes_list_as_llvm_lists_them)
{
    static const struct {
        const char *name; /* the directive from which llvm-mc-19 made the code */
        uint8_t code[4];
        const char *want; /* llvm-readobj-19's; of allocations it leaves out the second sp */
    } rows[] = {
        {".seh_save_any_reg_x d30, 80", {0xe7, 0x3e, 0x44}, "str d30, [sp, #-80]!\n"},
        {".seh_save_any_reg d17, 88", {0xe7, 0x11, 0x4b}, "str d17, [sp, #88]\n"},
        {".seh_save_any_reg_px x27, 128", {0xe7, 0x7b, 0x07}, "stp x27, x28, [sp, #-128]!\n"},
        {".seh_save_any_reg_x x9, 48", {0xe7, 0x29, 0x02}, "str x9, [sp, #-48]!\n"},
        {".seh_save_any_reg_p x5, 96", {0xe7, 0x45, 0x06}, "stp x5, x6, [sp, #96]\n"},
        {".seh_save_any_reg x7, 72", {0xe7, 0x07, 0x09}, "str x7, [sp, #72]\n"},
        {".seh_pac_sign_lr", {0xfc}, "pacibsp\n"},
        {".seh_nop", {0xe3}, "nop\n"},
        {".seh_set_fp", {0xe1}, "mov fp, sp\n"},
        {".seh_save_freg_x d15, 256", {0xde, 0xff}, "str d15, [sp, #-256]!\n"},
        {".seh_save_freg d9, 8", {0xdc, 0x41}, "str d9, [sp, #8]\n"},
        {".seh_save_freg d15, 504", {0xdd, 0xff}, "str d15, [sp, #504]\n"},
        {".seh_save_fregp_x d10, 16", {0xda, 0x81}, "stp d10, d11, [sp, #-16]!\n"},
        {".seh_save_fregp_x d14, 512", {0xdb, 0xbf}, "stp d14, d15, [sp, #-512]!\n"},
        {".seh_save_fregp d8, 56", {0xd8, 0x07}, "stp d8, d9, [sp, #56]\n"},
        {".seh_save_fregp d14, 504", {0xd9, 0xbf}, "stp d14, d15, [sp, #504]\n"},
        {".seh_save_lrpair x27, 504", {0xd7, 0x3f}, "stp x27, lr, [sp, #504]\n"},
        {".seh_save_lrpair x19, 24", {0xd6, 0x03}, "stp x19, lr, [sp, #24]\n"},
        {".seh_save_reg_x x28, 256", {0xd5, 0x3f}, "str x28, [sp, #-256]!\n"},
        {".seh_save_reg x22, 72", {0xd0, 0xc9}, "str x22, [sp, #72]\n"},
        {".seh_save_reg x30, 504", {0xd2, 0xff}, "str lr, [sp, #504]\n"},
        {".seh_save_regp_x x27, 512", {0xce, 0x3f}, "stp x27, x28, [sp, #-512]!\n"},
        {".seh_save_regp x23, 40", {0xc9, 0x05}, "stp x23, x24, [sp, #40]\n"},
        {".seh_save_regp x27, 504", {0xca, 0x3f}, "stp x27, x28, [sp, #504]\n"},
        {".seh_save_fplr_x 512", {0xbf}, "stp x29, x30, [sp, #-512]!\n"},
        {".seh_save_fplr 504", {0x7f}, "stp x29, x30, [sp, #504]\n"},
        {".seh_save_r19r20_x 248", {0x3f}, "stp x19, x20, [sp, #-248]!\n"},
        {".seh_stackalloc 1048576", {0xe0, 0x01, 0x00, 0x00}, "sub sp, sp, #1048576\n"},
        {".seh_stackalloc 32752", {0xe0, 0x00, 0x07, 0xff}, "sub sp, sp, #32752\n"},
        {".seh_stackalloc 496", {0x1f}, "sub sp, sp, #496\n"},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t xdata[12] = {0x40,
                                   0,
                                   0x20,
                                   0x10,
                                   rows[i].code[0],
                                   rows[i].code[1],
                                   rows[i].code[2],
                                   rows[i].code[3],
                                   0xe4,
                                   0xe4,
                                   0xe4,
                                   0xe4};
        struct listing l = {0};
        struct arm64_code codes[ARM64_CODES_MAX];
        struct arm64_info info;
        uint32_t count = 0;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        const uint32_t rva = world_xdata(&w, xdata, sizeof(xdata));
        CHECK(arm64_info_read(&w.process, w.module.base_va, rva, &info) == STOP_NONE);
        CHECK(arm64_codes_read(&w.process, &info, 0, codes, ARM64_CODES_MAX, &count) == STOP_NONE);
        REQUIRE(count > 0);
        say_arm64_op(&l, &codes[0], false, codes[0].op == ARM64_SAVE_LRPAIR ? "lr" : "x30");
        CHECK_STR(l.text, rows[i].want);
        free(l.text);
        world_free(&w);
    }
}

/* One rule of call frame information, "$rsp 16 +": offset of the frame's end from rsp (or another
 * register). */
static bool parse_cfa(const char *line, char reg[8], uint64_t *offset)
{
    unsigned long bytes;
    const char *at = strstr(line, ".cfa: $");
    if (at == NULL || sscanf(at, ".cfa: $%7[a-z0-9] %lu +", reg, &bytes) != 2)
        return false;
    *offset = bytes;
    return true;
}

TEST(frames_end_where_another_tools_frame_information_says)
{
    struct image image;
    size_t bytes;
    unsigned checked = 0;
    open_image("g03-basic64-pe/basic64.dll", &image);
    char *sym = (char *)test_read(test_fixture("g03-basic64-pe/basic64.sym"), &bytes);
    char *text = malloc(bytes + 1);
    REQUIRE(text != NULL);
    memcpy(text, sym, bytes);
    text[bytes] = '\0';
    uint64_t begin = 0, length = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        unsigned long rva, size;
        char reg[8];
        uint64_t offset;
        if (sscanf(line, "STACK CFI INIT %lx %lx", &rva, &size) == 2) {
            begin = rva;
            length = size;
        } else {
            continue;
        }
        if (!parse_cfa(line, reg, &offset))
            continue;
        /* The rule is that of the body, so query an address in the middle, as for a caller. */
        struct unwind_frame frame;
        uint32_t sp_word = 64;
        struct unwind_walker walker = world_walker(
            image.world, CPU_X64, (uint32_t)(begin + length / 2), sp_word, PC_RETURN, &frame);
        walker.frame->where = WHERE_NONE;
        walker.regs.r[REG_X64_RBP] = WORLD_STACK_VA + 8 * sp_word;
        walker.regs.r[11] = walker.regs.r[REG_X64_RBP];
        if (unwind_step_x64(&walker) != STOP_NONE || frame.where != WHERE_BODY)
            continue;
        CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * sp_word + offset);
        checked++;
    }
    CHECK(checked > 1300);
    free(text);
    world_free(image.world);
}
