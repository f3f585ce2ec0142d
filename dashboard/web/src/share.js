// What leaves a page: text and links to the clipboard, files to the disk.
import { useState } from 'preact/hooks';
import { href } from './router.js';
import { copy } from './ui.js';

/**
 * A page's whole address.
 * @type {(path: string) => string}
 */
export const link = (path) => new URL(href(path), location.href).href;

/**
 * Copies text, and reports for a moment whether that worked.
 * @returns {[string, (text: string, done: string) => Promise<void>]} the words, and what copies
 */
export function useCopy() {
  const [said, say] = useState('');
  /** @type {(text: string, done: string) => Promise<void>} */
  const copyAs = async (text, done) => {
    say((await copy(text)) ? done : 'the browser does not allow copying');
    setTimeout(() => say(''), 2500);
  };
  return [said, copyAs];
}

/**
 * Copies the link to TO, which names runs by their numbers; null: not known yet.
 * @param {{to: string | null}} props
 */
export function CopyLink({ to }) {
  const [said, copyAs] = useCopy();
  return (
    <>
      <button disabled={!to} onClick={() => to && copyAs(link(to), 'link copied')}>
        Copy link
      </button>
      <span class="dim small" role="status">
        {said}
      </span>
    </>
  );
}

/**
 * The browser puts BLOB into its folder of downloads.
 * @param {string} name other characters than those of plain names are replaced
 * @param {Blob} blob
 */
export function save(name, blob) {
  const at = document.createElement('a');
  at.href = URL.createObjectURL(blob);
  at.download = name.replace(/[^\w.-]/g, '_');
  at.click();
  setTimeout(() => URL.revokeObjectURL(at.href), 10e3);
}
