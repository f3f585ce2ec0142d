// The page "Resolve" and its address: stacks, records and dumps, alone and with symbol files beside them.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  becomes,
  browser,
  check,
  closePage,
  failure,
  holds,
  must,
  openPage,
  root,
  runAll,
  same,
  says,
  scratch,
  seed,
  serve,
  settled,
  shot,
  test,
} from './web/world.mjs';

const db = seed('resolve.db', 1, 4, 0);
const server = await serve('--db', db);
const chromium = await browser();

/** Files as a drag carries them.
 * @type {(page: import('playwright-core').Page, files: [string, Buffer][]) => Promise<unknown>} */
const dropFiles = async (page, files) =>
  page.dispatchEvent('.dropzone', 'drop', {
    dataTransfer: await page.evaluateHandle(
      (all) => {
        const data = new DataTransfer();
        for (const [as, text] of all)
          data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], as));
        return data;
      },
      files.map(([as, bytes]) => [as, bytes.toString('base64')]),
    ),
  });
/** @type {(name: string) => string} */
const keyOf = (name) => readdirSync(join(root, 'corpus/symbols', name))[0];
/** @type {(name: string) => Buffer} */
const symbolFile = (name) => readFileSync(join(root, 'corpus/symbols', name, keyOf(name), name));

test('resolve_says_what_is_wrong', async () => {
  const page = await openPage(chromium, `${server.base}/resolve`);
  await page.fill('textarea', 'app.exe!0x17d7\napp.exe!0x1bb4\n');
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await page.waitForSelector('.panel table');
  await becomes(() => page.locator('.panel tbody tr').count(), 2, 'frames');
  await page.fill('textarea', 'this is no stack\n');
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await page.waitForSelector('.banner.bad');
  await closePage(page);
});

test('what_is_dropped_is_resolved', async () => {
  const held = join(root, 'corpus/cases/inline_chain.ob2');
  const named = await serve('--db', db, '--symbols', join(root, 'corpus/symbols'));
  const page = await openPage(chromium, `${named.base}/resolve`);
  await settled(page);
  for (const [name, bytes] of /** @type {[string, Buffer][]} */ ([
    ['record.rec', readFileSync(join(held, 'record.rec'))],
    ['dump.dmp', readFileSync(join(held, 'dump.dmp'))],
    ['stack.txt', Buffer.from('> a crash\n<b>&!0x10\n')],
    ['cut.dmp', readFileSync(join(held, 'dump.dmp')).subarray(0, 40)],
  ])) {
    await dropFiles(page, [[name, bytes]]);
    await page.waitForFunction(
      (as) =>
        !document.querySelector('.loading') &&
        [...document.querySelectorAll('h2.section')].some((h) => h.textContent.startsWith(as)),
      name,
    );
    if (name === 'cut.dmp')
      await holds(
        async () => /truncated|malformed/.test(must(await page.textContent('.banner.bad'))),
        'a cut dump is said',
      );
    else if (name === 'stack.txt') await says(page, '.panel', '<b>&!0x10', 'a name is text');
    else {
      const first = must(await page.locator('.panel').first().textContent());
      check(first.includes('inline_chain.c:') && first.includes('inlined'), `${name}: ${first}`);
    }
    if (name === 'dump.dmp') await shot(page, 'resolve-dump');
  }
  same(page.complaints, [], 'complaints');
  await closePage(page);
  await named.stop();
});

