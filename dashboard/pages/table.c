/* The table of views. */
#include "pages/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PAGE(...)
#define VIEW(address, summary, write, query) {address, summary, write, query},
const struct view views[] = {
#include "pages/pages.def"
};
#undef VIEW
#undef PAGE

const size_t view_count = COUNT_OF(views);

enum status view_find(const char *address, struct arena *keep, struct http_query *out,
                      const struct view **view, struct fault *fault)
{
    const size_t size = strcspn(address, "?");
    const char *path = arena_text(keep, address, size);
    if (path == NULL)
        return fault_no_memory(fault, "address of a view");
    for (size_t i = 0; i < view_count; i++) {
        if (!http_path_match(views[i].pattern, path, keep, out))
            continue;
        *view = &views[i];
        return http_query_parse(address[size] == '?' ? address + size + 1 : NULL, keep, out, fault);
    }
    return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "view of this path");
}

enum status view_make(const struct view *view, const struct view_input *in, char **text,
                      size_t *bytes, struct fault *fault)
{
    struct json document;
    json_to_text(&document, false);
    (void)view->write(in, &document, fault);
    char *made = json_take(&document, bytes);
    *text = fault->code == ERR_NONE && made != NULL ? arena_text(in->keep, made, *bytes) : NULL;
    free(made);
    return fault->code != ERR_NONE || *text != NULL ? fault->code
                                                    : fault_no_memory(fault, "answer");
}
