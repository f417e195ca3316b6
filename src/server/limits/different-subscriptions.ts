/**
 * The live subscriptions of one caller that differ, by what they follow: a tree, an object, a project, or none of these. A change is
 * in few such places, so a bound for each place bounds what one change costs, however many trees a caller follows.
 */
export class DifferentSubscriptions {
  /** Open subscriptions by their places and their keys. */
  readonly #places = new Map<string, Map<string, number>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** False: one that differs from so many others in its place is too many. Equal ones count once. */
  open(place: string, key: string, limit: number): boolean {
    const keys = this.#places.get(place) ?? new Map<string, number>()
    const open = keys.get(key) ?? 0
    if (open === 0 && keys.size >= limit) return false
    if (open === 0) this.#size += 1
    this.#places.set(place, keys.set(key, open + 1))
    return true
  }

  close(place: string, key: string): void {
    const keys = this.#places.get(place)
    const open = keys?.get(key) ?? 0
    if (open > 1) return void keys?.set(key, open - 1)
    if (keys?.delete(key)) this.#size -= 1
    if (keys?.size === 0) this.#places.delete(place)
  }
}
