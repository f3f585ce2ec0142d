// How pages get their data, where their links lead and what they say of failures, without a browser.
import { check, runAll, same, test } from './web/world.mjs';
import { happens } from './web/paper.mjs';
import { copied, does, group, lines, modulesOf, page, settled, shows } from './web/states.mjs';

const made = await modulesOf('error', 'keys', 'share', 'ui', 'pages/mismatches');
const { api, router, ui, h } = made;

test('failures_say_what_to_do', async () => {
  /** @type {(key: string, status: number, more?: object) => any} */
  const error = (key, status, more = {}) =>
    new made.error.ApiError({ key, message: 'm', hint: 'h `run it`', ...more }, status);
  const { Failure, Loaded } = ui;
  for (const [name, of] of /** @type {[string, object][]} */ ([
    [
      `
      This database is newer than this program
      m
      A newer twinstack wrote it, and nothing in it was changed. Update this program, or point --db at \
        another file.
    `,
      error('unsupported', 409, { reason: 'newer' }),
    ],
    [
      `
      This database is older than this program
      m
      twinstack db upgrade brings it up to date, and so does starting this server once with --allow-write.
    `,
      error('unsupported', 409, { reason: 'older' }),
    ],
    [
      `
      This program cannot read this database
      m
      Nothing was changed in it.
    `,
      error('unsupported', 409),
    ],
    [
      `
      There is nothing here
      The run, case or page that this address names is not in the database.
    `,
      error('absent', 404),
    ],
    [
      `
      The server does not answer
      m
      h run it
    `,
      error('offline', 0),
    ],
    [
      `
      The token is missing
      m
      Open the address that twinstack serve printed: it carries the token.
    `,
      error('token', 401),
    ],
    [
      `
      The request failed
      m
      h run it
      For a report of this: error odd, HTTP status 500.
    `,
      error('odd', 500),
    ],
    [
      `
      The request failed
      m
      For a report of this: error odd.
    `,
      error('odd', 0, { hint: null }),
    ],
  ]))
    shows(await page(Failure, { error: of }), name);
  const children = (/** @type {string} */ data) => h('p', {}, data);
  shows(
    await page(Loaded, { from: { data: 'old', error: error('odd', 1) }, children }),
    `
    {warn} Showing earlier data: m.
    old
  `,
  );
  shows(
    await page(Loaded, { from: { data: null, error: error('absent', 1) }, children }),
    `
    There is nothing here
    The run, case or page that this address names is not in the database.
  `,
  );
  same((await page(Loaded, { from: { data: null, error: null }, children })).textContent, 'Loading');
  same([1.994, 1.996, 99.4, 99.6].map(ui.times), ['1.99×', '2.0×', '99.4×', '100×'], 'ratios');
});

test('what_a_browser_does_not_copy_is_copied_by_hand', async () => {
  const paper = await page(made.share.CopyLink, { to: '/runs/3' });
  await does(paper, 'button', 'Copy link');
  same(
    [copied.pop(), lines(paper)],
    ['http://twinstack.example/runs/3', ['Copy link', 'link copied']],
    'copied',
  );
  const { writeText } = navigator.clipboard;
  navigator.clipboard.writeText = async () => {
    throw new Error('not here');
  };
  /** @type {any[]} */
  const fields = [];
  Object.assign(document, { body: { append: (/** @type {object} */ field) => fields.push(field) } });
  const made_ = document.createElement;
  document.createElement = (/** @type {string} */ name) =>
    Object.assign(/** @type {any} */ (made_(name)), { select() {}, remove() {} });
  for (const works of [true, false]) {
    Object.assign(document, { execCommand: (/** @type {string} */ word) => word === 'copy' && works });
    await does(paper, 'button', 'Copy link');
    same(
      [fields.pop().value, lines(paper)[1]],
      ['http://twinstack.example/runs/3', works ? 'link copied' : 'the browser does not allow copying'],
      String(works),
    );
  }
  navigator.clipboard.writeText = writeText;
  let clicks = 0;
  const saved = Object.assign(/** @type {any} */ (made_('a')), { click: () => clicks++ });
  document.createElement = () => saved;
  URL.createObjectURL = () => 'blob:1';
  made.share.save('run 7/a:b.json', new Blob(['x']));
  same([saved.href, saved.download, clicks], ['blob:1', 'run_7_a_b.json', 1], 'a file');
  document.createElement = made_;
});

