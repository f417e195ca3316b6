import { dirname, join } from 'node:path/posix'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Header, Pack } from 'tar-stream'
import { FOLDER_BOUNDS } from '../../../../core/artifact.ts'
import { quoted } from '../runtime/workload-files.ts'
import { ArtifactProblem } from './artifact-problem.ts'

/**
 * A folder as a compressed tar archive. The same entries are made and read: folders, files and links that stay within the
 * folder, as many and as large as `FOLDER_BOUNDS` allow. Anything else is a problem, so an archive neither writes outside of the
 * folder it is unpacked into, nor fills its disk.
 */
export type Entry =
  | { readonly type: 'folder'; readonly path: string }
  | {
      readonly type: 'file'
      readonly path: string
      readonly size: number
      readonly isExecutable: boolean
      readonly body: Body
    }
  | { readonly type: 'link'; readonly path: string; readonly target: string }
type Body = AsyncIterable<Uint8Array>

/** Takes little of a processor and most of the size. */
const LEVEL = 3
const EXECUTABLE = 0o111

/** @throws ArtifactProblem while it is read */
export function compressed(entries: AsyncIterable<Entry>): Readable {
  const gzip = createGzip({ level: LEVEL })
  pipeline(tarOf(checked(entries)), gzip).catch(() => {})
  return gzip
}

/** A tar archive, for those who unpack it themselves. */
export async function* tarOf(entries: AsyncIterable<Entry>, owner: Partial<Header> = {}): AsyncGenerator<Uint8Array> {
  // Built-in agents load it when the first folder travels.
  const { pack } = await import('tar-stream')
  const packed = pack()
  // The error reaches whoever reads the archive.
  packAll(packed, entries, owner).catch((error: Error) => packed.destroy(error))
  yield* packed as AsyncIterable<Uint8Array>
}

async function packAll(packed: Pack, entries: AsyncIterable<Entry>, owner: Partial<Header>): Promise<void> {
  for await (const entry of entries) {
    const { header, body } = headerOf(entry, owner)
    const { promise: written, resolve, reject } = Promise.withResolvers<void>()
    const sink = packed.entry(header, (error) => (error ? reject(error) : resolve()))
    // An error of the body destroys the entry as well, which nobody waits for then.
    sink.on('error', () => {})
    written.catch(() => {})
    if (body !== null) await writeAll(sink, body)
    await written
  }
  packed.finalize()
}

interface Sink {
  write(chunk: Uint8Array): boolean
  end(last: null): unknown
  on(event: 'drain' | 'close' | 'error', listener: () => void): unknown
  readonly destroyed: boolean
}
async function writeAll(sink: Sink, body: Body): Promise<void> {
  let resume = (): void => {}
  for (const event of ['drain', 'close'] as const) sink.on(event, () => resume())
  for await (const chunk of body) {
    if (sink.destroyed) return
    if (!sink.write(chunk))
      await new Promise<void>((resolve) => {
        resume = resolve
      })
  }
  sink.end(null)
}

/** Without owners and times, so that the same content is the same archive. */
function headerOf(
  entry: Entry,
  owner: Partial<Header>,
): { header: Partial<Header> & { name: string }; body: Body | null } {
  const common = { mtime: new Date(0), uid: 0, gid: 0, ...owner, name: entry.path }
  if (entry.type === 'folder')
    return { header: { ...common, name: `${entry.path}/`, type: 'directory', mode: 0o755 }, body: null }
  if (entry.type === 'link')
    return { header: { ...common, type: 'symlink', mode: 0o777, linkname: entry.target, size: 0 }, body: null }
  const { size, isExecutable, body } = entry
  return { header: { ...common, type: 'file', mode: isExecutable ? 0o755 : 0o644, size }, body }
}

/** The entries of a compressed archive. Each file's body is read before the next entry. @throws ArtifactProblem */
export function entriesIn(content: Body): AsyncIterable<Entry> {
  const gunzip = createGunzip()
  // Its error is the reader's, too.
  pipeline(content, gunzip).catch(() => {})
  return checked(tarEntries(gunzip))
}

/** The entries of a tar archive, by whomever it was made. */
export async function* tarEntries(tar: Body): AsyncGenerator<Entry> {
  const { extract } = await import('tar-stream')
  const extracted = extract()
  writeAll(extracted, tar).catch((error: Error) => extracted.destroy(error))
  for await (const part of extracted) {
    const { name, type, size, mode, linkname } = part.header
    const path = name.replace(/^(\.\/)+/, '').replace(/\/+$/, '')
    if (type === 'directory') {
      if (path !== '' && path !== '.') yield { type: 'folder', path }
    } else if (type === 'file' || type === 'contiguous-file')
      yield { type: 'file', path, size, isExecutable: (mode & EXECUTABLE) !== 0, body: part as Body }
    else if (type === 'symlink') yield { type: 'link', path, target: linkname }
    else if (type === 'link')
      throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is a hard link: leave a copy of the file.`)
    else throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is no file, folder or symbolic link.`)
    part.resume()
  }
}

export async function* checked(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  let [count, bytes] = [0, 0]
  for await (const entry of entries) {
    count += 1
    if (count > FOLDER_BOUNDS.entries) throw tooLarge(`more than ${FOLDER_BOUNDS.entries} files and folders`)
    requireWithin(entry.path)
    if (entry.type === 'link') requireLinkWithin(entry)
    if (entry.type === 'file') {
      bytes += entry.size
      if (bytes > FOLDER_BOUNDS.bytes) throw tooLarge(`more than ${FOLDER_BOUNDS.bytes} bytes`)
    }
    yield entry
  }
}

const tooLarge = (what: string): ArtifactProblem => new ArtifactProblem('ARTIFACT_TOO_LARGE', `The folder has ${what}.`)

function requireWithin(path: string): void {
  const isWithin = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isWithin || path.includes('\0') || Buffer.byteLength(path) > FOLDER_BOUNDS.pathBytes)
    throw new ArtifactProblem('ARTIFACT_UNSAFE', `The path ${quoted(path)} leads out of the folder, or is too long.`)
}

/** By its text alone: links are made after all files, so none of them leads a file elsewhere. */
function requireLinkWithin({ path, target }: { readonly path: string; readonly target: string }): void {
  const reached = join(dirname(path), target)
  if (target === '' || target.startsWith('/') || target.includes('\0') || reached === '..' || reached.startsWith('../'))
    throw new ArtifactProblem('ARTIFACT_UNSAFE', `The link ${quoted(path)} leads out of the folder.`)
}
