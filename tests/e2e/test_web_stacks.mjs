// What the pages of one problem and of resolved stacks show of rare states, without a browser.
import { runAll, same, test } from './web/world.mjs';
import { does, lines, modulesOf, page, sent, settled, shows } from './web/states.mjs';

const made = await modulesOf('pages/one_problem', 'pages/resolve');

/** @type {(more?: object) => object} */
const frame = (more = {}) => ({
  index: 0,
  inline_depth: 0,
  module: 'app.exe',
  offset: '0x1005',
  address: '0x401005',
  kind: 'return',
  function: 'main',
  file: 'C:\\src\\a.c',
  line: 30,
  found_by: 'unwind',
  symbols: 'pdb',
  class: 'own',
  note: null,
  ...more,
});
const place = (/** @type {string} */ text) => made.one_problem.partsOf(text);

test('what_makes_stacks_one_problem', async () => {
  same(place('a | b'), { of: 'crashes', functions: ['a', 'b'], place: null });
  same(place('hang: a'), { of: 'hangs', functions: ['a'], place: null });
  same(place('on demand: (no frames)'), { of: 'captures on demand', functions: [], place: '(no frames)' });
  same(place('app.exe!0x1f'), { of: 'crashes', functions: [], place: 'app.exe!0x1f' });
  same(place('app.exe!0x1f | b').functions, ['app.exe!0x1f', 'b']);
});

/** @type {(signature: string, more?: object) => object} */
const problem = (signature, more = {}) => ({
  total: 1200,
  stacks: 3000,
  shadow: { judged: 0, engines: [], verdicts: [], days: [], versions: [], modules: [], causes: [] },
  problems: [
    {
      signature,
      rank: 2,
      count: 1000,
      first_seen: '2026-01-02T03',
      last_seen: '2026-01-03T04',
      judged: 4,
      agreed: 3,
      hours: [],
      by_version: [],
      example: null,
      new: true,
      ...more,
    },
  ],
});

test('the_page_of_a_problem', async () => {
  const { Problem } = made.one_problem;
  for (const [name, address, found] of /** @type {[string, string, object][]} */ ([
    [
      `
      hang: a
      new since 1.1
      All problems → /problems?version=1.2&since=1.1
      Copy link
      rank
      2 of 1,200 problems
      stacks of 1.2
      1,000, 33.3 %
      first seen
      2026-01-02 03 h
      last seen
      2026-01-03 04 h
      dump agrees
      3 of 4 sampled reports
      What makes it one problem
      Hangs count here if this is the innermost function; functions that the rules skip do not count:
      a
      Callers further out, lines, offsets, builds and versions make no difference. To merge problems that \
        differ only in a helper, add skip function NAME; to split one, raise depth or add join function \
        NAME. twinstack signatures --show-rules prints the rules to edit, and twinstack worker --rules FILE \
        uses them for what it counts from then on.
      Versions
      version | stacks | first seen | last seen
      Dump and offsets of sampled reports
      Judged without a truth, of reports that have a record and a dump: 0 reports, of which .
      engine | compared with | agrees | differs | failed | median time | last hours
    `,
      '/problems/k?version=1.2&since=1.1',
      problem('hang: a', { judged: 4 }),
    ],
    [
      `
      (no frames)
      All problems → /problems
      Copy link
      rank
      2 of 1,200 problems
      stacks
      1,000, 33.3 %
      first seen
      2026-01-02 03 h
      last seen
      2026-01-03 04 h
      dump agrees
      not sampled
      What makes it one problem
      These are crashes whose stack has no frame at all.
      Versions
      version | stacks | first seen | last seen
      Dump and offsets of sampled reports
      Judged without a truth, of reports that have a record and a dump: 0 reports, of which .
      engine | compared with | agrees | differs | failed | median time | last hours
    `,
      '/problems/k',
      problem('(no frames)', { judged: 0, new: false }),
    ],
    [
      `
      app.exe!0x1f
      new
      All problems → /problems?since=1111111111111111111111111111111111111111
      Copy link
      rank
      2 of 1,200 problems
      stacks
      1,000, 33.3 %
      first seen
      2026-01-02 03 h
      last seen
      2026-01-03 04 h
      dump agrees
      3 of 4 sampled reports
      What makes it one problem
      These are crashes of which no frame has a name, with this place innermost: app.exe!0x1f. Another \
        build is another problem. Give twinstack worker --symbols the module’s symbols: later reports count \
        under the names of functions.
      Versions
      version | stacks | first seen | last seen
      Dump and offsets of sampled reports
      Judged without a truth, of reports that have a record and a dump: 0 reports, of which .
      engine | compared with | agrees | differs | failed | median time | last hours
    `,
      `/problems/k?since=${'1'.repeat(40)}`,
      problem('app.exe!0x1f'),
    ],
    [
      `
      Problem
      All problems → /problems?version=1.2
      Copy link
      No report of version 1.2 has this problem
      The address may be of other totals. All problems → /problems?version=1.2
    `,
      '/problems/k?version=1.2',
      { ...problem(''), problems: [] },
    ],
    [
      `
      Problem
      All problems → /problems
      Copy link
      No report has this problem
      The address may be of other totals. All problems → /problems
    `,
      '/problems/k',
      { ...problem(''), problems: [] },
    ],
  ]))
    shows(await page(Problem, { problem: 'k' }, { '/api/v1/problems': found }, address), name);
});

