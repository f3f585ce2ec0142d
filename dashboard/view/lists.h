/* Views: hooks, signatures, known differences, symbols. */
#ifndef VIEW_LISTS_H
#define VIEW_LISTS_H

#include "view/view.h"

view_function view_hooks, view_signatures, view_known, view_symbols;

#endif
