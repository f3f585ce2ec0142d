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

/** @param {{stack: ResolvedStack, n: number}} props */
function Stack({ stack, n }) {
  return (
    <section class="panel box">
      <h2>
        <Name text={nameOf(stack, n)} />
        {stack.role ? [' ', <span class="chip">{stack.role}</span>] : null}
      </h2>
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
                  <span class="arrow" aria-hidden="true">
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
          {e.offset !== null ? ` at byte ${e.offset}` : ''}
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
    </>
  );
}

export function Resolve() {
  const [state, set] = useState(
    /** @type {{what?: string, busy?: boolean, error?: ApiError, found?: Found, text?: string}} */ ({}),
  );
  const [over, setOver] = useState(false);
  const text = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  /** @type {(body: string | File, what: string) => Promise<void>} */
  const ask = async (body, what) => {
    set({ what, busy: true });
    try {
      set({
        what,
        text: typeof body === 'string' ? body : undefined,
        found: offline
          ? await resolveHere(String(body))
          : await send('POST', '/api/v1/resolve', { body, type: 'application/octet-stream' }),
      });
    } catch (error) {
      set({ what, error: /** @type {ApiError} */ (error) });
    }
  };
  useEffect(() => {
    const open = () => {
      const shared = sharedStack();
      if (!shared || !text.current) return;
      text.current.value = shared;
      ask(shared, 'the shared stack');
    };
    open();
    addEventListener('hashchange', open);
    return () => removeEventListener('hashchange', open);
  }, []);
  /** @type {(file: File) => void | Promise<void>} */
  const take = (file) =>
    file.size > LIMIT
      ? set({
          what: file.name,
          error: new ApiError(
            {
              key: 'too_large',
              message: `${file.name} is ${bytes(file.size)}`,
              hint: `The limit is ${bytes(LIMIT)}.`,
            },
            0,
          ),
        })
      : ask(file, `${file.name}, ${bytes(file.size)}`);
  /** @type {(event: DragEvent) => void} */
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer?.files[0]) take(event.dataTransfer.files[0]);
  };
  return (
    <Page
      title="Resolve"
      lead={
        offline
          ? `Offset stacks, against the frames that run ${offline.run} holds.`
          : 'Offset stacks, records and minidumps, against the symbols that this server has. Nothing is kept.'
      }
    >
      {offline && <NoServer />}
      <div
        class={`dropzone ${over ? 'over' : ''}`}
        {...(offline
          ? {}
          : {
              /** @type {(event: DragEvent) => void} */
              onDragOver: (event) => {
                event.preventDefault();
                setOver(true);
              },
              onDragLeave: () => setOver(false),
              onDrop: drop,
            })}
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
              Choose a record or .dmp
              <input
                type="file"
                class="sr"
                onChange={(event) => event.currentTarget.files?.[0] && take(event.currentTarget.files[0])}
              />
            </label>
          )}
          <span class="dim small">{offline ? '' : 'or drop a file here · '}Ctrl+Enter resolves</span>
        </div>
      </div>
      <div aria-live="polite">
        {state.busy && <Loading />}
        {state.error && <Failure error={state.error} />}
        {state.found && <Answer what={state.what ?? ''} found={state.found} text={state.text} />}
      </div>
    </Page>
  );
}
