/* See result_page.h. */
#include "suite/result_page.h"

#include <inttypes.h>
#include <string.h>

#include "base/xml.h"
#include "suite/suite_case.h"
#include "suite/suite_code.h"

enum { FRAMES_SHOWN = 16, STEPS_SHOWN = 3, LINES_AROUND = 2, TEXT_WIDTH = 40 };

struct page {
    const struct matrix *matrix;
    struct suite_images *images;
    struct arena *scratch; /* of one listing */
};

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\"><title>Reference suite: results</title><style>"
    /* The colours are those of the dashboard: dashboard/web/src/style/base.css. */
    ":root{color-scheme:light dark;--ground:#f6f7f9;--panel:#fff;--ink:#1b222c;--dim:#5b6675;"
    "--line:#dfe3e9;--link:#1259b3;--good:#e1f3e7;--part:#fdf0d3;--bad:#fde6e3}"
    "@media(prefers-color-scheme:dark){:root{--ground:#12161c;--panel:#191f27;--ink:#dde3ea;"
    "--dim:#98a4b3;--line:#2b333e;--link:#7db8ff;--good:#17301f;--part:#352a13;--bad:#3b1b1a}}"
    "body{background:var(--ground);color:var(--ink);font:14px/1.45 system-ui,sans-serif;"
    "margin:1.5em;overflow-wrap:anywhere}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}"
    "p{max-width:75em}a{color:var(--link)}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;background:var(--panel);overflow-wrap:normal}"
    "th,td{border:1px solid var(--line);padding:.2em .6em;text-align:left;vertical-align:top}"
    "thead th{vertical-align:bottom;color:var(--dim);font-size:.9em}td.none{color:var(--dim)}"
    "tbody th{font-weight:600;white-space:nowrap}"
    ".good{background:var(--good)}.part{background:var(--part)}.bad{background:var(--bad)}"
    "pre code{display:block;white-space:pre;overflow-x:auto}pre{white-space:pre-wrap;"
    "overflow-wrap:anywhere;margin:.3em 0}summary{cursor:pointer;padding:.2em "
    "0}h3{display:inline;font-size:1em}"
    "details{margin:.2em 0}details.shape div{margin-left:1.2em;scroll-margin-top:2em}"
    "svg{display:block;margin:1px 0}"
    "@media(max-width:860px){tbody th{white-space:normal;overflow-wrap:anywhere;min-width:10em}}"
    "@media print{@page{size:A4 landscape;margin:10mm}:root{color-scheme:light;--ground:#fff;"
    "--panel:#fff;--ink:#000;--dim:#333;--line:#999;--link:#000;--good:#fff;--part:#fff;"
    "--bad:#fff}body{margin:0;font-size:9px}.wide{overflow:visible}table{overflow-wrap:anywhere}"
    "th,td{padding:1px 3px}tbody th{white-space:normal}tr{break-inside:avoid}"
    "h2{break-after:avoid}}"
    "</style></head><body><main>\n"
    "<h1>Reference suite: results</h1>\n";

static const char legend[] =
    "<p>A cell counts the cases of a shape by what the tool answered. <b>right</b>: the truth, to "
    "its "
    "end. <b>early</b>: its beginning, and no more, or a part is left out. <b>wrong</b>: another "
    "frame. <b>crashed</b>, <b>timeout</b>, <b>garbage</b>: no answer. <b>not asked</b>: no result "
    "of the tool has the case. There is no grand total, since no shape is as frequent in a program "
    "as it is here.</p>\n";

/* What FORMAT writes around TEXT needs no escape. */
static void put(FILE *out, const char *before, const char *text, const char *after)
{
    (void)fputs(before, out);
    xml_text(out, text);
    (void)fputs(after, out);
}

/* A link only to the web: "javascript:" in a result would run in the reader's browser. */
static void put_link(FILE *out, const char *url, const char *text)
{
    if (url != NULL && (strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0)) {
        put(out, "<a rel=\"noreferrer\" href=\"", url, "\">");
        put(out, "", text, "</a>");
    } else {
        put(out, "", text, "");
    }
}

