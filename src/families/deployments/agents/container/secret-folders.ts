import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memoryFolder } from '../../../../agents/container/memory-folder.ts'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import type { WorkItem } from '../../../../client/index.ts'
import { sameJson } from '../../../../core/json.ts'
import { untilSettled } from '../../../../core/until-settled.ts'
import { DeployError } from '../deploy-error.ts'
import { SECRETS } from './container-of.ts'
import type { Config } from './read-config.ts'

/** A container may have any user; its folder is within one that is private on this machine. */
const READABLE_FOLDER = { mode: 0o755 } as const
const READABLE = { mode: 0o444 } as const

type InMemory = Pick<Config, 'secrets' | 'files'>
/** A file, or the files of a folder by their names. */
type Content = string | Readonly<Record<string, string>>

/** By path: the folder of the secrets, if there are any, and each file. */
const contentsOf = ({ secrets, files }: InMemory): ReadonlyMap<string, Content> =>
  new Map<string, Content>([
    ...(Object.keys(secrets).length > 0 ? [[SECRETS, secrets] as const] : []),
    ...Object.entries(files),
  ])

async function writeContent(path: string, content: Content): Promise<void> {
  if (typeof content === 'string') return await writeFile(path, content, READABLE)
  await mkdir(path, READABLE_FOLDER)
  await untilSettled(Object.entries(content).map(([name, text]) => writeFile(join(path, name), text, READABLE)))
}

/** Undefined: it is not there. */
async function readContent(path: string): Promise<Content | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return await readFile(path, 'utf8')
    const names = await readdir(path)
    const read = names.map(async (name) => [name, await readFile(join(path, name), 'utf8')] as const)
    return Object.fromEntries(await Promise.all(read))
  } catch {
    return undefined
  }
}

/** The secrets and files of containers: in memory, never on a disk. */
export class SecretFolders {
  readonly #root: string | null
  private constructor(root: string | null) {
    this.#root = root
  }

  static async open(): Promise<SecretFolders> {
    const own = await memoryFolder()
    return new SecretFolders(own === null ? null : join(own, 'items'))
  }

  /** Writes what is not there yet. Returns where it is on this machine, by the path in the container. @throws DeployError */
  async write({ objectId, jobId }: WorkItem, given: InMemory): Promise<ReadonlyMap<string, string>> {
    const contents = contentsOf(given)
    if (contents.size === 0) return new Map()
    if (this.#root === null)
      throw new DeployError(
        'CONTAINER_SECRETS',
        'Secrets and files need a folder in memory: /dev/shm, writable for the deployer.',
      )
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const folder = join(this.#root, objectId, jobId ?? 'none')
    const sources = new Map([...contents.keys()].map((path, i) => [path, join(folder, String(i))]))
    // A container that an earlier attempt has created may read them already.
    if ((await this.differenceOf(sources, given)) === null) return sources
    await removeTree(folder)
    await mkdir(folder, { recursive: true, ...READABLE_FOLDER })
    for (const [path, source] of sources) await writeContent(source, contents.get(path) ?? '')
    return sources
  }

  /** Says what is not as these secrets and files are, at the sources that a container has mounted; null: all of it is. */
  async differenceOf(sources: ReadonlyMap<string, string>, given: InMemory): Promise<'secrets' | 'files' | null> {
    const contents = contentsOf(given)
    for (const path of new Set([...sources.keys(), ...contents.keys()])) {
      const source = sources.get(path)
      const found = source === undefined ? undefined : await readContent(source)
      if (!sameJson(found, contents.get(path))) return path === SECRETS ? 'secrets' : 'files'
    }
    return null
  }

  /** All secrets and files of an item. */
  async remove(objectId: string): Promise<void> {
    if (this.#root !== null) await removeTree(join(this.#root, objectId))
  }
}
