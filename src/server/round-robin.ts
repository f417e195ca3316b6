/** Who waits for a turn, round by round: whoever has had one is last, however much it still has to do. */
export class RoundRobin {
  readonly #waiting = new Map<unknown, (() => void)[]>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Turns for which the caller waits. */
  waitingOf(caller: unknown): number {
    return this.#waiting.get(caller)?.length ?? 0
  }

  /** Resolves when it is the caller's turn. */
  wait(caller: unknown): Promise<void> {
    return new Promise((resolve) => {
      const turns = this.#waiting.get(caller)
      if (turns) turns.push(resolve)
      else this.#waiting.set(caller, [resolve])
    })
  }

  /** Gives a turn to whoever is first. */
  next(): void {
    const [first] = this.#waiting
    if (!first) return
    const [caller, turns] = first
    const begin = turns.shift()
    this.#waiting.delete(caller)
    if (turns.length > 0) this.#waiting.set(caller, turns)
    begin?.()
  }
}
