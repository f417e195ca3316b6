import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { type ProcessId, parseProcessId } from '../../../../process/identity.ts'
import { parseJson } from '../runtime/parse-json.ts'
import type { WorkloadEnd } from '../runtime/runtime.ts'
import { FILES } from './supervisor-messages.ts'

const STATE = 'state.json'
const END = 'end.json'
const MASKED = 'masked.json'
const EVENT = 'event.json'

const state = z.object({
  receipt: z.string(),
  workspace: z.string().nullable(),
  /** The worker of the workload's workspace. */
  workerId: z.string(),
  /** It runs in a sandbox. */
  isolated: z.boolean().default(false),
  /** The commit that was cloned for it. */
  commit: z.string().nullable().default(null),
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
    z.object({
      how: z.literal('NOT_STARTED'),
      message: z.string(),
      code: z.enum(['START_FAILED', 'CLONE_FAILED', 'SERVICE_FAILED', 'SERVICES_REFUSED']),
    }),
  ]),
})
export interface EndRecord {
  readonly at: number
  readonly end: WorkloadEnd
}

/**
 * The files of one workload. They are private, and appear with their whole content or not at all. They are small and on this machine, so
 * that each is read and written at once: the way through a thread pool costs ten times as much.
 */
export class WorkloadFolder {
  readonly path: string
  constructor(path: string) {
    this.path = path
  }

  file(name: string): string {
    return join(this.path, name)
  }
  get eventFile(): string {
    return this.file(EVENT)
  }
  get secretsFolder(): string {
    return this.file('secrets')
  }
  /** With the socket of the API, for a workload in a sandbox that has a token. */
  get apiFolder(): string {
    return this.file('api')
  }
  /** The launcher of its services reads it. */
  get planFile(): string {
    return this.file('services.json')
  }
  get ownWorkingFolder(): string {
    return this.file('work')
  }

  /** False: the folder exists already. */
  create(): boolean {
    try {
      mkdirSync(this.path, { mode: 0o700 })
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  }

  /** Null: there is no such workload, or its start broke off. */
  readState(): WorkloadState | null {
    return parseJson(state, this.#read(STATE))
  }
  writeState(value: WorkloadState): void {
    this.#write(STATE, JSON.stringify(value))
  }

  readEnd(): EndRecord | null {
    return parseJson(endRecord, this.#read(END))
  }
  writeEnd(record: EndRecord): void {
    this.#write(END, JSON.stringify(record))
  }

  /** Secrets to mask in its output. */
  readMasked(): readonly string[] {
    return parseJson(z.array(z.string()), this.#read(MASKED)) ?? []
  }
  writeMasked(secrets: readonly string[]): void {
    if (secrets.length > 0) this.#write(MASKED, JSON.stringify(secrets))
  }

  /** False: it never ran, and only a start of this runtime can change that. */
  hasStarted(): boolean {
    return this.#read(FILES.process) !== null
  }
  /** Null: it never ran, or its supervisor was killed while it started. */
  readProcess(): ProcessId | null {
    const found = parseProcessId(this.#read(FILES.process) ?? '')
    // A signal to the group of 1 would reach every process.
    return found && found.pid > 1 ? found : null
  }

  /** As a shell has it. Null: the workload runs, or its supervisor was killed. */
  readExitCode(): number | null {
    const text = this.#read(FILES.exit)
    // A code without a line end is still being written.
    return text === null || !/^\d+\n$/.test(text) ? null : Number(text)
  }

  /** Notes of the launcher about its services. Null: it has none. */
  readNotes(): string | null {
    // The workload may have found a way to write there, too.
    return readStart(this.file(FILES.notes), MAX_NOTES)
  }

  /** Removes the folder with all that is in it. */
  async remove(): Promise<void> {
    try {
      for (const name of OWN_FILES) rmSync(this.file(name), { force: true })
      for (const folder of [this.secretsFolder, this.ownWorkingFolder, this.path])
        if (existsSync(folder)) rmdirSync(folder)
    } catch {
      // There is more in it, or less.
      await removeTree(this.path)
    }
  }

  #read(name: string): string | null {
    return unlessMissing(() => readFileSync(this.file(name), { encoding: 'utf8', flag: AT_ONCE }))
  }

  /** No other process writes them. */
  #write(name: string, text: string): void {
    const file = this.file(name)
    writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
    renameSync(`${file}.tmp`, file)
  }
}

/** A workload that has neither secrets nor services has no other files. */
const OWN_FILES = [STATE, END, MASKED, EVENT, FILES.process, FILES.exit, FILES.out, FILES.err]
/** The open never waits: a workload may have put a pipe there. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK
const MAX_NOTES = 256 * 1_024

const readStart = (path: string, length: number): string | null =>
  unlessMissing(() => {
    const fd = openSync(path, AT_ONCE)
    try {
      const buffer = Buffer.alloc(length)
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, length, 0))
    } finally {
      closeSync(fd)
    }
  })

function unlessMissing(read: () => string): string | null {
  try {
    return read()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
