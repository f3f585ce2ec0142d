// What the bundler makes (build.mjs).
declare module 'virtual:licences' {
  const licences: { name: string; version: string; licence: string; text: string }[];
  export default licences;
}
