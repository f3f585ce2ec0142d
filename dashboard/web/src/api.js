// Where data comes from: the live API, or what an offline page carries (carried.js).  Both answer
// the same paths with the same documents, so no page knows which one it has.
import { useEffect, useRef, useState } from 'preact/hooks';
import { offline, readCarried, readCarriedText } from './carried.js';
import { join, since } from './delta.js';
import { ApiError } from './error.js';
import { base, href, withQuery } from './router.js';
import { joinTabs, pause } from './tabs.js';

export { offline };

const TOKEN = `twinstack-token${base}`; // other servers may have other paths of this host

/** @type {string | null | undefined} */
let keptToken; // undefined: not read yet

// The token comes in the fragment, which never leaves the browser, and is kept for this tab.
function takeToken() {
  const found = /^#token=([0-9a-f]{64})$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(TOKEN, found[1]);
  history.replaceState(null, '', location.pathname + location.search);
}
takeToken();

/** Read when it is asked for: the page waits until another process of the browser has looked for it. */
export function token() {
  if (keptToken === undefined) keptToken = offline ? null : sessionStorage.getItem(TOKEN);
  return keptToken;
}

/** @type {(headers: Record<string, string>) => Record<string, string>} */
function authorised(headers) {
  const word = token();
  return word ? { ...headers, 'X-Token': word } : headers;
}

/**
 * @param {Response} response
 * @returns {Promise<unknown>}
 */
async function answer(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    throw new ApiError(
      { key: 'no_answer', message: 'The server gave no readable answer', hint: null },
      response.status,
    );
  }
  if (!response.ok) throw new ApiError(body.error, response.status);
  return body.data;
}

/**
 * @typedef {{etag: string, version: string | null, at: number, data: unknown}} Kept AT: when it was fetched
 * @type {Map<string, Kept>}
 */
const known = new Map(); // by path

/** @type {Map<string, Promise<unknown>>} */
const asked = new Map(); // by path: one fetch at a time serves all callers

/** @type {Map<string, number>} */
const failed = new Map(); // by path: when

/** @param {string} path */
function fetchData(path) {
  const begun = asked.get(path);
  if (begun) return begun;
  const begins = fetchOnce(path).finally(() => asked.delete(path));
  begins.then(
    () => failed.delete(path),
    () => failed.set(path, performance.now()),
  );
  asked.set(path, begins);
  return begins;
}

/**
 * @param {string} path
 * @param {string} [etag] of what is there already
 * @returns {Promise<Kept | null>} null: that is still so
 */
async function ask(path, etag) {
  let response;
  try {
    response = await fetch(href(path), { headers: authorised(etag ? { 'If-None-Match': etag } : {}) });
  } catch {
    throw new ApiError(
      {
        key: 'offline',
        message: 'The server does not answer',
        hint: 'Start it again with `twinstack serve`; this page then continues by itself.',
      },
      0,
    );
  }
  const version = response.headers.get('X-Data-Version');
  const old = known.get(path);
  if (response.status === 304 && old) {
    Object.assign(old, { version, at: performance.now() });
    return null;
  }
  const data = await answer(response);
  return { etag: response.headers.get('ETag') ?? '', version, at: performance.now(), data };
}

/** @param {string} path */
async function fetchOnce(path) {
  const old = known.get(path);
  const rest = old && since(path, old.data);
  const more = rest ? await ask(rest) : null;
  const whole = old && more && join(old.data, more.data);
  const now = whole ? { ...more, etag: '', data: whole } : await ask(path, old?.etag);
  if (!now) return old?.data;
  if (known.size > 200) known.delete([...known.keys()][0]);
  known.set(path, now);
  return now.data;
}

const FIRST_MS = 250;

export const isAsking = () => asked.size > 0;

/** Waits for what is asked for, but not long.  False: it takes longer. */
export const answered = () =>
  Promise.race([Promise.allSettled(asked.values()).then(() => true), pause(FIRST_MS).then(() => false)]);

const RECENT_MS = 1000;

