/* Badges of the newest finished run: METRIC.json in the form that shields reads, and the same as
 * a picture. */
#include "dashboard/badge.h"

#include <stdio.h>
#include <string.h>

#include "dashboard/answer.h"
#include "dashboard/api.h"
#include "report/report.h"

enum { METRIC_BYTES = 64, CHARACTER_WIDTH = 7, PADDING = 12 };

/* Splits "exact.svg" at its dot; NULL if NAME is not the name of a badge. */
static const char *split_metric(const char *name, char metric[METRIC_BYTES])
{
    const size_t size = strcspn(name, ".");
    if (size >= METRIC_BYTES || name[size] == '\0')
        return NULL;
    memcpy(metric, name, size);
    metric[size] = '\0';
    return name + size + 1;
}

static enum status write_badge(struct exchange *x, const struct run_figures *report, FILE *out,
                               struct fault *fault)
{
    char metric[METRIC_BYTES];
    const char *form = split_metric(x->query.params[0], metric);
    if (form == NULL || (strcmp(form, "json") != 0 && strcmp(form, "svg") != 0))
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "badge",
                              "badges are METRIC.json and METRIC.svg");
    return report_badge(report, metric, out, fault);
}

static const char *color_of(const char *name)
{
    static const struct {
        const char *name, *value; /* dark enough for white letters */
    } rows[] = {{"brightgreen", "#2f7d32"}, {"green", "#4a7c1f"}, {"yellow", "#8a6500"},
                {"orange", "#a85400"},      {"red", "#b3261e"},   {"blue", "#0b5cad"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (name != NULL && strcmp(rows[i].name, name) == 0)
            return rows[i].value;
    return "#5f6670";
}

/* Figures contain no markup characters; if one does, it becomes a blank. */
static const char *plain(const char *text, struct arena *keep)
{
    char *out = text != NULL ? arena_string(keep, text) : NULL;
    for (char *at = out; at != NULL && *at != '\0'; at++)
        if (strchr("<>&\"'", *at) != NULL)
            *at = ' ';
    return out != NULL ? out : "";
}

static const char *picture(const char *label, const char *message, const char *color,
                           struct arena *keep)
{
    const size_t left = strlen(label) * CHARACTER_WIDTH + PADDING;
    const size_t right = strlen(message) * CHARACTER_WIDTH + PADDING;
    return arena_printf(
        keep,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"20\" role=\"img\""
        " aria-label=\"%s: %s\"><title>%s: %s</title>"
        "<rect width=\"%zu\" height=\"20\" rx=\"3\" fill=\"%s\"/>"
        "<rect width=\"%zu\" height=\"20\" rx=\"3\" fill=\"#444a53\"/>"
        "<rect x=\"%zu\" width=\"4\" height=\"20\" fill=\"%s\"/>"
        "<g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\""
        " font-size=\"11\"><text x=\"%zu\" y=\"14\">%s</text><text x=\"%zu\" y=\"14\">%s</text>"
        "</g></svg>\n",
        left + right, label, message, label, message, left + right, color_of(color), left, left - 2,
        color_of(color), left / 2, label, left + right / 2, message);
}

int answer_badge(struct exchange *x)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    if (exchange_figures(x, write_badge, &text, &bytes, &fault) != ERR_NONE)
        return answer_fault(x, &fault);
    struct answer_body body = {.mime = "application/json", .body = text, .bytes = bytes};
    if (strstr(x->query.params[0], ".svg") != NULL) {
        cJSON *tree = NULL;
        if (json_parse(text, bytes, &tree, &fault) != ERR_NONE)
            return answer_fault(x, &fault);
        const char *label = plain(json_get_string(tree, "label", &x->keep, &fault), &x->keep);
        const char *message = plain(json_get_string(tree, "message", &x->keep, &fault), &x->keep);
        const char *color = json_get_string(tree, "color", &x->keep, &fault);
        cJSON_Delete(tree);
        body.mime = "image/svg+xml";
        body.body = picture(label, message, color, &x->keep);
        if (fault.code != ERR_NONE || body.body == NULL)
            return answer_error(x, 503, "no_memory", "There is no memory for this badge", NULL);
        body.bytes = strlen(body.body);
    }
    char etag[ETAG_BYTES];
    etag_of(body.body, body.bytes, etag);
    body.etag = etag;
    return answer_body(x, 200, &body);
}
