/* Handlers of what may be written. */
#ifndef DASHBOARD_WRITES_H
#define DASHBOARD_WRITES_H

#include "dashboard/route.h"

route_handler answer_baseline, answer_known_add, answer_known_drop;

#endif
