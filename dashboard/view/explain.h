/* View: how a row of a case came about. */
#ifndef VIEW_EXPLAIN_H
#define VIEW_EXPLAIN_H

#include "view/view.h"

view_function view_explain;

#endif
