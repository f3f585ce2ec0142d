/* See sent_files.h. */
#include "pages/sent_files.h"

#include <stdio.h>
#include <string.h>

#include "http/body.h"
#include "http/response.h"
#include "http/state.h"

/* The place of WORD, of SIZE bytes, in the BYTES bytes at TEXT; NULL: it is not there. */
static const char *find(const char *text, size_t bytes, const char *word, size_t size)
{
    while (bytes >= size) {
        const char *at = memchr(text, word[0], bytes - size + 1);
        if (at == NULL || memcmp(at, word, size) == 0)
            return at;
        bytes -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    return NULL;
}

/* "\r\n--" and the boundary that TYPE states; NULL: TYPE is no form's. */
static const char *read_boundary(const char *type, struct arena *keep)
{
    static const char form[] = "multipart/form-data", key[] = "boundary=";
    enum { BOUNDARY_MAX = 70 };
    if (type == NULL || strncmp(type, form, sizeof form - 1) != 0)
        return NULL;
    const char *at = strstr(type, key);
    if (at == NULL)
        return "";
    at += sizeof key - 1;
    const bool quoted = *at == '"';
    at += quoted;
    const size_t size = strcspn(at, quoted ? "\"" : "; \t");
    return size > 0 && size <= BOUNDARY_MAX ? arena_printf(keep, "\r\n--%.*s", (int)size, at) : "";
}

/* The file's name of a part whose header is HEAD, without folders and without what a system does
 * not allow in names; NULL: it states none. */
static const char *read_name(const char *head, size_t bytes, struct arena *keep)
{
    static const char key[] = "filename=\"";
    enum { NAME_MAX_BYTES = 128 };
    const char *at = find(head, bytes, key, sizeof key - 1);
    if (at == NULL)
        return NULL;
    at += sizeof key - 1;
    const char *end = memchr(at, '"', bytes - (size_t)(at - head));
    char *whole = end != NULL ? arena_text(keep, at, (size_t)(end - at)) : NULL;
    if (whole == NULL)
        return NULL;
    const char *base = path_base(whole);
    const size_t size = strlen(base);
    char *name = arena_text(keep, size > NAME_MAX_BYTES ? base + size - NAME_MAX_BYTES : base,
                            size > NAME_MAX_BYTES ? NAME_MAX_BYTES : size);
    for (char *p = name; p != NULL && *p != '\0'; p++)
        if ((unsigned char)*p < ' ' || strchr("<>:\"|?*", *p) != NULL)
            *p = '_';
    return name != NULL && (*name == '\0' || name[strspn(name, ".")] == '\0') ? "file" : name;
}

/* Splits FORM into parts; false: it is damaged, or has too many. */
static bool split(struct upload *out, const char *boundary, struct arena *keep)
{
    const char *at = (const char *)out->form.data, *const end = at + out->form.bytes;
    const size_t size = strlen(boundary);
    if ((size_t)(end - at) < size || memcmp(at, boundary + 2, size - 2) != 0)
        return false; /* the first one begins the body */
    at += size - 2;
    while (end - at >= 2 && memcmp(at, "--", 2) != 0) {
        const char *head = at + 2, *body = find(at, (size_t)(end - at), "\r\n\r\n", 4);
        const char *next =
            body != NULL ? find(body + 2, (size_t)(end - body) - 2, boundary, size) : NULL;
        if (memcmp(at, "\r\n", 2) != 0 || next == NULL || out->count == UPLOAD_PARTS_MAX)
            return false;
        body += 4;
        struct upload_part *part = &out->parts[out->count++];
        *part =
            (struct upload_part){.data = body, .bytes = next > body ? (size_t)(next - body) : 0};
        part->name = read_name(head, (size_t)(body - head), keep);
        part->too_large = part->bytes > UPLOAD_MAX_BYTES;
        at = next + size;
    }
    return end - at >= 2;
}

static bool write_piece(void *context, const char *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) == bytes;
}

/* The body of a form is larger than what requests may hold in memory. */
static bool read_form(struct exchange *x, const char *boundary, struct upload *out)
{
    struct fault fault = FAULT_INIT;
    size_t bytes = 0;
    const char *path = NULL;
    out->folder = folder_temporary_name("upload", &x->keep);
    if (out->folder != NULL && folder_make(out->folder, &fault) == ERR_NONE)
        path = path_join(&x->keep, out->folder, "form");
    FILE *file = path != NULL ? file_open(path, "wb") : NULL;
    if (file == NULL) {
        x->closing = true; /* its body is not read */
        (void)answer_error(x, 507, "io", "The upload cannot be kept on this machine's disk",
                           "make room in the folder for temporary files, or set TMPDIR");
        return false;
    }
    const bool passed = exchange_pass_body(x, UPLOAD_FORM_MAX_BYTES, write_piece, file, &bytes);
    const bool written = fclose(file) == 0;
    if (!passed)
        return false;
    if (!written || file_map(path, &out->form, &fault) != ERR_NONE) {
        (void)answer_error(x, 507, "io", "The upload cannot be kept on this machine's disk",
                           "make room in the folder for temporary files, or set TMPDIR");
        return false;
    }
    if (*boundary != '\0' && split(out, boundary, &x->keep))
        return true;
    (void)answer_error(x, 400, "bad_form", "The body is no form, is damaged or has over 16 parts",
                       "send multipart/form-data, as `curl -F stack=@FILE -F file=@FILE` does");
    return false;
}

bool upload_read(struct exchange *x, struct upload *out)
{
    *out = (struct upload){.count = 0};
    const char *boundary = read_boundary(exchange_header(x, "Content-Type"), &x->keep);
    char *body = NULL;
    size_t bytes = 0;
    if (boundary != NULL)
        return read_form(x, boundary, out);
    if (!exchange_read_body(x, UPLOAD_MAX_BYTES, &body, &bytes))
        return false;
    out->parts[out->count++] = (struct upload_part){.data = body, .bytes = bytes};
    return true;
}

const char *upload_file(struct exchange *x, const struct upload *upload,
                        const struct upload_part *part, struct fault *fault)
{
    const long place = (long)(part - upload->parts); /* two files may have one name */
    const char *folder = arena_printf(&x->keep, "%s/%ld", upload->folder, place);
    if (folder == NULL || folder_make(folder, fault) != ERR_NONE)
        return NULL;
    const char *path = path_join(&x->keep, folder, part->name != NULL ? part->name : "file");
    return path != NULL && file_write(path, part->data, part->bytes, fault) == ERR_NONE ? path
                                                                                        : NULL;
}

void upload_end(struct upload *upload)
{
    struct fault ignored = FAULT_INIT;
    file_unmap(&upload->form);
    if (upload->folder != NULL)
        (void)path_remove(upload->folder, &ignored);
}
