/* See badges.h. */
#include "pages/badges.h"

#include <string.h>

#include "report/report.h"

const struct figures_answer figures_answers[FIGURES_COUNT] = {{"/metrics", figures_metrics},
#define BADGE_ANSWERS(NAME, MAKE)                                                                  \
    {"/badge/" NAME ".svg", figures_badge}, {"/badge/" NAME ".json", figures_badge},
                                                              BADGES(BADGE_ANSWERS)
#undef BADGE_ANSWERS
};

enum status take_temporary(FILE *out, struct arena *keep, char **text, size_t *bytes,
                           struct fault *fault)
{
    if (out == NULL)
        return fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "temporary file");
    if (fault->code == ERR_NONE) {
        const long size = ftell(out);
        *text =
            size > 0 && fseek(out, 0, SEEK_SET) == 0 ? arena_alloc(keep, (size_t)size + 1) : NULL;
        *bytes = *text != NULL ? fread(*text, 1, (size_t)size, out) : 0;
        if (*text == NULL)
            (void)fault_no_memory(fault, "answer");
        else
            (*text)[*bytes] = '\0';
    }
    (void)fclose(out);
    return fault->code;
}

enum status figures_metrics(const struct run_figures *figures, const char *address,
                            struct arena *scratch, FILE *out, struct fault *fault)
{
    (void)address;
    return report_openmetrics(&(struct report_job){.report = figures, .scratch = scratch}, out,
                              fault);
}

enum status figures_text(figures_fn *write, const struct run_figures *figures, const char *address,
                         struct arena *keep, char **text, size_t *bytes, struct fault *fault)
{
    FILE *out = tmpfile();
    if (out != NULL)
        (void)write(figures, address, keep, out, fault);
    return take_temporary(out, keep, text, bytes, fault);
}

/* ---- badges --------------------------------------------------------------------------- */

enum { NAME_BYTES = 64, CHARACTER_WIDTH = 7, PADDING = 12 };

enum form { FORM_JSON, FORM_SVG, FORM_COUNT };

static const struct {
    const char *suffix, *mime;
} badge_forms[FORM_COUNT] = {{".json", "application/json"}, {".svg", "image/svg+xml"}};

/* Splits "/badge/exact.svg"; FORM_COUNT if it is not the name of a badge. */
static enum form split_name(const char *address, char name[NAME_BYTES])
{
    const char *text = strrchr(address, '/') + 1;
    const size_t size = strcspn(text, ".");
    if (size >= NAME_BYTES)
        return FORM_COUNT;
    memcpy(name, text, size);
    name[size] = '\0';
    int form = 0;
    while (form < FORM_COUNT && strcmp(badge_forms[form].suffix, text + size) != 0)
        form++;
    return (enum form)form;
}

/* Dark enough for white letters. */
static const char *const colors[BADGE_COLOR_COUNT] = {
    [BADGE_LIGHT_GREY] = "#5f6670", [BADGE_BRIGHT_GREEN] = "#2f7d32", [BADGE_GREEN] = "#4a7c1f",
    [BADGE_YELLOW] = "#8a6500",     [BADGE_RED] = "#b3261e",          [BADGE_BLUE] = "#0b5cad",
};

/* Figures contain no markup characters. */
static enum status draw(const struct badge *badge, FILE *out, struct fault *fault)
{
    const char *label = badge->label, *message = badge->message, *color = colors[badge->color];
    const size_t left = strlen(label) * CHARACTER_WIDTH + PADDING;
    const size_t right = strlen(message) * CHARACTER_WIDTH + PADDING;
    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"20\" role=\"img\""
        " aria-label=\"%s: %s\"><title>%s: %s</title>"
        "<rect width=\"%zu\" height=\"20\" rx=\"3\" fill=\"%s\"/>"
        "<rect width=\"%zu\" height=\"20\" rx=\"3\" fill=\"#444a53\"/>"
        "<rect x=\"%zu\" width=\"4\" height=\"20\" fill=\"%s\"/>"
        "<g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\""
        " font-size=\"11\"><text x=\"%zu\" y=\"14\">%s</text><text x=\"%zu\" y=\"14\">%s</text>"
        "</g></svg>\n",
        left + right, label, message, label, message, left + right, color, left, left - 2, color,
        left / 2, label, left + right / 2, message);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing a badge")
                            : ERR_NONE;
}

enum status figures_badge(const struct run_figures *figures, const char *address,
                          struct arena *scratch, FILE *out, struct fault *fault)
{
    char name[NAME_BYTES];
    struct badge badge;
    (void)scratch;
    switch (split_name(address, name)) {
    case FORM_JSON:
        return report_badge(&(struct report_job){.report = figures, .badge = name}, out, fault);
    case FORM_SVG:
        return report_make_badge(figures, name, &badge, fault) == ERR_NONE
                   ? draw(&badge, out, fault)
                   : fault->code;
    case FORM_COUNT:
        break;
    }
    return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "badge",
                          "badges are METRIC.json and METRIC.svg");
}

const char *figures_mime(const char *address)
{
    char name[NAME_BYTES];
    return badge_forms[split_name(address, name)].mime;
}
