// Whole pages without a browser, over answers that are made here: their lines, links and colours.
import { same } from './world.mjs';
import { Paper, draw, parts } from './paper.mjs';

/** @type {Record<string, unknown>} by path: the data of an answer; an Error is refused */
const answers = {};
/** What was asked for that changes something. @type {string[]} */
export const sent = [];
globalThis.fetch = async (path, asked) => {
  const { method = 'GET', body } = asked ?? {};
  if (method !== 'GET') sent.push(`${method} ${path} ${typeof body === 'string' ? body : ''}`.trim());
  const data = answers[String(path).split('?')[0]];
  if (data instanceof Blob) return new Response(data); // a file
  return data instanceof Error
    ? new Response(JSON.stringify({ error: { key: 'some', message: data.message, hint: null } }), {
        status: 409,
      })
    : new Response(JSON.stringify({ data }));
};

/** @type {any} */
let made;
/** @type {Paper | null} */
let drawn = null;

/** As parts(), with what pages() needs; the day is always 2026-01-31.
 * @type {(...modules: string[]) => Promise<any>} */
export async function modulesOf(...modules) {
  Date.now = () => Date.UTC(2026, 0, 31, 12, 0);
  made = await parts('api', 'router', 'painted', ...modules);
  globalThis.sessionStorage = /** @type {any} */ ({ getItem: () => 'f'.repeat(64) }); // a token: it may write
  made.painted.waitForPaint();
  return made;
}

export async function settled() {
  for (let before = -1, equal = 0; equal < 6;) {
    await new Promise((done) => setTimeout(done, 1));
    equal = before === Paper.changes && !made.api.isAsking() ? equal + 1 : 0;
    before = Paper.changes;
  }
}

/** A component over GIVEN answers, at an ADDRESS.
 * @type {(component: unknown, props: object, given?: object, address?: string) => Promise<Paper>} */
export async function page(component, props, given = {}, address = '/x') {
  if (drawn) made.render(null, drawn); // or it would hear the same keys
  Object.assign(answers, given);
  made.router.go(address, true);
  made.api.refresh();
  drawn = draw(made, component, props);
  await settled();
  return drawn;
}

/** What is clicked, typed or chosen: the first NAME whose text has WORD.
 * @type {(paper: Paper, name: string, word: string, event?: string, more?: object) => Promise<void>} */
export async function does(paper, name, word, event = 'click', more = {}) {
  const at = /** @type {any} */ (paper.all(name).find((node) => node.textContent.includes(word)));
  Object.assign(at, more);
  const named = Object.keys(at.listeners).find((key) => key.toLowerCase() === event) ?? event;
  at.listeners[named].call(at, { type: named, target: at, currentTarget: at, preventDefault() {}, ...more });
  await settled();
}

/** The cells of each column once its head was clicked: what rows are ordered by.
 * @type {(paper: Paper, at?: number) => Promise<string[]>} */
export async function orders(paper, at = 0) {
  const table = paper.all('table')[at];
  const found = [];
  for (const button of table.all('thead')[0].all('button')) {
    await button.click();
    await settled();
    const rows = table.all('tbody')[0].all('tr');
    found.push(
      `${button.textContent}: ${rows.map((row) => (row.all('a')[0] ?? row.all('td')[0]).textContent)}`,
    );
  }
  return found;
}

const LEAVES = 'tr p li h1 h2 h3 h4 dt dd button option pre svg'.split(' ');
const MOODS = 'bad good warn warned wrong whole part accepted running marked near idle strong in'.split(' ');

/** @type {(node: Paper) => string} */
function line(node) {
  const all = [node, ...node.all('*')];
  const moods = all.flatMap(({ attributes }) =>
    (attributes.class ?? '').split(' ').filter((word) => MOODS.includes(word) || /^[vm]-/.test(word)),
  );
  const pressed = all.some(
    ({ attributes }) => 'true' === (attributes['aria-pressed'] ?? attributes.selected),
  );
  const cells = node.childNodes.filter(({ localName }) => localName === 'td' || localName === 'th');
  const text = (cells.length > 0 ? cells : [node]).map((cell) => cell.textContent.trim()).join(' | ');
  const links = all
    .filter(({ localName }) => localName === 'a')
    .map(({ attributes }) => ` → ${attributes.href}`);
  const { title } = node.attributes;
  const marks = [...new Set(moods)].map((mood) => `{${mood}} `).join('') + (pressed ? '* ' : '');
  return (marks + text + links.join('') + (title ? ` (${title})` : '')).replace(/\s+/g, ' ').trim();
}

/** The text of each part, with its moods, links and title; a row of a table is one part.
 * @type {(paper: Paper) => string[]} */
export function lines(paper) {
  /** @type {(node: Paper) => string[]} */
  const below = (node) => {
    if (node.localName === null) return [];
    const speaks = node.childNodes.some(
      (child) => child.localName === null && String(child.data).trim() !== '',
    );
    if (speaks || LEAVES.includes(node.localName)) return [line(node)];
    return node.childNodes.flatMap(below);
  };
  return below(paper).filter(Boolean);
}

// ---- what runs are like -------------------------------------------------------------------------------

export const DAY = 86_400e9;
/** @type {(id: number, more?: object) => object} */
export const runOf = (id, more = {}) => ({
  id,
  started_ns: (20 + id) * DAY,
  finished_ns: (20 + id) * DAY + 5e9,
  state: 'complete',
  label: null,
  commit: '0123456789abcdef',
  branch: 'main',
  platform: 'wine',
  verdicts: { PASS: 3, 'NOT-CAPTURED-AS-EXPECTED': 1 },
  case_count: 4,
  tools: [],
  environment: [],
  managed_stacks: [],
  ...more,
});
/** @type {(scenario: string, more?: object) => object} */
export const change = (scenario, more = {}) => ({
  scenario,
  variant: 'ob2',
  repeat: 0,
  was: 'PASS',
  is: 'FAIL',
  reason: 'r',
  ...more,
});
export const none = { new: [], fixed: [], changed: [], accepted: [], gone: [], added: [], still: [] };
export const counts = { new: 0, fixed: 0, changed: 0, accepted: 0, gone: 0, added: 0, still: 0 };
export const group = {
  key: 'k1',
  cases: 7,
  sentence: 'it broke',
  blames: [],
  since: null,
  before: null,
  example: { scenario: 's', variant: 'v', repeat: 0 },
};

/** @type {string[]} */
export const copied = [];
Object.defineProperty(globalThis, 'navigator', {
  value: { clipboard: { writeText: async (/** @type {string} */ text) => copied.push(text) } },
});

/** WANT: a line for each part; a backslash at its end continues it.
 * @type {(paper: Paper, want: string, name?: string) => void} */
export const shows = (paper, want, name = '') =>
  same(
    lines(paper),
    want
      .trim()
      .split('\n')
      .map((text) => text.replace(/\s+/g, ' ').trim()),
    name,
  );
