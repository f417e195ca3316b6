import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Header, type Pack, pack } from 'tar-stream'
import type { Workload } from '../runtime/runtime.ts'
import { foldersOf, modeOf, secretOf } from '../runtime/workload-files.ts'
import { OWN_FOLDER, SECRETS } from './container-of.ts'

/** A clone on this machine, and its folder in the working folder. */
export interface Cloned {
  readonly folder: string
  readonly path: string | null
}

/**
 * The clone and the files of a workload as a tar archive of its workspace, with a folder of the user if there is one. A file whose content
 * is a secret is a link to the secret's own file.
 * @param user `uid` or `uid:gid`; null: the image's own, which is root's as far as files are concerned
 * @throws StartProblem when a path leads out of the folder
 */
export function archiveOf(
  workload: Pick<Workload, 'files' | 'secrets'>,
  user: string | null,
  cloned: Cloned | null,
): Readable {
  const owner: Partial<Header> = { ...ownerOf(user), mtime: new Date() }
  const base = user === null ? '' : `${OWN_FOLDER}/`
  const entries = entriesOf(workload).map(({ header, content }) => ({
    header: { ...owner, ...header, name: base + header.name },
    content,
  }))
  const archive = pack()
  const fill = async (): Promise<void> => {
    if (base) archive.entry({ ...owner, ...FOLDER, name: base })
    if (cloned) await addTree(archive, cloned.folder, { owner, base: `${base}${cloned.path ?? ''}` })
    for (const { header, content } of entries) {
      if (content === undefined) archive.entry(header)
      else archive.entry(header, content)
    }
    archive.finalize()
  }
  void fill().catch((error: Error) => archive.destroy(error))
  return Readable.from(archive)
}

export function ownerOf(user: string | null): { readonly uid: number; readonly gid: number } {
  const [uid = 0, gid = uid] = (user ?? '0').split(':').map(Number)
  return { uid, gid }
}

const FOLDER = { type: 'directory', mode: 0o755 } as const

type Named = Partial<Header> & { readonly name: string }
interface Entry {
  readonly header: Named
  readonly content?: string
}
function entriesOf(workload: Pick<Workload, 'files' | 'secrets'>): readonly Entry[] {
  const folders = [...foldersOf(workload.files.map(({ path }) => path))]
  return [
    ...folders.map((folder): Entry => ({ header: { ...FOLDER, name: `${folder}/` } })),
    ...workload.files.map((file): Entry => {
      const { path: name, content } = file
      const secret = secretOf(file, workload)
      if (secret !== null) return { header: { name, type: 'symlink', linkname: `${SECRETS}/${secret}` } }
      return { header: { name, mode: modeOf(content) }, content }
    }),
  ]
}

/** Adds what is in a folder: its links as links, wherever they lead. */
async function addTree(
  archive: Pack,
  folder: string,
  { owner, base }: { readonly owner: Partial<Header>; readonly base: string },
): Promise<void> {
  for (const above of foldersOf(base === '' ? [] : [`${base.replace(/\/$/, '')}/x`]))
    archive.entry({ ...owner, ...FOLDER, name: `${above}/` })
  const add = async (relative: string): Promise<void> => {
    for (const entry of await readdir(join(folder, relative), { withFileTypes: true })) {
      const below = join(relative, entry.name)
      const path = join(folder, below)
      const name = join(base, below)
      if (entry.isDirectory()) {
        archive.entry({ ...owner, ...FOLDER, name: `${name}/` })
        await add(below)
      } else if (entry.isSymbolicLink())
        archive.entry({ ...owner, name, type: 'symlink', linkname: await readlink(path) })
      else await addFile(archive, path, { ...owner, name })
    }
  }
  await add('')
}

const EXECUTABLE = 0o111
async function addFile(archive: Pack, path: string, header: Named): Promise<void> {
  const { size, mode } = await lstat(path)
  const entry = archive.entry({ ...header, size, mode: mode & EXECUTABLE ? 0o755 : 0o644 })
  await pipeline(createReadStream(path), entry)
}
