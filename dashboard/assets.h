/* Handlers of the embedded pages. */
#ifndef DASHBOARD_ASSETS_H
#define DASHBOARD_ASSETS_H

#include "dashboard/route.h"

route_handler answer_page, answer_embedded;

#endif
