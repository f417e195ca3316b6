import { isAlias, isCollection, isPair, isScalar, YAMLParseError } from 'yaml'

/** Characters. More than any object may have that a cluster or the server takes. */
const MAX_UNFOLDED = 3 * 1_024 * 1_024

/**
 * An error if all aliases together stand for too much: what is written once and repeated a hundred times, or merged into a hundred maps, takes
 * seconds and hundreds of MB to unfold. For a document without errors, whose nesting the parser has bounded.
 */
export function unfoldedAliases({ contents }: { readonly contents: unknown }): readonly YAMLParseError[] {
  /** Sizes of the named nodes so far: an alias stands for the last one before it. */
  const sizes = new Map<string, number>()
  const errors: YAMLParseError[] = []
  let unfolded = 0
  const sizeOf = (node: unknown): number => {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value)
    if (isAlias(node)) {
      const size = sizes.get(node.source) ?? 1
      unfolded += size
      const start = node.range?.[0] ?? 0
      if (unfolded > MAX_UNFOLDED && errors.length === 0)
        errors.push(
          new YAMLParseError([start, start + 1], 'BAD_ALIAS', `Aliases stand for more than ${MAX_UNFOLDED} characters`),
        )
      return size
    }
    const size = 1 + ownSize(node)
    if ((isScalar(node) || isCollection(node)) && node.anchor) sizes.set(node.anchor, size)
    return size
  }
  const ownSize = (node: unknown): number => {
    if (isCollection(node)) return node.items.reduce<number>((sum, item) => sum + sizeOf(item), 0)
    return isScalar(node) && typeof node.value === 'string' ? node.value.length : 1
  }
  sizeOf(contents)
  return errors
}
