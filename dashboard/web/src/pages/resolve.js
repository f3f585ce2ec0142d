// Paste a stack or drop a file, see it resolved at once.
import { useEffect, useRef, useState } from 'preact/hooks';
import { offline, send } from '../api.js';
import { ApiError } from '../error.js';
import { resolveHere } from '../known_frames.js';
import { current } from '../router.js';
import { link, useCopy } from '../share.js';
import { Table } from '../table.js';
import { Command, Empty, Failure, Loading, Name, Page, bytes, words } from '../ui.js';
import { codePlace } from './aligned.js';

/** @typedef {import('openapi').Written['/api/v1/resolve']} Found */

/**
 * @typedef {object} Resolved
 * @property {number} index
 * @property {boolean} inlined
 * @property {string | null} module
 * @property {string} [method] of managed code
 * @property {string} offset
 * @property {string | null} function
 * @property {string | null} file
 * @property {number | null} line
 * @property {string} found_by
 * @property {string} symbols
 * @property {string | null} note
 */

/**
 * @typedef {Omit<Found['stacks'][number], 'frames'> & {role?: string | null, frames: Resolved[]}}
 *   ResolvedStack
 */

const LIMIT = 64 << 20;
const FILES_MAX = 15; // beside a stack
const NOT_COVERED = 'no symbol covers this offset'; // model/note.c: the module's symbols are there
const LINK_LIMIT = 8000; // characters of a stack that a link can carry through mail and chat

/** @type {(f: Resolved) => string} */
const place = (f) => (f.file ? `${f.file.split(/[\\/]/).pop()}${f.line ? `:${f.line}` : ''}` : '');

/** @type {(found: Found) => ResolvedStack[]} */
const stacksOf = (found) => /** @type {ResolvedStack[]} */ (/** @type {unknown} */ (found.stacks));

/** @type {(stack: ResolvedStack, n: number) => string} */
const nameOf = (stack, n) =>
  stack.label ?? (stack.thread_id ? `thread ${stack.thread_id}` : `stack ${n + 1}`);

/** @param {Found} found */
function asText(found) {
  /** @type {(f: Resolved) => string} */
  const line = (f) =>
    f.inlined
      ? `#   inlined ${f.function ?? '?'}  ${place(f)}`
      : `${codePlace(f)}  # ${f.function ?? '?'}  ${place(f)}`;
  /** @type {(stack: ResolvedStack, n: number) => string} */
  const one = (stack, n) =>
    [`> ${nameOf(stack, n)}`]
      .concat(stack.frames.map(line))
      .map((text) => `${text.trimEnd()}\n`)
      .join('');
  return stacksOf(found).map(one).join('\n');
}

// A shared stack is in the fragment, which browsers send to no server.
/** @type {(text: string) => string} */
const shareLink = (text) => {
  const query = new URLSearchParams({ stack: text });
  return link(offline ? `/resolve?${query}` : `/resolve#${query}`);
};
const sharedStack = () =>
  offline ? current().query.stack : new URLSearchParams(location.hash.slice(1)).get('stack');

/** @param {{found: Found, text?: string}} props */
function Share({ found, text }) {
  const [said, copyAs] = useCopy();
  return (
    <p class="actions flow middle">
      {found.stacks.length > 0 && (
        <button onClick={() => copyAs(asText(found), 'copied as text')}>Copy as text</button>
      )}
      {text && text.length <= LINK_LIMIT && (
        <button
          title="the link carries the pasted stack itself; the reader resolves it with their own symbols"
          onClick={() => copyAs(shareLink(text), 'link copied')}
        >
          Copy link
        </button>
      )}
      {text && text.length > LINK_LIMIT && <span class="dim small">too long for a link</span>}
      <span class="dim small" role="status">
        {said}
      </span>
    </p>
  );
}

/** @param {{stack: ResolvedStack}} props */
const StackTable = ({ stack }) => (
  <Table
    label="Stack"
    kind="aligned plain"
    rows={stack.frames}
    columns={[
      { head: '#', cell: (f) => (f.inlined ? '' : f.index), kind: 'num dim' },
      {
        head: 'function',
        cell: (f) => (
          <>
            {f.inlined && (
              <span class="arrow dim" aria-hidden="true">
                ↳
              </span>
            )}
            {f.function ? <Name text={f.function} /> : <em class="dim">no name</em>}
            {f.inlined && [' ', <span class="tag">inlined</span>]}
          </>
        ),
        kind: 'fn',
        attributes: (f) => ({ style: { paddingLeft: f.inlined ? '1.8em' : null } }),
      },
      {
        head: 'source',
        cell: (f) => (f.file ? <Name text={place(f)} /> : <span class="dim">–</span>),
        kind: 'mono',
      },
      { head: 'module!offset', cell: (f) => <Name text={codePlace(f)} />, kind: 'mono dim' },
      { head: 'found by', cell: (f) => words(f.found_by) },
      {
        head: 'symbols',
        cell: (f) => [f.symbols, f.note && [' ', <span class="dim small">{f.note}</span>]],
      },
    ]}
  />
);

