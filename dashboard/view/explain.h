/* View: why a row of a case is as it is. */
#ifndef VIEW_EXPLAIN_H
#define VIEW_EXPLAIN_H

#include "view/view.h"

view_function view_explain;

#endif
