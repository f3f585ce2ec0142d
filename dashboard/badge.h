/* The handler of badges. */
#ifndef DASHBOARD_BADGE_H
#define DASHBOARD_BADGE_H

#include "dashboard/route.h"

route_handler answer_badge;

#endif
