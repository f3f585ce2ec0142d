// The words of these pages, each with what it means: shown on hover, and all of them on one page.
import * as signs from './signs.js';
import { Link, Page, verdicts } from './ui.js';

/** @type {[string, string][]} */
export const terms = [
  ['case', 'One scenario in one variant, captured both ways in one run.'],
  ['scenario', 'A program that crashes or hangs in one known way, and states its own stack.'],
  ['variant', 'How a scenario was built: its optimisation, inlining and processor.'],
  ['truth', 'The stack that the program itself stated, frame by frame, before it crashed.'],
  ['dump way', 'The stack as a minidump gives it: written by the dying process, unwound later.'],
  ['offset way', 'The stack as module!offset frames that the dying process walked, resolved later.'],
  ['engine under test', 'An engine of ours whose wrong stack fails a case: offset:rtl and dump.'],
  ['reference engine', 'Another tool or walker that is compared but fails no case.'],
  ['capture rate', 'The share of cases that left a record or a dump, of those that should.'],
  ['exact', 'A stack whose own frames all have the right function, file and line.'],
  ['precision', 'The share of the frames that an engine reports which are right.'],
  ['recall', 'The share of the true frames that an engine found.'],
  ['inline frame', 'A function that the compiler merged into its caller: it has no address of its own.'],
  ['walker', 'A piece of code that finds the frames of a thread; each has a name, such as rtl or backtrace.'],
  ['judge', 'A program of other people that reads the dump, or names its frames: a second opinion.'],
  ['foreign', 'Of another maker: the library by which the dump way is timed beside our own reader.'],
  [
    'record',
    'The file that a dying process leaves in place of a dump: modules, and stacks as module!offset.',
  ],
  [
    'tuned',
    'A dump in its cheapest form that still has every stack: the data of system modules are left out.',
  ],
  ['suspect', 'The thread under suspicion: it crashed, or it is the one that hangs.'],
  ['stop', 'Why a walk ended: at the end of the stack, at a frame without unwind data, at a limit.'],
  ['scan', 'A frame found by looking for return addresses in stack memory: a guess, and marked as one.'],
  ['truncated', 'A stack that ends before the thread does.'],
  ['blame', 'Which part is at fault for a difference: a walker, a writer, a reader, symbols, or the truth.'],
  ['lane', 'From what a stack is made, and by which program: offsets, plain dump, tuned dump, foreign.'],
  ['offset:rtl', "Walks by the system's unwind data (RtlVirtualUnwind) in the dying process. Under test."],
  ['dump', 'Our own walk of the minidump. Under test.'],
  ['dump-plain', 'As dump, without the map of generated code that our capture adds to it.'],
  ['offset:dbghelp', 'StackWalk64 of dbghelp in the dying process, with the symbols that it finds.'],
  ['offset:dbghelp-own', "StackWalk64 with the system's function tables in place of symbols."],
  ['offset:backtrace', 'RtlCaptureStackBackTrace in the dying process; of its own thread only.'],
  ['offset:framepointer', 'Follows saved frame pointers: right only where code keeps them.'],
  ['offset:rtl-suspended', 'As offset:rtl, of the stopped thread itself and not of a copy of its stack.'],
  ['offset:snapshot', 'Asks the .NET runtime for the stack (DoStackSnapshot).'],
  ['offset:snapshot-seeded', 'As offset:snapshot; native frames are walked as by rtl.'],
  ['judge:dbghelp', "The dbghelp of the system (under Wine: Wine's) reads, walks and names the dump."],
  ['judge:dbghelp-microsoft', "Microsoft's dbghelp, where the user has it."],
  ['judge:dbgeng', "Microsoft's debugger engine, where the user has it."],
  ['judge:winedbg', "Wine's debugger reads the dump."],
  ['judge:lldb', "LLVM's debugger reads the dump."],
  ['judge:llvm-symbolizer', 'Names the frames that rtl recorded: it judges names, not walks.'],
  ['judge:adapter', 'A program of yours, named by TWINSTACK_ADAPTER.'],
  ['physical', 'A stack of addresses alone, before names: each frame with an address of its own is right.'],
  ['shares', 'Code that engines have in common: where two share it, their agreement proves less.'],
  ['walk', 'To find the callers of a thread, frame by frame.'],
  ['F1', 'The harmonic mean of precision (reported frames that are right) and recall (true frames found).'],
  ['warm', 'Time with symbols already loaded.'],
  ['cold', 'Time with nothing loaded: images and symbols are opened for this one stack.'],
  ['hook', 'What saw the crash: a filter, a handler, a callback of the runtime, or the outside watcher.'],
  [
    'wrong step',
    'Two walks find different callers of a frame that both have, by the unwind code named with it.',
  ],
  ['cause', 'The rule that explains why two stacks differ, such as a tail call or an inlined frame.'],
  [
    'difference',
    'Where two stacks of a case are not the same. Those by one mechanism at one place belong together.',
  ],
  ['problem', 'What is broken, and where: all failing cases of a run with one mechanism at one place.'],
  ['place', 'A row of a case in which stacks differ, however many of them do.'],
  ['signature', 'What makes stacks of reports one problem: in most cases their three innermost functions.'],
  ['baseline', 'The run that new runs are compared with.'],
  ['accepted', 'A known wrong case with a reason and an end date: it does not fail a run.'],
  ['threshold', 'What an effect on times must exceed: 3 %, the noise of equal work, and the usual spread.'],
  ['p', 'How likely chance alone would give so large a difference. Under 0.01 it counts.'],
  ['level', 'A range of runs in which a figure changed only by noise.'],
  ['A/A', 'Equal work measured twice: its difference is the noise of the machine.'],
  ['thread stopped', 'How long the target could not run while its stack was taken.'],
  ['pass', 'As expected.'],
  ['fail', 'An engine under test is wrong, or nothing was captured.'],
  ['xfail', 'Wrong, and accepted with a reason.'],
  ['xpass', 'Right, although it is accepted as wrong: the acceptance must go.'],
  ['flaky', 'Different from repeat to repeat.'],
  ['error', 'Could not be judged: the files are gone or damaged, or the harness failed.'],
  ['unsupported', 'This host cannot show it; the reason is given.'],
];
const meanings = new Map(terms);
/** @type {(word: string) => string} */
const anchor = (word) => `term-${word.replace(/\W+/g, '-').toLowerCase()}`;

