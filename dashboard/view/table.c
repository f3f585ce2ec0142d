/* The table of views. */
#include "view/table.h"

#include "base/array.h"
#include "view/cases.h"
#include "view/compare.h"
#include "view/explain.h"
#include "view/grid.h"
#include "view/lists.h"
#include "view/overview.h"
#include "view/queue.h"
#include "view/runs.h"
#include "view/timing.h"
#include "view/trend.h"

const struct view views[] = {
    {"/api/v1/overview", "the newest run, its trends, and what changed since the baseline",
     view_overview, "run, platform, branch"},
    {"/api/v1/runs", "runs, newest first", view_runs, "branch, platform, label, limit, after"},
    {"/api/v1/runs/{run}", "one run: where it ran, how each engine did, causes", view_run, NULL},
    {"/api/v1/runs/{run}/cases", "cases of a run, filtered, in pages", view_run_cases,
     "verdict, kind, variant, cause, search, limit, after"},
    {"/api/v1/runs/{run}/grid", "all cases of a run, short: one mark per engine", view_grid,
     "after"},
    {"/api/v1/runs/{run}/queue", "cases of a run in the order in which they deserve a look",
     view_queue, "group, trouble, new, verdict, kind, cause, search, limit, after, around"},
    {"/api/v1/runs/{run}/cases/{case}", "one case: truth and all stacks, aligned", view_case,
     "repeat"},
    {"/api/v1/runs/{run}/cases/{case}/explain",
     "why one row of a case: how each engine found its frame", view_explain,
     "repeat, frame, thread"},
    {"/api/v1/cases/{scenario}/{variant}", "a case through all runs", view_case_history, NULL},
    {"/api/v1/compare", "two runs: environment, verdicts, timing", view_compare, "a, b"},
    {"/api/v1/trend", "one figure through all runs", view_trend,
     "metric, scenario, variant, branch, platform, until, limit"},
    {"/api/v1/timing", "dump against offset, stage by stage, every sample", view_timing,
     "run, limit"},
    {"/api/v1/hooks", "which hook saw each crash", view_hooks, "run, limit"},
    {"/api/v1/signatures", "differences that belong together, most first", view_signatures, "run"},
    {"/api/v1/known", "accepted differences", view_known, "run"},
    {"/api/v1/symbols", "modules, and which symbols named their frames", view_symbols, "run"},
};

const size_t view_count = COUNT_OF(views);
