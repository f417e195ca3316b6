import { type PeerOptions, servePeer } from './harness-peer.ts'

/** One resource that is held, and a queue of those who want it. */
export interface LockContestant extends AsyncDisposable {
  /** Called once, first: somebody holds it and so many wait. */
  wait(waiters: number): Promise<void>
  /** So many times: whoever holds it gives it back, one that waits gets it, and whoever gave it back waits again. */
  grant(count: number): Promise<void>
}

/** The whole of the process of a contestant of *locks*. Its first run brings the waiters. */
export async function serveLocks(open: (options: PeerOptions) => Promise<LockContestant>): Promise<void> {
  await servePeer(async (options) => {
    const contestant = await open(options)
    let isWaiting = false
    return {
      async runTrees(grants, waiters) {
        if (!isWaiting) await contestant.wait(waiters)
        isWaiting = true
        await contestant.grant(grants)
      },
      createItem: () => Promise.reject(new Error('locks are not items')),
      [Symbol.asyncDispose]: () => contestant[Symbol.asyncDispose](),
    }
  })
}

/** Whoever gets the lock passes here before giving it back: it stays until grants are to be measured. */
export class Gate {
  #left = 0
  #open = Promise.withResolvers<void>()
  #done = Promise.withResolvers<void>()

  /** Resolves when so many more have got the lock. */
  async let(count: number): Promise<void> {
    const closed = this.#open
    this.#left = count
    this.#done = Promise.withResolvers()
    this.#open = Promise.withResolvers()
    closed.resolve()
    await this.#done.promise
  }
  async pass(): Promise<void> {
    this.#left = Math.max(0, this.#left - 1)
    if (this.#left > 0) return
    this.#done.resolve()
    await this.#open.promise
  }
}