// A click is followed inside the page only where a browser would open an address of these pages in this tab.
test('a_click_stays_in_the_page_or_is_the_browsers', async () => {
  const at = 'http://twinstack.example';
  /** @type {(href: string | null, more?: object, link?: object) => string} */
  const clicks = (href, more = {}, link = {}) => {
    router.go('/from', true);
    let prevented = false;
    const found =
      href === null ? null : { href, target: '', dataset: {}, hasAttribute: () => false, ...link };
    router.follow({
      button: 0,
      target: { closest: (/** @type {string} */ what) => (what === 'a[href]' ? found : null) },
      preventDefault: () => {
        prevented = true;
      },
      ...more,
    });
    return `${prevented} ${location.pathname}${location.search}`;
  };
  for (const [name, got, want] of [
    ['inside', clicks(`${at}/runs/3?x=1`), 'true /runs/3?x=1'],
    ['the start', clicks(`${at}/`), 'true /'],
    ['no link', clicks(null), 'false /from'],
    ['another host', clicks('http://other.example/runs/3'), 'false /from'],
    ['a place in a page', clicks(`${at}/runs/3#x`), 'false /from'],
    ['the middle button', clicks(`${at}/runs/3`, { button: 1 }), 'false /from'],
    ['in a new tab', clicks(`${at}/runs/3`, { ctrlKey: true }), 'false /from'],
    ['of a Mac', clicks(`${at}/runs/3`, { metaKey: true }), 'false /from'],
    ['in a window', clicks(`${at}/runs/3`, { shiftKey: true }), 'false /from'],
    ['saved', clicks(`${at}/runs/3`, { altKey: true }), 'false /from'],
    ['its own target', clicks(`${at}/runs/3`, {}, { target: '_blank' }), 'false /from'],
    [
      'a download',
      clicks(`${at}/x.json`, {}, { hasAttribute: (/** @type {string} */ word) => word === 'download' }),
      'false /from',
    ],
    ['a file of the server', clicks(`${at}/x.json`, {}, { dataset: { plain: '' } }), 'false /from'],
  ])
    same(got, want, name);
});

test('back_leads_to_where_the_page_was_read', async () => {
  /** @type {number[]} */
  const scrolled = [];
  const main = {
    scrollTop: 0,
    scrollTo: (/** @type {number} */ _, /** @type {number} */ top) => scrolled.push(top),
  };
  const { getElementById } = document;
  document.getElementById = (name) => /** @type {any} */ (name === 'main' ? main : null);
  happens('popstate', { state: { top: 70 } });
  for (let i = 0; i < 200 && scrolled.length < 2; i++) await new Promise((done) => setTimeout(done, 1));
  check(scrolled.length > 1, 'again while the page is shorter');
  main.scrollTop = 70;
  for (let i = 0; i < 9; i++) await new Promise((done) => setTimeout(done, 1));
  const times = scrolled.length;
  await new Promise((done) => setTimeout(done, 20));
  same([scrolled.length, [...new Set(scrolled)]], [times, [70]], 'until it is there');
  scrolled.length = 0;
  happens('popstate', { state: null });
  await new Promise((done) => setTimeout(done, 10));
  same(scrolled, [], 'a page that was not read');
  router.go('/runs/9');
  same(scrolled, [0], 'a new page begins at its top');
  router.go('/runs/8', true);
  same(scrolled, [0], 'the same page stays where it is');
  document.getElementById = getElementById;
});

