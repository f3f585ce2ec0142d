/* See output.h. */
#include "verbs/output.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "verbs/verb.h"

static const char *wanted;
static FILE *collected;

/* Said before the work, not after it. */
static bool may_be_written(const char *path)
{
    char folder[4096];
    const size_t length = (size_t)(path_base(path) - path);
    if (path_base(path)[0] == '\0' || length >= sizeof folder || path_is_folder(path))
        return false;
    if (length == 0)
        return true;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return path_is_folder(folder);
}

bool output_to(const char *path)
{
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) /* that would be itself */
        return true;
    if (!may_be_written(path))
        return false;
    if (collected == NULL) {
        collected = tmpfile();
        if (collected == NULL || !process_redirect_output(collected))
            return false;
    }
    wanted = path;
    return true;
}

int output_end(int code)
{
    struct fault fault = FAULT_INIT;
    if (collected == NULL || wanted == NULL)
        return code;
    if (fseek(collected, 0, SEEK_END) != 0 || (ftell(collected) == 0 && code != EXIT_GOOD))
        return code;
    if (file_write_stream(wanted, collected, &fault) == ERR_NONE)
        return code;
    log_fault(&fault);
    return EXIT_INPUT;
}
