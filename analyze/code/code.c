/* See code.h. */
#include "code/code.h"

#include <capstone/capstone.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/thread.h"

struct decoder {
    csh handle;
    cs_insn *instruction;
    uint32_t word; /* bytes of every instruction; 0: they differ */
};

/* Capstone makes a table of each processor at the first instruction, without a lock. */
static void make_tables(const struct decoder *decoder)
{
    static const uint8_t any[4] = {0};
    const uint8_t *at = any;
    size_t left = sizeof any;
    uint64_t address = 0;
    global_lock();
    (void)cs_disasm_iter(decoder->handle, &at, &left, &address, decoder->instruction);
    global_unlock();
}

static bool decoder_open(enum cpu cpu, struct decoder *out)
{
    static const struct {
        enum cpu cpu;
        cs_arch arch;
        cs_mode mode;
        uint32_t word;
    } modes[] = {
        {CPU_X86, CS_ARCH_X86, CS_MODE_32, 0},
        {CPU_X64, CS_ARCH_X86, CS_MODE_64, 0},
        {CPU_ARM64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4},
    };
    *out = (struct decoder){0};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        if (modes[i].cpu != cpu)
            continue;
        out->word = modes[i].word;
        if (cs_open(modes[i].arch, modes[i].mode, &out->handle) != CS_ERR_OK)
            return false;
        out->instruction = cs_malloc(out->handle);
        if (out->instruction == NULL) {
            (void)cs_close(&out->handle);
            return false;
        }
        make_tables(out);
        return true;
    }
    return false;
}

static void decoder_close(struct decoder *decoder)
{
    cs_free(decoder->instruction, 1);
    (void)cs_close(&decoder->handle);
}

/* The size of the instruction at OFFSET, of which the decoder then has the text; 0: it is none, or
 * cut off. Where all have the same size, an unknown one has no text. */
static uint32_t decode(const struct decoder *decoder, const struct code_bytes *code,
                       uint32_t offset)
{
    const uint8_t *at = code->bytes + offset;
    size_t left = code->count - offset;
    uint64_t address = code->at + offset;
    if (cs_disasm_iter(decoder->handle, &at, &left, &address, decoder->instruction))
        return decoder->instruction->size;
    decoder->instruction->mnemonic[0] = 0;
    decoder->instruction->op_str[0] = 0;
    decoder->instruction->id = 0;
    return code->count - offset >= decoder->word ? decoder->word : 0;
}

bool code_align(const struct code_bytes *code, uint32_t *start)
{
    struct decoder decoder;
    uint32_t at = 0, size = 1;
    *start = code->pc;
    if (code->pc > code->count || !decoder_open(code->cpu, &decoder))
        return false;
    while (at < code->pc && size > 0) {
        if (code->pc - at <= CODE_SHOWN_MAX && *start == code->pc)
            *start = at;
        size = decode(&decoder, code, at);
        at += size;
    }
    decoder_close(&decoder);
    return at == code->pc && size > 0;
}

static bool is_call(enum cpu cpu, unsigned id)
{
    switch (cpu) {
    case CPU_X86:
    case CPU_X64:
        return id == X86_INS_CALL || id == X86_INS_LCALL;
    case CPU_ARM64:
        return id == ARM64_INS_BL || id == ARM64_INS_BLR;
    default:
        return false;
    }
}

static const char *text_of(const struct decoder *decoder, const uint8_t *bytes, struct arena *keep)
{
    const cs_insn *i = decoder->instruction;
    if (i->mnemonic[0] == 0) /* as assemblers write an instruction that they do not know */
        return arena_printf(keep, ".inst 0x%02x%02x%02x%02x", bytes[3], bytes[2], bytes[1],
                            bytes[0]);
    size_t size = strlen(i->mnemonic);
    while (size > 0 && i->mnemonic[size - 1] == ' ')
        size--;
    return arena_printf(keep, "%.*s%s%s", (int)size, i->mnemonic, i->op_str[0] != 0 ? " " : "",
                        i->op_str);
}

static enum code_mark mark_of(const struct code_bytes *code, uint32_t at, uint32_t size,
                              unsigned id)
{
    if (at == code->pc)
        return CODE_PC;
    return code->kind == PC_RETURN && at + size == code->pc && is_call(code->cpu, id)
               ? CODE_CALLS
               : CODE_UNMARKED;
}

/* At most 15 bytes are an instruction of x86, so fewer at the end may be one that is cut off. */
static const char *note_of(const struct code_bytes *code, uint32_t end, bool calls,
                           struct arena *keep)
{
    if (code->count - end > 15 || (end < code->pc && end < code->count))
        return arena_printf(keep, "the bytes at 0x%" PRIx64 " are no instruction", code->at + end);
    if (code->kind == PC_RETURN && code->pc > 0 && end >= code->pc && !calls)
        return "no call ends at this return address";
    return NULL;
}

enum status code_list(const struct code_bytes *code, struct arena *keep, struct code_listing *out,
                      struct fault *fault)
{
    struct decoder decoder;
    uint32_t at = 0;
    bool calls = false;

    *out = (struct code_listing){0};
    struct code_line *lines = ARENA_ARRAY(keep, (size_t)code->count + 1, struct code_line);
    if (lines == NULL)
        return fault_no_memory(fault, "code");
    if (!decoder_open(code->cpu, &decoder))
        return ERR_NONE;
    out->lines = lines;
    while (at < code->count && fault->code == ERR_NONE) {
        const uint32_t size = decode(&decoder, code, at);
        if (size == 0)
            break;
        struct code_line *line = &lines[out->count++];
        *line = (struct code_line){.at = code->at + at,
                                   .bytes = code->bytes + at,
                                   .count = size,
                                   .mark = mark_of(code, at, size, decoder.instruction->id),
                                   .text = text_of(&decoder, code->bytes + at, keep)};
        calls = calls || line->mark == CODE_CALLS;
        if (line->text == NULL)
            (void)fault_no_memory(fault, "code");
        at += size;
    }
    decoder_close(&decoder);
    out->note = note_of(code, at, calls, keep);
    return fault->code;
}

const char *code_mark_name(enum code_mark mark)
{
    static const char *const names[] = {NULL, "call", "pc"};
    return names[mark];
}
