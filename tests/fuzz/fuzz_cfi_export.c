/* Fuzzes the export of unwind data: the input is an image of any kind. */
#include <stdio.h>

#include "fuzz.h"
#include "symbol/image_names.h"
#include "unwind/cfi_export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *out;
    struct object_candidate candidate = {0};
    struct fault fault = FAULT_INIT;
    struct object_file file;

    if (out == NULL && (out = tmpfile()) == NULL)
        return 0;
    rewind(out);
    if (object_file_open(data, size, 0, &file, &fault) != ERR_NONE ||
        !object_candidate_read(data, size, 0, &candidate, &fault))
        return 0;
    if (file.kind == OBJECT_PE) {
        (void)unwind_export_cfi(&file.as.pe, out);
    } else {
        (void)unwind_export_dwarf(&file, ARCH_X86_64, out);
        (void)unwind_export_dwarf(&file, ARCH_ARM64, out);
    }
    return 0;
}
