/* See transfer_part.h. */
#include "fetch/transfer_part.h"

#include <string.h>

#include "base/files.h"
#include "base/text.h"

enum { WAIT_MS_MAX = 60 * 1000 }; /* what a server may ask to wait */

#define TRANSFER_HEADER_NAME(ID, NAME) NAME,
const char *const transfer_header_names[TRANSFER_HEADER_COUNT] = {
    TRANSFER_HEADERS(TRANSFER_HEADER_NAME)};

void transfer_part_begin(struct transfer_part *part, const struct transfer_request *request,
                         struct transfer_answer *answer)
{
    *answer = (struct transfer_answer){.part_bytes = request->have_bytes};
    (void)snprintf(answer->validator, sizeof answer->validator, "%s", request->validator);
    *part = (struct transfer_part){.request = request, .answer = answer};
}

void transfer_part_next_answer(struct transfer_part *part)
{
    part->etag[0] = part->modified[0] = '\0';
    part->encoded = false;
    part->range_start = 0;
    part->answer->wait_ms = 0;
}

void transfer_part_header(struct transfer_part *part, enum transfer_header header,
                          const char *value)
{
    uint64_t number = 0;
    switch (header) {
    case TRANSFER_HEADER_ETAG:
        (void)snprintf(part->etag, sizeof part->etag, "%s", value[0] == '"' ? value : "");
        break;
    case TRANSFER_HEADER_MODIFIED:
        (void)snprintf(part->modified, sizeof part->modified, "%s", value);
        break;
    case TRANSFER_HEADER_ENCODING:
        part->encoded = !text_equal_nocase(value, "identity");
        break;
    case TRANSFER_HEADER_RETRY:
        if (text_parse_uint(value, strlen(value), &number))
            part->answer->wait_ms =
                number < WAIT_MS_MAX / 1000 ? (uint32_t)number * 1000 : (uint32_t)WAIT_MS_MAX;
        break;
    case TRANSFER_HEADER_RANGE:
        if (strncmp(value, "bytes ", 6) == 0 &&
            text_parse_uint(value + 6, strcspn(value + 6, "-"), &number))
            part->range_start = number;
        break;
    case TRANSFER_HEADER_COUNT:
        break;
    }
}

/* Opens the file at the first byte of an answer that holds it: to append to it, or to start again.
 */
static bool open_part(struct transfer_part *part, long status)
{
    const struct transfer_request *request = part->request;
    struct transfer_answer *answer = part->answer;
    if (status != 200 && status != 206)
        return false;
    part->opened = true;
    const bool goes_on = status == 206 && request->have_bytes > 0 && !part->encoded &&
                         part->range_start == request->have_bytes;
    if (status == 206 && !goes_on) {
        answer->validator[0] = '\0'; /* not the requested range: start again */
        return false;
    }
    const char *validator = part->etag[0] != '\0' ? part->etag : part->modified;
    (void)snprintf(answer->validator, sizeof answer->validator, "%s",
                   part->encoded ? "" : validator);
    answer->part_bytes = goes_on ? request->have_bytes : 0;
    if (!goes_on)
        request->begins(request->context, answer->validator);
    part->file = file_open(request->part, goes_on ? "ab" : "wb");
    part->failed_write = part->file == NULL;
    return part->file != NULL;
}

bool transfer_part_write(struct transfer_part *part, long status, const void *data, size_t bytes)
{
    if (!part->opened && !open_part(part, status))
        return !part->failed_write && !part->opened; /* a page of an error */
    if (part->file == NULL)
        return false;
    if (bytes > part->request->limit_bytes - part->answer->part_bytes) {
        part->over_limit = true;
        return false;
    }
    if (fwrite(data, 1, bytes, part->file) != bytes) {
        part->failed_write = true;
        return false;
    }
    part->answer->part_bytes += bytes;
    return true;
}

void transfer_part_progress(const struct transfer_part *part, uint64_t total_bytes)
{
    if (part->file != NULL)
        part->request->progress(part->request->context, part->answer->part_bytes,
                                part->encoded ? 0 : total_bytes);
}

void transfer_part_end(struct transfer_part *part, long status, bool is_whole)
{
    if (is_whole && !part->opened)
        (void)open_part(part, status); /* an empty file */
    if (part->file != NULL && fclose(part->file) != 0)
        part->failed_write = true;
    part->file = NULL;
    if (status == 416)
        part->answer->validator[0] = '\0';
}

static enum transfer_outcome of_status(long status)
{
    switch (status) {
    case 200:
    case 206:
        return TRANSFER_DONE;
    case 404:
    case 410:
        return TRANSFER_ABSENT;
    case 408:
    case 416: /* the part is longer than the file: the caller starts again */
    case 425:
    case 429:
        return TRANSFER_AGAIN;
    default:
        return status >= 500 ? TRANSFER_AGAIN : TRANSFER_REFUSED;
    }
}

void transfer_part_answer(struct transfer_part *part, long status)
{
    struct transfer_answer *answer = part->answer;
    (void)snprintf(answer->text, sizeof answer->text, "it answered %ld", status);
    answer->outcome = of_status(status);
}

void transfer_part_broke(struct transfer_part *part, enum transfer_outcome outcome, const char *why)
{
    struct transfer_answer *answer = part->answer;
    answer->outcome = outcome;
    if (part->over_limit || outcome == TRANSFER_LIMIT) {
        answer->outcome = TRANSFER_LIMIT;
        why = "larger than the limit";
    } else if (part->failed_write) {
        answer->outcome = TRANSFER_IO;
        why = "it cannot be written";
    }
    (void)snprintf(answer->text, sizeof answer->text, "%s", why);
}