/**
 * The stacks in TEXT with the names that the symbols of this server give; OTHERWISE: they name no frame.
 * @param {{text: string, otherwise: import('preact').ComponentChildren}} props
 */
export function NamedStacks({ text, otherwise }) {
  const [stacks, set] = useState(/** @type {ResolvedStack[]} */ ([]));
  useEffect(() => {
    let wanted = true;
    sendAll(text, []).then(
      (found) => wanted && set(stacksOf(found)),
      () => wanted && set([]),
    );
    return () => {
      wanted = false;
    };
  }, [text]);
  return stacks.some((stack) => stack.frames.some((f) => f.function))
    ? stacks.map((stack, i) => <StackTable key={i} stack={stack} />)
    : otherwise;
}

/** @param {{stack: ResolvedStack, n: number}} props */
function Stack({ stack, n }) {
  return (
    <section class="panel box">
      <h2>
        <Name text={nameOf(stack, n)} />
        {stack.role ? [' ', <span class="chip">{stack.role}</span>] : null}
      </h2>
      <StackTable stack={stack} />
      {stack.left_out > 0 && <p class="dim">{stack.left_out} frames were left out in the middle.</p>}
      {stack.stop && <p class="dim small">the walk ended: {stack.stop}</p>}
    </section>
  );
}

// An offline file has neither symbols nor a server.
const NoServer = () => (
  <div class="banner note" role="note">
    <p>
      This is a file: it has no symbols, so it can name only frames that its own stacks contain. For other
      frames, and for records and dumps:
    </p>
    <p>
      <Command>twinstack resolve --symbols DIR stack.txt</Command>{' '}
      <Command>twinstack dump --symbols DIR crash.dmp --stacks</Command>
    </p>
  </div>
);

// Magic numbers of files that name code; anything else holds stacks.
const symbolMagic = ['Microsoft C/C++', 'BSJB', 'MODULE ', '\x7fELF', 'MZ', 'MSCF'];
const machMagic = [0xfeedface, 0xcefaedfe, 0xfeedfacf, 0xcffaedfe, 0xcafebabe, 0xbebafeca];

const symbolEnds = /\.(pdb|sym|dsym|exe|dll|so|debug|dbg|elf|dylib)$/i;

/** @param {File} file */
async function namesCode(file) {
  const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  const text = String.fromCharCode(...head);
  const magic = head.length >= 4 ? new DataView(head.buffer).getUint32(0) : 0;
  return symbolMagic.some((word) => text.startsWith(word)) || machMagic.includes(magic);
}

/**
 * The symbol files of HELD and FILES, and what of these is a stack, record or dump.
 * @param {File[]} files
 * @param {{file: File}[]} held
 */
async function sortFiles(files, held) {
  /** @type {(message: string, hint: string) => ApiError} */
  const error = (message, hint) => new ApiError({ key: 'too_large', message, hint }, 0);
  const large = files.find((file) => file.size > LIMIT);
  if (large) throw error(`${large.name} is ${bytes(large.size)}`, `The limit is ${bytes(LIMIT)}.`);
  const named = await Promise.all(files.map(async (file) => ({ file, code: await namesCode(file) })));
  const more = [...held, ...named.filter(({ code }) => code)];
  if (more.length > FILES_MAX)
    throw error(`${more.length} symbol files are too many`, `The limit is ${FILES_MAX}.`);
  const stacks = named.filter(({ code }) => !code).map(({ file }) => file);
  const wrong = stacks.find((file) => symbolEnds.test(file.name));
  if (wrong)
    throw error(
      `${wrong.name} does not begin as a PDB, ELF, Mach-O, PE or .sym file does`,
      'It may be cut, packed, or another file of that name.',
    );
  if (stacks.length > 1)
    throw error(
      `${stacks.map((file) => file.name).join(', ')}: one at a time`,
      'Drop one stack, record or dump, with the symbol files for it.',
    );
  return { more, stack: stacks[0] };
}

/**
 * The files of what was dropped; a folder, such as a dSYM, is its symbol files.
 * @param {DataTransfer} dropped
 * @returns {Promise<File[]>}
 */
