/* The handler of badges. */
#ifndef PAGES_BADGE_H
#define PAGES_BADGE_H

#include "http/route.h"

route_handler answer_badge;

#endif
