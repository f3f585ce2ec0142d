/* See text.h. */
#include "base/text.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static char lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool text_parse_hex(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;

    if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        text += 2;
        size -= 2;
    }
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        const int digit = hex_digit(text[i]);
        if (digit < 0 || value >> 60 != 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    *out = value;
    return true;
}

bool text_parse_uint(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;

    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool text_equal(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

int text_order(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

bool text_list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0)
            return true;
    return false;
}

/* A letter of two bytes of UTF-8 in its small form: Latin, Greek and Cyrillic, as the names of
 * files on Windows compare. Others stay as they are. */
static uint32_t small_letter(uint32_t c)
{
    static const struct {
        uint32_t first, last, by;
    } ranges[] = {{0xC0, 0xD6, 0x20},   {0xD8, 0xDE, 0x20},   {0x391, 0x3A1, 0x20},
                  {0x3A3, 0x3AB, 0x20}, {0x400, 0x40F, 0x50}, {0x410, 0x42F, 0x20}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return c + ranges[i].by;
    const bool is_even_capital = (c >= 0x100 && c <= 0x137 && c != 0x130) ||
                                 (c >= 0x14A && c <= 0x177) || (c >= 0x460 && c <= 0x481);
    const bool is_odd_capital = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    if (is_even_capital)
        return c | 1;
    return is_odd_capital ? c + (c & 1) : c;
}

/* The letter at *AT, which moves after it. Bytes that are no UTF-8 of two are themselves. */
static uint32_t next_small(const char **at)
{
    const uint8_t first = (uint8_t)(*at)[0], second = first != 0 ? (uint8_t)(*at)[1] : 0;
    if (first >= 0xC2 && first < 0xE0 && (second & 0xC0) == 0x80) {
        *at += 2;
        return small_letter((uint32_t)(first & 0x1F) << 6 | (second & 0x3F));
    }
    *at += first != 0;
    return first < 0x80 ? (uint8_t)lower_case((char)first) : 0x10000U + first;
}

void text_lower(char *text)
{
    for (; *text != '\0'; text++)
        *text = lower_case(*text);
}

bool text_equal_nocase(const char *a, const char *b)
{
    const char *const start = a;
    for (; *a != '\0' && lower_case(*a) == lower_case(*b); a++, b++) {
    }
    if ((uint8_t)*a < 0x80 && (uint8_t)*b < 0x80)
        return lower_case(*a) == lower_case(*b);
    while (a > start && ((uint8_t)*a & 0xC0) == 0x80 && ((uint8_t)*b & 0xC0) == 0x80) {
        a--; /* to the first byte of the letter, which is the same */
        b--;
    }
    uint32_t x = 0, y = 0;
    do {
        x = next_small(&a);
        y = next_small(&b);
    } while (x == y && x != 0);
    return x == y;
}

bool text_glob(const char *pattern, const char *text)
{
    const char *star = NULL; /* the last '*' seen, and where to retry its match */
    const char *from = NULL;

    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || lower_case(*pattern) == lower_case(*text)) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

size_t text_control_length(const char *text)
{
    const unsigned char c = (unsigned char)text[0], next = c != 0 ? (unsigned char)text[1] : 0;
    if (c == 0xC2 && next >= 0x80 && next < 0xA0)
        return 2;
    return (c != 0 && c < 0x20) || c == 0x7F;
}

void text_sha256(const void *data, size_t bytes, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];

    sha256_init(&context);
    sha256_update(&context, bytes, data);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[64] = '\0';
}

void text_buffer_put(struct text_buffer *buffer, const char *text, size_t bytes)
{
    if (!ARRAY_ROOM(buffer->text, buffer->room, (uint64_t)buffer->bytes + bytes + 1)) {
        buffer->failed = true;
        return;
    }
    memcpy(buffer->text + buffer->bytes, text, bytes);
    buffer->bytes += (uint32_t)bytes;
    buffer->text[buffer->bytes] = '\0';
}

char *text_next_word(char **at)
{
    char *word = *at + strspn(*at, " ");
    if (*word == '\0')
        return NULL;
    char *end = word + strcspn(word, " ");
    *at = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

size_t text_utf8_length(const unsigned char *text)
{
    const unsigned char c = text[0];
    size_t n;
    unsigned char low = 0x80, high = 0xBF;

    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        n = 2;
    else if (c >= 0xE0 && c <= 0xEF)
        n = 3;
    else if (c >= 0xF0 && c <= 0xF4)
        n = 4;
    else
        return 0;
    if (c == 0xE0)
        low = 0xA0;
    if (c == 0xED)
        high = 0x9F;
    if (c == 0xF0)
        low = 0x90;
    if (c == 0xF4)
        high = 0x8F;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (text[i] < 0x80 || text[i] > 0xBF)
            return 0;
    return n;
}

/* Years begin in March here, so that a leap day is the last day of its year; 400 years have 146,097
 * days.  From Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days. */
void text_utc_date(uint64_t seconds, char out[TEXT_DATE_BYTES])
{
    enum { DAYS_TO_1970 = 719468, ERA_DAYS = 146097, LAST_DAY = 2932896 /* 9999-12-31 */ };
    const uint64_t since = seconds / 86400;
    const uint64_t days = DAYS_TO_1970 + (since < LAST_DAY ? since : LAST_DAY);
    const uint64_t era = days / ERA_DAYS, day = days % ERA_DAYS;
    const uint64_t year = (day - day / 1460 + day / 36524 - day / (ERA_DAYS - 1)) / 365;
    const uint64_t of_year = day - (365 * year + year / 4 - year / 100);
    const uint64_t month = (5 * of_year + 2) / 153; /* 0: March */
    (void)snprintf(out, TEXT_DATE_BYTES, "%04u-%02u-%02u",
                   (unsigned)(year + era * 400 + (month >= 10 ? 1 : 0)) % 10000,
                   (unsigned)(month < 10 ? month + 3 : month - 9) % 100,
                   (unsigned)(of_year - (153 * month + 2) / 5 + 1) % 100);
}
