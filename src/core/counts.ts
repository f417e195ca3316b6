/** Counts events since the process started, by a few labels with few values each, for metrics. */
export class Counts<Label extends string> {
  readonly #counts = new Map<string, { readonly labels: Readonly<Record<Label, string>>; count: number }>()

  add(labels: Readonly<Record<Label, string>>, by = 1): void {
    const key = Object.values(labels).join(' ')
    const known = this.#counts.get(key)
    if (known) known.count += by
    else this.#counts.set(key, { labels, count: by })
  }

  get entries(): Iterable<{ readonly labels: Readonly<Record<Label, string>>; readonly count: number }> {
    return this.#counts.values()
  }
}
