/* The handler of the event stream. */
#ifndef PAGES_EVENTS_H
#define PAGES_EVENTS_H

#include "http/route.h"

route_handler answer_events;

#endif
