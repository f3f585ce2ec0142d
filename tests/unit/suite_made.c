/* See suite_made.h. */
#include "suite_made.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "test.h"

const char good_index[] =
    "{\"suite\":1,\"edition\":\"2026.1\",\"lists\":[\"list.ndjson\"],\"retired\":[],"
    "\"files\":[{\"path\":\"image.dll\",\"sha256\":\"HASH\",\"licence\":\"MIT\"}]}";

const char *make_suite(const char *lines, const char *index, const char *hash)
{
    static char text[1024];
    char path[512], own[65];
    text_sha256("image", 5, own);
    (void)snprintf(path, sizeof path, "%s/image.dll", test_scratch());
    test_write(path, "image", 5);
    (void)snprintf(path, sizeof path, "%s/list.ndjson", test_scratch());
    test_write(path, lines, strlen(lines));
    (void)snprintf(path, sizeof path, "%s/suite.json", test_scratch());
    const char *place = strstr(index, "HASH");
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place != NULL ? place - index : 0), index,
                   place == NULL  ? ""
                   : hash != NULL ? hash
                                  : own,
                   place != NULL ? place + strlen("HASH") : index);
    test_write(path, text, strlen(text));
    return test_scratch();
}
