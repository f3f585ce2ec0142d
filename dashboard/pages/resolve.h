/* The handler that resolves what a client sends. */
#ifndef PAGES_RESOLVE_H
#define PAGES_RESOLVE_H

#include "http/route.h"

route_handler answer_resolve;

#endif
