/* Symbol paths as users and Windows' debuggers write them. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "fetch/fetch.h"
#include "test.h"

static const struct {
    const char *name, *text;
    enum status status;
    const char *elements; /* F folders, U urls, c cache, d debuginfod, ! plain */
} rows[] = {
    {"a folder", "/sym", ERR_NONE, "!F=/sym "},
    {"two folders", "/a;/b", ERR_NONE, "!F=/a !F=/b "},
    {"cache and server", "srv*/c*https://x/y/", ERR_NONE, "F=/c U=https://x/y c=/c "},
    {"upper case", "SRV*/c*HTTPS://x", ERR_NONE, "F=/c U=HTTPS://x c=/c "},
    {"usual cache", "srv**https://x", ERR_NONE, "U=https://x "},
    {"no cache", "srv*https://x", ERR_NONE, "U=https://x "},
    {"the nearest folder is the cache", "srv*/a*/b*https://x", ERR_NONE,
     "F=/a F=/b U=https://x c=/a "},
    {"two servers", "srv*/c*http://x*http://y", ERR_NONE, "F=/c U=http://x U=http://y c=/c "},
    {"a folder after the server is no cache", "srv*http://x*/c", ERR_NONE, "F=/c U=http://x "},
    {"server's folder alone", "srv*/c", ERR_NONE, "F=/c "},
    {"symsrv names a DLL", "symsrv*symsrv.dll*/c*http://x", ERR_NONE, "F=/c U=http://x c=/c "},
    {"a folder of one letter", "cache*c;srv*http://x", ERR_NONE, "F=c c=c U=http://x c=c "},
    {"cache of later elements", "cache*/c;srv*http://x", ERR_NONE, "F=/c c=/c U=http://x c=/c "},
    {"a bare address", "https://x", ERR_NONE, "U=https://x "},
    {"debuginfod", "debuginfod*/c*http://x", ERR_NONE, "dF=/c U=http://x c=/c "},
    {"empty elements", ";;/a;", ERR_NONE, "!F=/a "},
    {"a drive", "srv*C:\\sym*http://x", ERR_NONE, "F=C:\\sym U=http://x c=C:\\sym "},
    {"other scheme", "srv*/c*ftp://x", ERR_UNSUPPORTED, ""},
    {"unknown word", "what*/c*http://x", ERR_MALFORMED, ""},
    {"many places", "srv*1*2*3*4*5*6*7*8*9*10*11", ERR_LIMIT, ""},
};

TEST(paths)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct symbol_path path;
        struct arena keep;
        char text[512] = "";
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(symbol_path_read(rows[i].text, &keep, &path, &fault), rows[i].status);
        for (uint32_t e = 0; fault.code == ERR_NONE && e < path.count; e++) {
            const struct symbol_path_element *at = &path.elements[e];
            size_t n = strlen(text);
            (void)snprintf(text + n, sizeof text - n, "%s%s", at->chain ? "" : "!",
                           at->debuginfod ? "d" : "");
            for (uint32_t k = 0; k < at->folder_count; k++) {
                n = strlen(text);
                (void)snprintf(text + n, sizeof text - n, "F=%s ", at->folders[k]);
            }
            for (uint32_t k = 0; k < at->url_count; k++) {
                n = strlen(text);
                (void)snprintf(text + n, sizeof text - n, "U=%s ", at->urls[k]);
            }
            n = strlen(text);
            if (at->cache != NULL)
                (void)snprintf(text + n, sizeof text - n, "c=%s ", at->cache);
        }
        CHECK_STR(text, rows[i].elements);
        arena_free(&keep);
    }
}

TEST(a_path_has_sixty_four_elements_at_most)
{
    static const struct {
        const char *name, *end;
        int count;
        enum status want;
    } lengths[] = {{"all", "", 64, ERR_NONE},
                   {"empty ones do not count", ";;", 64, ERR_NONE},
                   {"one more", "x", 64, ERR_LIMIT}};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        struct fault fault = FAULT_INIT;
        struct symbol_path path;
        struct arena keep;
        char text[200] = "";
        test_row(lengths[i].name);
        arena_init(&keep, 0);
        for (int k = 0; k < lengths[i].count; k++)
            (void)strcat(text, "a;");
        (void)strcat(text, lengths[i].end);
        CHECK_EQ(symbol_path_read(text, &keep, &path, &fault), lengths[i].want);
        CHECK_EQ(path.count, 64);
        arena_free(&keep);
    }
}

static const struct {
    const char *name, *file, *id;
    bool good;
} keys[] = {
    {"a file", "app.pdb", "12AB", true},
    {"upwards", "..", "12AB", false},
    {"a folder in the name", "a/b.pdb", "12AB", false},
    {"a folder of Windows", "a\\b.pdb", "12AB", false},
    {"hidden", ".x", "12AB", false},
    {"none", "", "12AB", false},
    {"no identity", "app.pdb", "", false},
    {"a control character", "a\nb", "12AB", false},
    {"a drive", "c:x", "12AB", false},
    {"not ASCII", "\xc3\xbc.pdb", "12AB", true},
};

TEST(keys_are_names_and_no_paths)
{
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        char out[FETCH_KEY_BYTES];
        test_row(keys[i].name);
        CHECK_EQ(fetch_key_set(out, keys[i].file, keys[i].id, keys[i].file), keys[i].good);
    }
}

TEST(a_lock_is_held_by_one)
{
    struct fault fault = FAULT_INIT;
    struct file_lock one, two;
    struct arena keep;
    arena_init(&keep, 0);
    const char *path = path_join(&keep, test_scratch(), "lock");
    CHECK_EQ(file_lock_take(path, 0, &one, &fault), ERR_NONE);
    CHECK_EQ(file_lock_take(path, 50, &two, &fault), ERR_TIMEOUT);
    fault_clear(&fault);
    file_lock_release(&one);
    CHECK_EQ(file_lock_take(path, 0, &two, &fault), ERR_NONE);
    file_lock_release(&two);
    arena_free(&keep);
}