async function filesOf(dropped) {
  /** @type {(entry: FileSystemEntry) => Promise<File[]>} */
  const walk = async (entry) => {
    if (entry.isFile)
      return [await new Promise((done, fail) => /** @type {FileSystemFileEntry} */ (entry).file(done, fail))];
    const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
    /** @type {FileSystemEntry[]} */
    const below = [];
    for (;;) {
      /** @type {FileSystemEntry[]} */
      const some = await new Promise((done, fail) => reader.readEntries(done, fail)); // a hundred at a time
      if (some.length === 0) break;
      below.push(...some);
    }
    return (await Promise.all(below.map(walk))).flat();
  };
  const loose = [...dropped.files]; // what was dropped is gone after the first wait
  const folders = [...dropped.items]
    .map((item) => item.webkitGetAsEntry?.() ?? null)
    .filter((entry) => entry?.isDirectory);
  const inside = await Promise.all(folders.map((entry) => walk(/** @type {FileSystemEntry} */ (entry))));
  const names = folders.map((entry) => entry?.name);
  const coded = await Promise.all(inside.flat().map(async (file) => ((await namesCode(file)) ? [file] : [])));
  return [...loose.filter((file) => !names.includes(file.name)), ...coded.flat()];
}

/** One body, or a form if symbol files come with it.
 * @type {(stack: string | File, files: {file: File}[]) => Promise<Found>} */
function sendAll(stack, files) {
  if (files.length === 0)
    return send('POST', '/api/v1/resolve', { body: stack, type: 'application/octet-stream' });
  const form = new FormData();
  form.append('stack', typeof stack === 'string' ? new Blob([stack]) : stack, 'stack');
  for (const { file } of files) form.append('file', file, file.name);
  return send('POST', '/api/v1/resolve', { body: form, type: null });
}

/** @param {{files: {file: File}[], drop: (at: number) => void}} props */
const SymbolFiles = ({ files, drop }) =>
  files.length > 0 && (
    <ul class="flow middle symbolfiles" aria-label="Symbol files">
      {files.map(({ file }, at) => (
        <li key={at}>
          <button class="toggle dim small" onClick={() => drop(at)} title="leave it out">
            <Name text={file.name} />, {bytes(file.size)} ✕
          </button>
        </li>
      ))}
    </ul>
  );

/**
 * What to do about modules without symbols, and about files that answered for none.
 * @param {{found: Found}} props
 */
function Missing({ found }) {
  const frames = stacksOf(found).flatMap((stack) => stack.frames);
  const without = frames.filter((f) => f.symbols === 'none' && f.note !== NOT_COVERED);
  const bare = [...new Set(without.map((f) => f.module ?? '?'))];
  const idle = found.files.filter((file) => !file.fits);
  return (
    <>
      {idle.map((file) => (
        <p class="banner note" key={file.name}>
          <Name text={file.name} /> ({file.what}) is of no module of these stacks, and not used.{' '}
          {file.identity && ['It states ', <code>{file.identity}</code>, '.']}
        </p>
      ))}
      {idle.length > 0 && found.modules.length > 0 && (
        <p class="dim wrap">
          These stacks are of:{' '}
          {found.modules.map(({ name, identity }, i) => [
            i > 0 && ', ',
            <Name text={name} />,
            ' ',
            <code>{identity}</code>,
          ])}
          .
        </p>
      )}
      {bare.length > 0 && (
        <p class="dim">
          No symbol file: {bare.map((name, i) => [i > 0 && ', ', <code>{<Name text={name} />}</code>])}.{' '}
          {offline ? null : (
            <>
              {found.takes_symbols
                ? 'Drop its PDB, ELF, dSYM or .sym file here, or start the server with '
                : 'This server takes no symbol files: start it with --allow-symbols, or with '}
              <code>--symbols DIR</code>.
            </>
          )}
        </p>
      )}
    </>
  );
}

/** @param {{what: string, found: Found, text?: string}} props */
function Answer({ what, found, text }) {
  return (
    <>
      <h2 class="section">{what}</h2>
      <Share found={found} text={text} />
      {found.errors.map((e, i) => (
        <p class="banner bad" key={i}>
          {e.label ? `${e.label}: ` : ''}
          {e.what}: {words(e.code)}
          {e.line ? ` in line ${e.line}` : e.offset !== null ? ` at byte ${e.offset}` : ''}
          {e.hint ? `. ${e.hint}` : ''}
        </p>
      ))}
      {found.stacks.length === 0 && found.errors.length === 0 && (
        <Empty title="No stack found">
          <p>
            One frame per line, such as <code>app.exe!0x17d7</code>.
          </p>
        </Empty>
      )}
      {stacksOf(found).map((stack, i) => (
        <Stack key={i} stack={stack} n={i} />
      ))}
      <Missing found={found} />
    </>
  );
}

