/* Small tools for text that comes from users and files. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses the whole of SIZE characters as hexadecimal, with or without "0x".  False when
 * empty, over 64 bits, or anything else is there. */
bool text_parse_hex(const char *text, size_t size, uint64_t *out);

/* Parses the whole as decimal.  False as above. */
bool text_parse_uint(const char *text, size_t size, uint64_t *out);

/* ASCII case folding compare, as Windows compares module names. */
bool text_equal_nocase(const char *a, const char *b);

/* True when TEXT matches PATTERN with '*' and '?', case folded. */
bool text_glob(const char *pattern, const char *text);

/* Length of the valid UTF-8 sequence at TEXT, which a NUL ends, or 0.  Rejects overlong forms,
 * surrogates and values past U+10FFFF. */
size_t text_utf8_length(const unsigned char *text);

/* SHA-256 as 64 lower-case hex digits and NUL. */
void text_sha256(const void *data, size_t bytes, char out[65]);

/* Cuts the next word off *AT, in place, and moves *AT past it; NULL when no word is left. */
char *text_next_word(char **at);

#endif
