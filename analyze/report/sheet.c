/* Headings, sentences and lists: see sheet.h; tables are in sheet_table.c. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "report/sheet.h"

void sheet_on_page(struct sheet *s, const struct page *page, struct arena *keep)
{
    *s = (struct sheet){.page = *page, .keep = keep};
    s->page.lines = &s->lines;
}

void sheet_as_markdown(struct sheet *s, FILE *out, size_t most_bytes, struct arena *keep)
{
    *s = (struct sheet){.page.out = out, .markdown = true, .most_bytes = most_bytes, .keep = keep};
    s->page.lines = &s->lines;
}

void sheet_count(struct sheet *dry, const struct sheet *s)
{
    *dry = *s;
    dry->page.out = NULL;
    dry->page.lines = &dry->lines;
}

/* ---- Markdown ------------------------------------------------------------------------- */

/* Text for Markdown: names come from dumps, so nothing in them may be markup. */
static const char *markdown_text(const char *text, struct arena *keep)
{
    if (text == NULL)
        return "";
    const size_t room = strlen(text) * 6 + 1;
    char *out = arena_alloc(keep, room), *at = out;
    if (out == NULL)
        return "";
    char *end = out + room;
    for (; *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<')
            at += snprintf(at, (size_t)(end - at), "&lt;");
        else if (c == '&')
            at += snprintf(at, (size_t)(end - at), "&amp;");
        else if (c < 0x20)
            *at++ = ' ';
        else {
            if (strchr("\\`*_{}[]()#|!>~@", c) != NULL)
                *at++ = '\\';
            *at++ = (char)c;
        }
    }
    *at = 0;
    return out;
}

void sheet_put(struct sheet *s, const char *text)
{
    s->bytes += strlen(text);
    if (s->page.out != NULL)
        (void)fputs(text, s->page.out);
}

void sheet_put_text(struct sheet *s, const char *text)
{
    struct arena own;
    arena_init(&own, 0);
    sheet_put(s, markdown_text(text, &own));
    arena_free(&own);
}

void sheet_block(struct sheet *s, enum sheet_block block)
{
    const bool goes_on = s->last == block && (block == SHEET_ITEM || block == SHEET_TABLE);
    if (s->markdown && s->last != SHEET_NOTHING && !goes_on &&
        (s->last != SHEET_HEADING || block == SHEET_HEADING))
        sheet_put(s, "\n");
    s->last = block;
}

/* A code span; what cannot be in one is left out. */
static void put_code(struct sheet *s, const char *text)
{
    char one[2] = "";
    sheet_put(s, "`");
    for (; *text != 0; text++) {
        one[0] = *text == '`' || *text == '|' || (unsigned char)*text < 0x20 ? '?' : *text;
        sheet_put(s, one);
    }
    sheet_put(s, "`");
}

/* ---- sentences ------------------------------------------------------------------------ */

void sheet_heading(struct sheet *s, const char *name, const char *rest)
{
    char title[256];
    (void)snprintf(title, sizeof title, "%s%s", name, rest);
    sheet_block(s, SHEET_HEADING);
    if (s->markdown) {
        sheet_put(s, "### ");
        sheet_put_text(s, title);
        sheet_put(s, "\n");
        return;
    }
    for (size_t i = 0; i < strlen(name) && i < sizeof title; i++)
        title[i] = (char)toupper((unsigned char)title[i]);
    page_title(&s->page, title);
}

void sheet_text(struct sheet *s, enum ink ink, uint32_t indent, uint32_t most, const char *text)
{
    if (text == NULL)
        return;
    sheet_block(s, SHEET_TEXT);
    if (!s->markdown) {
        page_wrap_most(&s->page, ink, indent, most, text);
        return;
    }
    const char *strong = ink == INK_BAD || ink == INK_TITLE ? "**" : "";
    sheet_put(s, strong);
    sheet_put_text(s, text);
    sheet_put(s, strong);
    sheet_put(s, "\n");
}

void sheet_textf(struct sheet *s, enum ink ink, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    sheet_text(s, ink, 0, 0, arena_vprintf(s->keep, format, list));
    va_end(list);
}

void sheet_commands(struct sheet *s, const char *const *parts, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count && text != NULL && !s->markdown; i++)
        text = arena_printf(s->keep, "%s%s%s%s", text, i % 2 != 0 ? "`" : "", parts[i],
                            i % 2 != 0 ? "`" : "");
    if (!s->markdown) {
        sheet_text(s, INK_PLAIN, 0, 0, text);
        return;
    }
    sheet_block(s, SHEET_TEXT);
    for (size_t i = 0; i < count; i++) {
        if (i % 2 != 0)
            put_code(s, parts[i]);
        else
            sheet_put_text(s, parts[i]);
    }
    sheet_put(s, "\n");
}

void sheet_raw(struct sheet *s, const char *text)
{
    if (!s->markdown)
        return;
    sheet_put(s, text);
    s->last = SHEET_TEXT;
}

