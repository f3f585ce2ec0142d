// What the bundler makes (build.mjs).
/** Every page: its address, what shows it, its title, its name in the rail, the address that the rail leads to,
 *  further addresses that count as being there; what is `served` is in no file. */
declare module 'virtual:pages' {
  type Places = Record<string, string | undefined>;
  export const pages: {
    at: string;
    title: string;
    name: string;
    part(places: Places): import('preact').JSX.Element;
    rail?: string;
    to?: string;
    under?: string;
    served: boolean;
  }[];
}
declare module 'virtual:licences' {
  const licences: { name: string; version: string; licence: string; text: string }[];
  export default licences;
}
