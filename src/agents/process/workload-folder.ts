import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { linkOnce } from '../../process/folder-lock.ts'
import { type ProcessId, parseProcessId } from '../../process/identity.ts'
import type { WorkloadEnd } from '../runtime/runtime.ts'

const state = z.object({
  receipt: z.string(),
  workspace: z.string().nullable(),
  /** The worker whose workspace goes with this workload. */
  workerId: z.string(),
})
export type WorkloadState = z.infer<typeof state>

const endRecord = z.object({
  /** Milliseconds since 1970. */
  at: z.number(),
  end: z.union([
    z.object({ how: z.literal('EXITED'), exitCode: z.number().nullable(), signal: z.string().nullable() }),
    z.object({ how: z.literal('STOPPED') }),
    z.object({ how: z.literal('GONE') }),
  ]),
})
export interface EndRecord {
  readonly at: number
  readonly end: WorkloadEnd
}

/** In place of a process: the shim of this folder shall never start anything. */
const NOBODY = 'none\n'

/** What is on disk of one workload. Files are for nobody else, and appear with their whole content or not at all. */
export class WorkloadFolder {
  readonly path: string
  constructor(path: string) {
    this.path = path
  }

  file(name: string): string {
    return join(this.path, name)
  }
  get eventFile(): string {
    return this.file('event.json')
  }
  get secretsFolder(): string {
    return this.file('secrets')
  }
  get ownWorkingFolder(): string {
    return this.file('work')
  }

  /** False: there is one already. */
  async create(): Promise<boolean> {
    try {
      await mkdir(this.path, { mode: 0o700 })
      return true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
      throw error
    }
  }

  /** Null: there is no such workload, or not yet a whole one. */
  async readState(): Promise<WorkloadState | null> {
    return parsed(state, await this.#read('state.json'))
  }
  writeState(value: WorkloadState): Promise<void> {
    return this.#write('state.json', JSON.stringify(value))
  }

  async readEnd(): Promise<EndRecord | null> {
    return parsed(endRecord, await this.#read('end.json'))
  }
  writeEnd(record: EndRecord): Promise<void> {
    return this.#write('end.json', JSON.stringify(record))
  }

  /** What must not be read in its output, for whoever captures that. */
  async readMasked(): Promise<readonly string[]> {
    return parsed(z.array(z.string()), await this.#read('masked.json')) ?? []
  }
  writeMasked(secrets: readonly string[]): Promise<void> {
    return this.#write('masked.json', JSON.stringify(secrets))
  }

  /** Null: nothing was ever started, or never will be. */
  async readProcess(): Promise<ProcessId | null> {
    return parseProcessId((await this.#read('pid')) ?? '')
  }
  /** Takes the place of a shim that has not started anything so far. False: it has. */
  async forbidStart(): Promise<boolean> {
    const draft = this.file('claim.none')
    await writeFile(draft, NOBODY, { mode: 0o600 })
    return (await linkOnce(draft, this.file('pid'))) || (await this.#read('pid')) === NOBODY
  }

  /** As a shell tells it. Null: it has not ended by itself so far. */
  async readExitCode(): Promise<number | null> {
    const text = await this.#read('exit')
    // What is being written just now has no end yet.
    return text === null || !/^\d+\n$/.test(text) ? null : Number(text)
  }

  async #read(name: string): Promise<string | null> {
    try {
      return await readFile(this.file(name), 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
      throw error
    }
  }

  async #write(name: string, text: string): Promise<void> {
    // A name of its own: whoever watches a workload and whoever stops it may write its end at the same time.
    const draft = this.file(`${name}.${randomUUID()}.tmp`)
    await writeFile(draft, text, { mode: 0o600 })
    await rename(draft, this.file(name))
  }
}

function parsed<T>(schema: z.ZodType<T>, text: string | null): T | null {
  if (text === null) return null
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return null
  }
}
