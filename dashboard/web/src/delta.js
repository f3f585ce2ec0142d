// What a document of a run in progress gains: a page that has one asks for the cases that came since, and
// joins them to it, so that a run of 10,000 cases is not sent anew with each event.

/** @typedef {import('openapi').Answers['/api/v1/runs/{run}/grid']} Grid */

/**
 * The path of what DATA, which came from PATH, does not have yet; null: only the whole will do.
 * @param {string} path
 * @param {unknown} data
 */
export function since(path, data) {
  if (!/^\/api\/v1\/runs\/[^/?]+\/grid$/.test(path)) return null;
  const { state, cases } = /** @type {Grid} */ (data);
  return state === 'running' && cases.id.length > 0 ? `${path}?after=${cases.id[cases.id.length - 1]}` : null;
}

/** @type {(a: string, b: string) => number} */
const inOrder = (a, b) => (a < b ? -1 : Number(a > b));

/**
 * The document with MORE, or null when the two are not parts of one: another run is the latest, the run has
 * ended (which may change verdicts), or cases are missing between them.
 * @param {unknown} before
 * @param {unknown} after
 * @returns {unknown}
 */
export function join(before, after) {
  const data = /** @type {Grid} */ (before);
  const more = /** @type {Grid} */ (after);
  if (
    data.run !== more.run ||
    more.state !== 'running' ||
    data.cases.id.length + more.cases.id.length !== more.total ||
    JSON.stringify(data.engines) !== JSON.stringify(more.engines)
  )
    return null;
  if (more.cases.id.length === 0) return data;
  const whole = { ...more, cases: { ...more.cases } };
  for (const key of /** @type {(keyof Grid['cases'])[]} */ (Object.keys(more.cases)))
    Object.assign(whole.cases, { [key]: [...data.cases[key], ...more.cases[key]] });
  for (const [names, column] of /** @type {const} */ ([
    ['scenarios', 'scenario'],
    ['variants', 'variant'],
    ['hooks', 'hooks'],
  ])) {
    whole[names] = [...new Set([...data[names], ...more[names]])].sort(inOrder);
    const places = new Map(whole[names].map((name, i) => [name, i]));
    /** @type {(part: Grid) => number[]} */
    const moved = (part) => part.cases[column].map((i) => places.get(part[names][i]) ?? 0);
    whole.cases[column] = [...moved(data), ...moved(more)];
  }
  return whole;
}
