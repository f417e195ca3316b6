/** A value that an installation exports, and that leads somewhere. */
export interface ExportedLink {
  readonly name: string
  readonly href: string
}
/** Maximum number of links for one installation. */
const MOST = 6

/** The exports that are addresses of the web. Agents write them: other schemes, such as `javascript:`, are no links. */
export const exportedLinks = (exports: unknown): readonly ExportedLink[] =>
  (typeof exports === 'object' && exports !== null ? Object.entries(exports) : [])
    .filter(([, value]) => typeof value === 'string' && isWebAddress(value))
    .slice(0, MOST)
    .map(([name, value]) => ({ name, href: String(value) }))

const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text)
