/* View: a whole run as a grid of scenarios and variants, however many cases it has. */
#ifndef VIEW_GRID_H
#define VIEW_GRID_H

#include "view/view.h"

view_function view_grid;

#endif
