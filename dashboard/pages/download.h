/* The dump of a case, as a download. */
#ifndef PAGES_DOWNLOAD_H
#define PAGES_DOWNLOAD_H

#include "http/route.h"

route_handler answer_dump;

#endif
