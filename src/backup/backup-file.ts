import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { problemOfSurroundings } from '../core/surroundings.ts'
import { BackupProblem } from './backup-problem.ts'
import { FORMAT, MAX_MANIFEST_BYTES, type Manifest, parseManifest } from './manifest.ts'

/**
 * The file of a backup: a line that names the format, a line with the manifest in JSON, an archive of pg_dump, and a last
 * line with the SHA-256 of all before it. A file that was cut off has no such line.
 */

const MAGIC = 'phaseline-backup '
const MAX_MAGIC_BYTES = 64
const NEWLINE = 0x0a
const TRAILER = /^\nsha256 ([0-9a-f]{64})\n$/
const TRAILER_BYTES = 73

/** Writes all of it to the disk. */
export async function writeBackupFile(
  file: FileHandle,
  manifest: Manifest,
  writeArchive: (write: (chunks: Readable) => Promise<void>) => Promise<void>,
): Promise<void> {
  const sha256 = createHash('sha256')
  const append = async (chunk: Buffer): Promise<void> => {
    sha256.update(chunk)
    await file.appendFile(chunk)
  }
  await append(Buffer.from(`${MAGIC}${FORMAT}\n${JSON.stringify(manifest)}\n`))
  await writeArchive((chunks) =>
    pipeline(chunks, async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) await append(chunk)
    }),
  )
  await file.appendFile(`\nsha256 ${sha256.digest('hex')}\n`)
  await file.sync()
}

/** A backup whose checksum is right. */
export interface OpenBackup extends AsyncDisposable {
  readonly manifest: Manifest
  readonly bytes: number
  /** The input of pg_restore. */
  archive(): Readable
}

/**
 * Reads the whole file, but interprets only its checksum and its manifest.
 * @throws BackupProblem when it is no backup, or is not complete
 */
export async function openBackupFile(path: string): Promise<OpenBackup> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new BackupProblem('INVALID_INPUT', `There is no file ${path}.`)
    throw new BackupProblem('INVALID_INPUT', problemOfSurroundings(error) ?? `${path} cannot be read: ${error.code}.`)
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new BackupProblem('INVALID_INPUT', `${path} is not a file.`)
    const bytes = stats.size
    const start = await readStart(file)
    const [magic, manifestText] = linesOf(start)
    checkMagic(path, magic)
    await checkSum(path, file, bytes)
    const manifest = manifestText === undefined ? null : parseManifest(manifestText)
    if (manifest === null || magic === undefined || manifestText === undefined)
      throw new BackupProblem('INVALID_INPUT', `${path} has no manifest of a backup: take another copy of it.`)
    const from = Buffer.byteLength(`${magic}\n${manifestText}\n`)
    return {
      manifest,
      bytes,
      archive: () => chunksOf(file, from, bytes - TRAILER_BYTES),
      [Symbol.asyncDispose]: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readStart(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_MAGIC_BYTES + MAX_MANIFEST_BYTES), 0, null, 0)
  return buffer.subarray(0, bytesRead)
}

/** The first two lines; undefined: there is none, within its bound. */
function linesOf(start: Buffer): readonly [string | undefined, string | undefined] {
  const first = start.subarray(0, MAX_MAGIC_BYTES).indexOf(NEWLINE)
  if (first === -1) return [undefined, undefined]
  const second = start.indexOf(NEWLINE, first + 1)
  const text = (from: number, to: number): string => start.toString('utf8', from, to)
  return [text(0, first), second === -1 ? undefined : text(first + 1, second)]
}

function checkMagic(path: string, magic: string | undefined): void {
  if (!magic?.startsWith(MAGIC))
    throw new BackupProblem(
      'INVALID_INPUT',
      `${path} is no backup of Phaseline: name a file that \`phaseline backup\` has written, or use pg_restore or psql for a dump of your own.`,
    )
  const format = magic.slice(MAGIC.length)
  if (format !== String(FORMAT))
    throw new BackupProblem(
      'INVALID_INPUT',
      `${path} has the format ${format.slice(0, 10)}, and this version reads ${FORMAT}: restore it with the version that has written it, or a newer one.`,
    )
}

async function checkSum(path: string, file: FileHandle, bytes: number): Promise<void> {
  const end = Math.max(0, bytes - TRAILER_BYTES)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(TRAILER_BYTES), 0, TRAILER_BYTES, end)
  const [, expected] = TRAILER.exec(buffer.toString('latin1', 0, bytesRead)) ?? []
  if (expected === undefined)
    throw new BackupProblem(
      'INVALID_INPUT',
      `${path} is cut off: its last line, the checksum, is missing. Take another copy of it, or an older backup.`,
    )
  const sha256 = createHash('sha256')
  for await (const chunk of chunksOf(file, 0, end)) sha256.update(chunk as Buffer)
  if (sha256.digest('hex') !== expected)
    throw new BackupProblem(
      'INVALID_INPUT',
      `${path} is damaged: its checksum is not that of its content. Take another copy of it, or an older backup.`,
    )
}

const CHUNK_BYTES = 256 * 1024

/** The bytes from one place up to another, read at their places: the file stays open for the next reader. */
function chunksOf(file: FileHandle, from: number, to: number): Readable {
  return Readable.from(
    (async function* () {
      for (let at = from; at < to; ) {
        const length = Math.min(CHUNK_BYTES, to - at)
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
        at += bytesRead
      }
    })(),
    { objectMode: false },
  )
}
