// Checks that resident memory of the server stays flat while clients request mixed addresses: for
// WATCHED_S, or half an hour in `./run soak`.  It mostly waits, so that it can run beside other tests.
import { readFileSync } from 'node:fs';
import { ask, check, runAll, same, seed, serve, soak, test } from './web/world.mjs';

const WATCHED_S = 25;
const CLIENTS = 4;
const PAUSE_MS = 150; // of a client between two requests; a soak has none
const SLACK_MB = 8;
const CACHE_MB = 34; // 32 MiB of answers: dashboard/README.md
const CASES = soak ? 10000 : 2000;
seed('memory.db', 3, 24, 0);
const server = await serve('--db', seed('memory.db', 0, 0, CASES));
const big = 4;

/** @type {((i: number) => string)[]} */
const views = [
  (i) => `/api/v1/runs/${big}/cases?limit=${1 + (i % 200)}&after=${i * 7}`,
  (i) => `/api/v1/runs/${big}/queue?limit=${1 + (i % 200)}`,
  (i) => `/api/v1/runs/${big}/cases?search=${i.toString(36)}`,
  (i) => `/api/v1/runs/2/cases/inline_chain.ob2/explain?frame=${i % 9}`,
  (i) => `/api/v1/trend?metric=f1&limit=${1 + (i % 1000)}`,
  (i) => `/api/v1/compare?a=${1 + (i % 3)}&b=${1 + ((i >> 2) % 4)}`,
  () => '/api/v1/overview',
  (i) => `/runs/${1 + (i % 4)}`,
  (i) => `/api/v1/runs/${i}`,
];

// The caches are bounded (see the limits in dashboard/README.md), and nothing else grows.
test('memory_stays_flat_under_mixed_addresses', async () => {
  const seconds = Number(process.env.TWINSTACK_SOAK_SECONDS ?? WATCHED_S);
  const resident = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
  const end = performance.now() + seconds * 1e3;
  /** @type {number[]} */
  const samples = [];
  let asked = 0;
  /** @param {number} start */
  const client = async (start) => {
    for (let i = start; performance.now() < end; i += CLIENTS) {
      await (await fetch(server.base + views[i % views.length](i))).arrayBuffer();
      asked++;
      if (!soak) await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  };
  const watch = setInterval(() => samples.push(resident()), 500);
  await Promise.all(Array.from({ length: CLIENTS }, (_, start) => client(start)));
  clearInterval(watch);
  // What stays is what is left between answers: how much several need at the same time depends on the load.
  const half = Math.floor(samples.length / 2);
  /** @type {(part: number[]) => number} */
  const least = (part) => Math.min(...part);
  const [early, late] = [least(samples.slice(Math.floor(half / 2), half)), least(samples.slice(-half / 2))];
  const most = Math.max(...samples);
  console.log(
    `     ${asked} answers in ${seconds} s; at least ${early.toFixed(0)} then ${late.toFixed(0)} MB,`,
    `at most ${most.toFixed(0)}`,
  );
  // On a slow machine the caches are still being filled at the end.
  const filled = Number(samples[0]) + CACHE_MB + SLACK_MB;
  check(
    late < Math.max(early * 1.15 + SLACK_MB, filled),
    `memory grows: ${samples.map((mb) => mb.toFixed(0)).join(' ')}`,
  );
  check(most < 250, `${most} MB`);
  same(
    (await ask(server.base, '/healthz', { headers: { Host: new URL(server.base).host } })).status,
    200,
    'alive',
  );
});

await runAll();
