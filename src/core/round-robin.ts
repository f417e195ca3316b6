/** Callers in round-robin order: each turn moves a caller to the end, however much it still has to do. */
export class RoundRobin<Caller> {
  readonly #waiting = new Map<Caller, (() => void)[]>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Turns for which the caller waits. */
  waitingOf(caller: Caller): number {
    return this.#waiting.get(caller)?.length ?? 0
  }

  /** Resolves when it is the caller's turn. */
  wait(caller: Caller): Promise<void> {
    return new Promise((resolve) => {
      const turns = this.#waiting.get(caller)
      if (turns) turns.push(resolve)
      else this.#waiting.set(caller, [resolve])
    })
  }

  /** The first that waits and may have a turn. */
  find(may: (caller: Caller) => boolean): Caller | undefined {
    return this.#waiting.keys().find(may)
  }

  /** Gives a turn to the first caller that may have one, and returns it. */
  next(may: (caller: Caller) => boolean = () => true): Caller | undefined {
    const caller = this.find(may)
    const turns = caller === undefined ? undefined : this.#waiting.get(caller)
    if (caller === undefined || !turns) return undefined
    const begin = turns.shift()
    this.#waiting.delete(caller)
    if (turns.length > 0) this.#waiting.set(caller, turns)
    begin?.()
    return caller
  }
}
