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

static void put_char(const struct page *page, char c)
{
    if (page->out != NULL)
        (void)fputc(c, page->out);
}

static void put_blanks(const struct page *page, uint32_t count)
{
    for (; count > 0; count--)
        put_char(page, ' ');
}

static void put_ink(const struct page *page, enum ink ink, bool on)
{
    if (page->color && ink != INK_PLAIN && page->out != NULL)
        (void)fputs(on ? ink_codes[ink] : "\x1b[0m", page->out);
}

/* Writes at most WIDTH characters. */
static void put_text(const struct page *page, const char *text, uint32_t width)
{
    for (; *text != 0; text++) {
        if (starts_character(*text) && width-- == 0)
            break;
        const unsigned char c = (unsigned char)*text;
        put_char(page, c < 0x20 || c == 0x7f ? '?' : *text);
    }
}

void page_cell(const struct page *page, enum ink ink, int width, const char *text)
{
    const uint32_t have = text_width(text);
    uint32_t want = (uint32_t)(width < 0 ? -width : width);
    if (width == 0)
        want = have;
    const uint32_t pad = have < want ? want - have : 0;
    put_blanks(page, width < 0 ? pad : 0);
    const enum ink shown = have > 0 ? ink : INK_PLAIN;
    put_ink(page, shown, true);
    put_text(page, text, have > want ? want - 1 : have);
    if (have > want)
        put_text(page, "…", 1);
    put_ink(page, shown, false);
    put_blanks(page, width > 0 ? pad : 0);
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

const char *page_line_end(const char *text, uint32_t room)
{
    const char *at = text, *last_blank = NULL;
    for (uint32_t width = 0; *at != 0; at++) {
        if (starts_character(*at) && ++width > room)
            break;
        if (*at == ' ')
            last_blank = at;
    }
    return *at == 0 || last_blank == NULL ? at : last_blank;
}

void page_wrap_most(const struct page *page, enum ink ink, uint32_t indent, uint32_t most,
                    const char *text)
{
    static const char more[] = " ...";
    const uint32_t room = page->columns > indent + 20 ? page->columns - indent : 20;
    put_ink(page, ink, true);
    for (uint32_t line = 1; *text != 0; line++) {
        const char *end = page_line_end(text, room);
        const bool cut = line == most && *end != 0;
        if (cut)
            end = page_line_end(text, room - (uint32_t)strlen(more));
        if (line > 1) {
            page_line(page);
            put_blanks(page, indent);
        }
        for (; text < end; text++)
            put_char(page, (unsigned char)*text < 0x20 ? '?' : *text);
        if (cut) {
            put_text(page, more, (uint32_t)strlen(more));
            break;
        }
        while (*text == ' ')
            text++;
    }
    put_ink(page, ink, false);
    page_line(page);
}

void page_wrap(const struct page *page, enum ink ink, uint32_t indent, const char *text)
{
    page_wrap_most(page, ink, indent, 0, text);
}

void page_title(const struct page *page, const char *title)
{
    page_line(page);
    page_cell(page, INK_TITLE, (int)text_width(title), title);
    page_line(page);
}

void page_line(const struct page *page)
{
    put_char(page, '\n');
    if (page->lines != NULL)
        ++*page->lines;
}
