import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readPresent, recordOf } from '../archive/folder.ts'
import type { LogFiles } from './lines.ts'
import type { LogProblem } from './segment.ts'
import { type VerifiedLog, type VerifyParts, verifyLog } from './verify-log.ts'

/** The parts of an export, which gaps divide. */

/** Sequences that were pruned before they were archived, as a record in the archive says. */
interface PrunedGap {
  readonly from: number
  readonly through: number
}
interface Part extends LogFiles {
  /** The gap before it. */
  readonly gap: PrunedGap | null
}
type File = LogFiles['files'][number]

/** @throws if there is nothing that can be verified */
export async function partsOf(paths: readonly string[]): Promise<readonly Part[]> {
  let files: File[] = []
  let gap: PrunedGap | null = null
  const parts: Part[] = []
  for (const path of paths)
    for (const found of (await stat(path)).isDirectory() ? await contentOf(path) : [await fileAt(path)]) {
      if ('path' in found) files.push(found)
      else {
        if (files.length > 0) parts.push({ files, gap })
        gap = { from: files.length === 0 && gap ? gap.from : found.from, through: found.through }
        files = []
      }
    }
  return [...parts, { files, gap }]
}

/** The present history of an archive, or the files in the order of their names. */
async function contentOf(folder: string): Promise<readonly (File | PrunedGap)[]> {
  const present = await readPresent(folder)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson')).toSorted()
  if (names.length === 0) throw new Error(`${folder} has no files *.ndjson.`)
  if (present.length === 0) return await Promise.all(names.map((name) => fileAt(join(folder, name))))
  return await Promise.all(
    present.map(async (entry) => {
      if (entry.type !== 'json') return await fileAt(join(folder, entry.name))
      const { after, next } = await recordOf(folder, entry)
      return { from: after.sequence + 1, through: next - 1 }
    }),
  )
}
const fileAt = async (path: string): Promise<File> => ({ path, size: (await stat(path)).size })

/** Verifies each part for itself. A seal of a block in which a gap begins vouches for nothing. */
export async function verifyParts(
  parts: readonly Part[],
  { seals, ...rest }: VerifyParts,
): Promise<VerifiedLog & { readonly gaps: readonly PrunedGap[] }> {
  const gaps = parts.flatMap(({ gap }) => gap ?? [])
  let whole: VerifiedLog = { range: null, count: 0, partial: 0, unsealed: 0, found: null }
  for (const [i, { gap, files }] of parts.entries()) {
    const next = parts[i + 1]?.gap?.from ?? Number.POSITIVE_INFINITY
    const own = seals.filter(({ last }) => last >= (gap?.through ?? 0) + 1 && last < next)
    const log = await verifyLog({ files }, { ...rest, seals: own })
    const { range } = log
    whole = {
      range: range ? { first: whole.range?.first ?? range.first, last: range.last } : whole.range,
      count: whole.count + log.count,
      partial: whole.partial + log.partial,
      unsealed: whole.unsealed + log.unsealed,
      found: log.found ?? missingBeside(gap, range, next),
    }
    if (whole.found) break
  }
  return { ...whole, gaps }
}

/** A gap lacks no more than its record says. */
function missingBeside(gap: PrunedGap | null, range: VerifiedLog['range'], next: number): LogProblem | null {
  const missing = (sequence: number, what: string): LogProblem => ({ sequence, problem: 'MISSING', what })
  if (!range) return null
  const first = gap ? gap.through + 1 : range.first
  if (range.first !== first) return missing(first, `${range.first} is in the place of ${first}`)
  if (next === Number.POSITIVE_INFINITY || range.last === next - 1) return null
  return missing(range.last + 1, `the record of the gap begins at ${next}, and the log before it ends at ${range.last}`)
}
