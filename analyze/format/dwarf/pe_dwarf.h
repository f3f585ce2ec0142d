/* DWARF in PE images, as mingw and Wine make them: address → inline frames, function, file and
 * line.  Reading is libdwarf's; this hands it the image's sections.
 *
 * One struct is for one thread at a time. */
#ifndef FORMAT_PE_DWARF_H
#define FORMAT_PE_DWARF_H

#include <stdint.h>

#include "base/fault.h"
#include "format/pe/pe.h"

struct pe_dwarf;

/* One logical frame.  Strings live until pe_dwarf_close(). */
struct pe_dwarf_frame {
    const char *function; /* linkage name where there is one, else the plain one; NULL: unknown */
    const char *file;     /* folder and name as the compiler spelt them; NULL: unknown */
    uint32_t line;        /* 0: unknown */
    uint32_t start_rva;   /* where the physical function starts */
};

/* The image's bytes must outlive the struct.  Fails: ERR_ABSENT the image holds no DWARF;
 * ERR_MALFORMED; ERR_MEMORY. */
enum status pe_dwarf_open(const struct pe *pe, struct pe_dwarf **out, struct fault *fault);
void pe_dwarf_close(struct pe_dwarf *dwarf);

/* Logical frames that cover RVA, innermost first, the function last.  Returns their number. */
uint32_t pe_dwarf_lookup(struct pe_dwarf *dwarf, uint32_t rva, struct pe_dwarf_frame *out,
                         uint32_t max);

/* The lines that the table gives to the address where RVA's line starts, in its order: often
 * several, of which lookups take the last one.  Returns their number. */
uint32_t pe_dwarf_lines(struct pe_dwarf *dwarf, uint32_t rva, uint32_t *out, uint32_t max);

#endif