static void put_tool(FILE *out, const struct matrix_tool *tool)
{
    put(out, "", tool->name, " ");
    put(out, "", tool->version, "");
}

/* ---- tools ----------------------------------------------------------------------------- */

static void put_tools(const struct matrix *matrix, const struct suite_badge *badges, uint32_t count,
                      struct arena *scratch, FILE *out)
{
    const uint32_t each = matrix->count > 0 ? count / matrix->count : 0;
    (void)fputs("<h2>Tools</h2>\n<div class=\"wide\" "
                "tabindex=\"0\"><table><thead><tr><th>tool<th>edition<th>when"
                "<th>time<th>memory<th>cases elsewhere<th>by capability</thead><tbody>\n",
                out);
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_tool *tool = &matrix->tools[i];
        (void)fputs("<tr><th>", out);
        put_tool(out, tool);
        if (tool->bugs != NULL) {
            (void)fputs("<br>faults: ", out);
            put_link(out, tool->bugs, tool->bugs);
        }
        put(out, "<td>", tool->edition, "");
        put(out, "<td>", tool->when, "");
        (void)fprintf(out, "<td>%.1f s<td>%" PRIu64 " MiB<td>%" PRIu32 "<td>",
                      (double)tool->wall_ms / 1000, tool->peak_bytes >> 20, tool->elsewhere);
        for (uint32_t k = 0; k < each; k++) {
            const struct suite_badge *badge = &badges[i * each + k];
            const char *words = suite_badge_words(badge, scratch);
            if (words != NULL)
                suite_badge_write(badge, words, out);
        }
    }
    (void)fputs("</tbody></table></div>\n", out);
}

/* ---- tables ---------------------------------------------------------------------------- */

static void put_only_here(const struct matrix *matrix, FILE *out)
{
    uint32_t rows = 0;
    (void)fputs("<h2>Wrong in one tool only</h2>\n<p>One tool is wrong there, or has no answer; no "
                "other is wrong, and one is right.</p>\n<div "
                "class=\"wide\" tabindex=\"0\"><table><thead><tr><th>tool<th>shape<th>"
                "cases<th>e.g.</thead><tbody>\n",
                out);
    for (uint32_t i = 0; i < matrix->count; i++)
        for (uint32_t at = 0, end; at < matrix->suite->count; at = end) {
            uint32_t cases = 0, first = 0, tool = 0;
            end = matrix_end(matrix, at, true);
            for (uint32_t k = at; k < end; k++)
                if (matrix_wrong_here_only(matrix, matrix->order[k], &tool) && tool == i &&
                    cases++ == 0)
                    first = matrix->order[k];
            if (cases == 0)
                continue;
            const struct suite_case *c = &matrix->suite->cases[first];
            rows++;
            (void)fputs("<tr><th>", out);
            put_tool(out, &matrix->tools[i]);
            put(out, "<td>", c->capability, " ");
            put(out, "", c->shape, "");
            (void)fprintf(out, "<td>%" PRIu32 "<td><a href=\"#c%" PRIu32 "\">", cases, first);
            put(out, "", c->id, "</a>\n");
        }
    (void)fprintf(out, "</tbody></table></div>\n%s", rows == 0 ? "<p>None.</p>\n" : "");
}

static void put_cell(const struct matrix *matrix, uint32_t tool, uint32_t from, uint32_t end,
                     FILE *out)
{
    uint32_t counts[MATRIX_OUTCOMES];
    const char *kind = "good", *comma = "";
    bool linked = false;
    matrix_count(matrix, tool, from, end, counts);
    for (int k = SUITE_RIGHT + 1; k < MATRIX_OUTCOMES; k++) {
        if (counts[k] == 0)
            continue;
        linked = linked || k < SUITE_UNSUPPORTED;
        if (k < SUITE_UNSUPPORTED && suite_outcome_rank((enum suite_outcome)k) >= 2)
            kind = "bad";
        else if (strcmp(kind, "bad") != 0)
            kind = "part";
    }
    if (!matrix_covers(counts))
        kind = "none";
    (void)fprintf(out, "<td class=\"%s\">", kind);
    if (linked)
        (void)fprintf(out, "<a href=\"#s%" PRIu32 "\">", from);
    for (int k = 0; k < MATRIX_OUTCOMES; k++)
        if (counts[k] > 0) {
            (void)fprintf(out, "%s%" PRIu32 " %s", comma, counts[k], matrix_outcome_name(k));
            comma = ", ";
        }
    (void)fputs(linked ? "</a>" : "", out);
}

