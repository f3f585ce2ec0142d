/* Handlers of what may be written. */
#ifndef PAGES_WRITES_H
#define PAGES_WRITES_H

#include "http/route.h"

route_handler answer_baseline, answer_known_add, answer_known_drop;

#endif