/**
 * A stack that the address carries is put into the FIELD and asked for.
 * @param {import('preact').RefObject<HTMLTextAreaElement>} field
 * @param {(stack: string) => void} ask
 */
function useShared(field, ask) {
  useEffect(() => {
    const open = () => {
      const shared = sharedStack();
      if (!shared || !field.current) return;
      field.current.value = shared;
      ask(shared);
    };
    open();
    addEventListener('hashchange', open);
    return () => removeEventListener('hashchange', open);
  }, []);
}

export function Resolve() {
  const [state, set] = useState(
    /** @type {{what?: string, busy?: boolean, error?: ApiError, found?: Found, text?: string}} */ ({}),
  );
  const [over, setOver] = useState(false);
  const text = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [symbols, setSymbols] = useState(/** @type {{file: File}[]} */ ([]));
  const subject = useRef(/** @type {[string | File, string] | null} */ (null)); // asked last
  /** @type {(body: string | File, what: string, files?: {file: File}[]) => Promise<void>} */
  const ask = async (body, what, files = symbols) => {
    subject.current = [body, what];
    set({ what, busy: true });
    try {
      set({
        what,
        text: typeof body === 'string' ? body : undefined,
        found: offline ? await resolveHere(String(body)) : await sendAll(body, files),
      });
    } catch (error) {
      set({ what, error: /** @type {ApiError} */ (error) });
    }
  };
  useShared(text, (shared) => ask(shared, 'the shared stack'));
  /** Symbol files are kept here for the next stack, and for the one that is shown.
   * @type {(files: File[]) => Promise<void>} */
  const take = async (files) => {
    try {
      const { more, stack } = await sortFiles(files, symbols);
      const pasted = text.current?.value ?? '';
      setSymbols(more);
      if (stack) await ask(stack, `${stack.name}, ${bytes(stack.size)}`, more);
      else if (subject.current) await ask(...subject.current, more);
      else if (pasted) await ask(pasted, 'the pasted stack', more);
    } catch (error) {
      set({ what: 'files', error: /** @type {ApiError} */ (error) });
    }
  };
  /** @type {(at: number) => void} */
  const leaveOut = (at) => {
    const left = symbols.filter((_, i) => i !== at);
    setSymbols(left);
    if (subject.current) ask(...subject.current, left);
  };
  /** @type {(event: DragEvent) => void} */
  const enter = (event) => {
    event.preventDefault();
    setOver(true);
  };
  /** @type {(event: DragEvent) => Promise<void>} */
  const drop = async (event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) await take(await filesOf(event.dataTransfer));
  };
  return (
    <Page
      title="Resolve"
      lead={
        offline
          ? `Offset stacks, against the frames that run ${offline.run} holds.`
          : 'Stacks, records and minidumps, with the symbols of this server and yours. Nothing is kept.'
      }
    >
      {offline && <NoServer />}
      <div
        class={`dropzone ${over ? 'over' : ''}`}
        {...(offline ? {} : { onDragOver: enter, onDragLeave: () => setOver(false), onDrop: drop })}
      >
        <label class="field block dim small">
          <span>Stack, one module!0xoffset per line</span>
          <textarea
            ref={text}
            rows={9}
            spellcheck={false}
            placeholder={'> my crash\nbotman.exe!0x17d7\nbotman.exe!0x1bb4\nKERNEL32.DLL!0x17034'}
            onKeyDown={(event) =>
              event.key === 'Enter' &&
              (event.ctrlKey || event.metaKey) &&
              ask(text.current?.value ?? '', 'the pasted stack')
            }
          ></textarea>
        </label>
        <div class="actions flow middle">
          <button class="primary" onClick={() => ask(text.current?.value ?? '', 'the pasted stack')}>
            Resolve
          </button>
          {!offline && (
            <label class="button filebutton">
              Choose files
              <input
                type="file"
                class="sr"
                multiple
                onChange={(event) => take([...(event.currentTarget.files ?? [])])}
              />
            </label>
          )}
          <span class="dim small">
            {offline ? '' : 'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · '}
            Ctrl+Enter resolves
          </span>
        </div>
        <SymbolFiles files={symbols} drop={leaveOut} />
      </div>
      <div aria-live="polite">
        {state.busy && <Loading />}
        {state.error && <Failure error={state.error} />}
        {state.found && <Answer what={state.what ?? ''} found={state.found} text={state.text} />}
      </div>
    </Page>
  );
}