void sheet_fold(struct sheet *s, const char *title)
{
    if (!s->markdown) {
        sheet_heading(s, title, "");
        return;
    }
    sheet_block(s, SHEET_TEXT);
    sheet_put(s, "<details><summary>");
    sheet_put_text(s, title);
    sheet_put(s, "</summary>\n");
}

void sheet_unfold(struct sheet *s)
{
    if (!s->markdown)
        return;
    sheet_block(s, SHEET_TEXT);
    sheet_put(s, "</details>\n");
}

/* ---- room ----------------------------------------------------------------------------- */

enum { TAIL_BYTES = 4000 }; /* kept for the headings and sentences after lists that were cut */

bool sheet_fits(const struct sheet *s, const struct sheet *dry, bool last)
{
    return (s->most_lines == 0 || s->markdown || dry->lines + (last ? 0 : 1) <= s->most_lines) &&
           (s->most_bytes == 0 || dry->bytes + TAIL_BYTES <= s->most_bytes);
}

void sheet_more(struct sheet *s, size_t left, bool any, const char *thing, const char *elsewhere)
{
    char text[160];
    if (left == 0)
        return;
    (void)snprintf(text, sizeof text, "%s%zu%s %s%s%s", any ? "and " : "", left, any ? " more" : "",
                   thing, left == 1 ? "" : "s", elsewhere != NULL ? elsewhere : "");
    sheet_text(s, INK_WARN, 0, 0, text);
}

/* ---- lists ---------------------------------------------------------------------------- */

static void put_part(struct sheet *s, const char *before, const char *text)
{
    if (text == NULL || text[0] == 0)
        return;
    sheet_put(s, before);
    sheet_put_text(s, text);
}

static void put_entry(struct sheet *s, const struct sheet_entry *e)
{
    const bool noted = e->note != NULL && e->note[0] != 0;
    sheet_put(s, "* ");
    put_part(s, "", e->head);
    put_part(s, "", e->text);
    put_part(s, "<br>", e->why);
    put_part(s, "<br>", e->note);
    if (e->command != NULL) {
        sheet_put(s, noted ? " · more: " : "<br>more: ");
        put_code(s, e->command);
    }
    sheet_put(s, "\n");
}

static void print_line(struct sheet *s, const char *text)
{
    if (text == NULL || text[0] == 0)
        return;
    page_cell(&s->page, INK_PLAIN, 2, "");
    page_wrap(&s->page, INK_DIM, 2, text);
}

static void print_entry(struct sheet *s, const struct sheet_entry *e)
{
    uint32_t indent = e->indent;
    if (indent == 0 && e->head != NULL)
        indent = text_width(e->head);
    if (e->head != NULL)
        page_cell(&s->page, e->ink, (int)(e->indent != 0 ? e->indent : 0), e->head);
    page_wrap_most(&s->page, INK_PLAIN, indent, e->most, e->text != NULL ? e->text : "");
    if (e->why != NULL && e->why[0] != 0) {
        const uint32_t in = e->why_indent != 0 ? e->why_indent : 2;
        page_cell(&s->page, INK_PLAIN, (int)in, "");
        page_wrap_most(&s->page, INK_PLAIN, in, e->why_most != 0 ? e->why_most : e->most, e->why);
    }
    const char *command = e->command != NULL ? arena_printf(s->keep, "more: %s", e->command) : NULL;
    const char *note = e->note;
    if (note != NULL && command != NULL &&
        2 + text_width(note) + text_width(" · ") + text_width(command) <= s->page.columns) {
        note = arena_printf(s->keep, "%s · %s", note, command);
        command = NULL;
    }
    print_line(s, note);
    print_line(s, command); /* whole, if it fits: a shell reads no line that is broken */
}

static void write_entry(struct sheet *s, const struct sheet_entry *e)
{
    sheet_block(s, SHEET_ITEM);
    if (s->markdown)
        put_entry(s, e);
    else
        print_entry(s, e);
}

size_t sheet_list(struct sheet *s, sheet_entry_fn *entry, const void *rows, size_t count,
                  const char *thing, const char *elsewhere)
{
    size_t left = 0, at = 0;
    struct arena own;
    bool full = false;
    arena_init(&own, 0);
    for (; at < count; at++) {
        struct sheet_entry e = {.ink = INK_PLAIN};
        struct sheet dry;
        arena_reset(&own);
        entry(rows, at, &own, &e);
        sheet_count(&dry, s);
        if (!full && (s->most_lines > 0 || s->most_bytes > 0)) {
            write_entry(&dry, &e);
            full = !sheet_fits(s, &dry, at + 1 == count);
        }
        if (full)
            left += e.stands_for > 0 ? e.stands_for : 1;
        else
            write_entry(s, &e);
    }
    arena_free(&own);
    sheet_more(s, left, s->last == SHEET_ITEM, thing, elsewhere);
    return left;
}
