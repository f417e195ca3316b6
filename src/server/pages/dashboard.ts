import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PackedFiles } from './packed-files.ts'
import type { Page } from './page.ts'

/** The built dashboard (`web-playground/dist`). */
export interface Dashboard {
  /** The page of all its addresses: its script decides what to show. It may call these origins, besides its own. */
  index(origins: readonly string[]): Page
  /** The same origins renew the sign-in of its tab. */
  graphiql(origins: readonly string[]): Page
  /** A file by its path; null when there is none. */
  asset(path: string, accepted: string | undefined): Promise<Page | null>
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
  const assets = await readdir(join(folder, 'assets')).catch(() => [])
  const files = new PackedFiles(
    folder,
    assets.map((name) => `assets/${name}`),
  )
  return {
    index: (origins) => htmlPage(index, { ...POLICY, ...connecting(origins) }),
    // X-Frame-Options would refuse the dashboard's frame otherwise.
    graphiql: (origins) =>
      htmlPage(graphiql, { ...GRAPHIQL_POLICY, ...connecting(origins) }, { 'x-frame-options': 'SAMEORIGIN' }),
    asset: (path, accepted) => files.page(path.slice(1), accepted),
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
