import { mkdir } from 'node:fs/promises'
import { invalid, type Outcome, refused } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import { FolderInUse, lockFolder } from '../../process/folder-lock.ts'
import type { Session } from '../session.ts'
import {
  cursorOf,
  DamagedFile,
  type Entry,
  entryOf,
  fileName,
  type Gap,
  problemOf,
  readEntries,
  readPosition,
  recordName,
  tidy,
  writePosition,
  writeWhole,
} from './folder.ts'
import { FORMATS, type FormatName } from './format.ts'
import { type ArchivedStream, isLost, type LostPlace, type StreamLine } from './stream.ts'

/** Bounds of a file, which is made in memory: lines, and characters of their JSON. A line that is larger has its own. */
const MOST = { lines: 50_000, characters: 32 * 1024 * 1024 } as const

export const ARCHIVE_LOCK = '.archive.lock.'

export interface ArchiveTarget {
  readonly folder: string
  readonly format: FormatName
}
export interface Archived {
  readonly stream: string
  readonly lines: number
  /** Names of the files that this run has written, those of gaps with them. */
  readonly files: readonly string[]
  readonly gaps: readonly Gap[]
}

/**
 * Writes what has come since the last run. A run that is killed leaves whole files alone, and the next one continues after the last line of
 * the newest: so no line is lost or there twice.
 */
export async function archiveStream(
  session: Session,
  stream: ArchivedStream,
  target: ArchiveTarget,
): Promise<Outcome<Archived>> {
  const { folder } = target
  const inUse = (pid: number): string => `The process ${pid} writes to ${folder}. Wait until it has ended.`
  await mkdir(folder, { recursive: true })
  try {
    await using held = new AsyncDisposableStack()
    held.use(await lockFolder({ folder, prefix: ARCHIVE_LOCK, inUse }))
    return await new Archiver(session, stream, target).run()
  } catch (error) {
    if (error instanceof FolderInUse) return refused({ code: 'FOLDER_IN_USE', message: error.message })
    if (error instanceof DamagedFile) return refused(broken(folder, error.message))
    throw error
  }
}

const broken = (folder: string, problem: string) => ({ code: 'ARCHIVE_BROKEN', message: `In ${folder} ${problem}.` })

const EPOCH = gql('query LogEpoch { log { epoch } }')

/** One run. It reads a page, makes files of what is pending when one is full, and ends at the line that was the last when it began. */
class Archiver {
  readonly #session: Session
  readonly #stream: ArchivedStream
  readonly #target: ArchiveTarget
  #entries: Entry[] = []
  #cursor: string | null = null
  #pending: StreamLine[] = []
  #characters = 0
  #lines = 0
  readonly #files: string[] = []
  readonly #gaps: Gap[] = []

  constructor(session: Session, stream: ArchivedStream, target: ArchiveTarget) {
    this.#session = session
    this.#stream = stream
    this.#target = target
  }

