import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ClientError } from '../../client/client-error.ts'
import { codeOf } from '../../process/error-code.ts'
import { FolderInUse, lockFolder } from '../../process/folder-lock.ts'
import type { SignIn, SignInStore } from '../../sign-in/index.ts'
import { configFolder } from '../contexts.ts'
import type { Io } from '../terminal/io.ts'

/** Milliseconds; a renewal takes ten seconds at most. Locks of killed processes count for nothing. */
const LOCK_MS = 15_000
const LOCK_POLL_MS = 50

/** The sign-in at one server, in a file of its user's own that no other user can read. */
export class SignInFile implements SignInStore {
  readonly #folder: string
  readonly #name: string
  readonly #onProblem: (message: string) => void
  /** A renewed sign-in that could not be written: the one in the file is worth nothing any more. */
  #unwritten: SignIn | null = null

  /** @param url of the GraphQL endpoint: no other server ever gets the token */
  constructor(url: string, env: Io['env'], onProblem: (message: string) => void = () => undefined) {
    const { href, hostname } = new URL(url)
    this.#folder = join(configFolder(env), 'sign-ins')
    const digest = createHash('sha256').update(href).digest('hex').slice(0, 16)
    this.#name = `${hostname.replace(/[^\w.-]/g, '_').slice(0, 100)}-${digest}`
    this.#onProblem = onProblem
  }

  get path(): string {
    return join(this.#folder, `${this.#name}.json`)
  }

  async read(): Promise<SignIn | null> {
    if (this.#unwritten) return this.#unwritten
    try {
      return JSON.parse(await readFile(this.path, 'utf8')) as SignIn
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#onProblem(`${this.path} cannot be read: sign in again.`)
      return null
    }
  }

  /** A sign-in that cannot be written is kept in memory: its previous refresh token is worthless. */
  async write(signIn: SignIn): Promise<void> {
    try {
      await this.save(signIn)
      this.#unwritten = null
    } catch (error) {
      this.#unwritten = signIn
      this.#onProblem(`${this.path} cannot be written (${codeOf(error)}): sign in again for the next command.`)
    }
  }

  /** The file always has the whole of one sign-in, whatever happens. Rejects with an error of the system. */
  async save(signIn: SignIn): Promise<void> {
    const draft = join(this.#folder, `.${this.#name}-${randomUUID()}`)
    await this.#makeFolder()
    try {
      await writeDurably(draft, `${JSON.stringify(signIn)}\n`)
      await rename(draft, this.path)
    } finally {
      await rm(draft, { force: true })
    }
  }

  async remove(): Promise<void> {
    this.#unwritten = null
    await rm(this.path, { force: true })
  }

  /** Waits for other processes of this machine. */
  async exclusively<T>(body: () => Promise<T>): Promise<T> {
    await this.#makeFolder()
    await using _ = await this.#lock()
    return await body()
  }

  async #lock(): Promise<AsyncDisposable> {
    for (const endsAt = performance.now() + LOCK_MS; ; ) {
      try {
        return await lockFolder({ folder: this.#folder, prefix: `${this.#name}.lock.`, inUse: String })
      } catch (error) {
        if (!(error instanceof FolderInUse)) throw error
        if (performance.now() > endsAt)
          throw new ClientError('network', `The process ${error.holder.pid} is renewing this sign-in and stands still.`)
        await delay(LOCK_POLL_MS)
      }
    }
  }

  async #makeFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(text)
  await file.sync()
}
