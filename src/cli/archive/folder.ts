import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { problemOfSurroundings } from '../../core/surroundings.ts'
import { FORMATS, type FormatName } from './format.ts'

/** The folder of one stream: files that are complete and never change, whose names sort in the order of the stream. */

/** A file with lines, or a record of what the server no longer has (`json`). */
export interface Entry {
  readonly name: string
  /** 1, and one more after each restore or failover that has ended a history of which the archive has lines. */
  readonly history: number
  /** The sequences that it covers. A record has no first one: it says that the archive continues after `last`. */
  readonly first: number | null
  readonly last: number
  readonly type: FormatName | 'json'
}

/** A part of the stream that the archive cannot have, as it stands in the folder. */
export interface Gap {
  readonly why: 'PRUNED' | 'RESTORED'
  readonly history: number
  /** The last line before the gap. RESTORED: the lines of that history behind it are of no other one. */
  readonly after: { readonly history: number; readonly sequence: number }
  /** The next line of the server has this sequence, or a later one. */
  readonly next: number
  readonly message: string
}

const NAME =
  /^(?<history>\d{3,})-(?:(?<first>\d{12,})-)?(?<last>\d{12,})-(?:\d{4}-\d\d-\d\d\.(?<format>ndjson|parquet)|(?:pruned|restored)\.json)$/
const digits = (value: number, length: number): string => String(value).padStart(length, '0')

export const fileName = (
  history: number,
  { first, last, day }: { readonly first: number; readonly last: number; readonly day: string },
  format: FormatName,
): string => `${digits(history, 3)}-${digits(first, 12)}-${digits(last, 12)}-${day}.${format}`

export const recordName = (history: number, last: number, why: 'pruned' | 'restored'): string =>
  `${digits(history, 3)}-${digits(last, 12)}-${why}.json`

export function entryOf(name: string): Entry | null {
  const { history, first, last, format } = NAME.exec(name)?.groups ?? {}
  if (history === undefined || last === undefined) return null
  const type = (format as FormatName | undefined) ?? 'json'
  return { name, type, history: Number(history), first: first === undefined ? null : Number(first), last: Number(last) }
}

/** In their order. Files of others are left out. */
export async function readEntries(folder: string): Promise<Entry[]> {
  const names = await readdir(folder)
  return names.flatMap((name) => entryOf(name) ?? []).toSorted((a, b) => a.history - b.history || a.last - b.last)
}

/** Names the first file that does not follow the one before it; null: all do. The oldest ones may have been moved away. */
export function problemOf(entries: readonly Entry[]): string | null {
  const wrong = entries.findIndex(({ history, first }, i) => {
    const before = entries[i - 1]
    return before && first !== null && !(before.history === history && before.last === first - 1)
  })
  return wrong < 0 ? null : `${entries[wrong]?.name} does not follow ${entries[wrong - 1]?.name}`
}

/** The files of the present history, oldest first. A record among them is of lines that were pruned; that of a restore names the history before it. */
export async function readPresent(folder: string): Promise<readonly Entry[]> {
  const present: Entry[] = []
  const entries = await readEntries(folder)
  let [history, end] = [entries.at(-1)?.history, Number.POSITIVE_INFINITY]
  for (const entry of entries.toReversed()) {
    if (entry.history !== history || entry.last > end) continue
    const record = entry.type === 'json' ? await recordOf(folder, entry) : null
    if (record?.why === 'RESTORED') ({ history, sequence: end } = record.after)
    else present.unshift(entry)
  }
  return present
}

/** A file of an archive that somebody else has changed, or a disk. */
export class DamagedFile extends Error {}

/** The cursor is null where the stream begins anew. */
type GapRecord = Gap & { readonly cursor: string | null }

/** @throws DamagedFile */
export const recordOf = (folder: string, { name }: Entry): Promise<GapRecord> =>
  readSound(name, async () => {
    const record = JSON.parse(await readFile(join(folder, name), 'utf8')) as GapRecord
    const hasCursor = record.cursor === null || typeof record.cursor === 'string'
    if (!hasCursor || ![record.next, record.after.sequence].every(Number.isSafeInteger))
      throw new TypeError('it is no record')
    return record
  })

/** @throws DamagedFile */
export async function cursorOf(folder: string, entry: Entry): Promise<string | null> {
  const { name, type } = entry
  if (type === 'json') return (await recordOf(folder, entry)).cursor
  return await readSound(name, () => FORMATS[type].cursorOf(join(folder, name)))
}

async function readSound<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (problemOfSurroundings(error) !== null) throw error
    throw new DamagedFile(`${name} is damaged: ${(error as Error).message}`, { cause: error })
  }
}

const PART = '.part-'

/** Removes what a killed run has left. The lock of the folder is held. */
export async function tidy(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => name.startsWith(PART))
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })))
}

/** The file is on the disk with its whole content, or not there at all. */
export async function writeWhole(folder: string, name: string, content: string | Uint8Array): Promise<void> {
  const part = join(folder, `${PART}${name}`)
  const file = await open(part, 'w')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, join(folder, name))
  const directory = await open(folder)
  await directory.sync().finally(() => directory.close())
}

/**
 * How far the server was read behind the last line, where a stream has few lines: otherwise pruning would look like a gap. The file is a
 * hint; without it a run continues after the last line.
 */
const POSITION = '.position.json'
interface Position {
  /** The newest file at that time; null: none. */
  readonly after: string | null
  readonly cursor: string | null
}
export const writePosition = (folder: string, position: Position): Promise<void> =>
  writeWhole(folder, POSITION, `${JSON.stringify(position)}\n`)

/** Undefined: there is none, or a later run has written more. */
export async function readPosition(folder: string, newest: Entry | undefined): Promise<string | null | undefined> {
  try {
    const position = JSON.parse(await readFile(join(folder, POSITION), 'utf8')) as Position
    return position.after === (newest?.name ?? null) ? position.cursor : undefined
  } catch {
    return undefined
  }
}
