/* The PE reader: headers, sections, exports, COFF symbols, and bytes at the ends of sections. */
#include "format/pe/pe.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct pe pe;
    struct pe_section section;
    struct pe_symbol *symbols = NULL;
    struct pe_codeview codeview;
    char debug_id[DEBUG_ID_BYTES], code_id[CODE_ID_BYTES];
    uint32_t count = 0;

    if (pe_open(data, size, &pe, &fault) != ERR_NONE)
        return 0;
    arena_init(&keep, (size_t)64 << 20);
    for (uint32_t i = 0; pe_section(&pe, i, &section) && i < 100; i++) {
        (void)pe_section_name(&pe, &section);
        (void)pe_tail(&pe, section.rva, &count);
        (void)pe_at(&pe, section.rva + section.virtual_bytes - 1, 8);
    }
    (void)pe_section_named(&pe, ".debug_info", &section);
    (void)pe_codeview(&pe, &codeview);
    pe_debug_id(&pe, debug_id);
    pe_code_id(&pe, code_id);
    (void)pe_exports(&pe, &keep, &symbols, &count, &fault);
    fault_clear(&fault);
    (void)pe_coff_functions(&pe, &keep, &symbols, &count, &fault);
    arena_free(&keep);
    return 0;
}
