/* The page "Reference suite". */
#ifndef PAGES_SUITE_H
#define PAGES_SUITE_H

#include "http/route.h"

route_handler answer_suite;

#endif
