// The data of a page that is a file: the documents that `report --html` put into it, packed,
// under their live paths.  Lists are filtered and paged here, as the store does it live.
import { ApiError } from './error.js';

const element = document.getElementById('twinstack-data');
const documents = element && JSON.parse(element.textContent ?? '');
// {run, names: {latest: 30, ...}, lists: {path: limit}, compared: [29, ...], runs, cases, ...}
export const offline = documents?.offline ?? null;

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

const has = (key) => key !== 'offline' && Object.hasOwn(documents, key);
const parsed = new Map(); // path -> promise of its document; the newest few

function take(key) {
  if (!parsed.has(key)) {
    if (parsed.size > 50) parsed.delete(parsed.keys().next().value);
    parsed.set(key, unpack(documents[key]).then(JSON.parse));
  }
  return parsed.get(key);
}

const number = (word) => String(Object.hasOwn(offline.names, word) ? offline.names[word] : word);

// The path as the file spells it: runs as numbers, parameters in the order of their letters.
function spell(path) {
  const [where, search] = path.split('?');
  const query = new URLSearchParams([...new URLSearchParams(search)].filter(([, value]) => value !== ''));
  for (const name of ['run', 'a', 'b']) if (query.has(name)) query.set(name, number(query.get(name)));
  query.sort();
  return [
    where.replace(/^(\/api\/v1\/runs\/)([^/]+)/, (_, start, run) => start + number(decodeURIComponent(run))),
    query,
  ];
}

// ---- lists -----------------------------------------------------------------------------------

const lists = new Map(); // path -> promise of {name, rows, first}

async function whole(where) {
  const limit = offline.lists[where];
  const first = await take(`${where}?limit=${limit}`);
  const name = Object.hasOwn(first, 'runs') ? 'runs' : 'cases';
  const rows = [...first[name]];
  const after = (page) => `${where}?after=${page.next}&limit=${limit}`;
  for (let key = after(first); has(key);) {
    const page = await take(key);
    rows.push(...page[name]);
    key = after(page);
  }
  return { name, rows, first };
}

const fitting = {
  new: (row) => row.is_new,
  cause: (row, value) => row.all_causes.includes(value),
  search: (row, value) => `${row.scenario}.${row.variant}`.includes(value),
};

// A page of the queue, whose order is not that of the ids.
function paged(first, fits, { limit, after, around }, left_out) {
  const at = fits.findIndex((row) =>
    after ? row.id === after : `${row.scenario}.${row.variant}` === around,
  );
  const start = at < 0 ? 0 : after ? at + 1 : at - (at % limit);
  const end = Math.min(start + limit, fits.length);
  return {
    ...first,
    cases: fits.slice(start, end),
    position: start,
    total: fits.length,
    left_out,
    next: end < fits.length ? fits[end - 1].id : null,
    previous: start === 0 ? null : start > limit ? fits[start - limit - 1].id : 0,
  };
}

async function listed(where, query) {
  if (!lists.has(where)) lists.set(where, whole(where));
  const { name, rows, first } = await lists.get(where);
  const limit = Number(query.get('limit') ?? 50);
  const after = Number(query.get('after') ?? 0);
  const filters = [...query].filter(([key]) => !['limit', 'after', 'around'].includes(key));
  const fits = rows.filter((row) =>
    filters.every(([key, value]) => (fitting[key] ? fitting[key](row, value) : row[key] === value)),
  );
  const rest = fits.filter((row) => !after || (name === 'runs' ? row.id < after : row.id > after));
  const left_out = first.total - rows.length; // of all, whatever the filter
  if (where.endsWith('/queue'))
    return paged(first, fits, { limit, after, around: query.get('around') }, left_out);
  return {
    ...first,
    [name]: rest.slice(0, limit),
    next: rest.length > limit ? rest[limit - 1].id : null,
    total: filters.length ? fits.length : first.total,
    left_out,
  };
}

// ---- what is not here -------------------------------------------------------------------------

function missing(where, query) {
  const of = query.get('run') ?? /^\/api\/v1\/runs\/([^/]+)/.exec(where)?.[1];
  const [a, b] = [query.get('a'), query.get('b')];
  let message = 'This page is not in this file';
  let hint = 'Where the database is, `twinstack serve` shows all of it.';
  if (where === '/api/v1/compare' && offline.compared.length === 0) {
    message = `The file holds no other run to compare run ${offline.run} with`;
  } else if (where === '/api/v1/compare' && a === 'latest~1') {
    message = `No run came before run ${offline.run}`;
    hint = 'The About page links to the comparisons that the file holds.';
  } else if (where === '/api/v1/compare') {
    message = `The comparison of run ${a} with run ${b} is not in this file`;
    hint =
      `It compares run ${offline.run} with ${offline.compared.length} others. Where the database is, ` +
      `\`twinstack compare ${a} ${b}\` or \`twinstack serve\` shows this one.`;
  } else if (of && of !== String(offline.run)) {
    message = `Run ${of} is not whole in this file, which is about run ${offline.run}`;
    hint =
      `Where the database is, \`twinstack report ${of} --html run-${of}.html\` makes its file, ` +
      'and `twinstack serve` shows all runs.';
  } else if (of && offline.cases < offline.cases_total) {
    const held = `${offline.cases} of the ${offline.cases_total} cases`;
    message = `This case is not in this file, which holds ${held} with their stacks`;
  } else if (of) {
    message = `Run ${of} has no such case`;
  }
  return new ApiError({ key: 'not_carried', message, hint }, 0);
}

// PATH without a run means the run of the file; a comparison without names is with the previous run.
function keyOf(where, query) {
  if (where === '/api/v1/compare') {
    if (!query.has('a')) query.set('a', number('latest~1'));
    if (!query.has('b')) query.set('b', String(offline.run));
  }
  const text = (pairs) => (String(pairs) ? `${where}?${pairs}` : where);
  if (has(text(query))) return text(query);
  const named = new URLSearchParams(query);
  if (!query.has('run')) named.set('run', String(offline.run));
  if (has(text(named))) return text(named);
  throw missing(where, query);
}

/** @param {string} path */
export async function readCarried(path) {
  const [where, query] = spell(path);
  return Object.hasOwn(offline.lists, where) ? listed(where, query) : take(keyOf(where, query));
}

/** @param {string} path */
export async function readCarriedText(path) {
  if (has(path)) return unpack(documents[path]);
  throw new ApiError({ key: 'not_carried', message: 'This text is not in this file', hint: null }, 0);
}

// Every case that is here with its stacks, one after the other.
export async function* carriedCases() {
  const start = `/api/v1/runs/${offline.run}/cases/`;
  for (const key of Object.keys(documents))
    if (key.startsWith(start)) yield JSON.parse(await unpack(documents[key]));
}
