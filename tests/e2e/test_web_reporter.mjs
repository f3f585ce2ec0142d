// A run of `check --dumps`: Overview and a case in the words of the first screen, a name with dots, and no
// figure of the two ways, of which a stranger's product has none.
import { spawnSync } from 'node:child_process';
import { axeFindsNothing } from './web/checks.mjs';
import {
  browser,
  build,
  check,
  closePage,
  openPage,
  root,
  runAll,
  same,
  scratch,
  serve,
  settled,
  shot,
  test,
} from './web/world.mjs';
import { cpSync, renameSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const corpus = `${root}/corpus/reporter`;
const folder = scratch('reporter');
const db = scratch('reporter.db');
const file = scratch('reporter.html');
cpSync(corpus, folder, { recursive: true });
for (const [kind, end] of [
  ['dumps', 'dmp'],
  ['stacks', 'txt'],
])
  renameSync(`${folder}/${kind}/crash-02.${end}`, `${folder}/${kind}/app 1.2.${end}`);
const judged = spawnSync(`${build}/bin/twinstack`, [
  ...[
    'check',
    '--dumps',
    `${folder}/dumps`,
    '--stacks',
    `${folder}/stacks`,
    '--symbols',
    `${folder}/symbols`,
  ],
  ...['--name', 'acme', '--db', db, '--html', file],
]);
same(judged.status, 1, String(judged.stderr));
const server = await serve('--db', db);
const chromium = await browser();
const GROUPS = [
  '2 cases: the preferred base is used in place of the loaded one (writer)',
  "1 case: frames of the reporter's own handler are on top (walker)",
  '1 case: the stack ends too early: at a limit of 32 frames (walker)',
  '1 case: frames are missing (walker)',
  '1 case: addresses are looked up in the wrong place (lookup)',
];

for (const [name, base] of [
  ['server', `${server.base}/`],
  ['file', String(pathToFileURL(file))],
])
  test(`the_groups_are_those_of_the_first_screen_${name}`, async () => {
    const page = await openPage(chromium, base);
    await settled(page);
    const said = await page.locator('main').innerText();
    for (const group of GROUPS) {
      check(said.includes(group), `${group}\n${said}`);
      check(String(judged.stdout).includes(group.replace(/^\d+ cases?: /, '')), String(judged.stdout));
    }
    check(said.includes('reporter acme by its dumps'), said);
    check(!/offset:rtl|Captured either way|not known/.test(said), said);
    await axeFindsNothing(page, 'overview of a reporter');
    await shot(page, `reporter-${name}`);
    same(page.complaints, [], 'complaints');
    await closePage(page);
  });

test('a_case_has_both_stacks_and_one_cause', async () => {
  const page = await openPage(chromium, `${server.base}/`);
  await settled(page);
  await page.getByRole('link', { name: 'app 1.2.imported' }).first().click();
  await settled(page);
  const heads = await page.locator('[aria-label="Aligned stacks"] thead th').allInnerTexts();
  same(heads.slice(1), ['dump', 'acme', 'cause'], 'columns');
  const rows = await page.locator('[aria-label="Aligned stacks"] tbody tr.differs').allInnerTexts();
  check(rows.length > 0 && rows.every((row) => row.includes('handler context')), rows.join('\n'));
  const said = await page.locator('main').innerText();
  check(said.includes("frames of the reporter's own handler are on top (walker)"), said);
  await shot(page, 'reporter-case');
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

await runAll();