test('keys_are_those_of_the_page', async () => {
  /** @type {string[]} */
  const heard = [];
  /** @type {(words: string) => () => null} */
  const layer = (words) => () => {
    made.keys.useKeys({
      x: ['x', () => heard.push(words)],
      ...(words === 'outer' ? { y: ['y', () => heard.push('y')] } : {}),
    });
    return null;
  };
  const both = () => [h(layer('outer'), {}), h(layer('inner'), {})];
  await page(both, {});
  const press = (/** @type {string} */ key, more = {}) => {
    heard.length = 0;
    happens('keydown', {
      key,
      target: { tagName: 'BODY' },
      preventDefault: () => heard.push('taken'),
      ...more,
    });
    return heard.join(' ');
  };
  let left = 0;
  const field = { tagName: 'INPUT', blur: () => left++ };
  same(
    [
      press('x'),
      press('y'),
      press('z'),
      press('x', { ctrlKey: true }),
      press('x', { metaKey: true }),
      press('x', { altKey: true }),
    ],
    ['taken inner', 'taken y', '', '', '', ''],
    'the innermost',
  );
  same([press('x', { defaultPrevented: true }), press('x', { target: field }), left], ['', '', 0], 'typed');
  same([press('Escape', { target: field }), left], ['', 1], 'a field is left');
});

/** @type {(name: string, verdict?: string, more?: object) => object} */
const queued = (name, verdict = 'FAIL', more = {}) => ({
  id: 1,
  scenario: name,
  variant: 'v',
  repeat: 0,
  verdict,
  group: 'broken',
  reason: 'r',
  causes: [],
  ...more,
});
const queue = {
  run: 7,
  wrong: { total: 2, groups: [], baseline: null, new: 0, problems: [], problems_left: 0 },
  groups: [{ group: 'broken', cases: 1300, fitting: 3, text: 'broken' }],
  cases: [queued('a'), queued('b', 'PASS'), queued('b', 'XPASS', { repeat: 1 }), queued('d', 'PASS')],
  position: 50,
  total: 1200,
  next: 99,
  previous: 0,
  left_out: 0,
  problem: null,
};
const one = {
  run: 7,
  sentence: 's',
  trouble: 'none',
  apart: [],
  case: {
    scenario: 'a',
    variant: 'v',
    repeat: 0,
    verdict: 'PASS',
    reason: '',
    engines: [],
    scores: [],
    findings: [],
    timing: {},
  },
  threads: [],
  artifacts: [],
  loads: [],
};

const { Mismatches } = made.mismatches;
const cases = { a: one, b: one, d: one };
const queues = {
  '/api/v1/runs/7/queue': queue,
  ...Object.fromEntries(Object.keys(cases).map((name) => [`/api/v1/runs/7/cases/${name}.v`, one])),
};
const at = (/** @type {string} */ name) => `/runs/7/mismatches/${name}.v`;

test('the_queue_of_a_run', async () => {
  const paper = await page(
    Mismatches,
    { run: '7', case: 'b.v' },
    queues,
    `${at('b')}?repeat=1&verdict=FAIL&new=1&problem=p&signature=a_b&search=x`,
  );
  shows(
    paper,
    `
    Run 7 → /runs/7
    {wrong} {strong} 2 wrong. → /runs/7/mismatches
    * one problem ✕
    * a_b ✕
    * new ✕
    * fail ✕
    case 53 of 1,200: b.v, xpass
    previous next
    1,200 of 1,300 cases
    ✓ as expected✗ not as expected! right, though accepted as wrong
    broken 3
    {v-fail} ✗fail a.v → /runs/7/mismatches/a.v?verdict=FAIL&new=1&problem=p&signature=a_b&search=x
    {v-pass} ✓pass b.v → /runs/7/mismatches/b.v?verdict=FAIL&new=1&problem=p&signature=a_b&search=x
    {v-xpass} !xpass b.v#2 → \
      /runs/7/mismatches/b.v?repeat=1&verdict=FAIL&new=1&problem=p&signature=a_b&search=x
    {v-pass} ✓pass d.v → /runs/7/mismatches/d.v?verdict=FAIL&new=1&problem=p&signature=a_b&search=x
    51–54 of 1,200previousnext
    a.v
    s
    {v-pass} ✓ pass
    Previous failing
    Next failing
    Copy link
    History → /cases/a/v
    hooks
    none
    downloadstacks
    No stacks
  `,
  );
  await does(paper, 'button', 'next');
  same(location.pathname, at('d'), 'the next case');
  await does(paper, 'button', 'fail ✕');
  same(location.search, '?new=1&problem=p&signature=a_b&search=x', 'a filter is taken out');
  for (const [name, from, key, want] of /** @type {[string, string, string, string][]} */ ([
    ['the next case', 'a', 'j', '/runs/7/mismatches/b.v'],
    ['the one before', 'b', 'k', '/runs/7/mismatches/a.v'],
    ['the next one that fails', 'a', 'f', '/runs/7/mismatches/b.v?repeat=1'],
    ['the one before that fails', 'd', 'F', '/runs/7/mismatches/b.v?repeat=1'],
    ['past the end', 'd', 'j', '/runs/7/mismatches?after=99'],
    ['before the first', 'a', 'k', '/runs/7/mismatches'],
    ['none that fails is left', 'd', 'f', '/runs/7/mismatches/d.v'],
  ])) {
    await page(Mismatches, { run: '7', case: `${from}.v` }, queues, at(from));
    made.keys.listKeys()[key][1]();
    await settled();
    same(location.pathname + location.search, want, name);
  }
});

