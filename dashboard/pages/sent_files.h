/* What a client sends to be resolved: one body, or the parts of a form (multipart/form-data), such
 * as a stack and symbol files. Parts are files in a folder of their own until upload_end(). */
#ifndef PAGES_SENT_FILES_H
#define PAGES_SENT_FILES_H

#include "base/files.h"
#include "http/exchange.h"

enum { UPLOAD_PARTS_MAX = 16, UPLOAD_FORM_MAX_BYTES = 256 << 20 };

struct upload_part {
    const char *name; /* of its file, without folders; NULL: it has none */
    const char *data; /* of BYTES bytes */
    size_t bytes;
    bool too_large; /* more than UPLOAD_MAX_BYTES: DATA is not to be read */
};

struct upload {
    struct upload_part parts[UPLOAD_PARTS_MAX];
    uint32_t count;
    const char *folder; /* NULL: none was made */
    struct file_map form;
};

/* Reads the body. False, and it has answered: as exchange_read_body(), or the body is no form, or
 * one of more than UPLOAD_PARTS_MAX parts. upload_end() follows in any case. */
bool upload_read(struct exchange *x, struct upload *out);

/* Writes PART into the folder, and returns its path, in x->keep. NULL: it cannot be kept; FAULT. */
const char *upload_file(struct exchange *x, const struct upload *upload,
                        const struct upload_part *part, struct fault *fault);

/* Removes the folder. */
void upload_end(struct upload *upload);

#endif
