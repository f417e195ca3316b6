import { isCollection, isMap, isPair, isScalar, YAMLParseError } from 'yaml'

/**
 * An error for each key that its map has already, in their order. The parser itself compares each key with all others of
 * its map, which takes minutes for as many as a file can hold: switch that off with `uniqueKeys: false`.
 */
export function repeatedKeys({ contents }: { readonly contents: unknown }): readonly YAMLParseError[] {
  const errors: YAMLParseError[] = []
  // Nesting may be too deep for a recursion.
  const waiting = [contents]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (isPair(node)) waiting.push(node.key, node.value)
    else if (isCollection(node)) {
      if (isMap(node)) errors.push(...repeatedIn(node.items))
      for (const item of node.items) waiting.push(item)
    }
  }
  return errors.sort((a, b) => a.pos[0] - b.pos[0])
}

function repeatedIn(pairs: readonly { readonly key: unknown }[]): readonly YAMLParseError[] {
  const known = new Set<string | undefined>()
  return pairs.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    // As JSON has them, whose keys are texts. That of a merge is a symbol.
    const name = typeof key.value === 'symbol' ? key.value.description : String(key.value)
    const isNew = !known.has(name)
    known.add(name)
    const start = key.range?.[0] ?? 0
    return isNew ? [] : [new YAMLParseError([start, start + 1], 'DUPLICATE_KEY', 'Map keys must be unique')]
  })
}