test('the_queue_of_a_problem_and_none', async () => {
  const problem = { ...queue, problem: { ...group, matrix: null }, left_out: 9, previous: null, next: null };
  shows(
    await page(
      Mismatches,
      { run: '7', case: 'a.v' },
      { '/api/v1/runs/7/queue': problem },
      `${at('a')}?problem=k1`,
    ),
    `
    Run 7 → /runs/7
    {wrong} {strong} 2 wrong. → /runs/7/mismatches
    {strong} 7 cases: it brokee.g. s.v → /runs/7/mismatches?problem=k1 → /runs/7/mismatches/s.v?problem=k1
    * one problem ✕
    case 51 of 1,200: a.v, fail
    previous next
    1,200 of 1,300 cases
    ✓ as expected✗ not as expected! right, though accepted as wrong
    broken 3
    {v-fail} ✗fail a.v → /runs/7/mismatches/a.v?problem=k1
    {v-pass} ✓pass b.v → /runs/7/mismatches/b.v?problem=k1
    {v-xpass} !xpass b.v#2 → /runs/7/mismatches/b.v?problem=k1&repeat=1
    {v-pass} ✓pass d.v → /runs/7/mismatches/d.v?problem=k1
    51–54 of 1,200· 9 more are not in this file
    a.v
    s
    {v-pass} ✓ pass
    Previous failing
    Next failing
    Copy link
    History → /cases/a/v
    hooks
    none
    downloadstacks
    No stacks
  `,
  );
  const empty = { ...queue, cases: [], total: 0 };
  shows(
    await page(Mismatches, { run: '7' }, { '/api/v1/runs/7/queue': empty }, '/runs/7/mismatches'),
    `
    Run 7 → /runs/7
    {wrong} {strong} 2 wrong. → /runs/7/mismatches
    previous next
    No case fits.
    Nothing to look at
    No case of this run matches the filters.
  `,
  );
  const nothing = { ...empty, groups: [] };
  shows(
    await page(Mismatches, { run: '7' }, { '/api/v1/runs/7/queue': nothing }, '/runs/7/mismatches'),
    `
    Run 7 → /runs/7
    {wrong} {strong} 2 wrong. → /runs/7/mismatches
    previous next
    This run has no case.
    Nothing to look at
    It has no case.
  `,
  );
});

