import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { extname, join } from 'node:path'
import type { Page } from './page.ts'

/** The built dashboard (`web-playground/dist`), held in memory: a name that is not among its files is not looked for. */
export interface Dashboard {
  /** The same for each of its addresses: what is shown is the page's own business. */
  readonly index: Page
  /** A file by its path, in the smallest form that the browser takes; null when there is none. */
  asset(path: string, request: IncomingMessage): Page | null
}

interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer | undefined
  readonly brotli: Buffer | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Scripts and styles from files of ours only; nothing inline, nothing from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // GraphiQL, which has a policy of its own.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Null when it was not built. */
export async function loadDashboard(folder: string): Promise<Dashboard | null> {
  const html = await readFile(join(folder, 'index.html')).catch(() => null)
  if (!html) return null
  const assets = await readAssets(join(folder, 'assets'))
  return {
    index: {
      body: html,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'cache-control': 'no-cache',
      },
    },
    asset(path, { headers }) {
      const found = assets.get(path)
      return found ? pageOf(found, headers['accept-encoding'] ?? '') : null
    },
  }
}

async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const names = new Set(await readdir(folder).catch(() => []))
  const read = async (name: string): Promise<Buffer | undefined> =>
    names.has(name) ? await readFile(join(folder, name)) : undefined
  const assets = new Map<string, Asset>()
  for (const name of names) {
    const type = TYPES[extname(name)]
    const plain = type ? await read(name) : undefined
    if (!type || !plain) continue
    assets.set(`/assets/${name}`, { type, plain, gzip: await read(`${name}.gz`), brotli: await read(`${name}.br`) })
  }
  return assets
}

function pageOf({ type, plain, gzip, brotli }: Asset, accepted: string): Page {
  const takes = (encoding: string): boolean => accepted.split(',').some((each) => each.trim() === encoding)
  const [encoding, body] =
    brotli && takes('br') ? ['br', brotli] : gzip && takes('gzip') ? ['gzip', gzip] : [null, plain]
  return {
    body,
    headers: {
      'content-type': type,
      // Its name has a hash of what is in it.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding ? { 'content-encoding': encoding } : {}),
    },
  }
}
