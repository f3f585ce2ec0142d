/* Figures and cases as words: see words.h. */
#include "report/words.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

int decimals_of(double value)
{
    if (value >= 99.95)
        return 0;
    return value >= 9.995 ? 1 : 2;
}

/* VALUE, or a little more where it is half of a last digit, which printf rounds to even and pages
 * round up. */
static double half_up(double value, int digits)
{
    static const double powers[] = {1, 10, 100};
    const double whole = value * powers[digits];
    const bool half = fma(value, powers[digits], -whole) == 0 && whole - floor(whole) == 0.5;
    return half ? (whole + 0.5) / powers[digits] : value;
}

static const char *scaled(double value, const char *const units[], const double scales[],
                          size_t unit_count, char out[24])
{
    size_t unit = 0;
    if (isnan(value)) {
        (void)snprintf(out, 24, "-");
        return out;
    }
    const bool less = value < 0;
    value = fabs(value);
    while (unit + 1 < unit_count && value >= scales[unit + 1] * 0.9995)
        unit++;
    const double shown = value / scales[unit];
    const int digits = unit == 0 ? 0 : decimals_of(shown);
    (void)snprintf(out, 24, "%s%.*f %s", less ? "-" : "", digits, half_up(shown, digits),
                   units[unit]);
    return out;
}

const char *duration_text(double ns, char out[24])
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    static const double scales[] = {1, 1e3, 1e6, 1e9};
    return scaled(ns, units, scales, 4, out);
}

const char *bytes_text(double bytes, char out[24])
{
    static const char *const units[] = {"B", "KB", "MB", "GB"};
    static const double scales[] = {1, 1e3, 1e6, 1e9};
    return scaled(bytes, units, scales, 4, out);
}

const char *headline_amount_text(const struct headline_row *row, double value, char out[24])
{
    return row->bytes ? bytes_text(value, out) : duration_text(value, out);
}

const char *headline_median_text(const struct headline_row *row, const struct headline_cell *cell,
                                 char out[HEADLINE_TEXT])
{
    const struct measurement *m = &cell->measured;
    char text[24];
    if (cell->state == HEADLINE_NOT_DONE)
        (void)snprintf(out, HEADLINE_TEXT, "–");
    else if (cell->state != HEADLINE_MEASURED)
        (void)snprintf(out, HEADLINE_TEXT, "%s", headline_state_name(cell->state));
    else if (measurement_is_few(m))
        (void)snprintf(out, HEADLINE_TEXT, "too few (%zu)", m->n);
    else if (m->n < headline_row_cases(row))
        (void)snprintf(out, HEADLINE_TEXT, "%s (%zu)", headline_amount_text(row, m->value, text),
                       m->n);
    else
        (void)snprintf(out, HEADLINE_TEXT, "%s", headline_amount_text(row, m->value, text));
    return out;
}

static const char *full_name(const char *scenario, const char *variant, uint32_t repeat,
                             char out[160])
{
    if (repeat > 0)
        (void)snprintf(out, 160, "%.90s.%.50s#%u", scenario, variant, repeat + 1);
    else
        (void)snprintf(out, 160, "%.90s.%.50s", scenario, variant);
    return out;
}

const char *case_name(const struct run_case *c, char out[160])
{
    return full_name(c->scenario, c->variant, c->repeat, out);
}

const char *diff_case_name(const struct diff_case *c, char out[160])
{
    return full_name(c->scenario, c->variant, c->repeat, out);
}

const char *time_text(uint64_t ns, char out[32])
{
    const time_t seconds = (time_t)(ns / 1000000000u);
    const struct tm *utc = gmtime(&seconds);
    if (utc == NULL || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", utc) == 0)
        out[0] = 0;
    return out;
}
