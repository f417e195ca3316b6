import { buffer } from 'node:stream/consumers'
import { type Header, pack } from 'tar-stream'
import { partsOf } from '../runtime/file-path.ts'
import type { Workload } from '../runtime/runtime.ts'
import { OWN_FOLDER } from './container-of.ts'

/** Private to the user of the container; scripts are executable. */
const modeOf = (content: string): number => (content.startsWith('#!') ? 0o700 : 0o600)

/**
 * The files of a workload as a tar archive of its workspace, with a folder of the user if there is one.
 * @param user `uid` or `uid:gid`; null: the image's own, which is root's as far as files are concerned
 * @throws StartProblem when a path leads out of the folder
 */
export async function archiveOf(files: Workload['files'], user: string | null): Promise<Buffer> {
  const [uid = 0, gid = uid] = (user ?? '0').split(':').map(Number)
  const owner: Partial<Header> = { uid, gid, mtime: new Date() }
  const folders = foldersOf(files)
  const archive = pack()
  const base = user === null ? '' : `${OWN_FOLDER}/`
  const directory: Partial<Header> = { ...owner, type: 'directory', mode: 0o755 }
  if (base) archive.entry({ ...directory, name: base })
  for (const folder of folders) archive.entry({ ...directory, name: `${base}${folder}/` })
  for (const { path, content } of files) archive.entry({ ...owner, name: base + path, mode: modeOf(content) }, content)
  archive.finalize()
  return await buffer(archive)
}

function foldersOf(files: Workload['files']): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const { path } of files) {
    const parts = partsOf(path)
    for (let length = 1; length < parts.length; length += 1) folders.add(parts.slice(0, length).join('/'))
  }
  return folders
}
