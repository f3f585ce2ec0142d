/* Writing and reading JSON.
 *
 * A document is written by calls in its own order, so a million stacks need no tree, and the same
 * calls always give the same bytes. cJSON does the reading; the json_get_* helpers report a missing
 * member instead of crashing. Addresses are hex strings ("0x1f"), because JSON numbers cannot hold
 * all 64-bit values. An unknown value is null, not absent. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fault.h"

enum { JSON_DEPTH_MAX = 32 };

/* Either a stream or a growing buffer; see json_to_stream and json_to_text. */
struct json {
    FILE *stream; /* borrowed; NULL: buffer          */
    char *text;   /* owned until json_take or json_free */
    size_t bytes, room;
    bool failed; /* out of memory or a write error */
    bool pretty; /* two-space indent and newlines  */
    int depth;   /* open objects and arrays        */
    bool has_item[JSON_DEPTH_MAX + 1];
    bool after_key;
};

void json_to_stream(struct json *j, FILE *stream, bool pretty);
void json_to_text(struct json *j, bool pretty);

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
/* KEY is written as it is: it holds nothing that JSON escapes. */
void json_key_of(struct json *j, const char *key, size_t bytes);

void json_string(struct json *j, const char *text); /* NULL: null; invalid UTF-8 becomes U+FFFD */
/* The same, for a text that is written again and again, such as the path of a file: MEMO, at first
 * all zeroes, says where it was written last. It is good for one text of one writer, whose buffer
 * is not emptied, and as long as texts stay where they are. */
struct json_memo {
    const char *text;
    size_t at, bytes;
};
void json_string_again(struct json *j, const char *text, struct json_memo *memo);
/* Writes once more what lies at MEMO, whole members of an object as deep as this one. False:
 * nothing is noted there, or there is no buffer with room: then write them, and note where they
 * are. */
bool json_again(struct json *j, const struct json_memo *memo);
void json_int(struct json *j, int64_t value);
void json_uint(struct json *j, uint64_t value);
void json_hex(struct json *j, uint64_t value);                  /* "0x1f"            */
void json_hex_wide(struct json *j, uint64_t value, int digits); /* "0x0000001f"   */
void json_number(struct json *j, double value); /* shortest form; NaN and infinity: null */
void json_bool(struct json *j, bool value);
void json_null(struct json *j);
void json_newline(struct json *j); /* ends one document in a stream of documents */

/* A document on standard output that is one list, {"schema_version": 1, KEY: [...]}: its elements
 * are written between these two. */
void json_print_list(struct json *j, const char *key);
void json_print_list_end(struct json *j);

/* Inline, so that the length of a key is known where it is compiled. */
static inline void json_key(struct json *j, const char *key)
{
    json_key_of(j, key, strlen(key));
}

/* key + value, or the begin of one, in one call */
static inline void json_key_string(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_string(j, text);
}

static inline void json_key_uint(struct json *j, const char *key, uint64_t value)
{
    json_key(j, key);
    json_uint(j, value);
}

static inline void json_key_hex(struct json *j, const char *key, uint64_t value)
{
    json_key(j, key);
    json_hex(j, value);
}

static inline void json_key_number(struct json *j, const char *key, double value)
{
    json_key(j, key);
    json_number(j, value);
}

static inline void json_key_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key);
    json_bool(j, value);
}

static inline void json_key_array(struct json *j, const char *key)
{
    json_key(j, key);
    json_array(j);
}

static inline void json_key_object(struct json *j, const char *key)
{
    json_key(j, key);
    json_object(j);
}

static inline void json_key_null(struct json *j, const char *key)
{
    json_key(j, key);
    json_null(j);
}

/* Null where it is not KNOWN. */
static inline void json_key_uint_if(struct json *j, const char *key, uint64_t value, bool known)
{
    json_key(j, key);
    known ? json_uint(j, value) : json_null(j);
}

static inline void json_key_hex_if(struct json *j, const char *key, uint64_t value, bool known)
{
    json_key(j, key);
    known ? json_hex(j, value) : json_null(j);
}

/* Null where it is 0. */
static inline void json_key_uint_known(struct json *j, const char *key, uint64_t value)
{
    json_key_uint_if(j, key, value, value != 0);
}

static inline void json_key_hex_known(struct json *j, const char *key, uint64_t value)
{
    json_key_hex_if(j, key, value, value != 0);
}

/* Ends a document that was written to a buffer. Returns the text, owned by the caller (free()), or
 * NULL when anything failed. The writer is empty afterwards. */
char *json_take(struct json *j, size_t *bytes);
void json_free(struct json *j);

/* Parses one document. The caller owns the tree and frees it with cJSON_Delete(). Fails:
 * ERR_MALFORMED with the offset, ERR_LIMIT over LIMIT_JSON_BYTES. */
enum status json_parse(const char *text, size_t bytes, cJSON **out, struct fault *fault);

/* Read a member of an object, copied into KEEP. A missing or null member gives NULL or FALLBACK; a
 * member of the wrong type is ERR_MALFORMED, with the key as `what`. */
const char *json_get_string(const cJSON *object, const char *key, struct arena *keep,
                            struct fault *fault);
uint64_t json_get_uint(const cJSON *object, const char *key, uint64_t fallback,
                       struct fault *fault);
uint64_t json_get_hex(const cJSON *object, const char *key, uint64_t fallback,
                      struct fault *fault); /* "0x..." or a number */
bool json_get_bool(const cJSON *object, const char *key, bool fallback, struct fault *fault);
const cJSON *json_get_array(const cJSON *object, const char *key, struct fault *fault);
/* The texts of an array in KEEP, *COUNT of them; a missing array has none. NULL: a fault. */
const char **json_get_texts(const cJSON *object, const char *key, struct arena *keep,
                            uint32_t *count, struct fault *fault);
const cJSON *json_get_object(const cJSON *object, const char *key, struct fault *fault);

#endif