/**
 * What was fetched a moment ago, and is still so as far as is known: a page that is drawn in steps asks for
 * its data before the part that shows it is there.
 * @param {string | null} path
 */
function recent(path) {
  const kept = path === null ? undefined : known.get(path);
  return kept && performance.now() - kept.at < RECENT_MS && (!live.version || kept.version === live.version)
    ? kept.data
    : null;
}

/**
 * The path of ROUTE: VALUES fill its {places}, and the others become its query; empty ones are left out.
 * @param {string} route
 * @param {Record<string, string | number | boolean | null | undefined>} values
 */
export function address(route, values = {}) {
  const rest = { ...values };
  const path = route.replace(/\{(\w+)\}/g, (_, name) => {
    delete rest[name];
    return encodeURIComponent(String(values[name]));
  });
  return withQuery(path, rest);
}

/**
 * Asks for what a part that is drawn later will show.
 * @param {keyof import('openapi').Answers} route
 * @param {Record<string, string | number | boolean | null | undefined>} [values]
 */
export function prefetch(route, values) {
  const path = address(route, values);
  if (recent(path) !== null || performance.now() - (failed.get(path) ?? -RECENT_MS) < RECENT_MS) return;
  read(path).catch(() => {}); // the part itself reports what is wrong
}

/** @type {(path: string) => Promise<unknown>} The answer's `data`; useData() gives it its type. */
export const read = (path) => (offline ? readCarried(path) : fetchData(path));

/**
 * A kept file, as a live server gives it.
 * @param {string} path
 */
export async function readFile(path) {
  const response = await fetch(href(path), { headers: authorised({}) });
  if (!response.ok) await answer(response);
  return response.blob();
}

/**
 * A kept file, as text.
 * @param {string} path
 */
export const readText = async (path) => (offline ? readCarriedText(path) : (await readFile(path)).text());

/**
 * A request that changes something, and the `data` of its answer.
 * @template {keyof import('openapi').Written} Route
 * @param {'POST' | 'PUT' | 'DELETE'} method
 * @param {Route} route
 * @param {{values?: Record<string, string>, body?: BodyInit, type?: string | null}} what TYPE null: the
 *   browser knows it
 * @returns {Promise<import('openapi').Written[Route]>}
 */
export async function send(method, route, { values = {}, body, type = 'application/json' }) {
  const headers = authorised(type === null ? {} : { 'Content-Type': type });
  const written = await answer(await fetch(href(address(route, values)), { method, body, headers }));
  return /** @type {import('openapi').Written[Route]} */ (written);
}

// ---- live ------------------------------------------------------------------------------

/** @typedef {Set<() => void>} Listeners */

/** @type {Listeners} */
const watchers = new Set(); // of the state of the connection
/** @type {Listeners} */
const readers = new Set(); // of data: called when the database changed
/** @type {{state: string, running: import('openapi').Run[], version: string | null}} */
export const live = { state: offline ? 'file' : 'starting', running: [], version: null };

/** @param {Listeners} listeners */
function notify(listeners) {
  for (const listener of listeners) listener();
}

/** @param {string} state */
function setState(state) {
  if (live.state === state) return;
  live.state = state;
  notify(watchers);
}

export function useLive() {
  const [, bump] = useState(0);
  const drawn = `${live.state} ${live.version}`;
  useEffect(() => {
    const listener = () => bump((n) => n + 1);
    watchers.add(listener);
    if (drawn !== `${live.state} ${live.version}`) listener(); // it changed before anybody listened
    return () => {
      watchers.delete(listener);
    };
  }, []);
  return live;
}

/** @typedef {{version: string | null, running: import('openapi').Run[]}} Change */

/**
 * Passes on each event, and null for each ping.  False: the server has no stream for this browser.
 * @param {AbortSignal} signal
 * @param {(event: Change | null) => void} pass
 */
async function stream(signal, pass) {
  const response = await fetch(href('/api/v1/events'), {
    headers: authorised({ Accept: 'text/event-stream' }),
    signal,
  });
  if (response.status !== 200) return false;
  const reader = /** @type {ReadableStream} */ (response.body)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return true;
    text += value;
    let end;
    while ((end = text.indexOf('\n\n')) >= 0) {
      const data = text
        .slice(0, end)
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => line.slice(6))
        .join('\n');
      text = text.slice(end + 2);
      pass(data ? JSON.parse(data) : null);
    }
  }
}

