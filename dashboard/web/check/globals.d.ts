import type { JSX as Preact } from 'preact';

declare global {
  // What the bundler defines (build.mjs).
  const TWINSTACK_VERSION: string;

  // TypeScript 7 does not follow jsxImportSource in .js files.
  export import JSX = Preact;
}
