import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writeWhole } from '../../../../agents/files/write-whole.ts'
import { type ProcessId, parseProcessId } from '../../../../process/identity.ts'
import type { WorkloadEnd } from '../runtime/runtime.ts'
import { FILES } from './supervisor-messages.ts'

const state = z.object({
  receipt: z.string(),
  workspace: z.string().nullable(),
  /** The worker of the workload's workspace. */
  workerId: z.string(),
  /** It runs in a sandbox. */
  isolated: z.boolean().default(false),
})
export type WorkloadState = z.infer<typeof state>

/** Records of earlier versions have neither. */
const GONE_DETAILS = {
  reason: z.literal('DELETED').default('DELETED'),
  message: z.string().default('Its process was ended from outside.'),
}
const endRecord = z.object({
  /** Milliseconds since 1970. */
  at: z.number(),
  end: z.union([
    z.object({ how: z.literal('EXITED'), exitCode: z.number().nullable(), signal: z.string().nullable() }),
    z.object({ how: z.literal('STOPPED') }),
    z.object({ how: z.literal('GONE'), ...GONE_DETAILS }),
  ]),
})
export interface EndRecord {
  readonly at: number
  readonly end: WorkloadEnd
}

/** The files of one workload. They are private, and appear with their whole content or not at all. */
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
  /** With the socket of the API, for a workload in a sandbox that has a token. */
  get apiFolder(): string {
    return this.file('api')
  }
  get ownWorkingFolder(): string {
    return this.file('work')
  }

  /** False: the folder exists already. */
  async create(): Promise<boolean> {
    try {
      await mkdir(this.path, { mode: 0o700 })
      return true
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
      throw error
    }
  }

  /** Null: there is no such workload, or its start broke off. */
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

  /** Secrets to mask in its output. */
  async readMasked(): Promise<readonly string[]> {
    return parsed(z.array(z.string()), await this.#read('masked.json')) ?? []
  }
  writeMasked(secrets: readonly string[]): Promise<void> {
    return this.#write('masked.json', JSON.stringify(secrets))
  }

  /** False: it never ran, and only a start of this runtime can change that. */
  async hasStarted(): Promise<boolean> {
    return (await this.#read(FILES.process)) !== null
  }
  /** Null: it never ran, or its supervisor was killed while it started. */
  async readProcess(): Promise<ProcessId | null> {
    const found = parseProcessId((await this.#read(FILES.process)) ?? '')
    // A signal to the group of 1 would reach every process.
    return found && found.pid > 1 ? found : null
  }

  /** As a shell has it. Null: the workload runs, or its supervisor was killed. */
  async readExitCode(): Promise<number | null> {
    const text = await this.#read(FILES.exit)
    // A code without a line end is still being written.
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

  #write(name: string, text: string): Promise<void> {
    return writeWhole(this.file(name), text)
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
