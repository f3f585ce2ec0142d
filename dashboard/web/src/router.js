// Addresses: paths live, fragments in an offline file.  Filters and selection stay in the
// query, so that every view is a link.
import { useEffect, useState } from 'preact/hooks';
import { offline } from './api.js';

const listeners = new Set();

export function current() {
  const text = offline ? location.hash.slice(1) || '/' : location.pathname + location.search;
  const [path, search = ''] = text.split('?');
  return { path, query: Object.fromEntries(new URLSearchParams(search)) };
}

export function useAddress() {
  const [address, set] = useState(current);
  useEffect(() => {
    const listener = () => set(current());
    listeners.add(listener);
    addEventListener('popstate', listener);
    addEventListener('hashchange', listener);
    return () => {
      listeners.delete(listener);
      removeEventListener('popstate', listener);
      removeEventListener('hashchange', listener);
    };
  }, []);
  return address;
}

export const href = (path) => (offline ? `#${path}` : path);

export function go(path, replace = false) {
  history[replace ? 'replaceState' : 'pushState'](null, '', href(path));
  for (const listener of listeners) listener();
  if (!replace) document.getElementById('main')?.scrollTo(0, 0);
}

export function withQuery(path, query) {
  const kept = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  );
  const text = new URLSearchParams(
    kept.map(([name, value]) => [name, value === true ? '1' : String(value)]),
  ).toString();
  return text ? `${path}?${text}` : path;
}

// Changes some of the query's words in place.
export function useQuery() {
  const { path, query } = useAddress();
  const set = (changes, replace = true) => {
    const now = current();
    go(withQuery(now.path, { ...now.query, ...changes }), replace);
  };
  return [query, set, path];
}

// Left clicks stay inside the page; the browser handles everything else.
export function follow(event) {
  const link = event.target.closest?.('a[href]');
  if (
    !link ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey ||
    link.target ||
    link.hasAttribute('download') ||
    link.dataset.plain !== undefined
  )
    return;
  const url = new URL(link.href, location.href);
  if (offline) {
    if (!link.getAttribute('href').startsWith('#/')) return;
    event.preventDefault();
    go(link.getAttribute('href').slice(1));
  } else if (url.origin === location.origin && !url.hash) {
    event.preventDefault();
    go(url.pathname + url.search);
  }
}

export function match(pattern, path) {
  const want = pattern.split('/');
  const have = path.split('/');
  if (want.length !== have.length) return null;
  const params = {};
  for (let i = 0; i < want.length; i++) {
    if (want[i].startsWith(':')) {
      if (!have[i]) return null;
      params[want[i].slice(1)] = decodeURIComponent(have[i]);
    } else if (want[i] !== have[i]) return null;
  }
  return params;
}
