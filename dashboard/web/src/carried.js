// The data of a page that is a file: the documents that `report --html` put into it, packed,
// under their live paths.  Lists are filtered and paged here, as the store does it live.
import { ApiError } from './error.js';

const element = document.getElementById('twinstack-data');
/** @type {{[path: string]: string}} packed documents; one member is no document: `offline` */
const documents = element ? JSON.parse(element.textContent ?? '') : {};
/**
 * What the file says of itself: NAMES of runs as numbers, LISTS as the limits of their pages.
 * @typedef {{run: number, names: Record<string, number>, lists: Record<string, number>, compared: number[],
 *   runs: number, runs_total: number, cases: number, cases_total: number}} Offline
 * @typedef {Record<string, unknown>} Document
 * @typedef {Record<string, unknown> & {id: number, scenario: string, variant: string, repeat?: number,
 *   is_new?: boolean, problems?: string[], all_causes?: string[]}} Row
 */
export const offline = /** @type {Offline | null} */ (/** @type {unknown} */ (documents.offline ?? null));

// What only a page that is a file asks for.
const contents = /** @type {Offline} */ (offline);

/** @param {string} packed */
async function unpack(packed) {
  if (typeof DecompressionStream === 'undefined')
    throw new ApiError(
      {
        key: 'old_browser',
        message: 'This browser cannot unpack what the file holds',
        hint: 'Browsers since 2023 can.',
      },
      0,
    );
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream('deflate'))).text();
}

/** @type {(key: string) => boolean} */
const has = (key) => key !== 'offline' && Object.hasOwn(documents, key);
/** @type {Map<string, Promise<unknown>>} */
const parsed = new Map(); // documents by path; the newest few

/** @param {string} key */
function take(key) {
  const begun = parsed.get(key);
  if (begun) return begun;
  if (parsed.size > 50) parsed.delete([...parsed.keys()][0]);
  const begins = unpack(documents[key]).then(JSON.parse);
  parsed.set(key, begins);
  return begins;
}

/** @type {(word: string) => string} */
const number = (word) => String(Object.hasOwn(contents.names, word) ? contents.names[word] : word);

/**
 * The path as the file spells it: runs as numbers, parameters in the order of their letters.
 * @param {string} path
 * @returns {[string, URLSearchParams]}
 */
function spell(path) {
  const [where, search] = path.split('?');
  const query = new URLSearchParams([...new URLSearchParams(search)].filter(([, value]) => value !== ''));
  for (const name of ['run', 'a', 'b']) if (query.has(name)) query.set(name, number(query.get(name) ?? ''));
  query.sort();
  return [
    where.replace(/^(\/api\/v1\/runs\/)([^/]+)/, (_, start, run) => start + number(decodeURIComponent(run))),
    query,
  ];
}

// ---- lists -----------------------------------------------------------------------------------

/**
 * @typedef {{[name: string]: unknown, total: number, next: number | null}} ListPage
 * @typedef {{name: 'runs' | 'cases', rows: Row[], first: ListPage}} List FIRST: its first page
 * @type {Map<string, Promise<List>>}
 */
const lists = new Map(); // by path

/**
 * @param {string} where
 * @returns {Promise<List>}
 */
async function whole(where) {
  const limit = contents.lists[where];
  const first = /** @type {ListPage} */ (await take(`${where}?limit=${limit}`));
  const name = Object.hasOwn(first, 'runs') ? 'runs' : 'cases';
  /** @type {(page: ListPage) => Row[]} */
  const rowsOf = (page) => /** @type {Row[]} */ (page[name]);
  const rows = [...rowsOf(first)];
  /** @type {(page: ListPage) => string} */
  const after = (page) => `${where}?after=${page.next}&limit=${limit}`;
  for (let key = after(first); has(key);) {
    const page = /** @type {ListPage} */ (await take(key));
    rows.push(...rowsOf(page));
    key = after(page);
  }
  return { name, rows, first };
}

/**
 * What a search looks through: the name as pages write it.
 * @type {(row: {scenario: string, variant: string, repeat?: number}) => string}
 */
const written = ({ scenario, variant, repeat }) => `${scenario}.${variant}${repeat ? `#${repeat + 1}` : ''}`;

/** @type {Record<string, (row: Row, value: string) => boolean | undefined>} */
const fitting = {
  new: (row) => row.is_new,
  problem: (row, value) => row.problems?.includes(value),
  cause: (row, value) => row.all_causes?.includes(value),
  search: (row, value) => written(row).includes(value),
};

/**
 * A page of the queue, whose order is not that of the ids.
 * @param {ListPage} first
 * @param {Row[]} fits
 * @param {{limit: number, after: number, around: string | null}} asked
 * @param {number} left_out
 */
function paged(first, fits, { limit, after, around }, left_out) {
  const at = fits.findIndex((row) =>
    after ? row.id === after : `${row.scenario}.${row.variant}` === around,
  );
  const start = at < 0 ? 0 : after ? at + 1 : at - (at % limit);
  const end = Math.min(start + limit, fits.length);
  const groups = /** @type {{group: string}[]} */ (first.groups).map((group) => ({
    ...group,
    fitting: fits.filter((row) => row.group === group.group).length,
  }));
  return {
    ...first,
    groups,
    cases: fits.slice(start, end),
    position: start,
    total: fits.length,
    left_out,
    next: end < fits.length ? fits[end - 1].id : null,
    previous: start === 0 ? null : start > limit ? fits[start - limit - 1].id : 0,
  };
}

