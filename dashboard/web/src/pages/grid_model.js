// What the grid of a run shows: cases as rows of scenarios, filtered, sorted and folded.  No markup here.
import { failing, repeatOf } from '../ui.js';

/**
 * @typedef {import('openapi').Answers['/api/v1/runs/{run}/grid']} GridData
 *
 * @typedef {object} GridCase
 * @property {number} id
 * @property {string} scenario
 * @property {number} variant its place in the list of variants
 * @property {number} repeat
 * @property {string} kind
 * @property {string} verdict
 * @property {string} group of the queue
 * @property {number} urgency the place of that group: 0 needs a look first
 * @property {boolean} isNew fails, and did not in the baseline
 * @property {string[]} hooks
 * @property {string} marks one letter per engine
 * @property {string[]} causes
 * @property {{exact: number, judged: number, percent: number | null}} references stacks of reference
 *   engines
 *
 * @typedef {object} GridCell the repeats of one scenario in one variant
 * @property {GridCase} worst the first that fails, else the first
 * @property {number} repeats
 * @property {boolean} fits one of them is what the filters ask for
 *
 * @typedef {object} GridRow
 * @property {string} scenario
 * @property {string} kind
 * @property {(GridCell | null)[]} cells by variant; null: not in this run
 * @property {number} newest id of its newest case
 * @property {number} urgency of its most urgent case
 * @property {number} fits how many of its cases are what the filters ask for
 *
 * @typedef {object} GridLine what one line of the table shows: a kind, a row, or rows that are alike
 * @property {'kind' | 'row' | 'fold'} type
 * @property {string} key
 * @property {string} kind
 * @property {number} count of rows
 * @property {GridRow} row the first of them
 * @property {GridRow[]} rows all of them
 * @property {boolean} [open] a fold whose rows follow
 * @property {boolean} [inside] a row of an open fold
 */

const FOLD_MIN = 3; // fewer rows that are alike are shown one by one
const kindOrder = ['crash', 'hang', 'calm', 'stacks'];

/** @type {(data: GridData) => GridCase[]} */
export function decode(data) {
  const c = data.cases;
  const causes = data.causes.map((word) => word ?? 'none');
  return c.id.map((id, i) => ({
    id,
    scenario: data.scenarios[c.scenario[i]],
    variant: c.variant[i],
    repeat: c.repeat[i],
    kind: data.kinds[c.kind[i]] ?? 'crash',
    verdict: data.verdicts[c.verdict[i]] ?? 'ERROR',
    group: data.groups[c.group[i]] ?? 'rest',
    urgency: c.group[i],
    isNew: c.is_new[i] === 1,
    hooks: data.hooks[c.hooks[i]].split(',').map((word) => word.trim()),
    marks: c.marks[i],
    causes: c.causes[i].map((at) => causes[at]),
    references: {
      exact: c.reference_exact[i],
      judged: c.reference_judged[i],
      percent: c.reference_percent[i],
    },
  }));
}

/**
 * The same with the variants of most cases first, so that the columns in view are not the empty ones.
 * @type {(data: GridData) => GridData}
 */
export function fullFirst(data) {
  const counts = data.variants.map(() => 0);
  for (const at of data.cases.variant) counts[at]++;
  const order = data.variants.map((_, at) => at).sort((a, b) => counts[b] - counts[a] || a - b);
  const place = data.variants.map((_, at) => order.indexOf(at));
  return {
    ...data,
    variants: order.map((at) => data.variants[at]),
    cases: { ...data.cases, variant: data.cases.variant.map((at) => place[at]) },
  };
}

/**
 * Whether a case is what QUERY asks for.
 * @param {Record<string, string | undefined>} query
 * @param {GridData} data
 * @returns {(c: GridCase) => boolean}
 */
export function fitting(query, data) {
  const { search, verdict, kind, group, cause, engine, hook } = query;
  const at = data.engines.findIndex((e) => e.engine === engine);
  /** @type {(word: string) => string} */
  const same = (word) => word.replaceAll('-', '_');
  return (c) =>
    (!search || `${c.scenario}.${data.variants[c.variant]}${repeatOf(c)}`.includes(search)) &&
    (!verdict || same(c.verdict) === same(verdict)) &&
    (!kind || c.kind === kind) &&
    (!group || c.group === group) &&
    (!query.new || c.isNew) &&
    (!cause || c.causes.includes(cause)) &&
    (!engine || 'wfa'.includes(c.marks[at] ?? '-')) &&
    (!hook || c.hooks.includes(hook));
}

