import { readdirSync, readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { expect } from 'vitest'

/** Places in which a secret could turn up in clear. */

/** Every row of every table as text; what is binary as it is written in a dump, and as it could be read. */
export async function dump(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const all = await pool.query<{ text: string }>(`select t::text as text from "${name}" t`)
      return all.rows.map(({ text }) => `${text}\n${readable(text)}`).join('\n')
    }),
  )
  expect(rows.length).toBeGreaterThan(20)
  return texts.join('\n')
}
const readable = (text: string): string =>
  [...text.matchAll(/\\+x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1')).join('\n')

/** Arguments of all processes of this machine. */
export function allArguments(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
    .join('\n')
}
