import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memoryFolder } from '../../../../agents/container/memory-folder.ts'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import type { WorkItem } from '../../../../client/index.ts'
import { untilSettled } from '../../../../core/until-settled.ts'
import { DeployError } from '../deploy-error.ts'

/** A container may have any user; its folder is within one that is private on this machine. */
const READABLE_FOLDER = { mode: 0o755 } as const
const READABLE = { mode: 0o444 } as const

/** The secrets of containers: files in memory, never on a disk. */
export class SecretFolders {
  readonly #root: string | null
  private constructor(root: string | null) {
    this.#root = root
  }

  static async open(): Promise<SecretFolders> {
    const own = await memoryFolder()
    return new SecretFolders(own === null ? null : join(own, 'items'))
  }

  /** Returns the folder; null: there are no secrets. @throws DeployError */
  async write({ objectId, jobId }: WorkItem, secrets: Readonly<Record<string, string>>): Promise<string | null> {
    const entries = Object.entries(secrets)
    if (entries.length === 0) return null
    if (this.#root === null)
      throw new DeployError(
        'CONTAINER_SECRETS',
        'Secrets need a folder in memory: /dev/shm, writable for the deployer.',
      )
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const folder = join(this.#root, objectId, jobId ?? 'none')
    // A container that an earlier attempt has created may read them already.
    if (await this.hasThese(folder, secrets)) return folder
    await removeTree(folder)
    await mkdir(folder, { recursive: true, ...READABLE_FOLDER })
    await untilSettled(entries.map(([name, value]) => writeFile(join(folder, name), value, READABLE)))
    return folder
  }

  /** The folder has these secrets and no others. */
  async hasThese(folder: string | null, secrets: Readonly<Record<string, string>>): Promise<boolean> {
    const names = folder === null ? [] : await readdir(folder).catch(() => [])
    if (names.length !== Object.keys(secrets).length) return false
    if (folder === null) return true
    const same = await Promise.all(
      names.map(async (name) => (await readFile(join(folder, name), 'utf8').catch(() => null)) === secrets[name]),
    )
    return same.every(Boolean)
  }

  /** All secrets of an item. */
  async remove(objectId: string): Promise<void> {
    if (this.#root !== null) await removeTree(join(this.#root, objectId))
  }
}
