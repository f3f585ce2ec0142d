/* study/triage_order: items by name, and by urgency. */
#include <string.h>

#include "study/triage_order.h"
#include "test.h"

TEST(items_are_ordered_by_name_and_by_urgency)
{
    static const char again[] = "loop"; /* an equal text at another address */
    static const struct triage_item met[] = {
        {.id = 1, .scenario = "race", .variant = "ob0", .group = TRIAGE_ACCEPTED},
        {.id = 2, .scenario = "loop", .variant = "ob2", .repeat = 1},
        {.id = 3, .scenario = again, .variant = "ob2", .is_new = true},
        {.id = 4, .scenario = "loop", .variant = "ob2", .repeat = 2},
        {.id = 5, .scenario = again, .variant = "ob0", .is_new = true},
    };
    static const struct {
        const char *name;
        enum status (*sort)(struct triage_item *items, uint32_t count, struct fault *fault);
        uint32_t count;
        uint64_t want[COUNT_OF(met)];
    } orders[] = {
        {"none by name", triage_sort_by_name, 0, {1, 2, 3, 4, 5}},
        {"by name, then repeat", triage_sort_by_name, 5, {5, 3, 2, 4, 1}},
        {"by urgency, else as they were", triage_sort_by_urgency, 5, {3, 5, 2, 4, 1}},
        {"the first of them", triage_sort_by_urgency, 3, {3, 2, 1, 4, 5}},
    };
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct triage_item items[COUNT_OF(met)];
        struct fault fault = FAULT_INIT;
        test_row(orders[i].name);
        memcpy(items, met, sizeof items);
        REQUIRE(orders[i].sort(items, orders[i].count, &fault) == ERR_NONE);
        for (size_t k = 0; k < COUNT_OF(met); k++)
            CHECK_EQ(items[k].id, orders[i].want[k]);
    }
}
