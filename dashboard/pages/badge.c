/* Badges of the newest finished run: METRIC.json in the form that shields reads, and the same as
 * a picture. */
#include "pages/badge.h"

#include <stdio.h>
#include <string.h>

#include "http/answer.h"
#include "pages/api.h"
#include "report/report.h"

enum { NAME_BYTES = 64, CHARACTER_WIDTH = 7, PADDING = 12 };

enum form { FORM_JSON, FORM_SVG, FORM_COUNT };

static const struct {
    const char *suffix, *mime;
} badge_forms[FORM_COUNT] = {{".json", "application/json"}, {".svg", "image/svg+xml"}};

/* Splits "exact.svg"; FORM_COUNT if it is not the name of a badge. */
static enum form split_name(const char *text, char name[NAME_BYTES])
{
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

static enum status write_badge(struct exchange *x, const struct run_figures *report, FILE *out,
                               struct fault *fault)
{
    char name[NAME_BYTES];
    struct badge badge;
    switch (split_name(x->query.params[0], name)) {
    case FORM_JSON:
        return report_badge(&(struct report_job){.report = report, .badge = name}, out, fault);
    case FORM_SVG:
        return report_make_badge(report, name, &badge, fault) == ERR_NONE ? draw(&badge, out, fault)
                                                                          : fault->code;
    case FORM_COUNT:
        break;
    }
    return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "badge",
                          "badges are METRIC.json and METRIC.svg");
}

int answer_badge(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL, name[NAME_BYTES], etag[ETAG_BYTES];
    size_t bytes = 0;
    if (exchange_figures(x, write_badge, &text, &bytes, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    const struct answer_body body = {.mime = badge_forms[split_name(x->query.params[0], name)].mime,
                                     .body = text,
                                     .bytes = bytes,
                                     .etag = etag};
    etag_of(text, bytes, etag);
    return answer_body(x, 200, &body);
}
