// Addresses: paths live, fragments in an offline file.  Filters and selection stay in the
// query, so that every view is a link.
import { useLayoutEffect, useState } from 'preact/hooks';
import { offline } from './carried.js';

const listeners = new Set();

/** What a proxy has in front of our addresses, such as "/twinstack"; mostly nothing. */
export const base = offline
  ? ''
  : new URL(/** @type {HTMLScriptElement} */ (document.currentScript).src).pathname.replace(
      /\/assets\/[^/]*$/,
      '',
    );

// A browser looks for the icon anew wherever the address changes, and its link is relative.
const icon = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel=icon]'));
if (icon && !offline) icon.href = new URL(icon.href).href;

/** @param {string} path */
const withoutBase = (path) => path.slice(base.length) || '/';

export function current() {
  const text = offline ? location.hash.slice(1) || '/' : withoutBase(location.pathname) + location.search;
  const [path, search = ''] = text.split('?');
  return { path, query: Object.fromEntries(new URLSearchParams(search)) };
}

export function useAddress() {
  const [address, set] = useState(current);
  // Before the first picture: an address that changes until then would be lost.
  useLayoutEffect(() => {
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

// Back leads to where the page was read, once it is as long as it was.
const LONG_AGAIN_MS = 1500;
addEventListener('popstate', ({ state }) => {
  const [top, end] = [state?.top ?? 0, performance.now() + LONG_AGAIN_MS];
  const scroll = () => {
    const main = document.getElementById('main');
    main?.scrollTo(0, top);
    if (main && main.scrollTop < top - 1 && performance.now() < end) requestAnimationFrame(scroll);
  };
  if (top > 0) requestAnimationFrame(scroll);
});

/** @param {string} path */
export const href = (path) => (offline ? `#${path}` : base + path);

/**
 * @param {string} path
 * @param {boolean} replace in the history, instead of adding to it
 */
export function go(path, replace = false) {
  if (!replace) history.replaceState({ top: document.getElementById('main')?.scrollTop }, '');
  history[replace ? 'replaceState' : 'pushState'](null, '', href(path));
  for (const listener of listeners) listener();
  if (!replace) document.getElementById('main')?.scrollTo(0, 0);
}

/**
 * @param {string} path
 * @param {Record<string, string | number | boolean | null | undefined>} query
 */
export function withQuery(path, query) {
  const kept = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  );
  const text = new URLSearchParams(
    kept.map(([name, value]) => [name, value === true ? '1' : String(value)]),
  ).toString();
  return text ? `${path}?${text}` : path;
}

/**
 * Changes some of the query's words in place.
 * @typedef {Record<string, string | number | boolean | null | undefined>} Changes empty ones take a word out
 * @returns {[Record<string, string | undefined>, (changes: Changes, replace?: boolean) => void, string]}
 * The query, what changes it, and the path.
 */
export function useQuery() {
  const { path, query } = useAddress();
  /** @type {(changes: Changes, replace?: boolean) => void} */
  const set = (changes, replace = true) => {
    const now = current();
    go(withQuery(now.path, { ...now.query, ...changes }), replace);
  };
  return [query, set, path];
}

/**
 * Left clicks stay inside the page; the browser handles everything else.
 * @param {MouseEvent} event
 */
export function follow(event) {
  const at = /** @type {Element} */ (event.target);
  const link = /** @type {HTMLAnchorElement | null} */ (at.closest?.('a[href]'));
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
    const inside = link.getAttribute('href') ?? '';
    if (!inside.startsWith('#/')) return;
    event.preventDefault();
    go(inside.slice(1));
  } else if (url.origin === location.origin && url.pathname.startsWith(`${base}/`) && !url.hash) {
    event.preventDefault();
    go(withoutBase(url.pathname) + url.search);
  }
}

/**
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
export function match(pattern, path) {
  const want = pattern.split('/');
  const have = path.split('/');
  if (want.length !== have.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (let i = 0; i < want.length; i++) {
    if (want[i].startsWith('{')) {
      if (!have[i]) return null;
      params[want[i].slice(1, -1)] = decodeURIComponent(have[i]);
    } else if (want[i] !== have[i]) return null;
  }
  return params;
}
