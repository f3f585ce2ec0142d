// Keys of the page that is shown; '?' lists them.
import { useLayoutEffect } from 'preact/hooks';

/** @typedef {Record<string, [string, () => void]>} Keys of each key what it does, and the function */

/** @type {Keys[]} */
const layers = [];

/** @param {Keys} keys */
export function useKeys(keys) {
  useLayoutEffect(() => {
    // during the layout, not after it, so that a key pressed at once already works
    layers.push(keys);
    return () => {
      layers.splice(layers.indexOf(keys), 1);
    };
  });
}

/** @type {() => Keys} */
export const listKeys = () => Object.assign({}, ...layers);

addEventListener('keydown', (event) => {
  const at = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName);
  if (typing) {
    if (event.key === 'Escape') at.blur();
    return;
  }
  for (let i = layers.length - 1; i >= 0; i--) {
    const row = layers[i][event.key];
    if (row) {
      event.preventDefault();
      row[1]();
      return;
    }
  }
});