static void put_table(const struct matrix *matrix, uint32_t from, uint32_t end, FILE *out)
{
    uint32_t counts[MATRIX_OUTCOMES];
    put(out, "<h2>", matrix->suite->cases[matrix->order[from]].capability, "</h2>\n");
    (void)fputs("<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>shape", out);
    for (uint32_t i = 0; i < matrix->count; i++) {
        matrix_count(matrix, i, from, end, counts);
        if (!matrix_covers(counts))
            continue;
        (void)fputs("<th>", out);
        put_tool(out, &matrix->tools[i]);
    }
    (void)fputs("</thead><tbody>\n", out);
    for (uint32_t at = from, next; at < end; at = next) {
        next = matrix_end(matrix, at, true);
        put(out, "<tr><th>", matrix->suite->cases[matrix->order[at]].shape, "");
        for (uint32_t i = 0; i < matrix->count; i++) {
            matrix_count(matrix, i, from, end, counts);
            if (matrix_covers(counts))
                put_cell(matrix, i, at, next, out);
        }
        (void)fputc('\n', out);
    }
    (void)fputs("</tbody></table></div>\n", out);
}

/* ---- cases ----------------------------------------------------------------------------- */

static void put_frame(enum suite_kind kind, const struct suite_frame *frame, FILE *out)
{
    if (kind != SUITE_ADDRESS) {
        (void)fprintf(out, "  %" PRIx64, frame->ip);
        if (frame->sp != SUITE_NO_SP)
            (void)fprintf(out, "  sp %" PRIx64, frame->sp);
        (void)fputc('\n', out);
        return;
    }
    put(out, "  ", frame->function.count > 0 ? frame->function.names[0] : "?", "  ");
    put(out, "", frame->file.count > 0 ? frame->file.names[0] : "?", "");
    (void)fprintf(out, ":%" PRIu32 "%s\n", frame->line,
                  frame->inlined == SUITE_INLINED ? "  inlined" : "");
}

static void put_walk(enum suite_kind kind, const char *who, const struct suite_walk *walk,
                     uint32_t left_out, FILE *out)
{
    (void)fprintf(out, "%s%s\n", who, walk->count == 0 ? " no frame" : "");
    for (uint32_t k = 0; k < walk->count && k < FRAMES_SHOWN; k++)
        put_frame(kind, &walk->frames[k], out);
    const uint32_t more = left_out + (walk->count > FRAMES_SHOWN ? walk->count - FRAMES_SHOWN : 0);
    if (more > 0)
        (void)fprintf(out, "  and %" PRIu32 " more\n", more);
}

static void put_truth(const struct suite_case *c, FILE *out)
{
    if (c->level == SUITE_UNKNOWN)
        (void)fputs("truth: unknown, any answer is right\n", out);
    for (uint32_t i = 0; i < c->walk_count; i++)
        put_walk(c->kind, i == 0 ? "truth:" : "or:", &c->walks[i], 0, out);
}

/* An early walk is a beginning of the truth, which is printed above. */
static void put_answer(const struct suite_case *c, const struct suite_answer *answer, FILE *out)
{
    if (answer->outcome == SUITE_EARLY && c->kind != SUITE_ADDRESS)
        (void)fprintf(out, " answered: the first %" PRIu32 " of these frames, no more\n",
                      answer->first);
    else
        put_walk(c->kind, " answered:", &answer->walk, answer->left_out, out);
}

static void put_answers(const struct matrix *matrix, uint32_t index, FILE *out)
{
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_tool *tool = &matrix->tools[i];
        const int outcome = tool->outcomes[index];
        const struct suite_answer *answer = matrix_answer(tool, index);
        if (answer != NULL) {
            put_tool(out, tool);
            put_answer(&matrix->suite->cases[index], answer, out);
        } else if (tool->answers != NULL && outcome > SUITE_WRONG && outcome < SUITE_UNSUPPORTED &&
                   (int)tool->answers[index].outcome == outcome) {
            const char *words = tool->answers[index].words;
            put_tool(out, tool);
            put(out, ": ", words != NULL ? words : "no answer", "\n");
        }
    }
}

