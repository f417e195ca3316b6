import { type FileHandle, open, rm } from 'node:fs/promises'
import { invalid, type Outcome, refused } from '../../client-model/index.ts'

/** A new file for a secret, which only its owner may read. Disposed without having been written, it is removed. */
export class SecretFile implements AsyncDisposable {
  readonly #path: string
  readonly #file: FileHandle
  #isWritten = false

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /** Before there is a secret: one that cannot be written would be lost. */
  static async create(path: string): Promise<Outcome<SecretFile>> {
    try {
      return { ok: true, value: new SecretFile(path, await open(path, 'wx', 0o600)) }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return refused(
        invalid(code === 'EEXIST' ? `${path} exists: name a new file.` : `${path} cannot be written: ${message}`),
      )
    }
  }

  /** Returns the problem; null: it is written. */
  async write(secret: string): Promise<string | null> {
    try {
      await this.#file.writeFile(`${secret}\n`)
      this.#isWritten = true
      return null
    } catch (error) {
      return `${this.#path} cannot be written: ${(error as Error).message}`
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
    if (!this.#isWritten) await rm(this.#path, { force: true })
  }
}
