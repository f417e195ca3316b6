import { type PeerOptions, servePeer } from './harness-peer.ts'

/** One resource with a holder, and a queue of waiters. */
export interface LockContestant extends AsyncDisposable {
  /** Called once, first: one holder, and so many waiters. */
  wait(waiters: number): Promise<void>
  /** So many times: the holder gives it back, a waiter gets it, and the former holder waits again. */
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

/** Each holder passes here before it gives the lock back, and is stopped until grants are measured. */
export class Barrier {
  #left = 0
  #open = Promise.withResolvers<void>()
  #done = Promise.withResolvers<void>()

  /** Resolves when so many more have got the lock. */
  async admit(count: number): Promise<void> {
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