/**
 * A word with its meaning on hover.  NAME is one of `terms`; CHILDREN, when given, are shown instead.
 * @param {{name: string, children?: import('preact').ComponentChildren}} props
 */
export const Term = ({ name, children }) => (
  <abbr class="term" title={meanings.get(name)}>
    {children ?? name}
  </abbr>
);

/** @type {[string, Record<string, signs.Sign>][]} */
const tables = [
  ['Verdicts', verdicts],
  ['Engines', signs.stacks],
  ['Frames beside each other', signs.frames],
  ['Lines of source', signs.lines],
  ['Hooks', signs.hooks],
  ['Times', signs.times],
  ['Symbols', signs.symbols],
];

export function Glossary() {
  return (
    <Page title="Glossary" lead="The words of these pages, each always for the same thing.">
      <dl class="glossary">
        {[...terms]
          .sort(([a], [b]) => a.localeCompare(b, 'en'))
          .map(([word, text]) => (
            <div key={word} id={anchor(word)}>
              <dt>{word}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
      <h2 class="section">Signs</h2>
      {tables.map(([what, table]) => (
        <>
          <h3>{what}</h3>
          <dl class="glossary">
            {Object.entries(table)
              .filter(([, [sign]]) => sign)
              .map(([name, [sign, , text, more = text]]) => (
                <div key={name}>
                  <dt>
                    {sign}
                    {table === signs.symbols && ` ${name}`}
                  </dt>
                  <dd>{more}</dd>
                </div>
              ))}
          </dl>
        </>
      ))}
      <p>
        <Link to="/about">About these pages</Link>
      </p>
    </Page>
  );
}
