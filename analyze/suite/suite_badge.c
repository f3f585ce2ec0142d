/* Badges: see result_page.h. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/xml.h"
#include "suite/result_page.h"

enum { LETTER_WIDTH = 7, MARGIN = 6 }; /* of Verdana at 11 pixels, about */

static bool has_bad(const struct suite_badge *badge)
{
    for (int k = 0; k < SUITE_OUTCOMES; k++)
        if (badge->counts[k] > 0 && suite_outcome_rank((enum suite_outcome)k) >= 2)
            return true;
    return false;
}

static const char *color_of(const struct suite_badge *badge)
{
    if (!matrix_covers(badge->counts))
        return "#6b6b6b";
    if (has_bad(badge))
        return "#b3261e";
    for (int k = 0; k < MATRIX_OUTCOMES; k++)
        if (k != SUITE_RIGHT && badge->counts[k] > 0)
            return "#8a5a00";
    return "#1e7b34";
}

const char *suite_badge_words(const struct suite_badge *badge, struct arena *keep)
{
    const char *text = "";
    if (!matrix_covers(badge->counts))
        return "not covered";
    for (int k = 0; k < MATRIX_OUTCOMES && text != NULL; k++)
        if (badge->counts[k] > 0 || k == SUITE_RIGHT)
            text = arena_printf(keep, "%s%s%" PRIu32 " %s", text, text[0] != 0 ? ", " : "",
                                badge->counts[k], matrix_outcome_name(k));
    return text;
}

const char *suite_badge_file_name(const struct suite_badge *badge, struct arena *keep)
{
    char *name = arena_printf(keep, "%s-%s-%s.svg", badge->tool, badge->version, badge->capability);
    if (name != NULL)
        text_lower(name);
    for (char *c = name; c != NULL && *c != 0; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyz0123456789._", *c) == NULL ||
            (*c == '.' && c == name))
            *c = '-';
    return name;
}

void suite_badge_write(const struct suite_badge *badge, const char *words, FILE *out)
{
    const int left = (int)strlen(badge->capability) * LETTER_WIDTH + 2 * MARGIN;
    const int right = (int)strlen(words) * LETTER_WIDTH + 2 * MARGIN;
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" "
                  "role=\"img\"><title>",
                  left + right);
    xml_text(out, badge->tool);
    (void)fputc(' ', out);
    xml_text(out, badge->version);
    (void)fputs(", reference suite ", out);
    xml_text(out, badge->edition);
    (void)fputs(", ", out);
    xml_text(out, badge->capability);
    (void)fputs(": ", out);
    xml_text(out, words);
    (void)fprintf(out,
                  "</title><rect width=\"%d\" height=\"20\" fill=\"#3b3b3b\"/><rect x=\"%d\" "
                  "width=\"%d\" height=\"20\" fill=\"%s\"/><g fill=\"#fff\" "
                  "font-family=\"Verdana,sans-serif\" font-size=\"11\"><text x=\"%d\" y=\"14\" "
                  "textLength=\"%d\">",
                  left, left, right, color_of(badge), MARGIN, left - 2 * MARGIN);
    xml_text(out, badge->capability);
    (void)fprintf(out, "</text><text x=\"%d\" y=\"14\" textLength=\"%d\">", left + MARGIN,
                  right - 2 * MARGIN);
    xml_text(out, words);
    (void)fputs("</text></g></svg>\n", out);
}

enum status suite_badges(const struct matrix *matrix, struct arena *keep, struct suite_badge **out,
                         uint32_t *count, struct fault *fault)
{
    uint32_t capabilities = 0;
    for (uint32_t at = 0; at < matrix->suite->count; at = matrix_end(matrix, at, false))
        capabilities++;
    *count = 0;
    *out = ARENA_ARRAY(keep, (size_t)capabilities * matrix->count + 1, struct suite_badge);
    if (*out == NULL)
        return fault_no_memory(fault, "badges");
    for (uint32_t i = 0; i < matrix->count; i++)
        for (uint32_t at = 0, end; at < matrix->suite->count; at = end) {
            struct suite_badge *badge = &(*out)[(*count)++];
            end = matrix_end(matrix, at, false);
            *badge = (struct suite_badge){.tool = matrix->tools[i].name,
                                          .version = matrix->tools[i].version,
                                          .edition = matrix->tools[i].edition,
                                          .capability =
                                              matrix->suite->cases[matrix->order[at]].capability};
            matrix_count(matrix, i, at, end, badge->counts);
        }
    return ERR_NONE;
}
