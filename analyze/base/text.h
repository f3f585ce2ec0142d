/* Helpers for text from users and files. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses all SIZE characters as a hexadecimal number, with or without "0x". False when the text is
 * empty, exceeds 64 bits or has any other character. */
bool text_parse_hex(const char *text, size_t size, uint64_t *out);

/* The same for a decimal number. */
bool text_parse_uint(const char *text, size_t size, uint64_t *out);

/* TEXT, or "" for NULL. */
const char *text_or_empty(const char *text);

/* True when both are the same text, or both are NULL. */
bool text_equal(const char *a, const char *b);

/* The comparator of an array of texts. */
int text_order(const void *left, const void *right);

/* Compares with ASCII case folding, as Windows compares module names. */
bool text_equal_nocase(const char *a, const char *b);

/* Makes the ASCII capitals of TEXT small, in place. */
void text_lower(char *text);

/* True when LIST, words with commas between them, has WORD. */
bool text_list_has(const char *list, const char *word);

/* True when TEXT matches PATTERN with '*' and '?', ignoring case. */
bool text_glob(const char *pattern, const char *text);

/* Length of the valid UTF-8 sequence at TEXT, which a NUL ends, or 0.  Rejects overlong forms,
 * surrogates and values past U+10FFFF. */
size_t text_utf8_length(const unsigned char *text);

/* Bytes of the control character at TEXT, which a NUL ends: C0, DEL or, in UTF-8, C1; 0: the text
 * ends here or starts with another character. Text from files must not reach a terminal with them.
 */
size_t text_control_length(const char *text);

/* SHA-256 as 64 lower-case hex digits and NUL. */
void text_sha256(const void *data, size_t bytes, char out[65]);

/* The day of SECONDS since 1970 in UTC as "YYYY-MM-DD".  Unlike gmtime() safe on several threads.
 */
enum { TEXT_DATE_BYTES = 16 };
void text_utc_date(uint64_t seconds, char out[TEXT_DATE_BYTES]);

/* A growing text, empty when zeroed; free() its `text`, which a NUL ends once something was put. */
struct text_buffer {
    char *text;
    uint32_t bytes, room;
    bool failed; /* out of memory, or above 4 GiB: something is missing */
};
void text_buffer_put(struct text_buffer *buffer, const char *text, size_t bytes);

/* Terminates the next word at *AT in place, returns it and moves *AT past it; NULL when no word is
 * left. */
char *text_next_word(char **at);

#endif
