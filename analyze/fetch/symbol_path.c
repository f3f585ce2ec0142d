/* See symbol_path.h. */
#include "fetch/symbol_path.h"

#include <string.h>

#include "base/text.h"

static bool starts_with(const char *text, const char *start)
{
    for (; *start != '\0'; text++, start++)
        if ((*text >= 'A' && *text <= 'Z' ? *text | 0x20 : *text) != *start)
            return false;
    return true;
}

static bool is_url(const char *text)
{
    return strstr(text, "://") != NULL;
}

bool symbol_path_is_chain(const char *text)
{
    return strpbrk(text, "*;") != NULL || is_url(text);
}

/* Terminates the part of *AT up to MARK and moves *AT past it, to NULL at the end. */
static char *next_part(char **at, char mark)
{
    char *part = *at, *end = strchr(part, mark);
    if (end != NULL)
        *end++ = '\0';
    *at = end;
    return part;
}

static enum status add_place(char *place, struct symbol_path_element *out, struct fault *fault)
{
    size_t bytes = strlen(place);

    if (out->folder_count == SYMBOL_PATH_PLACES_MAX || out->url_count == SYMBOL_PATH_PLACES_MAX)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "places of a symbol path's element");
    while (bytes > 1 && place[bytes - 1] == '/')
        place[--bytes] = '\0';
    if (!is_url(place)) {
        if (bytes > 0)
            out->folders[out->folder_count++] = place;
        if (out->url_count == 0 && out->folder_count <= 1)
            out->cache = bytes > 0 ? place : NULL;
    } else if (starts_with(place, "http://") || starts_with(place, "https://")) {
        out->urls[out->url_count++] = place;
    } else {
        return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol server",
                              "expected http:// or https://");
    }
    return ERR_NONE;
}

/* CACHE: of a former cache* element. */
static enum status read_element(char *text, const char **cache, struct symbol_path_element *out,
                                struct fault *fault)
{
    char *at = text;

    *out = (struct symbol_path_element){.chain = true, .cache = *cache};
    if (!is_url(text) && strchr(text, '*') == NULL) {
        out->chain = false;
        out->folders[out->folder_count++] = text;
        return ERR_NONE;
    }
    if (strchr(text, '*') == NULL)
        return add_place(text, out, fault);
    const char *word = next_part(&at, '*');
    if (text_equal_nocase(word, "symsrv") && at != NULL) {
        (void)next_part(&at, '*');
    } else if (text_equal_nocase(word, "cache")) {
        *cache = at != NULL && at[0] != '\0' ? at : NULL;
        out->folders[0] = *cache;
        out->folder_count = *cache != NULL;
        out->cache = *cache;
        return ERR_NONE;
    } else if (text_equal_nocase(word, "debuginfod")) {
        out->debuginfod = true;
    } else if (!text_equal_nocase(word, "srv")) {
        at = NULL;
    }
    if (at == NULL)
        return fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "symbol path",
                              "expected srv*CACHE*URL, cache*FOLDER, debuginfod*CACHE*URL, a "
                              "folder or a file");
    while (at != NULL && fault->code == ERR_NONE)
        (void)add_place(next_part(&at, '*'), out, fault);
    if (out->url_count == 0)
        out->cache = NULL;
    return fault->code;
}

enum status symbol_path_read(const char *text, struct arena *keep, struct symbol_path *out,
                             struct fault *fault)
{
    char *at = arena_string(keep, text);
    const char *cache = NULL;

    out->count = 0;
    out->elements = ARENA_ARRAY(keep, SYMBOL_PATH_ELEMENTS_MAX, struct symbol_path_element);
    if (at == NULL || out->elements == NULL)
        return fault_no_memory(fault, "symbol path");
    while (at != NULL && fault->code == ERR_NONE) {
        char *part = next_part(&at, ';');
        if (part[0] == '\0')
            continue;
        if (out->count == SYMBOL_PATH_ELEMENTS_MAX)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "elements of a symbol path");
        if (read_element(part, &cache, &out->elements[out->count], fault) == ERR_NONE)
            out->count++;
    }
    return fault->code;
}
