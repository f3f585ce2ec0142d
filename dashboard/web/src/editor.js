// Links from names of source files to an editor, or to where the sources are on the web.  The address
// is the reader's own setting and stays in this browser.
import { useEffect, useState } from 'preact/hooks';
import { painted } from './painted.js';

const KEY = 'twinstack-editor';
const CHANGED = 'twinstack-editor-changed';

let setting = '';

function read() {
  const before = setting;
  try {
    setting = localStorage.getItem(KEY) ?? '';
  } catch {
    return; // a browser that keeps nothing
  }
  if (setting !== before) dispatchEvent(new Event(CHANGED));
}
// Not sooner: a page that reads it waits until another process of the browser has looked for it.
painted.then(read);
addEventListener('storage', read); // another page of ours has set it

/**
 * Whether ADDRESS may be followed: one that runs code in this page may not.
 * @param {string} address
 */
const allowed = (address) =>
  /^[a-z][a-z0-9+.-]*:/i.test(address) && !/^(javascript|data|vbscript|blob):/i.test(address);

/**
 * Where the editor shows FILE at LINE; null: no address is set, or it is not allowed.
 * @param {string | null | undefined} file
 * @param {number | null | undefined} line
 */
export function editorLink(file, line) {
  if (!file || !allowed(setting)) return null;
  const path = file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
  return setting.replaceAll('{file}', path.replaceAll('%3A', ':')).replaceAll('{line}', String(line ?? 1));
}

/** The setting, where a source is shown. */
export function EditorSetting() {
  useEditor();
  const address = setting;
  /** @param {{currentTarget: HTMLInputElement}} event */
  const keep = (event) => {
    setting = event.currentTarget.value.trim();
    try {
      if (setting) localStorage.setItem(KEY, setting);
      else localStorage.removeItem(KEY);
    } catch {
      // the setting then holds for this page
    }
    dispatchEvent(new Event(CHANGED));
  };
  return (
    <details class="editor small" data-carrier>
      <summary>Open files in an editor</summary>
      <label class="field dim small">
        <span>
          address, with {'{file}'} and {'{line}'}
        </span>
        <input
          name="editor"
          placeholder="vscode://file/home/me/project/{file}:{line}"
          value={address}
          onChange={keep}
        />
      </label>
      {address && !allowed(address) ? (
        <p class="wrong" role="alert">
          Such an address is not followed: it must name an editor or a web page.
        </p>
      ) : null}
    </details>
  );
}

/** For what shows editorLink(): it is drawn again when the setting changes. */
export function useEditor() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    addEventListener(CHANGED, listener);
    return () => removeEventListener(CHANGED, listener);
  }, []);
}
