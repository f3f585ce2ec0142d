/* View: the cases of a run in the order in which they should be looked at. */
#ifndef VIEW_QUEUE_H
#define VIEW_QUEUE_H

#include "view/view.h"

view_function view_queue;

#endif
