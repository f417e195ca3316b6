import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { extname, join } from 'node:path'
import type { Page } from './page.ts'

/** The built dashboard (`web-playground/dist`), held in memory, so that a request never reaches the disk. */
export interface Dashboard {
  /** The page of all its addresses: its script decides what to show. It may call these origins, besides its own. */
  index(origins: readonly string[]): Page
  /** The same origins renew the sign-in of its tab. */
  graphiql(origins: readonly string[]): Page
  /** A file by its path, in the smallest encoding that the browser accepts; null when there is none. */
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
  '.ttf': 'font/ttf',
}

/** Scripts, styles and connections of this origin only. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  // GraphiQL, which has a policy of its own.
  'frame-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}
/** The editor writes styles, has fonts in its style sheet, and works in the background. The dashboard frames it. */
const GRAPHIQL_POLICY = {
  ...POLICY,
  'style-src': "'self' 'unsafe-inline'",
  'font-src': "'self' data:",
  'worker-src': "'self'",
  'frame-src': "'none'",
  'frame-ancestors': "'self'",
}

/** Null when the dashboard is not built. */
export async function loadDashboard(folder: string): Promise<Dashboard | null> {
  const read = (name: string): Promise<Buffer | null> => readFile(join(folder, name)).catch(() => null)
  const [index, graphiql] = await Promise.all([read('index.html'), read('graphiql.html')])
  if (!index || !graphiql) return null
  const assets = await readAssets(join(folder, 'assets'))
  return {
    index: (origins) => htmlPage(index, { ...POLICY, ...connecting(origins) }),
    // X-Frame-Options would refuse the dashboard's frame otherwise.
    graphiql: (origins) =>
      htmlPage(graphiql, { ...GRAPHIQL_POLICY, ...connecting(origins) }, { 'x-frame-options': 'SAMEORIGIN' }),
    asset(path, { headers }) {
      const found = assets.get(path)
      return found ? pageOf(found, headers['accept-encoding'] ?? '') : null
    },
  }
}

const connecting = (origins: readonly string[]) => ({ 'connect-src': ["'self'", ...origins].join(' ') })

function htmlPage(
  body: Buffer,
  policy: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Page {
  const directives = Object.entries(policy).map(([name, sources]) => `${name} ${sources}`)
  return {
    body,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': directives.join('; '),
      'cache-control': 'no-cache',
      ...headers,
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
      // Its name has a hash of its content.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding ? { 'content-encoding': encoding } : {}),
    },
  }
}