/* ---- code ------------------------------------------------------------------------------ */

/* The frames out of which tools took a wrong step, each once; where no result says it, the state
 * itself. */
static uint32_t steps_of(const struct matrix *matrix, uint32_t index, uint32_t steps[STEPS_SHOWN])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct suite_answer *answer = matrix_answer(&matrix->tools[i], index);
        uint32_t step = 0, k = 0;
        if (answer == NULL)
            continue;
        if (matrix->suite->cases[index].kind != SUITE_ADDRESS && answer->first > 0)
            step = answer->first - 1;
        while (k < count && steps[k] != step)
            k++;
        if (k == count && count < STEPS_SHOWN)
            steps[count++] = step;
    }
    if (count == 0)
        steps[count++] = 0;
    return count;
}

/* The lines of LISTING, or only those next to the address. */
static void put_lines(const struct code_listing *listing, bool whole, FILE *out)
{
    uint32_t pc = listing->count; /* after the last one: the call ends the function */
    for (uint32_t i = 0; i < listing->count; i++)
        if (listing->lines[i].mark == CODE_PC)
            pc = i;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct code_line *line = &listing->lines[i];
        const char *mark = code_mark_name(line->mark);
        if (!whole && (i + LINES_AROUND < pc || i > pc + LINES_AROUND))
            continue;
        const size_t width = strlen(line->text);
        (void)fprintf(out, "  %-4s %" PRIx64 "  ", mark != NULL ? mark : "", line->at);
        put(out, "", line->text, "");
        (void)fprintf(out, "%*s", width < TEXT_WIDTH ? (int)(TEXT_WIDTH - width) : 2, "");
        for (uint32_t k = 0; k < line->count; k++)
            (void)fprintf(out, "%s%02x", k > 0 ? " " : "", line->bytes[k]);
        (void)fputc('\n', out);
    }
    if (listing->note != NULL)
        put(out, "  ", listing->note, "\n");
}

static enum status put_code(const struct page *page, uint32_t index, bool whole, FILE *out,
                            struct fault *fault)
{
    const struct suite_case *c = &page->matrix->suite->cases[index];
    uint32_t steps[STEPS_SHOWN];
    const uint32_t count = steps_of(page->matrix, index, steps);
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        struct code_listing listing;
        const char *why = NULL;
        arena_reset(page->scratch);
        if (suite_code_list(page->images, c, steps[i], page->scratch, &listing, &why, fault) !=
            ERR_NONE)
            break;
        if (c->kind == SUITE_ADDRESS)
            (void)fputs("code at the address", out);
        else
            (void)fprintf(out, "code at the step out of frame %" PRIu32, steps[i]);
        put(out, why != NULL ? ": not shown, " : ":", why != NULL ? why : "", "\n");
        if (listing.count == 0)
            continue;
        (void)fputs("<code tabindex=\"0\">", out);
        put_lines(&listing, whole, out);
        (void)fputs("</code>", out);
    }
    return fault->code;
}

static void put_outcomes(const struct matrix *matrix, uint32_t index, FILE *out)
{
    for (int k = 0; k < SUITE_OUTCOMES; k++) {
        bool found = false;
        for (uint32_t i = 0; i < matrix->count; i++) {
            if (matrix->tools[i].outcomes[index] != k)
                continue;
            if (found)
                (void)fputs(", ", out);
            else
                (void)fprintf(out, "%s: ", matrix_outcome_name(k));
            found = true;
            put_tool(out, &matrix->tools[i]);
        }
        (void)fputs(found ? "\n" : "", out);
    }
}

static bool is_failed(const struct matrix *matrix, uint32_t index)
{
    for (uint32_t i = 0; i < matrix->count; i++)
        if (matrix->tools[i].outcomes[index] != SUITE_RIGHT &&
            matrix->tools[i].outcomes[index] < SUITE_UNSUPPORTED)
            return true;
    return false;
}

