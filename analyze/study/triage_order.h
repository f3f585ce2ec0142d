/* The orders of a triage's items. Both keep equal items as they were, and compare each name once,
 * however many cases have it. */
#ifndef STUDY_TRIAGE_ORDER_H
#define STUDY_TRIAGE_ORDER_H

#include "study/triage.h"

/* By scenario, variant and repeat. Fails: ERR_MEMORY. */
enum status triage_sort_by_name(struct triage_item *items, uint32_t count, struct fault *fault);

/* By group, then new ones first. Fails: ERR_MEMORY. */
enum status triage_sort_by_urgency(struct triage_item *items, uint32_t count, struct fault *fault);

#endif
