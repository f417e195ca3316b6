import { Child, type ChunkEnd, type OnResult } from './child.ts'
import type { Chunk } from './protocol.ts'

/** One worker at a time, started on first use, and replaced after a job was killed. */
export class Lane {
  #starting: Promise<Child> | null = null
  #child: Child | null = null
  #ending: Promise<void> = Promise.resolve()
  #closed = false

  /** One chunk at a time. Rejects when no worker can be started or the lane is closed. */
  async run(chunk: Chunk, onResult: OnResult): Promise<ChunkEnd> {
    const child = await this.#ready()
    const end = await child.run(chunk, onResult)
    if (end.type === 'killed') this.#ending = child.kill()
    return end
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#ending
    const started = await this.#starting?.catch(() => null)
    await started?.kill()
  }

  async #ready(): Promise<Child> {
    await this.#ending
    if (!this.#closed && !this.#child?.alive) {
      this.#starting = Child.start()
      this.#child = await this.#starting
    }
    if (this.#closed || !this.#child) throw new Error('The sandbox is closed.')
    return this.#child
  }
}
