/* Columns, colours, wrapping: see page.h. */
#include "report/page.h"

#include <stdarg.h>
#include <string.h>

static const char *const ink_codes[] = {"",         "\x1b[32m", "\x1b[31m",
                                        "\x1b[33m", "\x1b[2m",  "\x1b[1m"};

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

uint32_t text_width(const char *text)
{
    uint32_t width = 0;
    for (; *text != 0; text++)
        width += starts_character(*text);
    return width;
}

static void put_ink(const struct page *page, enum ink ink, bool on)
{
    if (page->color && ink != INK_PLAIN)
        (void)fputs(on ? ink_codes[ink] : "\x1b[0m", page->out);
}

/* Writes at most WIDTH characters. */
static void put_text(const struct page *page, const char *text, uint32_t width)
{
    for (; *text != 0; text++) {
        if (starts_character(*text) && width-- == 0)
            break;
        const unsigned char c = (unsigned char)*text;
        (void)fputc(c < 0x20 || c == 0x7f ? '?' : c, page->out);
    }
}

void page_cell(const struct page *page, enum ink ink, int width, const char *text)
{
    const uint32_t have = text_width(text);
    const uint32_t want = width == 0 ? have : (uint32_t)(width < 0 ? -width : width);
    const uint32_t pad = have < want ? want - have : 0;
    if (width < 0)
        (void)fprintf(page->out, "%*s", (int)pad, "");
    const enum ink shown = have > 0 ? ink : INK_PLAIN;
    put_ink(page, shown, true);
    put_text(page, text, have > want ? want - 1 : have);
    if (have > want)
        (void)fputs("…", page->out);
    put_ink(page, shown, false);
    if (width > 0)
        (void)fprintf(page->out, "%*s", (int)pad, "");
}

void page_cellf(const struct page *page, enum ink ink, int width, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    page_cell(page, ink, width, text);
}

void page_wrap(const struct page *page, enum ink ink, uint32_t indent, const char *text)
{
    const uint32_t room = page->columns > indent + 20 ? page->columns - indent : 20;
    put_ink(page, ink, true);
    for (bool first = true; *text != 0; first = false) {
        const char *at = text, *last_blank = NULL;
        uint32_t width = 0;
        for (; *at != 0; at++) {
            if (starts_character(*at) && ++width > room)
                break;
            if (*at == ' ')
                last_blank = at;
        }
        const char *end = *at == 0 ? at : last_blank != NULL ? last_blank : at;
        if (!first)
            (void)fprintf(page->out, "\n%*s", (int)indent, "");
        for (; text < end; text++)
            (void)fputc((unsigned char)*text < 0x20 ? '?' : *text, page->out);
        while (*text == ' ')
            text++;
    }
    put_ink(page, ink, false);
    (void)fputc('\n', page->out);
}

void page_title(const struct page *page, const char *title)
{
    (void)fputc('\n', page->out);
    page_cell(page, INK_TITLE, (int)text_width(title), title);
    (void)fputc('\n', page->out);
}

void page_line(const struct page *page)
{
    (void)fputc('\n', page->out);
}
