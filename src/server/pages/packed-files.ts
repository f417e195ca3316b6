import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Page } from './page.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
}
const inflate = promisify(gunzip)
const ENDINGS = { br: '.br', gzip: '.gz' } as const
/** Bytes that are held in memory, as they are sent: about all that is read at a time. */
const HELD = 4 * 1_024 * 1_024

/** The files of a folder that has them compressed alone: each as `NAME.gz`, and some as `NAME.br`, too. */
export class PackedFiles {
  readonly #stored: ReadonlySet<string>
  readonly #held: LRUCache<string, Buffer>

  /** @param stored names in the folder, with their endings: no other is read, so none leads out of it */
  constructor(folder: string, stored: Iterable<string>) {
    this.#stored = new Set(stored)
    const read = (name: string): Promise<Buffer> => readFile(join(folder, name))
    this.#held = new LRUCache({
      maxSize: HELD,
      sizeCalculation: (file) => Math.max(1, file.length),
      fetchMethod: async (name) =>
        this.#stored.has(name) ? await read(name) : await inflate(await read(name + ENDINGS.gzip)),
    })
  }

  /**
   * A file as the client accepts it; null: there is none.
   * @param accepted the header `accept-encoding`
   */
  async page(name: string, accepted = ''): Promise<Page | null> {
    const type = TYPES[extname(name)]
    if (!type || !this.#stored.has(name + ENDINGS.gzip)) return null
    const takes = (encoding: string): boolean =>
      accepted.split(',').some((one) => {
        const [name, weight = ''] = one.split(';').map((part) => part.trim())
        return name === encoding && !/^q=0(\.0*)?$/.test(weight)
      })
    const encoding = takes('br') && this.#stored.has(name + ENDINGS.br) ? 'br' : takes('gzip') ? 'gzip' : null
    return {
      body: await this.#held.forceFetch(name + (encoding ? ENDINGS[encoding] : '')),
      headers: {
        'content-type': type,
        ...(encoding ? { 'content-encoding': encoding } : {}),
        vary: 'accept-encoding',
        // Names of assets have a hash of their content.
        'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    }
  }
}
