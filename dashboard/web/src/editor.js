// Links from names of source files to an editor, or to where the sources are on the web.  The address
// is the reader's own setting and stays in this browser.
import { useState } from 'preact/hooks';

const KEY = 'twinstack-editor';
const CHANGED = 'twinstack-editor-changed';

function stored() {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return ''; // a browser that keeps nothing
  }
}

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
  const address = stored();
  if (!file || !allowed(address)) return null;
  const path = file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
  return address.replaceAll('{file}', path.replaceAll('%3A', ':')).replaceAll('{line}', String(line ?? 1));
}

/** The setting, where a source is shown. */
export function EditorSetting() {
  const [address, set] = useState(stored);
  /** @param {{currentTarget: HTMLInputElement}} event */
  const keep = (event) => {
    const text = event.currentTarget.value.trim();
    set(text);
    try {
      if (text) localStorage.setItem(KEY, text);
      else localStorage.removeItem(KEY);
    } catch {
      // the setting then holds for nothing; the words below say what was typed
    }
    dispatchEvent(new Event(CHANGED));
  };
  return (
    <details class="editor small" data-carrier>
      <summary>Open files in an editor</summary>
      <label class="field">
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

/** @param {() => void} listener @returns {() => void} what ends it */
export function onEditorChange(listener) {
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}
