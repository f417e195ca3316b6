import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Page } from './page.ts'

/** The built documentation (`docs-dist`). Few read it, so few of its files are held in memory. */
export interface Documentation {
  /** By its path below /docs, e.g. `/quick-start`; null when there is none. */
  page(path: string, takesGzip: boolean): Promise<Page | null>
}

/** Each file, with the hashes of the scripts in its text. */
type Site = Readonly<Record<string, readonly string[]>>

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const inflate = promisify(gunzip)
const PACKED = '.gz'
/** Bytes of files that are held in memory, as they are sent: about all that is read at a time. */
const HELD = 4 * 1_024 * 1_024

/** Null when it is not built. */
export async function loadDocumentation(folder: string): Promise<Documentation | null> {
  const text = await readFile(join(folder, 'site.json'), 'utf8').catch(() => null)
  if (text === null) return null
  const site = JSON.parse(text) as Site
  const read = (name: string): Promise<Buffer> => readFile(join(folder, name))
  /** By their names, with `.gz` as they are stored. */
  const files = new LRUCache<string, Buffer>({
    maxSize: HELD,
    sizeCalculation: (file) => Math.max(1, file.length),
    fetchMethod: async (name) => (name.endsWith(PACKED) ? await read(name) : await inflate(await read(name + PACKED))),
  })
  return {
    async page(path, takesGzip) {
      const name = nameOf(path, site)
      const type = name === null ? undefined : TYPES[extname(name)]
      if (name === null || !type) return null
      const body = await files.forceFetch(takesGzip ? name + PACKED : name)
      const isPage = name.endsWith('.html')
      return {
        body,
        headers: {
          'content-type': type,
          ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
          vary: 'accept-encoding',
          // Names of assets have a hash of their content.
          'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
          ...(isPage ? { 'content-security-policy': policyOf(site[name] ?? []) } : {}),
        },
      }
    },
  }
}

/** Names come from the list alone, so none leads out of the folder. */
function nameOf(path: string, site: Site): string | null {
  const asked = path.slice(1)
  const name = asked === '' ? 'index.html' : asked
  for (const one of [name, `${name}.html`]) if (Object.hasOwn(site, one)) return one
  return null
}

/**
 * Allows scripts of this origin, and the few inline ones at the start of its pages. Highlighted code has its colours in
 * the text.
 */
const policyOf = (scripts: readonly string[]): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${scripts.map((hash) => `'${hash}'`).join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
