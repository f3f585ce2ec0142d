/* Handlers of the embedded pages. */
#ifndef PAGES_ASSETS_H
#define PAGES_ASSETS_H

#include "http/route.h"

route_handler answer_page, answer_embedded;

#endif
