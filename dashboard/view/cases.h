/* Views: cases of a run, one case, one case through all runs. */
#ifndef VIEW_CASES_H
#define VIEW_CASES_H

#include "view/view.h"

view_function view_run_cases, view_case, view_case_history;

#endif