/* The case that put_only_here() links. The state of all would be many MB. */
static bool is_example(const struct matrix *matrix, uint32_t from, uint32_t at)
{
    uint32_t tool = 0, other = 0;
    if (!matrix_wrong_here_only(matrix, matrix->order[at], &tool))
        return false;
    for (uint32_t i = from; i < at; i++)
        if (matrix_wrong_here_only(matrix, matrix->order[i], &other) && other == tool)
            return false;
    return true;
}

static void put_case(const struct page *page, uint32_t index, bool with_state, FILE *out,
                     struct fault *fault)
{
    const struct matrix *matrix = page->matrix;
    const struct suite_case *c = &matrix->suite->cases[index];
    put(out, "<details><summary>", c->id, " (");
    put(out, "", c->position, ")</summary><pre"); /* a link into what is folded unfolds it */
    (void)fprintf(out, " id=\"c%" PRIu32 "\">rule: ", index);
    put_link(out, c->rule_url, c->rule);
    (void)fputc('\n', out);
    put_truth(c, out);
    put_outcomes(matrix, index, out);
    put_answers(matrix, index, out);
    (void)put_code(page, index, with_state, out, fault);
    put(out, "again: twinstack score --cmd COMMAND -k '", c->id, "' --details\n");
    if (with_state)
        put(out, "asked: ", c->question, "");
    (void)fputs("</pre></details>\n", out);
}

static enum status put_shapes(const struct page *page, FILE *out, struct fault *fault)
{
    const struct matrix *matrix = page->matrix;
    (void)fputs(
        "<h2>Cases that a tool has not right</h2>\n<p>COMMAND is how the tool is asked. A tool "
        "that is not named was not asked. What was asked is shown where the first list links a "
        "case; "
        "of any other it is the line with its id in the suite.</p>\n",
        out);
    for (uint32_t at = 0, end; at < matrix->suite->count && fault->code == ERR_NONE; at = end) {
        bool begun = false;
        end = matrix_end(matrix, at, true);
        for (uint32_t k = at; k < end; k++) {
            const struct suite_case *c = &matrix->suite->cases[matrix->order[k]];
            if (!is_failed(matrix, matrix->order[k]))
                continue;
            if (!begun) {
                put(out, "<details class=\"shape\"><summary><h3>", c->capability, " ");
                put(out, "", c->shape, "</h3></summary>");
                (void)fprintf(out, "<div id=\"s%" PRIu32 "\">\n", at); /* a link unfolds it */
            }
            begun = true;
            put_case(page, matrix->order[k], is_example(matrix, at, k), out, fault);
        }
        if (begun)
            (void)fputs("</div></details>\n", out);
    }
    return fault->code;
}

enum status result_page(const struct matrix *matrix, const char *home, FILE *out,
                        struct fault *fault)
{
    struct suite_badge *badges = NULL;
    uint32_t count = 0;
    struct arena scratch, lines;
    const struct page page = {matrix, suite_images_open(matrix->suite), &lines};

    arena_init(&scratch, 0);
    arena_init(&lines, 0);
    if (page.images == NULL)
        (void)fault_no_memory(fault, "results");
    else if (suite_badges(matrix, &scratch, &badges, &count, fault) == ERR_NONE) {
        (void)fputs(head, out);
        if (home != NULL)
            put(out, "<p><a href=\"", home, "\">dashboard</a></p>\n");
        put(out, "<p>Edition ", matrix->suite->edition, "");
        (void)fprintf(out, ", %" PRIu32 " cases, %" PRIu32 " tools.</p>\n", matrix->suite->count,
                      matrix->count);
        (void)fputs(legend, out);
        put_only_here(matrix, out);
        put_tools(matrix, badges, count, &scratch, out);
        for (uint32_t at = 0, end; at < matrix->suite->count; at = end) {
            end = matrix_end(matrix, at, false);
            put_table(matrix, at, end, out);
        }
        (void)put_shapes(&page, out, fault);
        (void)fputs("</main></body></html>\n", out);
    }
    suite_images_close(page.images);
    arena_free(&lines);
    arena_free(&scratch);
    return fault->code;
}