/** @type {(name: string, bytes: number[] | string) => File} */
const file = (name, bytes) => new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name);
const answer = {
  form: 'stack',
  takes_symbols: true,
  errors: [
    { label: 'one', what: 'x', code: 'no_frame', line: 3, offset: 9, hint: 'write it' },
    { label: null, what: 'y', code: 'cut', line: null, offset: 0, hint: null },
    { label: null, what: 'z', code: 'cut', line: null, offset: null, hint: null },
  ],
  files: [
    { name: 'a.pdb', what: 'a PDB', fits: false, identity: 'ID1' },
    { name: 'b.pdb', what: 'a PDB', fits: true, identity: 'ID2' },
  ],
  modules: [
    { name: 'app.exe', identity: 'M1' },
    { name: 'b.dll', identity: 'M2' },
  ],
  stacks: [
    {
      label: null,
      thread_id: 5,
      role: 'suspect',
      left_out: 9,
      stop: 'limit',
      frames: [
        { ...frame({ symbols: 'none', note: null, function: null, file: null }), inlined: false },
        {
          ...frame({ symbols: 'none', note: 'no symbol covers this offset', module: 'c.dll' }),
          inlined: false,
        },
        { ...frame({ module: null, symbols: 'none', note: 'x', line: null }), inlined: true },
      ],
    },
    { label: null, thread_id: null, role: null, left_out: 0, stop: null, frames: [] },
  ],
};

test('a_stack_is_resolved', async () => {
  const { Resolve } = made.resolve;
  const given = { '/api/v1/resolve': answer };
  const paper = await page(Resolve, {}, given, '/resolve');
  const drop = async (/** @type {File[]} */ ...files) => {
    const zone = /** @type {any} */ (
      paper.all('div').find(({ attributes }) => /dropzone/.test(attributes.class))
    );
    const event = Object.keys(zone.listeners).find((name) => /^drop$/i.test(name)) ?? '';
    zone.listeners[event].call(zone, {
      type: event,
      preventDefault() {},
      dataTransfer: { files, items: [] },
    });
    for (let i = 0; i < 5; i++) await settled();
    return lines(paper).slice(5);
  };
  same(await drop(file('crash.txt', 'app.exe!0x1\n')), [
    'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · Ctrl+Enter resolves',
    'crash.txt, 12 B',
    'Copy as text',
    '{bad} one: x: no frame in line 3. write it',
    '{bad} y: cut at byte 0',
    '{bad} z: cut',
    'thread 5 suspect',
    '# | function | source | module!offset | found by | symbols',
    '0 | no name | – | app.exe!0x1005 | unwind | none',
    '0 | main | a.c:30 | c.dll!0x1005 | unwind | none no symbol covers this offset',
    '| ↳main inlined | a.c | ?!0x1005 | unwind | none x',
    '9 frames were left out in the middle.',
    'the walk ended: limit',
    'stack 2',
    '# | function | source | module!offset | found by | symbols',
    'a.pdb (a PDB) is of no module of these stacks, and not used. It states ID1.',
    'These stacks are of: app.exe M1, b.dll M2.',
    'No symbol file: app.exe, ?. Drop its PDB, ELF, dSYM or .sym file here, or start the ' +
      'server with --symbols DIR.',
  ]);
  same(sent.pop(), 'POST /api/v1/resolve', 'one body');
  same(await drop(file('a.txt', 'x'), file('b.txt', 'y')), [
    'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · Ctrl+Enter resolves',
    'The request failed',
    'a.txt, b.txt: one at a time',
    'Drop one stack, record or dump, with the symbol files for it.',
    'For a report of this: error too_large.',
  ]);
  same(await drop(file('a.pdb', 'cut')), [
    'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · Ctrl+Enter resolves',
    'The request failed',
    'a.pdb does not begin as a PDB, ELF, Mach-O, PE or .sym file does',
    'It may be cut, packed, or another file of that name.',
    'For a report of this: error too_large.',
  ]);
  const large = file('huge.dmp', '');
  Object.defineProperty(large, 'size', { value: (64 << 20) + 1 });
  same(await drop(large), [
    'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · Ctrl+Enter resolves',
    'The request failed',
    'huge.dmp is 67.1 MB',
    'The limit is 67.1 MB.',
    'For a report of this: error too_large.',
  ]);
  // an ELF file, a fat Mach-O, a PDB: none of them is the stack
  sent.length = 0;
  await drop(
    file('a.debug', '\x7fELF'),
    file('fat', [0xca, 0xfe, 0xba, 0xbe]),
    file('x.pdb', 'Microsoft C/C++ MSF'),
  );
  same(
    lines(paper).filter((line) => line.includes('✕')),
    ['a.debug, 4 B ✕', 'fat, 4 B ✕', 'x.pdb, 19 B ✕'],
  );
  same(sent, ['POST /api/v1/resolve']);
  const many = Array.from({ length: 13 }, (_, i) => file(`${i}.so`, 'MZ'));
  same(await drop(...many), [
    'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · Ctrl+Enter resolves',
    'a.debug, 4 B ✕',
    'fat, 4 B ✕',
    'x.pdb, 19 B ✕',
    'The request failed',
    '16 symbol files are too many',
    'The limit is 15.',
    'For a report of this: error too_large.',
  ]);
  await does(paper, 'textarea', '', 'keydown', { key: 'Enter', ctrlKey: true, value: 'app.exe!0x2' });
  same(sent.length, 2);
  const none = await page(
    Resolve,
    {},
    { '/api/v1/resolve': { ...answer, errors: [], files: [], stacks: [] } },
    '/resolve',
  );
  await does(none, 'button', 'Resolve');
  same(lines(none).slice(5), [
    'or drop a file here: record or dump, with PDB, ELF, dSYM or .sym · Ctrl+Enter resolves',
    'the pasted stack',
    'No stack found',
    'One frame per line, such as app.exe!0x17d7.',
  ]);
});

await runAll();