/**
 * Rows of which a case fits; with all cells of the row, also of those that do not.
 * @param {GridCase[]} cases in the order of their ids
 * @param {number} variants
 * @param {(c: GridCase) => boolean} fits
 */
export function toRows(cases, variants, fits) {
  /** @type {Map<string, GridRow>} */
  const rows = new Map();
  for (const c of cases) {
    const { scenario, kind } = c;
    let row = rows.get(scenario);
    if (!row) {
      row = { scenario, kind, cells: Array(variants).fill(null), newest: 0, urgency: Infinity, fits: 0 };
      rows.set(scenario, row);
    }
    row.newest = c.id;
    row.urgency = Math.min(row.urgency, c.urgency);
    const fit = fits(c);
    row.fits += fit ? 1 : 0;
    const cell = row.cells[c.variant];
    if (!cell) row.cells[c.variant] = { worst: c, repeats: 1, fits: fit };
    else {
      if (failing(c.verdict) && !failing(cell.worst.verdict)) cell.worst = c;
      cell.repeats++;
      cell.fits ||= fit;
    }
  }
  return [...rows.values()].filter((row) => row.fits > 0);
}

/** @type {(row: GridRow, letters: number[]) => string} */
const pattern = (row, letters) =>
  row.cells
    .map((cell) => {
      if (!cell) return '';
      const { verdict, marks } = cell.worst;
      return [verdict, ...letters.map((at) => marks[at]), cell.repeats, cell.fits].join(' ');
    })
    .join('|');

/**
 * Rows with the same verdicts and LETTERS in each variant.
 * @param {GridRow[]} rows
 * @param {number[]} letters
 */
function alike(rows, letters) {
  /** @type {Map<string, GridRow[]>} */
  const groups = new Map();
  for (const row of rows) {
    const key = pattern(row, letters);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

/**
 * The lines of the table.  A run in progress: the newest rows first, none folded, since they still change.
 * @param {GridRow[]} rows
 * @param {{running: boolean, fold: boolean, open: Set<string>, letters: number[]}} how OPEN: the keys of
 *   folds that are open; LETTERS: places in the marks that must be equal for rows to be alike
 * @returns {GridLine[]}
 */
export function toLines(rows, { running, fold, open, letters }) {
  /** @type {(row: GridRow, more?: object) => GridLine} */
  const line = (row, more = {}) =>
    /** @type {GridLine} */ ({
      type: 'row',
      key: row.scenario,
      kind: row.kind,
      count: 1,
      row,
      rows: [row],
      ...more,
    });
  if (running) return [...rows].sort((a, b) => b.newest - a.newest).map((row) => line(row));
  const kinds = [...new Set([...kindOrder, ...rows.map((row) => row.kind)])];
  const sorted = [...rows].sort(
    (a, b) => a.urgency - b.urgency || (a.scenario < b.scenario ? -1 : a.scenario > b.scenario ? 1 : 0),
  );
  return kinds.flatMap((kind) => {
    const mine = sorted.filter((row) => row.kind === kind);
    if (mine.length === 0) return [];
    const head = line(mine[0], { type: 'kind', key: `kind ${kind}`, count: mine.length });
    if (!fold) return [head, ...mine.map((row) => line(row))];
    const lines = [...alike(mine, letters)].flatMap(([key, group]) => {
      if (group.length < FOLD_MIN) return group.map((row) => line(row));
      const name = `${kind} ${key}`;
      const whole = { type: 'fold', key: name, count: group.length, rows: group, open: open.has(name) };
      const folded = line(group[0], whole);
      return [folded, ...(open.has(name) ? group.map((row) => line(row, { inside: true })) : [])];
    });
    return [head, ...lines];
  });
}

/** @type {(values: (string | null)[]) => string[]} */
export const different = (values) =>
  /** @type {string[]} */ ([...new Set(values)].filter((value) => value && value !== 'none')).sort();