test('a_page_hears_what_changed', async () => {
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = /** @type {any} */ (
    (/** @type {() => void} */ then, /** @type {number} */ ms) => wait(then, Math.min(ms ?? 0, 5))
  );
  const { fetch } = globalThis;
  const encoder = new TextEncoder();
  /** @type {string[]} */
  const asked = [];
  /** @type {string[]} */
  const states = [];
  const event = (/** @type {string} */ version) =>
    `data: {"version":"${version}",\ndata: "running":[{"id":3}]}\n\n`;
  const rounds = [
    () =>
      new Response(
        new ReadableStream({
          start(stream) {
            for (const part of [
              ': ping\n\n',
              event('v1').slice(0, 9),
              `${event('v1').slice(9)}${event('v2')}`,
            ])
              stream.enqueue(encoder.encode(part));
            stream.close();
          },
        }),
      ),
    () => new Response('', { status: 204 }),
    () => {
      throw new Error('gone');
    },
  ];
  let lost = false;
  globalThis.fetch = async (path, given) => {
    const { headers = {} } = given ?? {};
    asked.push(`${path} ${JSON.stringify(headers)}`);
    if (String(path).endsWith('/events')) return (rounds.shift() ?? (() => new Promise(() => {})))();
    if (lost) throw new Error('gone');
    if (rounds.length === 1) lost = true;
    const runs = [
      { id: 5, state: 'running' },
      { id: 4, state: 'complete' },
    ];
    return new Response(JSON.stringify({ data: { runs } }), { headers: { 'X-Data-Version': 'v9' } });
  };
  const Watch = () => {
    const { state, version, running } = api.useLive();
    states.push(`${state} ${version} ${running.map((/** @type {{id: number}} */ { id }) => id)}`);
    return null;
  };
  api.live.version = null;
  await page(Watch, {});
  api.follow();
  for (let i = 0; i < 400 && api.live.state !== 'lost'; i++) await new Promise((done) => wait(done, 5));
  same(
    ['live v2 3', 'polling v9 5', 'lost v9 5'].filter((state) => states.includes(state)),
    ['live v2 3', 'polling v9 5', 'lost v9 5'],
    `${states}`,
  );
  const token = `"X-Token":"${'f'.repeat(64)}"`;
  const stream = `/api/v1/events {"Accept":"text/event-stream",${token}}`;
  same(asked.slice(0, 3), [stream, stream, `/api/v1/runs?limit=10 {${token}}`]);
  globalThis.setTimeout = wait;
  globalThis.fetch = fetch;
});

test('answers_are_kept_and_refused', async () => {
  const { fetch } = globalThis;
  /** @type {object[]} */
  const headers = [];
  /** @type {() => Response} */
  let answer = () => new Response('{"data":1}', { headers: { ETag: '"e1"', 'X-Data-Version': 'v1' } });
  globalThis.fetch = async (_, asked) => {
    headers.push(asked?.headers ?? {});
    return answer();
  };
  const token = 'f'.repeat(64);
  same(await api.read('/kept'), 1, 'the first answer');
  answer = () => new Response(null, { status: 304 });
  same(await api.read('/kept'), 1, 'it is still so');
  same(headers, [{ 'X-Token': token }, { 'If-None-Match': '"e1"', 'X-Token': token }], 'what was asked');
  same(
    await Promise.all([api.read('/kept'), api.read('/kept')]).then(() => headers.length),
    3,
    'one fetch for both',
  );
  /** @type {(given: () => Response) => Promise<unknown[]>} */
  const refused = async (given) => {
    answer = given;
    return api.read('/other').then(
      () => [],
      (/** @type {any} */ { key, status, message, hint }) => [key, status, message, hint],
    );
  };
  const error = '{"error":{"key":"absent","message":"m","hint":"h"}}';
  same(await refused(() => new Response(error, { status: 404 })), ['absent', 404, 'm', 'h'], 'refused');
  same(await refused(() => new Response('<html>', { status: 502 })), [
    'no_answer',
    502,
    'The server gave no readable answer',
    null,
  ]);
  same(
    await refused(() => {
      throw new Error('no');
    }),
    [
      'offline',
      0,
      'The server does not answer',
      'Start it again with `twinstack serve`; this page then continues by itself.',
    ],
  );
  answer = () => new Response(error, { status: 409 });
  same(await api.readFile('/file').catch((/** @type {any} */ { key }) => key), 'absent', 'a file');
  answer = () => new Response('text');
  same(await api.readText('/file'), 'text', 'its text');
  globalThis.fetch = fetch;
});

await runAll();
