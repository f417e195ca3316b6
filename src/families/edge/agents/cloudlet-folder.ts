import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { lockStateFolder } from '../../../agents/files/lock-state-folder.ts'
import { removeTree } from '../../../agents/files/remove-tree.ts'
import { writeWhole } from '../../../agents/files/write-whole.ts'
import { type CrmObject, CrmProblem } from '../../../client/index.ts'
import { codeOf } from '../../../process/error-code.ts'

const specFile = z.object({ spec: z.unknown(), specRevision: z.int() })
export type SpecFile = z.infer<typeof specFile>

/** The CRM's own folder: no name of an instance begins with a dot. */
const OWN = '.crm'
const SPEC = 'spec.json'
/** The server's rule for names, which are names of folders here. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/

/**
 * The instances of a cloudlet: `<cluster>/spec.json` and `<cluster>/apps/<app>/spec.json`. An instance exists as soon as its
 * spec.json does, which appears with its whole content; a folder without one is half made, or half removed.
 */
export class CloudletFolder {
  readonly #state: string
  /** The cloudlet's name. */
  readonly #name: string

  constructor(state: string, name: string) {
    this.#state = resolve(state)
    this.#name = name
  }

  /**
   * Only the process with the lock writes.
   * @throws FolderInUse, UnsafeFolder
   */
  async lock(): Promise<AsyncDisposable> {
    await mkdir(join(this.#state, OWN), { recursive: true, mode: 0o700 })
    return lockStateFolder(join(this.#state, OWN))
  }

  /** All instances, without half-made ones and their apps. */
  async list(): Promise<readonly CrmObject[]> {
    const clusters = await this.#wholeIn([])
    const apps = await Promise.all(clusters.map(({ path }) => this.#wholeIn(path)))
    return [...clusters, ...apps.flat()].map(({ path, specRevision }) => ({
      kind: path.length === 1 ? 'CLUSTER_INST' : 'APP_INST',
      path: [this.#name, ...path],
      phase: 'READY',
      specRevision,
    }))
  }

  /** Removes instances that an earlier process has left half made, and returns their paths. */
  async tidy(): Promise<readonly string[]> {
    const removed: string[] = []
    for (const parent of [[], ...(await this.#names([])).map((name) => [name])]) {
      for (const name of await this.#names(parent)) {
        const path = [...parent, name]
        if (await this.#read(path)) continue
        await removeTree(this.#folder(path))
        removed.push(path.join('/'))
      }
    }
    return removed
  }

  /** `path` from the cloudlet's name down, as in requests. */
  async exists(path: readonly string[]): Promise<boolean> {
    return (await this.#read(this.#below(path))) !== null
  }

  /** Begins an instance with an empty folder. An existing one stays. */
  async begin(path: readonly string[]): Promise<void> {
    const below = this.#below(path)
    if (below.length > 1 && !(await this.#read(below.slice(0, 1)))) {
      throw new CrmProblem(`There is no cluster ${below[0]}.`, 'NO_CLUSTER')
    }
    await mkdir(this.#folder(below), { recursive: true, mode: 0o700 })
  }

  /** Completes an instance: from now on it exists. */
  write(path: readonly string[], { spec, specRevision }: SpecFile): Promise<void> {
    return writeWhole(join(this.#folder(this.#below(path)), SPEC), JSON.stringify({ spec, specRevision }, null, 2))
  }

  /** Begins a removal: the instance does not exist any more, its folder does. */
  async invalidate(path: readonly string[]): Promise<void> {
    const below = this.#below(path)
    const [app] = await this.#wholeIn(below)
    if (app) throw new CrmProblem(`The cluster still has the app ${app.path.at(-1)}.`, 'HAS_APPS')
    await rm(join(this.#folder(below), SPEC), { force: true })
  }

  async remove(path: readonly string[]): Promise<void> {
    await removeTree(this.#folder(this.#below(path)))
  }

  /** A value that the CRM stores about itself; null when it is missing. */
  async note(name: string): Promise<string | null> {
    return (await readFile(join(this.#state, OWN, name), 'utf8').catch(() => null))?.trim() ?? null
  }
  writeNote(name: string, text: string): Promise<void> {
    return writeWhole(join(this.#state, OWN, name), `${text}\n`)
  }

  #below([cloudlet, ...below]: readonly string[]): readonly string[] {
    const isInstance = cloudlet === this.#name && below.length >= 1 && below.length <= 2
    if (!isInstance || !below.every((name) => NAME.test(name))) {
      throw new CrmProblem('The path names no instance of this cloudlet.', 'NO_PLACE')
    }
    return below
  }

  #folder(below: readonly string[]): string {
    return join(this.#state, below.join('/apps/'))
  }

  async #wholeIn(parent: readonly string[]) {
    if (parent.length > 1) return []
    const found = (await this.#names(parent)).map(async (name) => {
      const path = [...parent, name]
      const file = await this.#read(path)
      return file ? [{ path, specRevision: file.specRevision }] : []
    })
    return (await Promise.all(found)).flat()
  }

  async #names(parent: readonly string[]): Promise<readonly string[]> {
    const folder = join(this.#state, parent.join('/apps/'), parent.length > 0 ? 'apps' : '')
    const entries = await readdir(folder, { withFileTypes: true }).catch(noneIfMissing)
    return entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name)).map(({ name }) => name)
  }

  async #read(below: readonly string[]): Promise<SpecFile | null> {
    const text = await readFile(join(this.#folder(below), SPEC), 'utf8').catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    })
    return text === null ? null : specFile.parse(JSON.parse(text))
  }
}

function noneIfMissing(error: unknown): [] {
  if (codeOf(error) === 'ENOENT') return []
  throw error
}
