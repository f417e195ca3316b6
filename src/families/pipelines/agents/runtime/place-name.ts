import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { writeWhole } from '../../../../agents/files/write-whole.ts'

const HOST_LENGTH = 30

/**
 * The name of a place that is one machine's, such as `process-web-1-3f9c0a517b2e`: people know the machine by it, and no two
 * places have the same, since each would take the other's workloads for lost. Made once for each file.
 */
export async function readPlaceName(type: string, file: string): Promise<string> {
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (known) return known
  const name = placeName(type, hostname(), randomBytes(6).toString('hex'))
  await writeWhole(file, `${name}\n`)
  return name
}

/** The first label of the host's name, as far as it may stand in a label or a path. */
export function placeName(type: string, host: string, suffix: string): string {
  const [label = ''] = host.toLowerCase().split('.')
  const plain = label.replace(/[^a-z0-9-]+/g, '-').slice(0, HOST_LENGTH)
  return [type, plain.replace(/^-+|-+$/g, ''), suffix].filter((part) => part !== '').join('-')
}
