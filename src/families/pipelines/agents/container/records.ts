import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writeWhole } from '../../../../agents/files/write-whole.ts'
import { KeyedQueue } from '../../../../agents/keyed-queue.ts'
import { parseJson } from '../runtime/parse-json.ts'

const record = z.object({
  receipt: z.string(),
  /** The worker whose workspace it uses. */
  workspace: z.string().nullable(),
  workerId: z.string(),
  /** Its container was seen to have been started. */
  isStarted: z.boolean(),
  isStopped: z.boolean(),
  /** The commit that was cloned for it. */
  commit: z.string().nullable().default(null),
  /** Names of its services. */
  services: z.array(z.string()).default([]),
  /** Bytes of its output that were passed on. */
  read: z.object({ STDOUT: z.number(), STDERR: z.number() }),
})
export type WorkloadRecord = z.infer<typeof record>

/**
 * A container runtime's records of its workloads, beside the engine's knowledge. Kept in memory, and written through.
 */
export class Records {
  readonly #folder: string
  readonly #records: Map<string, WorkloadRecord>
  readonly #writes = new KeyedQueue()

  private constructor(folder: string, records: Map<string, WorkloadRecord>) {
    this.#folder = folder
    this.#records = records
  }

  static async open(folder: string): Promise<Records> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const all = await readdir(folder)
    const names = all.filter((name) => name.endsWith(SUFFIX))
    // Drafts of a process that was killed while it wrote.
    await Promise.all(
      all.filter((name) => !name.endsWith(SUFFIX)).map((name) => rm(join(folder, name), { force: true })),
    )
    const found = await Promise.all(
      names.map(
        async (name) =>
          [
            name.slice(0, -SUFFIX.length),
            parseJson(record, await readFile(join(folder, name), 'utf8').catch(() => null)),
          ] as const,
      ),
    )
    return new Records(folder, new Map(found.flatMap(([id, known]) => (known ? [[id, known]] : []))))
  }

  get ids(): readonly string[] {
    return [...this.#records.keys()]
  }
  get(id: string): WorkloadRecord | null {
    return this.#records.get(id) ?? null
  }

  async set(id: string, value: WorkloadRecord): Promise<void> {
    this.#records.set(id, value)
    await this.#write(id)
  }

  /** Changes a record that is there. */
  async update(id: string, change: Partial<WorkloadRecord>): Promise<void> {
    const known = this.#records.get(id)
    if (known) await this.set(id, { ...known, ...change })
  }

  async delete(id: string): Promise<void> {
    this.#records.delete(id)
    await this.#write(id)
  }

  #write(id: string): Promise<unknown> {
    const file = join(this.#folder, `${id}${SUFFIX}`)
    return this.#writes.add(id, async () => {
      const value = this.#records.get(id)
      if (value) await writeWhole(file, JSON.stringify(value))
      else await rm(file, { force: true })
    })
  }
}
const SUFFIX = '.json'
