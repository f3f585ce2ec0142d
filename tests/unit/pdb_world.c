/* See pdb_world.h. */
#include "pdb_world.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "test.h"

void pdb_world_open(struct pdb_world *world, const char *path, enum symbol_names names)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(file_map(path, &world->map, &fault) == ERR_NONE);
    REQUIRE(pdb_open(world->map.data, world->map.bytes, &world->pdb, &fault) == ERR_NONE);
    REQUIRE(pdb_lookup_open(&world->pdb, names, &world->lookup, &fault) == ERR_NONE);
}

void pdb_world_close(struct pdb_world *world)
{
    pdb_lookup_close(world->lookup);
    pdb_close(&world->pdb);
    file_unmap(&world->map);
}

static bool ends_with(const char *text, const char *suffix)
{
    const size_t a = strlen(text), b = strlen(suffix);
    return a >= b && strcmp(text + a - b, suffix) == 0;
}

void pdb_world_each(const char *suffix, void (*fn)(const char *path, void *context), void *context)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;
    const char **folders, **names;
    size_t folder_count, name_count;
    arena_init(&keep, 0);
    char *root = arena_string(&keep, test_fixture("MANIFEST.md"));
    *strrchr(root, '/') = '\0';
    REQUIRE(folder_list(root, &keep, &folders, &folder_count, &fault) == ERR_NONE);
    for (size_t i = 0; i < folder_count; i++) {
        const char *folder = path_join(&keep, root, folders[i]);
        if (!path_is_folder(folder))
            continue;
        REQUIRE(folder_list(folder, &keep, &names, &name_count, &fault) == ERR_NONE);
        for (size_t j = 0; j < name_count; j++)
            if (ends_with(names[j], suffix))
                fn(path_join(&keep, folder, names[j]), context);
    }
    arena_free(&keep);
}

/* Skips blanks and the words that compilers put before types. */
static const char *skip_noise(const char *text, bool at_word)
{
    static const char *const words[] = {"class ", "struct ", "enum ", "union "};
    for (bool again = true; again;) {
        again = false;
        while (*text == ' ') {
            text++;
            at_word = true;
        }
        for (size_t i = 0; at_word && i < COUNT_OF(words); i++) {
            if (strncmp(text, words[i], strlen(words[i])) == 0) {
                text += strlen(words[i]);
                again = true;
            }
        }
    }
    return text;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool pdb_world_same_name(const char *a, const char *b)
{
    a = skip_noise(a, true);
    b = skip_noise(b, true);
    while (*a != '\0' && *a == *b) {
        const bool word = !is_word(*a);
        a = skip_noise(a + 1, word);
        b = skip_noise(b + 1, word);
    }
    return *a == *b;
}

char *pdb_world_cut_parameters(const char *name, struct arena *keep)
{
    char *text = arena_string(keep, name);
    char *end = strrchr(text, ')');
    if (end == NULL)
        return text;
    for (const char *tail = end + 1; *tail != '\0'; tail++) /* " const" and similar suffixes */
        if (*tail != ' ' && !is_word(*tail))
            return text;
    int depth = 0;
    for (char *at = end; at >= text; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth == 0) {
            *at = '\0';
            break;
        }
    }
    return text;
}

bool pdb_world_is_first_of_rows(struct pdb_world *world, uint32_t rva, uint32_t ours,
                                uint32_t theirs)
{
    uint32_t lines[8];
    const uint32_t count = pdb_lookup_lines(world->lookup, rva, lines, COUNT_OF(lines));
    return count > 1 && lines[0] == ours && lines[count - 1] == theirs;
}
