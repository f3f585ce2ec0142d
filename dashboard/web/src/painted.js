// What waits until the page is seen for the first time: everything that is not in the first view.
import { options } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const LATEST_MS = 500; // a hidden page has no frames

let seen = false;
/** @type {() => void} */
let resolve;
/** @type {Promise<void>} */
export const painted = new Promise((done) => {
  resolve = done;
});
painted.then(() => {
  seen = true;
  options.requestAnimationFrame = undefined;
});
// Without this, Preact runs effects after 35 ms, even before the first frame if that takes longer.
options.requestAnimationFrame = (callback) => {
  painted.then(callback);
};

/** Called once the first view is in the document. */
export function waitForPaint() {
  const observer = new PerformanceObserver((list) => {
    if (list.getEntriesByName('first-contentful-paint').length > 0) end();
  });
  const end = () => {
    observer.disconnect();
    resolve();
  };
  observer.observe({ type: 'paint', buffered: true });
  setTimeout(end, LATEST_MS);
}

/** Whether the first view was seen. */
export function usePainted() {
  const [now, set] = useState(seen);
  useEffect(() => {
    painted.then(() => set(true));
  }, []);
  return now;
}

/**
 * Shows its CHILDREN once the first view was seen: they are below it, or a drawing of HEIGHT pixels.
 * @param {{height?: number, children: () => import('preact').ComponentChildren}} props
 */
export const Later = ({ height = 400, children }) =>
  usePainted() ? children() : <div class="loading" style={{ minHeight: `${height}px` }}></div>;
