/* View: the first page. */
#ifndef VIEW_OVERVIEW_H
#define VIEW_OVERVIEW_H

#include "view/view.h"

view_function view_overview;

#endif
