// What each page asks for first.  Pages ask through this table (useFirst() in api.js), and build.mjs makes
// from it the table by which the server writes the data into the page (dashboard/pages/first.c).

/**
 * PAGE: an address of dashboard/pages/pages.def.  ROUTE and VALUES: as for useData(); {places} are the page's
 * own, in their order.  TAKES_RUN: a query that only names the run is passed on.
 */
export const first = /** @type {const} */ ({
  overview: { page: '/', route: '/api/v1/overview', values: {} },
  runs: { page: '/runs', route: '/api/v1/runs', values: { limit: 50 } },
  run: { page: '/runs/{run}', route: '/api/v1/runs/{run}', values: {} },
  grid: { page: '/runs/{run}', route: '/api/v1/runs/{run}/grid', values: {} },
  queue: {
    page: '/runs/{run}/mismatches',
    route: '/api/v1/runs/{run}/queue',
    values: { limit: 50 },
  },
  queueAround: {
    page: '/runs/{run}/mismatches/{case}',
    route: '/api/v1/runs/{run}/queue',
    values: { limit: 50, around: '{case}' },
  },
  case: {
    page: '/runs/{run}/mismatches/{case}',
    route: '/api/v1/runs/{run}/cases/{case}',
    values: {},
  },
  history: {
    page: '/cases/{scenario}/{variant}',
    route: '/api/v1/cases/{scenario}/{variant}',
    values: {},
  },
  compare: { page: '/compare/{a}/{b}', route: '/api/v1/compare', values: { a: '{a}', b: '{b}' } },
  trend: { page: '/trend', route: '/api/v1/trend', values: { metric: 'exact', limit: 100 } },
  timing: { page: '/timing', route: '/api/v1/timing', values: { limit: 125 }, takesRun: true },
  hooks: { page: '/hooks', route: '/api/v1/hooks', values: { limit: 50 }, takesRun: true },
  signatures: { page: '/signatures', route: '/api/v1/signatures', values: {}, takesRun: true },
  known: { page: '/known', route: '/api/v1/known', values: {} },
  symbols: { page: '/symbols', route: '/api/v1/symbols', values: {}, takesRun: true },
});
