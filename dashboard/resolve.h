/* The handler that resolves what a client sends. */
#ifndef DASHBOARD_RESOLVE_H
#define DASHBOARD_RESOLVE_H

#include "dashboard/route.h"

route_handler answer_resolve;

#endif
