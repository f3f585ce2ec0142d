/* The handler of the event stream. */
#ifndef DASHBOARD_EVENTS_H
#define DASHBOARD_EVENTS_H

#include "dashboard/route.h"

route_handler answer_events;

#endif
