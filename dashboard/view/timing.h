/* View: what each way costs. */
#ifndef VIEW_TIMING_H
#define VIEW_TIMING_H

#include "view/view.h"

view_function view_timing;

#endif
