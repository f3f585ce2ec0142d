// PORT IDLE TRICKLE SOURCE: opens so many connections that say nothing, and so many that send a byte of an
// endless request now and then, from the address SOURCE; each that the server closes comes again at once.
// It is a program of its own, so that it takes no time of the test's. Prints each second how many came again.
import { connect } from 'node:net';

const [port, idle, trickle] = process.argv.slice(2, 5).map(Number);
const localAddress = process.argv[5];
let again = 0;

/** @type {(trickles: boolean) => void} */
function attack(trickles) {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  const timer = trickles && setInterval(() => socket.write('x'), 500);
  socket.on('connect', () => trickles && socket.write('GET / HTTP/1.1\r\nX: '));
  socket.on('data', () => {}).on('error', () => {});
  socket.on('close', () => {
    if (timer) clearInterval(timer);
    again++;
    setTimeout(attack, 5, trickles);
  });
}
for (let i = 0; i < idle + trickle; i++) attack(i >= idle);
setInterval(() => console.log(again), 1000);
