/* View: how many runs the database holds. */
#ifndef VIEW_RECIPE_H
#define VIEW_RECIPE_H

#include "view/view.h"

view_function view_recipe;

#endif
