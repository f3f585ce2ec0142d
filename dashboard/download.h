/* The dump of a case, as a download. */
#ifndef DASHBOARD_DOWNLOAD_H
#define DASHBOARD_DOWNLOAD_H

#include "dashboard/route.h"

route_handler answer_dump;

#endif
