import { type DocumentNode, Kind, type SelectionSetNode } from 'graphql'

/**
 * Counts how often validation compares two selections of a document: each two at the same place of the answer, and each
 * two fragments spread there. Infinity: more than is worth counting.
 */
export function countRepeats(document: DocumentNode): number {
  const { definitions } = document
  const fragments = new Map(
    definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one.selectionSet]),
  )
  const counter = new RepeatCounter(fragments)
  // Fragments that nothing uses are validated, too.
  for (const definition of definitions)
    if ('selectionSet' in definition) counter.count([definition.selectionSet], new Set())
  return counter.repeats
}

/** Maximum number of counted selections; a fragment counts at each place where it is used. */
const MAX_SELECTIONS = 50_000

class RepeatCounter {
  repeats = 0
  #selections = 0
  readonly #fragments: ReadonlyMap<string, SelectionSetNode>
  constructor(fragments: ReadonlyMap<string, SelectionSetNode>) {
    this.#fragments = fragments
  }

  /** Counts the selections at one place of the answer. Validation rejects a fragment within itself. */
  count(merged: readonly SelectionSetNode[], above: ReadonlySet<string>): void {
    const fields = new Map<string, { count: number; below: SelectionSetNode[] }>()
    const spreads = new Set<string>()
    const waiting = [...merged]
    for (let set = waiting.pop(); set; set = waiting.pop())
      for (const selection of set.selections) {
        if (++this.#selections > MAX_SELECTIONS) this.repeats = Number.POSITIVE_INFINITY
        if (this.repeats === Number.POSITIVE_INFINITY) return
        if (selection.kind === Kind.INLINE_FRAGMENT) waiting.push(selection.selectionSet)
        else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const fragment = this.#fragments.get(selection.name.value)
          if (fragment && !spreads.has(selection.name.value) && !above.has(selection.name.value)) waiting.push(fragment)
          spreads.add(selection.name.value)
        } else {
          const name = (selection.alias ?? selection.name).value
          const same = fields.get(name) ?? { count: 0, below: [] }
          same.count += 1
          if (selection.selectionSet) same.below.push(selection.selectionSet)
          fields.set(name, same)
        }
      }
    this.repeats += pairs(spreads.size)
    const aboveNext = spreads.size > 0 ? above.union(spreads) : above
    for (const { count, below } of fields.values()) {
      this.repeats += pairs(count)
      if (below.length > 0) this.count(below, aboveNext)
    }
  }
}

const pairs = (count: number): number => (count * (count - 1)) / 2
