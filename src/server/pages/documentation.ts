import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PackedFiles } from './packed-files.ts'
import type { Page } from './page.ts'

/** The built documentation (`docs-dist`). */
export interface Documentation {
  /** By its path below /docs, e.g. `/quick-start`; null when there is none. */
  page(path: string, accepted: string | undefined): Promise<Page | null>
}

/** Each file, with the hashes of the scripts in its text. */
type Site = Readonly<Record<string, readonly string[]>>

/** Null when it is not built. */
export async function loadDocumentation(folder: string): Promise<Documentation | null> {
  const text = await readFile(join(folder, 'site.json'), 'utf8').catch(() => null)
  if (text === null) return null
  const site = JSON.parse(text) as Site
  const files = new PackedFiles(
    folder,
    Object.keys(site).map((name) => `${name}.gz`),
  )
  return {
    async page(path, accepted) {
      const name = nameOf(path, site)
      const page = name === null ? null : await files.page(name, accepted)
      if (!page || !name?.endsWith('.html')) return page
      return { ...page, headers: { ...page.headers, 'content-security-policy': policyOf(site[name] ?? []) } }
    },
  }
}

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
