/** Callers in round-robin order, first by group: each turn moves a group, and the caller within it, to the end, however much they still have to do. */
export class RoundRobin<Caller> {
  readonly #groups = new Map<unknown, Map<Caller, (() => void)[]>>()
  readonly #groupOf: (caller: Caller) => unknown

  /** Without a group each caller is one of its own. */
  constructor(groupOf: (caller: Caller) => unknown = (caller) => caller) {
    this.#groupOf = groupOf
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  /** Turns for which the caller waits. */
  waitingOf(caller: Caller): number {
    return this.#groups.get(this.#groupOf(caller))?.get(caller)?.length ?? 0
  }

  /** Resolves when it is the caller's turn. */
  wait(caller: Caller): Promise<void> {
    const key = this.#groupOf(caller)
    const group = this.#groups.get(key) ?? new Map<Caller, (() => void)[]>()
    this.#groups.set(key, group)
    return new Promise((resolve) => {
      const turns = group.get(caller)
      if (turns) turns.push(resolve)
      else group.set(caller, [resolve])
    })
  }

  /** The first that waits and may have a turn. */
  find(may: (caller: Caller) => boolean): Caller | undefined {
    for (const group of this.#groups.values()) {
      const caller = group.keys().find(may)
      if (caller !== undefined) return caller
    }
    return undefined
  }

  /** Gives a turn to the first caller that may have one, and returns it. */
  next(may: (caller: Caller) => boolean = () => true): Caller | undefined {
    const caller = this.find(may)
    if (caller === undefined) return undefined
    const key = this.#groupOf(caller)
    const group = this.#groups.get(key)
    const turns = group?.get(caller)
    if (!group || !turns) return undefined
    const begin = turns.shift()
    group.delete(caller)
    if (turns.length > 0) group.set(caller, turns)
    this.#groups.delete(key)
    if (group.size > 0) this.#groups.set(key, group)
    begin?.()
    return caller
  }
}
