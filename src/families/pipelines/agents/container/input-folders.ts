import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memoryFolder } from '../../../../agents/container/memory-folder.ts'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import { untilSettled } from '../../../../core/until-settled.ts'
import type { Workload } from '../runtime/runtime.ts'

const PRIVATE = { mode: 0o700 } as const
/** A container may have any user; its folder is within one that is private on this machine. */
const READABLE_FOLDER = { mode: 0o755 } as const
const READABLE = { mode: 0o444 } as const

/** The files that containers read: event, secrets and token of each. In memory if the system has a folder for that. */
export class InputFolders {
  readonly #root: string
  private constructor(root: string) {
    this.#root = root
  }

  /** @param fallback a private folder, for systems without a folder in memory */
  static async open(place: string, fallback: string): Promise<InputFolders> {
    const own = await memoryFolder()
    const root = own === null ? fallback : join(own, place)
    await mkdir(root, { recursive: true, ...PRIVATE })
    return new InputFolders(root)
  }

  path(id: string): string {
    return join(this.#root, id)
  }
  /** For what its container does not get. */
  scratch(id: string): string {
    return join(this.#root, `${id}.scratch`)
  }

  /** The secrets of a service of the workload. */
  serviceSecrets(id: string, service: string): string {
    return join(this.#root, `${id}.services`, service)
  }

  async writeService(id: string, service: string, secrets: Readonly<Record<string, string>>): Promise<void> {
    const folder = this.serviceSecrets(id, service)
    await removeTree(folder)
    await mkdir(folder, { recursive: true, ...READABLE_FOLDER })
    await untilSettled(Object.entries(secrets).map(([name, value]) => writeFile(join(folder, name), value, READABLE)))
  }

  async write({ id, event, secrets, token }: Workload): Promise<void> {
    const folder = this.path(id)
    await removeTree(folder)
    await mkdir(join(folder, 'secrets'), { recursive: true, ...READABLE_FOLDER })
    await untilSettled([
      writeFile(join(folder, 'event.json'), JSON.stringify(event), READABLE),
      ...Object.entries(secrets).map(([name, value]) => writeFile(join(folder, 'secrets', name), value, READABLE)),
      token !== null && writeFile(join(folder, 'token'), token, READABLE),
    ])
  }

  /** Texts to mask in its output. */
  async masked(id: string): Promise<readonly string[]> {
    const secrets = join(this.path(id), 'secrets')
    const names = await readdir(secrets).catch(() => [])
    const files = [...names.map((name) => join(secrets, name)), join(this.path(id), 'token')]
    return await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  }

  async remove(id: string): Promise<void> {
    const folders = [this.path(id), this.scratch(id), join(this.#root, `${id}.services`)]
    await Promise.all(folders.map((folder) => removeTree(folder)))
  }
}