/**
 * @param {string} where
 * @param {URLSearchParams} query
 */
async function listed(where, query) {
  const list = lists.get(where) ?? whole(where);
  lists.set(where, list);
  const { name, rows, first } = await list;
  const limit = Number(query.get('limit') ?? 50);
  const after = Number(query.get('after') ?? 0);
  const filters = [...query].filter(([key]) => !['limit', 'after', 'around'].includes(key));
  const fits = rows.filter((row) =>
    filters.every(([key, value]) => (fitting[key] ? fitting[key](row, value) : row[key] === value)),
  );
  const rest = fits.filter((row) => !after || (name === 'runs' ? row.id < after : row.id > after));
  const left_out = first.total - rows.length; // of all, whatever the filter
  if (where.endsWith('/queue')) {
    const one = `${where}?limit=1&problem=${query.get('problem')}`;
    const { problem } = /** @type {Document} */ (has(one) ? await take(one) : first);
    return { ...paged(first, fits, { limit, after, around: query.get('around') }, left_out), problem };
  }
  return {
    ...first,
    [name]: rest.slice(0, limit),
    next: rest.length > limit ? rest[limit - 1].id : null,
    total: filters.length ? fits.length : first.total,
    left_out,
  };
}

/**
 * The whole document of hooks as the query asks for it.
 * @param {unknown} carried
 * @param {URLSearchParams} query
 */
function hooksOf(carried, query) {
  const found = /** @type {import('openapi').Answers['/api/v1/hooks']} */ (carried);
  const after = Number(query.get('after') ?? 0);
  const fits = found.rows.filter(
    (row) =>
      (query.get('differs') !== '1' || row.differs) && written(row).includes(query.get('search') ?? ''),
  );
  return {
    ...found,
    rows: fits.slice(after, after + Number(query.get('limit') ?? Infinity)),
    fitting: fits.length,
  };
}

// ---- what is not here -------------------------------------------------------------------------

/**
 * @param {string} where
 * @param {URLSearchParams} query
 */
function missing(where, query) {
  const of = query.get('run') ?? /^\/api\/v1\/runs\/([^/]+)/.exec(where)?.[1];
  const [a, b] = [query.get('a'), query.get('b')];
  let message = 'This page is not in this file';
  let hint = 'Where the database is, `twinstack serve` shows all of it.';
  if (where === '/api/v1/compare' && contents.compared.length === 0) {
    message = `The file holds no other run to compare run ${contents.run} with`;
  } else if (where === '/api/v1/compare' && a === 'latest~1') {
    message = `No run came before run ${contents.run}`;
    hint = 'The About page links to the comparisons that the file holds.';
  } else if (where === '/api/v1/compare') {
    message = `The comparison of run ${a} with run ${b} is not in this file`;
    hint =
      `It compares run ${contents.run} with ${contents.compared.length} others. Where the database is, ` +
      `\`twinstack compare ${a} ${b}\` or \`twinstack serve\` shows this one.`;
  } else if (of && of !== String(contents.run)) {
    message = `Run ${of} is not whole in this file, which is about run ${contents.run}`;
    hint =
      `Where the database is, \`twinstack report ${of} --html run-${of}.html\` makes its file, ` +
      'and `twinstack serve` shows all runs.';
  } else if (of && contents.cases < contents.cases_total) {
    const held = `${contents.cases} of the ${contents.cases_total} cases`;
    message = `This case is not in this file, which holds ${held} with their stacks`;
  } else if (of) {
    message = `Run ${of} has no such case`;
  }
  return new ApiError({ key: 'not_carried', message, hint }, 0);
}

/**
 * PATH without a run means the run of the file; a comparison without names is with the previous run.
 * @param {string} where
 * @param {URLSearchParams} query
 */
function keyOf(where, query) {
  if (where === '/api/v1/compare') {
    if (!query.has('a')) query.set('a', number('latest~1'));
    if (!query.has('b')) query.set('b', String(contents.run));
  }
  /** @type {(pairs: URLSearchParams) => string} */
  const text = (pairs) => (String(pairs) ? `${where}?${pairs}` : where);
  if (has(text(query))) return text(query);
  const named = new URLSearchParams(query);
  if (!query.has('run')) named.set('run', String(contents.run));
  if (has(text(named))) return text(named);
  named.delete('limit'); // such a document is here as a whole
  if (has(text(named))) return text(named);
  throw missing(where, query);
}

/** @param {string} path */
export async function readCarried(path) {
  const [where, query] = spell(path);
  if (where === '/api/v1/hooks') {
    const run = new URLSearchParams([...query].filter(([name]) => name === 'run'));
    return hooksOf(await take(keyOf(where, run)), query);
  }
  return Object.hasOwn(contents.lists, where) ? listed(where, query) : take(keyOf(where, query));
}

/** @param {string} path */
export async function readCarriedText(path) {
  if (has(path)) return unpack(documents[path]);
  throw new ApiError({ key: 'not_carried', message: 'This text is not in this file', hint: null }, 0);
}

/**
 * Every case that is here with its stacks, one after the other.
 * @returns {AsyncGenerator<import('openapi').Answers['/api/v1/runs/{run}/cases/{case}']>}
 */
export async function* carriedCases() {
  const start = `/api/v1/runs/${contents.run}/cases/`;
  for (const key of Object.keys(documents))
    if (key.startsWith(start)) yield JSON.parse(await unpack(documents[key]));
}
