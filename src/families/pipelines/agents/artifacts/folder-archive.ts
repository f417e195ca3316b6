import type { Header } from 'tar-stream'
import type { Left, Taken } from '../runtime/runtime.ts'
import { foldersOf, quoted } from '../runtime/workload-files.ts'
import { compressed, type Entry, entriesIn, tarEntries, tarOf } from './archive.ts'
import { ArtifactProblem } from './artifact-problem.ts'

/** Artifacts of working folders that another program packs and unpacks: an engine, or `tar` in a pod. */

/**
 * An artifact that a workload takes, as a tar archive of its working folder.
 * @param base the path of the working folder in the archive, with a `/` at its end @throws ArtifactProblem, or the error of its body
 */
export const archiveOfTaken = (
  taken: Taken,
  { base = '', owner = {} }: { readonly base?: string; readonly owner?: Partial<Header> } = {},
): AsyncGenerator<Uint8Array> => tarOf(entriesOfTaken(taken, base), owner)

async function* entriesOfTaken({ path, isFolder, size, body }: Taken, base: string): AsyncGenerator<Entry> {
  for (const folder of foldersOf([path])) yield { type: 'folder', path: `${base}${folder}` }
  if (!isFolder) return yield { type: 'file', path: `${base}${path}`, size, isExecutable: false, body }
  yield { type: 'folder', path: `${base}${path}` }
  for await (const entry of entriesIn(body)) yield { ...entry, path: `${base}${path}/${entry.path}` }
}

/**
 * An artifact that a workload leaves, from the archive that is made of it.
 * @throws ArtifactProblem, also while its body is read
 */
export async function leftIn(tar: AsyncIterable<Uint8Array>, path: string): Promise<Left> {
  const entries = tarEntries(tar)
  const { value: first } = await entries.next()
  if (first?.type === 'file') return { isFolder: false, body: wholly(first.body, entries) }
  if (first?.type !== 'folder')
    throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is no file and no folder.`)
  return { isFolder: true, body: compressed(below(first.path, entries)) }
}

/** The program that packs it may say only at the end that it could not read all of it. */
async function* wholly(body: AsyncIterable<Uint8Array>, rest: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  yield* body
  for await (const _ of rest);
}

async function* below(folder: string, entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  for await (const entry of entries) yield { ...entry, path: entry.path.slice(folder.length + 1) }
}
