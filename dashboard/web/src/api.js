// Where data comes from: the live API, or what an offline page carries (carried.js).  Both answer
// the same paths with the same documents, so no page knows which one it has.
import { useEffect, useState } from 'preact/hooks';
import { offline, readCarried, readCarriedText } from './carried.js';
import { ApiError } from './error.js';

export { offline };

// The token comes in the fragment, which never leaves the browser, and is kept for this tab.
function takeToken() {
  const found = /^#token=([0-9a-f]{64})$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem('twinstack-token', found[1]);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return offline ? null : sessionStorage.getItem('twinstack-token');
}
export const token = takeToken();

const authorised = (headers) => (token ? { ...headers, 'X-Token': token } : headers);

async function answer(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    throw new ApiError({ key: 'no_answer', message: 'The server gave no readable answer', hint: null }, response.status);
  }
  if (!response.ok) throw new ApiError(body.error, response.status);
  return body.data;
}

const known = new Map(); // path -> {etag, data}

async function fetchData(path) {
  const old = known.get(path);
  let response;
  try {
    response = await fetch(path, { headers: authorised(old ? { 'If-None-Match': old.etag } : {}) });
  } catch {
    throw new ApiError({ key: 'offline', message: 'The server does not answer',
      hint: 'Start it again with `twinstack serve`; this page then goes on by itself.' }, 0);
  }
  if (response.status === 304) return old.data;
  const data = await answer(response);
  if (known.size > 200) known.delete(known.keys().next().value);
  known.set(path, { etag: response.headers.get('ETag') ?? '', data });
  return data;
}

export const read = (path) => (offline ? readCarried(path) : fetchData(path));

// A kept file, as text.
export async function readText(path) {
  if (offline) return readCarriedText(path);
  const response = await fetch(path, { headers: authorised({}) });
  if (!response.ok) await answer(response);
  return response.text();
}

export async function send(method, path, body, type = 'application/json') {
  return answer(await fetch(path, { method, body, headers: authorised({ 'Content-Type': type }) }));
}

// ---- live ------------------------------------------------------------------------------

const listeners = new Set();
export const live = { state: offline ? 'file' : 'starting', running: [] };

function tell() {
  for (const listener of listeners) listener();
}

export function useLive() {
  const [, bump] = useState(0);
  useEffect(() => {
    const listener = () => bump((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return live;
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function stream() {
  const response = await fetch('/api/v1/events', { headers: authorised({ Accept: 'text/event-stream' }) });
  if (response.status !== 200) return false;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return true;
    text += value;
    let end;
    while ((end = text.indexOf('\n\n')) >= 0) {
      const data = text.slice(0, end).split('\n').filter((line) => line.startsWith('data: '))
        .map((line) => line.slice(6)).join('\n');
      text = text.slice(end + 2);
      if (live.state !== 'live') { live.state = 'live'; tell(); }
      if (data) { live.running = JSON.parse(data).running; tell(); }
    }
  }
}

async function poll() {
  const page = await fetchData('/api/v1/runs?limit=10');
  live.running = page.runs.filter((run) => run.state === 'running');
  live.state = 'polling';
  tell();
}

// A stream while there is one to be had, else asking every few seconds; for ever.
export async function follow() {
  if (offline) return;
  for (;;) {
    try {
      if (!await stream()) await poll();
    } catch {
      try { await poll(); } catch { live.state = 'lost'; tell(); }
    }
    await pause(document.hidden ? 15000 : 4000);
  }
}

export const refresh = () => tell();

// Data of PATH (null: none asked for), asked again whenever the server says that something changed.
export function useData(path) {
  const [state, set] = useState({ path: null, data: null, error: null });
  useEffect(() => {
    let wanted = true;
    const load = () => path && read(path).then(
      (data) => wanted && set((old) => (old.path === path && old.data === data && !old.error ? old : { path, data, error: null })),
      (error) => wanted && set((old) => ({ path, data: old.path === path ? old.data : null, error })));
    load();
    listeners.add(load);
    return () => { wanted = false; listeners.delete(load); };
  }, [path]);
  return state.path === path ? state : { path, data: null, error: null };
}
