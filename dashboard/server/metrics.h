/* The handler of metrics. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "http/route.h"

route_handler answer_metrics;

#endif