  async run(): Promise<Outcome<Archived>> {
    const { folder, format } = this.#target
    await tidy(folder)
    this.#entries = await readEntries(folder)
    const problem = problemOf(this.#entries)
    if (problem !== null) return refused(broken(folder, `${problem}: a file is missing`))
    const other = this.#entries.find(({ type }) => type !== 'json' && type !== format)
    if (other) return refused(invalid(`${folder} has files of ${other.type}: name another folder for ${format}.`))
    const known = await readPosition(folder, this.#newest)
    this.#cursor = known ?? (this.#newest ? await cursorOf(folder, this.#newest) : null)
    const end = await this.#stream.end(this.#session)
    for (;;) {
      const page = await this.#stream.read(this.#session, this.#cursor)
      if (isLost(page)) {
        await this.#flush()
        if (await this.#bridge(page)) continue
        const message = `The server has none of the lines with which the files of ${folder} end: they are of another server, or it was restored to a time before them. Name another folder.`
        return refused({ code: 'OTHER_HISTORY', message })
      }
      for (const line of page.lines) await this.#add(line)
      const isEnd = page.next === this.#cursor || (page.lines.at(-1)?.sequence ?? 0) >= end
      this.#cursor = page.next
      if (isEnd) break
    }
    await this.#flush()
    await writePosition(folder, { after: this.#newest?.name ?? null, cursor: this.#cursor })
    const [files, gaps] = [this.#files, this.#gaps]
    return { ok: true, value: { stream: this.#stream.name, lines: this.#lines, files, gaps } }
  }

  get #newest(): Entry | undefined {
    return this.#entries.at(-1)
  }

  async #add(line: StreamLine): Promise<void> {
    const [first] = this.#pending
    const isFull = this.#pending.length >= MOST.lines || this.#characters + line.text.length > MOST.characters
    // The time of a line may be a little before that of the line before it.
    if (first && (isFull || dayOf(line) > dayOf(first))) await this.#flush()
    this.#pending.push(line)
    this.#characters += line.text.length
  }

  async #flush(): Promise<void> {
    const [oldest] = this.#pending
    const last = this.#pending.at(-1)?.sequence
    if (!oldest || last === undefined) return
    const { history = 1, last: before = 0 } = this.#newest ?? {}
    const name = fileName(history, { first: before + 1, last, day: dayOf(oldest) }, this.#target.format)
    await this.#write(name, await FORMATS[this.#target.format].encode(this.#pending, this.#stream))
    this.#lines += this.#pending.length
    this.#pending = []
    this.#characters = 0
  }

  async #write(name: string, content: string | Uint8Array): Promise<void> {
    await writeWhole(this.#target.folder, name, content)
    this.#files.push(name)
    const entry = entryOf(name)
    if (entry) this.#entries.push(entry)
  }

  /** Continues behind a gap, and records it. False: the server has nothing with which the archive could continue. */
  async #bridge({ oldest, startCursor }: LostPlace): Promise<boolean> {
    const { history = 1, last = 0 } = this.#newest ?? {}
    const { name } = this.#stream
    if (last < oldest - 1) {
      const message = `The server does not keep ${last + 1} to ${oldest - 1} of its ${name} any more, and the archive does not have them.`
      const gap = { why: 'PRUNED', history, after: { history, sequence: last }, next: oldest, message } as const
      return await this.#record(gap, startCursor)
    }
    const found = await this.#lastInCommon(oldest)
    if (!found) return false
    const { entry, cursor } = found
    // Only the position behind the last line was lost.
    if (entry !== null && entry === this.#newest) {
      this.#cursor = cursor
      return true
    }
    const after = { history: entry?.history ?? history, sequence: entry?.last ?? 0 }
    const message = `The server was restored or has failed over: its ${name} continues after ${after.sequence} of history ${after.history} with history ${history + 1}. The lines of the archive behind that are of a history that was lost.`
    const gap = { why: 'RESTORED', history: history + 1, after, next: after.sequence + 1, message } as const
    return await this.#record(gap, cursor)
  }

  /** The newest file whose last line the server has; no entry: its beginning, which all histories of a log have. */
  async #lastInCommon(
    oldest: number,
  ): Promise<{ readonly entry: Entry | null; readonly cursor: string | null } | null> {
    for (const entry of this.#entries.toReversed()) {
      if (entry.last < oldest - 1) return null
      const cursor = await cursorOf(this.#target.folder, entry)
      if (!isLost(await this.#stream.read(this.#session, cursor))) return { entry, cursor }
    }
    const { client, io } = this.#session
    const { log } = await client.query(EPOCH, {}, { signal: io.signal })
    return oldest === 1 && log.epoch > 1 ? { entry: null, cursor: null } : null
  }

  async #record(gap: Gap, cursor: string | null): Promise<true> {
    const name = recordName(gap.history, gap.next - 1, gap.why === 'PRUNED' ? 'pruned' : 'restored')
    await this.#write(name, `${JSON.stringify({ ...gap, cursor })}\n`)
    this.#gaps.push(gap)
    this.#cursor = cursor
    return true
  }
}

/** In UTC. */
const dayOf = ({ at }: StreamLine): string => at.slice(0, 10)
