import type { Chunk } from './protocol.ts'
import { type ChunkEnd, type OnResult, Thread } from './thread.ts'

/** One thread at a time, started when first needed, replaced after a job had to be stopped. */
export class Lane {
  #thread: Thread | null = null
  #ending: Promise<void> = Promise.resolve()
  #closed = false

  /** One chunk at a time. Rejects when no worker can be started or the lane is closed. */
  async run(chunk: Chunk, onResult: OnResult): Promise<ChunkEnd> {
    const thread = await this.#ready()
    const end = await thread.run(chunk, onResult)
    if (end.type === 'killed') this.#ending = thread.kill()
    return end
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#ending
    await this.#thread?.kill()
  }

  async #ready(): Promise<Thread> {
    await this.#ending
    if (!this.#closed && !this.#thread?.alive) this.#thread = await Thread.start()
    if (!this.#closed && this.#thread) return this.#thread
    await this.#thread?.kill()
    throw new Error('The sandbox is closed.')
  }
}
