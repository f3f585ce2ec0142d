// Puts load on loopback for a limited time; runs alone because it measures.  Covers the document of a case
// page, a cached asset, and slow readers and idle connections, which must not stop other requests; beside
// attackers, wrk keeps 16 honest connections busy.
import { execFileSync, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  ask,
  becomes,
  check,
  failure,
  must,
  root,
  runAll,
  same,
  seed,
  serve,
  Skip,
  slowness,
  test,
} from './web/world.mjs';

const server = await serve('--db', seed('load.db', 3, 24, 0));
const { hostname, port } = new URL(server.base);

const LOAD_S = process.env.TWINSTACK_SOAK_SECONDS ? 3 : 1;

/** @type {(path: string) => number} */
function wrk(path) {
  let text = '';
  try {
    text = execFileSync('wrk', ['-t', '1', '-c', '16', '-d', `${LOAD_S}s`, `${server.base}${path}`], {
      encoding: 'utf8',
    });
  } catch (error) {
    if (failure(error).code === 'ENOENT') throw new Skip('wrk is not installed');
    throw error;
  }
  const rate = Number(must(/Requests\/sec:\s+([\d.]+)/.exec(text))[1]);
  const bad = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(text);
  console.log(`     ${rate.toFixed(0)} requests/s  ${path}`);
  same(bad?.[0] ?? null, null, path);
  return rate;
}
const asset = async () => must(/src="\.(\/assets\/[^"]+)"/.exec(await (await fetch(server.base)).text()))[1];

test('a_case_page_takes_2000_requests_a_second', () => {
  check(wrk('/api/v1/runs/3/cases/inline_chain.ob2') >= 2000 / slowness, 'too slow');
});
test('a_cached_page_takes_5000_requests_a_second', () => {
  check(wrk('/') >= 5000 / slowness, 'the page is too slow');
});
test('assets_are_sent_fast', async () => {
  check(wrk(await asset()) >= 2000 / slowness, 'the bundle is too slow');
});

test('500_idle_connections_stop_nobody', async () => {
  /** @type {Promise<import('node:net').Socket>[]} */
  const idle = [];
  for (let i = 0; i < 500; i++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    idle.push(
      new Promise((done) => {
        socket.on('connect', () => done(socket));
      }),
    );
  }
  const sockets = await Promise.all(idle);
  // Half of the connections send half a request.
  sockets.forEach((socket, i) => i % 2 && socket.write('GET / HTTP/1.1\r\nHost: '));
  const start = performance.now();
  for (let i = 0; i < 20; i++)
    same((await fetch(`${server.base}/api/v1/runs`)).status, 200, 'a request beside them');
  const took = performance.now() - start;
  sockets.forEach((socket) => socket.destroy());
  check(took < 2000 * slowness, `20 requests took ${took.toFixed(0)} ms`);
});

test('the_700th_connection_gets_in_while_all_others_are_idle', async () => {
  /** @type {import('node:net').Socket[]} */
  const sockets = await Promise.all(
    Array.from(
      { length: 700 },
      () =>
        new Promise((done) => {
          const socket = connect(Number(port), hostname);
          socket
            .on('error', () => {})
            .on('connect', () => {
              socket.write('GET / HTTP/1.1\r\nHost: ');
              done(socket);
            });
          socket.on('data', () => {});
        }),
    ),
  );
  const start = performance.now();
  for (let i = 0; i < 5; i++)
    same((await ask(server.base, '/api/v1/runs')).status, 200, 'a request beside them');
  const took = performance.now() - start;
  console.log(`     5 requests beside 700 idle connections took ${took.toFixed(0)} ms`);
  sockets.forEach((socket) => socket.destroy());
  check(took < 3000 * slowness, `5 requests took ${took.toFixed(0)} ms`);
});

for (const [name, source] of [
  ['elsewhere', '127.0.0.2'],
  ['behind_the_same_proxy', '127.0.0.1'],
])
  test(`3000_attackers_${name}_let_a_new_client_in`, async () => {
    const words = [join(root, 'tests/e2e/web/attackers.mjs'), port, '2000', '1000', source];
    const attackers = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const busy = spawn('wrk', ['-t', '1', '-c', '16', '-d', '60s', `${server.base}/`], { stdio: 'ignore' });
    busy.on('error', () => {}); // not installed: then without it
    let again = 0;
    attackers.stdout.on('data', (text) => (again = Number(String(text).trim().split('\n').pop())));
    try {
      await becomes(() => again > 1000, true, 'they are closed and come again');
      let worst = 0;
      for (let i = 0; i < 20; i++) {
        const start = performance.now();
        same((await ask(server.base, '/api/v1/runs')).status, 200, 'a new client');
        worst = Math.max(worst, performance.now() - start);
      }
      console.log(`     the slowest of 20 new clients waited ${worst.toFixed(0)} ms; ${again} came again`);
      check(worst < 1000 * slowness, `a new client waited ${worst.toFixed(0)} ms`);
    } finally {
      attackers.kill('SIGKILL');
      busy.kill('SIGKILL');
    }
  });

test('a_slow_reader_stops_nobody', async () => {
  const readers = [];
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.pause(); // sends many requests and reads no answer
    for (let n = 0; n < 40; n++)
      socket.write(`GET /api/v1/timing HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    readers.push(socket);
  }
  const start = performance.now();
  for (let i = 0; i < 20; i++)
    same((await fetch(`${server.base}/api/v1/runs/3`)).status, 200, 'a request beside them');
  const took = performance.now() - start;
  readers.forEach((socket) => socket.destroy());
  check(took < 2000 * slowness, `20 requests took ${took.toFixed(0)} ms`);
});

test('ctrl_c_ends_it_cleanly_while_busy', async () => {
  const sockets = [1, 2, 3].map(() => connect(Number(port), hostname));
  sockets.forEach((socket) => socket.on('error', () => {}));
  const stream = await fetch(`${server.base}/api/v1/events`);
  const start = performance.now();
  const code = await server.stop();
  same(code, 0, 'exit status');
  check(performance.now() - start < 25e3 * slowness, 'it takes too long to end');
  console.log(`     ended in ${(performance.now() - start).toFixed(0)} ms`);
  await must(stream.body)
    .cancel()
    .catch(() => {});
  sockets.forEach((socket) => socket.destroy());
});

await runAll();