/** @param {Change | null} event */
function hear(event) {
  setState('live');
  if (event) changed(event);
}

/**
 * Data of this version that a page already has is not fetched again.
 * @param {Change} event
 */
function changed({ version, running }) {
  live.version = version;
  live.running = running;
  notify(watchers);
  notify(readers);
}

async function poll() {
  const path = '/api/v1/runs?limit=10';
  const page = /** @type {import('openapi').Answers['/api/v1/runs']} */ (await fetchData(path));
  setState('polling');
  changed({
    version: known.get(path)?.version ?? null,
    running: page.runs.filter((run) => run.state === 'running'),
  });
}

// The stream of another tab, or one of its own while the server has one, else polling every few seconds,
// without end.  Only tabs that have the same token share what they hear.
export async function follow() {
  if (offline) return;
  const tabs = joinTabs(`${TOKEN} ${token() ?? ''}`, hear);
  for (let round = 0; ; round++) {
    const signal = await tabs.lead();
    try {
      const streamed = await stream(signal, (event) => {
        tabs.pass(event);
        hear(event);
      });
      tabs.rest();
      // What a page shows has just come, so its first poll waits for its turn.
      if (!streamed && round > 0) await poll();
    } catch {
      tabs.rest();
      if (signal.aborted) continue; // another tab leads
      try {
        await poll();
      } catch {
        setState('lost');
      }
    }
    await pause(document.hidden ? 15000 : 4000);
  }
}

// After a write, everything that is shown is fetched again.
export function refresh() {
  for (const kept of known.values()) kept.at = -RECENT_MS;
  changed({ version: null, running: live.running });
}

/**
 * @template T
 * @typedef {{path: string | null, data: T | null, error: ApiError | null}} Data what a page has so far
 */

/**
 * The data of ROUTE (null: none), fetched again whenever the server says that something changed, and
 * EVERY_MS after each answer if that is given: the server watches only the database of runs.
 * VALUES as for address().
 * @template {keyof import('openapi').Answers} Route
 * @param {Route | null} route
 * @param {Record<string, string | number | boolean | null | undefined>} [values]
 * @param {number} [everyMs]
 * @returns {Data<import('openapi').Answers[Route]>}
 */
export function useData(route, values, everyMs) {
  const path = route && address(route, values);
  const [state, set] = useState(/** @type {Data<unknown>} */ ({ path: null, data: null, error: null }));
  const asking = useRef(/** @type {string | null} */ (null));
  if (route && asking.current !== path) prefetch(route, values); // not only when the page is drawn
  asking.current = path;
  useEffect(() => {
    let wanted = true;
    /** @param {unknown} [had] */
    const load = (had) =>
      path &&
      (had ? Promise.resolve(had) : read(path)).then(
        (data) =>
          wanted &&
          set((old) =>
            old.path === path && old.data === data && !old.error ? old : { path, data, error: null },
          ),
        (error) => wanted && set((old) => ({ path, data: old.path === path ? old.data : null, error })),
      );
    const isOld = () => !live.version || known.get(path ?? '')?.version !== live.version;
    const reload = async () => {
      if (!isOld()) return;
      const { version } = live;
      await load();
      if (wanted && version !== live.version && isOld()) load(); // an event came while that was fetched
    };
    let timer = 0;
    const repeat = () => {
      timer = window.setTimeout(async () => {
        if (!document.hidden) await load();
        if (wanted) repeat();
      }, everyMs);
    };
    load(recent(path));
    readers.add(reload);
    if (everyMs && !offline) repeat();
    return () => {
      wanted = false;
      readers.delete(reload);
      clearTimeout(timer);
    };
  }, [path]);
  const now = state.path === path ? state : { path, data: recent(path), error: null };
  return /** @type {Data<import('openapi').Answers[Route]>} */ (now);
}
