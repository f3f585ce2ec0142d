// What the bundler defines (build.mjs).
declare const TWINSTACK_VERSION: string;

declare module 'virtual:licences' {
  const licences: { name: string; version: string; licence: string; text: string }[];
  export default licences;
}
