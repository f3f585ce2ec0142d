/* Days of results: see totals_days.h. */
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "stream/totals_days.h"

void totals_days_ago(uint64_t now_s, uint64_t days, char out[TEXT_DATE_BYTES])
{
    const uint64_t seconds = days * TOTALS_DAY_S;
    text_utc_date(now_s > seconds ? now_s - seconds : 0, out);
}

/* The days between two dates as seconds of their midnights; 0: HOUR begins with no date. */
uint64_t totals_midnight_s(const char *date)
{
    static const uint16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    uint64_t year = 0, month = 0, day = 0;
    if (strlen(date) < 10 || date[4] != '-' || date[7] != '-' || !text_parse_uint(date, 4, &year) ||
        !text_parse_uint(date + 5, 2, &month) || !text_parse_uint(date + 8, 2, &day) ||
        year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
        return 0;
    const uint64_t leaps = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 477;
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const uint64_t days =
        (year - 1970) * 365 + leaps + before[month - 1] + (is_leap && month > 2 ? 1 : 0) + day - 1;
    return days * TOTALS_DAY_S;
}

/* The day of a result of HOUR: its own, unless that is later than the clock here. So neither a
 * clock here nor one of a collector that runs ahead moves the days alone. */
uint64_t totals_day_of(const char *hour)
{
    const uint64_t now_s = clock_wall_ns() / 1000000000U / TOTALS_DAY_S * TOTALS_DAY_S;
    const uint64_t stated_s = totals_midnight_s(text_or_empty(hour));
    return stated_s != 0 && stated_s < now_s ? stated_s : now_s;
}