test('symbol_files_are_dropped_beside_a_stack', async () => {
  const page = await openPage(chromium, `${server.base}/resolve`); // of a server that has no symbols
  await page.fill('textarea', 'victims-ob2.exe!0x17d7\nvictims-ob2.exe!0x1bb4\n');
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await says(page, 'main', 'No symbol file: victims-ob2.exe', 'without a file');
  await says(page, 'main', 'Drop its PDB', 'the next step');
  await dropFiles(page, [['victims-ob2.pdb', symbolFile('victims-ob2.pdb')]]);
  await says(page, '.panel', 'capture_install', 'with its PDB');
  await shot(page, 'resolve-symbols');
  // Another build's file is not used for a dump, which states identities; and it says so.
  await page.getByRole('button', { name: /^victims-ob2.pdb/ }).click();
  await says(page, 'main', 'No symbol file: victims-ob2.exe', 'left out again');
  const held = join(root, 'corpus/cases/inline_chain.ob2');
  await dropFiles(page, [
    ['victims-ob2.pdb', symbolFile('victims-ob0.pdb')],
    ['dump.dmp', readFileSync(join(held, 'dump.dmp'))],
  ]);
  await says(page, 'main', 'victims-ob2.pdb (PDB) is of no module of these stacks', 'another build');
  for (const id of [keyOf('victims-ob0.pdb'), keyOf('victims-ob2.pdb')])
    await says(page, 'main', id, 'the identity of the file, and of the module');
  check(!must(await page.textContent('.panel')).includes('inline_chain.c'), 'names of another build');
  await dropFiles(page, [['right.pdb', symbolFile('victims-ob2.pdb')]]);
  await says(page, '.panel', 'inline_chain.c:', 'the right one, by identity');
  await page.fill('textarea', 'a.exe!0x10\na.exe!0x20\nno frame\n');
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  await says(page, '.banner.bad', 'in line 3', 'the line of an error');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

/** Compiles SOURCE by WORDS; null: this machine lacks a program for it.
 * @type {(source: string, out: string, ...commands: string[][]) => Buffer | null} */
const compiled = (source, out, ...commands) => {
  const file = scratch('app.c');
  writeFileSync(file, source);
  try {
    for (const [program, ...words] of commands)
      execFileSync(program, words, { cwd: dirname(file), stdio: 'pipe' });
    return readFileSync(scratch(out));
  } catch (fault) {
    if (failure(fault).code === 'ENOENT') return null;
    throw fault;
  }
};
const APP = `volatile int x;
__attribute__((noinline)) int inner(volatile int *p) { *p = 1; return *p + 1; }
__attribute__((noinline)) int outer(volatile int *p) { return inner(p) + 1; }
int main(void) { return outer(&x); }
`;
/** @type {(bytes: Buffer, name: string) => string} */
const frameOf = (bytes, name) => {
  const file = scratch('named.bin');
  writeFileSync(file, bytes);
  const text = execFileSync('llvm-nm-19', ['--defined-only', file], { encoding: 'utf8' });
  const at = BigInt(`0x${must(new RegExp(`^([0-9a-f]+) T _?${name}$`, 'm').exec(text))[1]}`) & 0xffffffffn;
  return `app!0x${at.toString(16)}@i\n`;
};

test('an_elf_and_a_dsym_name_the_frames_of_a_stack', async () => {
  const mac = ['clang-19', '-target', 'x86_64-apple-macos11', '-g', '-O1', '-c', 'app.c', '-o', 'app.o'];
  const link = ['ld64.lld-19', '-arch', 'x86_64', '-platform_version', 'macos', '11.0', '11.0'];
  /** @type {[string, Buffer | null][]} */
  const images = [
    ['ELF', compiled(APP, 'app', ['cc', '-g', '-O1', '-o', 'app', 'app.c'])],
    [
      'dSYM',
      compiled(
        APP,
        'app.dSYM/Contents/Resources/DWARF/app',
        mac,
        [...link, '-undefined', 'dynamic_lookup', '-o', 'app', 'app.o'],
        ['dsymutil-19', 'app', '-o', 'app.dSYM'],
      ),
    ],
  ];
  const page = await openPage(chromium, `${server.base}/resolve`);
  for (const [what, image] of images) {
    if (!image) continue;
    await page.reload();
    await page.fill('textarea', frameOf(image, 'inner') + frameOf(image, 'outer'));
    await dropFiles(page, [['app', image]]);
    for (const said of ['inner', 'app.c:2', 'outer', 'dwarf']) await says(page, '.panel', said, what);
    // Another name, and nothing else: it answers, so the page does not say that it is of no module.
    await page.reload();
    await page.fill('textarea', frameOf(image, 'inner'));
    await dropFiles(page, [['renamed.debug', image]]);
    await says(page, '.panel', 'app!0x', `${what}, renamed`);
    const text = must(await page.textContent('main'));
    same(text.includes('is of no module'), !text.includes('inner'), `${what}, renamed: ${text}`);
  }
  // A debug file states of which image it is, so it is of no other one.
  const dsym = images[1][1];
  if (dsym) {
    await page.reload();
    const dump = readFileSync(join(root, 'corpus/cases/inline_chain.ob2/dump.dmp'));
    await dropFiles(page, [
      ['apart.debug', dsym],
      ['dump.dmp', dump],
    ]);
    await says(
      page,
      'main',
      'apart.debug (PE, ELF or Mach-O file) is of no module',
      'a dSYM of another module',
    );
    const said = execFileSync('llvm-dwarfdump-19', ['--uuid', scratch('app.dSYM')], { encoding: 'utf8' });
    const uuid = must(/UUID: ([0-9A-F-]{36})/.exec(said))[1].replaceAll('-', '');
    await says(page, 'main', `It states ${uuid}0.`, 'its identity');
  }
  // What is cut is an error of its own; the stack and the other files are used.
  await page.reload();
  await page.fill('textarea', 'victims-ob2.exe!0x17d7\n');
  await dropFiles(page, [
    ['cut.so', must(images[0][1]).subarray(0, 300)],
    ['victims-ob2.pdb', symbolFile('victims-ob2.pdb')],
  ]);
  await says(page, '.banner.bad', 'cut.so: ELF', 'which file is cut');
  await says(page, '.panel', 'open_file', 'with the other one');
  // A name that promises symbols, and other contents.
  await dropFiles(page, [['app.pdb', Buffer.from('no PDB at all\n')]]);
  await says(page, '.state.bad', 'app.pdb does not begin as a PDB', 'it is not read as a stack');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('a_module_whose_symbols_do_not_cover_an_offset_is_not_without_a_file', async () => {
  const page = await openPage(chromium, `${server.base}/resolve`);
  await page.fill('textarea', 'app.exe!0x5\nother.exe!0x10\n');
  await dropFiles(page, [
    [
      'app.sym',
      Buffer.from('MODULE windows x86_64 000000000000000000000000000000000 app.pdb\nFUNC 1000 10 0 f\n'),
    ],
  ]);
  await says(page, '.panel', 'no symbol covers this offset', 'the reason');
  await says(page, 'main', 'No symbol file: other.exe.', 'the other module alone');
  await closePage(page);
});

// A browser gives a test no way to make a folder that is dropped.
test('a_dropped_folder_gives_its_symbol_files_only', async () => {
  const page = await openPage(chromium, `${server.base}/resolve`);
  await page.fill('textarea', 'victims-ob2.exe!0x17d7\nvictims-ob2.exe!0x1bb4\n');
  await page.locator('.dropzone').evaluate(
    (zone, [pdb]) => {
      /** @type {(name: string, bytes: Uint8Array | string) => object} */
      const file = (name, bytes) => ({
        isFile: true,
        file: (/** @type {(file: File) => void} */ done) =>
          done(new File([/** @type {any} */ (bytes)], name)),
      });
      /** @type {(name: string, below: object[]) => object} */
      const folder = (name, below) => ({
        isDirectory: true,
        name,
        createReader: () => {
          const left = [...below]; // a browser gives a hundred at a time
          return { readEntries: (/** @type {(all: object[]) => void} */ done) => done(left.splice(0, 1)) };
        },
      });
      const whole = folder('victims.dSYM', [
        file('Info.plist', '<?xml version="1.0"?><plist></plist>'),
        folder('Resources', [
          file(
            'victims-ob2.pdb',
            Uint8Array.from(atob(pdb), (c) => c.charCodeAt(0)),
          ),
        ]),
      ]);
      const event = new Event('drop', { bubbles: true, cancelable: true });
      const dropped = { items: [{ webkitGetAsEntry: () => whole }], files: [new File([], 'victims.dSYM')] };
      Object.defineProperty(event, 'dataTransfer', { value: dropped });
      zone.dispatchEvent(event);
    },
    [symbolFile('victims-ob2.pdb').toString('base64')],
  );
  await says(page, '.panel', 'capture_install', 'the pasted stack, with the names of the file');
  await says(page, 'main', 'the pasted stack', 'and not the list of properties');
  await dropFiles(page, [
    ['one.txt', Buffer.from('a.exe!0x10\n')],
    ['two.txt', Buffer.from('a.exe!0x20\n')],
  ]);
  await says(page, '.state.bad', 'one.txt, two.txt: one at a time', 'two stacks');
  await closePage(page);
});

/** @type {(parts: [string, string][]) => FormData} */
const form = (parts) => {
  const made = new FormData();
  for (const [name, text] of parts) made.append('file', new Blob([text]), name);
  return made;
};

test('forms_are_limited', async () => {
  /** @type {(base: string, body: BodyInit, headers?: Record<string, string>) => Promise<any>} */
  const post = async (base, body, headers = {}) => {
    const answer = await fetch(`${base}/api/v1/resolve`, { method: 'POST', body, headers });
    return { status: answer.status, ...(await answer.json()) };
  };
  const type = { 'Content-Type': 'multipart/form-data; boundary=x' };
  for (const [name, body, headers] of /** @type {[string, string, Record<string, string>][]} */ ([
    ['empty', '', type],
    ['no boundary', '--x\r\n\r\n\r\n--x--', { 'Content-Type': 'multipart/form-data' }],
    ['a boundary of 71', '--x', { 'Content-Type': `multipart/form-data; boundary=${'x'.repeat(71)}` }],
    ['another boundary', '--y\r\n\r\n\r\n--y--', type],
    ['cut in a header', '--x\r\nContent-', type],
    ['cut in a body', '--x\r\n\r\nabc', type],
    ['cut at a boundary', '--x\r\n\r\nabc\r\n--x', type],
  ]))
    same((await post(server.base, body, headers)).error?.key, 'bad_form', name);
  const many = form(Array.from({ length: 17 }, (_, i) => [`${i}.txt`, 'a.exe!0x1']));
  same((await post(server.base, many)).error?.key, 'bad_form', '17 parts');
  const two = await post(
    server.base,
    form([
      ['../../a.txt', 'a.exe!0x1'],
      ['b.sym', 'MODULE windows x86_64 0 b.pdb\n'],
      ['', ''],
    ]),
  );
  same(two.data.stacks.length, 1, 'a stack');
  same(
    two.data.files.map((/** @type {{name: string, fits: boolean}} */ { name, fits }) => [name, fits]),
    [['b.sym', false]],
    'a symbol file',
  );
  const large = await post(server.base, form([['large.txt', 'x'.repeat((64 << 20) + 1)]]));
  same(large.data.errors[0].label, 'large.txt', 'more than 64 MiB');
});

test('a_server_for_others_takes_no_symbol_files', async () => {
  const sent = () =>
    form([
      ['b.sym', 'MODULE windows x86_64 0 b.pdb\n'],
      ['a.txt', 'a.exe!0x1'],
    ]);
  for (const [words, hint] of /** @type {[string[], string | undefined][]} */ ([
    [[], 'start it with --allow-symbols'],
    [['--allow-symbols'], undefined],
    [['--allow-write'], undefined],
  ])) {
    const open = await serve('--db', db, '--allow-remote', ...words);
    const answer = await fetch(`${open.base}/api/v1/resolve`, {
      method: 'POST',
      body: sent(),
      headers: { 'X-Token': open.token },
    });
    const { data } = await answer.json();
    same(data.stacks.length, 1, `${words}: its stack`);
    check(String(data.errors[0]?.hint).includes(String(hint)), `${words}: ${data.errors[0]?.hint}`);
    same(data.takes_symbols, !hint, `${words}: takes symbol files`);
    const page = await openPage(chromium, `${open.base}/resolve#token=${open.token}`);
    await page.fill('textarea', 'a.exe!0x1');
    await page.keyboard.press('Control+Enter');
    await says(page, 'main', hint ? 'This server takes no symbol files' : 'Drop its PDB', 'the next step');
    await closePage(page);
    await open.stop();
  }
});

await runAll();
